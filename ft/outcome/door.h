/* SPDX-License-Identifier: BSD-3-Clause */
/* What libftmpi sees of the library that ftrun preloads. That is in every process of a rank, libftmpi only where a program has it: so
   this one knows of the other by a weak symbol, and does without where ftrun has not started the program. */
#ifndef FT_OUTCOME_DOOR_H
#define FT_OUTCOME_DOOR_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/shm/region.h"

struct ft_stand;
struct timespec;

/* What the library asks libftmpi. */
struct ft_guest {
    void *arg;
    void (*stand)(void *arg, struct ft_stand *stand);  /* where the program stands in the job */
    void (*resume)(void *arg);                         /* this is the next incarnation */
};

enum { FT_DOOR_NO_THREAD = -1 };

struct ft_door {
    struct ft_region region;          /* the job's memory: fd, mapping. Not to be closed */
    uint32_t rank;                    /* local */

    /* A copy is due when *want is not *answered. */
    const _Atomic uint64_t *want;
    const uint64_t *answered;
    const bool *switched;             /* false: this process may yet be given outcomes of its predecessor */

    /* libftmpi is there: its calls are its own business. */
    void (*enter)(const struct ft_guest *guest);
    void (*leave)(void);

    /* Makes the copy that is wanted. What the program does next writes all of the `bytes` at `unread` and reads none of them; NULL:
       nothing is known. True: this is the next incarnation. */
    bool (*cut)(void *unread, uint64_t bytes);

    /* Before others see a message of this process. It is a `new` one: its predecessor cannot have sent it. */
    void (*live)(bool new);

    /* A socket to another node, which the next incarnation closes: its new number. */
    int (*aside)(int fd);

    /* CLOCK_MONOTONIC, as the program's own call. */
    void (*clock)(struct timespec *now);

    /* There is more than one thread. Then each call of the engine that may have to be done as a whole is between these: no copy is made of
       this process by another thread meanwhile. */
    const bool *many;
    void (*calls)(bool begins);

    /* The number by which a replay knows this thread; FT_DOOR_NO_THREAD: it does not. */
    uint32_t (*thread)(void);

    /* From here to there this thread's calls are not recorded. */
    void (*inside)(bool begins);

    /* The copies that there are cannot be woken any more. */
    void (*close)(const char *format, ...) __attribute__((format(printf, 1, 2)));
};

/* NULL: this process is no rank of ftrun's, or nothing is recorded in it. */
extern struct ft_door *ft_rank_door(void) __attribute__((weak, visibility("default")));

/* This process is a rank of the job from now on. */
extern void ft_rank_joined(void) __attribute__((weak, visibility("default")));

#endif
