/* SPDX-License-Identifier: BSD-3-Clause */
/* Internet addresses: ours on the chosen interface, and those of others as they come over the wire. Numbers only: no name is looked up. */
#ifndef LAUNCHER_BASE_ADDRESS_H
#define LAUNCHER_BASE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "ft/base/err.h"

enum { FT_ADDRESSES = 8 /* of one host */, FT_ADDRESS_TEXT = 64 };

struct ft_address {
    struct sockaddr_storage s;
    socklen_t len;
};

/* "192.0.2.1", "2001:db8::1", "fe80::1%eth0". False: it is none. */
bool ft_address_parse(struct ft_address *a, const char *ip, uint16_t port);

/* "192.0.2.1:80", "[2001:db8::1]:80"; without a port if that is 0. Returns text. */
const char *ft_address_print(const struct ft_address *a, char text[FT_ADDRESS_TEXT]);
const char *ft_address_ip(const struct ft_address *a, char text[FT_ADDRESS_TEXT]);
uint16_t ft_address_port(const struct ft_address *a);

/* A listening socket (non-blocking, close-on-exec) at a free port, and the addresses by which it can be reached: *n of at most
   FT_ADDRESSES, the likeliest first. Where:
     spec      --iface: the name of an interface, a network as 10.1.0.0/16 or fd00::/8, an address; the first address that fits
     towards   without spec: the address that packets to this one leave from
     neither   every interface; loopback is last in the list
   FT_EINVAL: spec fits no address of this host; FT_ESYS. */
int ft_address_listen(const char *spec, const struct ft_address *towards, struct ft_address list[FT_ADDRESSES], size_t *n,
                      struct ft_error *e);

/* A TCP socket for connections of the job, those that it is asked for included: non-blocking, close-on-exec; -1 and errno. */
int ft_address_socket(int family);

/* Options of a connection between nodes, for its whole life. */
void ft_address_tune(int fd);

#endif
