/* SPDX-License-Identifier: BSD-3-Clause */
/* What has gone through a descriptor, and which calls use it at a time. */
#ifndef FT_OUTCOME_COUNTS_H
#define FT_OUTCOME_COUNTS_H

#include <stdint.h>

enum ft_count {
    FT_COUNT_RECEIVED, /* by a connection */
    FT_COUNT_SENT,
    FT_COUNT_OWED,     /* the error that its next call is to be told */
    FT_COUNT_EVENTS,   /* what an eventfd counts (event.h) */
    FT_COUNTS
};

/* -1: not known. */
int64_t ft_counts_get(int fd, enum ft_count which);
void ft_counts_set(int fd, enum ft_count which, int64_t count);

/* A thread begins a call that receives, or sends, and ends it. Two at a time could not be told apart: the ways back are closed. */
void ft_counts_enter(int fd, enum ft_count which);
void ft_counts_leave(int fd, enum ft_count which);

/* descriptors.c's, with a descriptor that it follows: it is another one from now on; what the kernel knows is not counted any more; those
   that used it were the dead predecessor's threads. */
void ft_counts_begin(int fd);
void ft_counts_forget(int fd);
void ft_counts_left(int fd);

#endif
