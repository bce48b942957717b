/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes of a known number over a proved connection, in pieces with a checksum each (struct ft_piece), and then one piece without bytes that
   says: that was all. Event driven, of one agent; who says nothing for some seconds is given up. */
#ifndef LAUNCHER_NET_PARCEL_H
#define LAUNCHER_NET_PARCEL_H

#include <stdbool.h>
#include <stdint.h>

struct event_base;
struct ft_parcel;

struct ft_parcel_config {
    struct event_base *base;
    int fd;                  /* non-blocking; the parcel's from now on */
    uint64_t length;         /* sending: of all; receiving: at most */
    bool (*move)(void *arg, uint64_t at, void *bytes, uint32_t n);  /* sending: reads n bytes into them; receiving: keeps them. False: it cannot */
    bool (*may_end)(void *arg);      /* sending: the last piece may go out; asked again until it may. NULL: at once */
    /* Once, and the parcel is gone then. fd: the callee's, all has been sent, or has come: `length` bytes. -1: it has not, why says it. */
    void (*done)(void *arg, int fd, uint64_t length, const char *why);
    void *arg;
};

/* NULL: no memory; fd is closed, done is not called. */
struct ft_parcel *ft_parcel_send(const struct ft_parcel_config *config);
struct ft_parcel *ft_parcel_receive(const struct ft_parcel_config *config);

/* Closes the connection; done is not called. NULL: there is none. */
void ft_parcel_free(struct ft_parcel *p);

#endif
