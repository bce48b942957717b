/* SPDX-License-Identifier: BSD-3-Clause */
/* What explorers run at their will (ft/test/explore.h, ft/test/apart.h): ranks and keepers of jobs, each on a stack of its own, from one crash point
   to the next. There it can be left for another one, or for good. coroutine.c; points.c makes the code stop at its points. */
#ifndef FT_TEST_COROUTINE_H
#define FT_TEST_COROUTINE_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "ft/shm/point.h"

enum { MAX_POINTS = 512 };

struct coroutine {
    ucontext_t context;            /* where it starts; */
    jmp_buf here;                  /* where it goes on: switching by _longjmp saves the system calls of swapcontext */
    bool fresh;
    char *stack;
    int kind;                      /* of the point it stands at; -1: between calls */
    char *bulk_to;                 /* or the doorbell it sleeps on, and how often that was rung before */
    size_t bulk_n;
    const struct ft_point *point;
};

void coroutine_start(struct coroutine *c, void (*begin)(void));  /* from its first step on; begin ends in coroutine_end */
void coroutine_resume(struct coroutine *c);                      /* to its next point, or its end */
void coroutine_stop(struct coroutine *c, int kind);              /* of the one that runs: lets others run */
void coroutine_end(void) __attribute__((noreturn));
void coroutine_tear(const struct coroutine *c);  /* it stands where it is about to write bytes: half of them are written, as garbage */
bool coroutine_is_rung(const struct coroutine *c);               /* it stands where it is about to sleep, or sleeps */

/* Called by each point once they are diverted. */
void stop_at_point(char *bulk_to, size_t bulk_n, uint32_t number);

/* points.c */
uint32_t npoints(void);
uint32_t point_number(const struct ft_point *p);
void divert_points(void);

/* What chance decides. */
void random_begin(uint32_t seed);
uint32_t random_below(uint32_t n);

#endif
