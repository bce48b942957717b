/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory that the tests' agent, its rank and a peer outside have in common. */
#ifndef FT_OUTCOME_TEST_SHARED_H
#define FT_OUTCOME_TEST_SHARED_H

#include "ft/shm/layout.h"

enum { MESSAGES = 4096, LOG_AT = 1 << 20, LOCK_KILLS = 8 };

/* Messages between the rank and its peer, numbered: the rank's contribution, then the peer's answer. Both are kept. */
struct shared {
    struct ft_rank_block block;
    _Atomic uint64_t asked;     /* so many copies the rank has asked for by itself ... */
    _Atomic uint64_t stands;    /* ... and the number of the last one that the agent has taken in */
    _Atomic uint64_t begins;    /* the points of a kill count: enum test_begins */
    uint64_t mapped, position;  /* where the rank has this, and where in its own memory it says how far in the log it is */
    _Atomic uint64_t row;       /* which of the two has what it does, */
    char rows[2][32];           /* named as in calls.table */
    _Atomic uint32_t lock_kill; /* which of these kills is the next one */
    struct {
        uint32_t point;         /* enum ft_lock_point, ft_cut_point, + 1. 0: no more kills */
        _Atomic uint32_t left;  /* so often it is come to, by whatever thread */
        pid_t pid;              /* who was killed there, ... */
        uint64_t copy;          /* ... and the copy that it was making, or comes from */
    } lock_kills[LOCK_KILLS];
    uint64_t bytes;             /* of all, with the log of outcomes at LOG_AT */
    _Atomic uint64_t contributed, answered;
    uint64_t contribution[MESSAGES], answer[MESSAGES];
};

/* The agent: no kill is at a point; the rank waits until it is traced; it is. The rank: it goes on. */
enum test_begins { TEST_FREE, TEST_HELD, TEST_TRACED, TEST_BEGUN };

/* "memory,bell,life": descriptors of the rank. */
#define TEST_FDS "FT_TEST_FDS"

#endif
