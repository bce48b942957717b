/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiver's side of ft/shm/acks.h. What is matched while its word is still in an earlier lap is said when that is over: so far
   apart, FT_ACKS_EACH * FT_CHANNEL_ACKS numbers, messages are hardly ever. */
#ifndef FT_MSG_ACKS_H
#define FT_MSG_ACKS_H

#include <stdatomic.h>
#include <stdint.h>

struct ft_acks {
    _Atomic uint64_t *words;     /* [FT_CHANNEL_ACKS] */
    uint64_t *withheld;          /* numbers that are yet to be said */
    uint64_t n, room;
};

/* Publishes the word. */
typedef void ft_acks_say(void *arg, _Atomic uint64_t *word, uint64_t value);

/* The number is matched; perhaps not for the first time. Not 0: no memory. */
int ft_acks_match(struct ft_acks *a, uint64_t number, ft_acks_say *say, void *arg);
void ft_acks_close(struct ft_acks *a);

#endif
