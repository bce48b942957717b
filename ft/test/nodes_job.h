/* SPDX-License-Identifier: BSD-3-Clause */
/* What the agents of nodes.c and the program that their ranks run (nodes_program.c) know of a job. */
#ifndef FT_TEST_NODES_JOB_H
#define FT_TEST_NODES_JOB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ft/shm/region.h"

enum { NODES = 16, WORLD = 64, SECONDS = 120, FAULTS = 16, LONGEST_MS = 40, MISMATCH = 7, UNKEPT = 1 << 20, UNKEPT_EXTENT = 64 << 10 };

struct ft_keeper;

struct plan {
    uint32_t nodes, ranks;
    uint64_t seed;
    uint32_t calls;
    const char *faults;
    uint64_t most;          /* elements of a large operation */
    bool speed;
};

struct node {
    struct ft_region region;
    struct ft_keeper *keeper;
    int pair[2];            /* agent's, representative's */
    int bell, models;
    uint32_t n;
    pid_t pid[WORLD];       /* 0: has ended well */
    uint32_t incarnation[WORLD], life;
};

extern struct plan plan;
extern struct node node[NODES];
extern uint32_t world, first[NODES + 1], rank_at[WORLD];
bool two(void);                    /* there are two streams */
extern _Atomic uint32_t *entered;  /* [WORLD]: calls that each rank has come to */

_Noreturn void die(const char *format, ...);
uint64_t draw(uint64_t *state);

/* In a process of its own: rank `local` of node k. Every rank checks every result against what it must be. */
int program(uint32_t k, uint32_t local);

#endif
