/* SPDX-License-Identifier: BSD-3-Clause */
/* Which receive a predecessor matched with which message: pairs that are looked up from both sides and dropped once used. Private memory. */
#ifndef FT_MSG_DECIDED_H
#define FT_MSG_DECIDED_H

#include <stdint.h>

struct ft_posted;

struct ft_decided_pair {
    uint64_t receive, number;   /* of the receive; of the message among those of its source */
    int32_t source;
    struct ft_posted *posted;   /* the receive, once it is and the message has not come; else NULL */
    uint32_t after_receive, after_message;  /* decided.c's, as what follows */
};

/* Zeros: no pair. */
struct ft_decided {
    struct ft_decided_pair *pairs;
    uint32_t *by_receive, *by_message;
    uint32_t room, free;
    uint32_t n;                 /* so many pairs are there: may be read */
};

/* Neither of the two is in a pair. Not 0: no memory, nothing was done. */
int ft_decided_add(struct ft_decided *d, uint64_t receive, int32_t source, uint64_t number);

/* Good until the next add or drop. NULL: there is none. */
struct ft_decided_pair *ft_decided_of_receive(const struct ft_decided *d, uint64_t receive);
struct ft_decided_pair *ft_decided_of_message(const struct ft_decided *d, int32_t source, uint64_t number);

void ft_decided_drop(struct ft_decided *d, struct ft_decided_pair *pair);
void ft_decided_free(struct ft_decided *d);

#endif
