/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent of the tests, in parts: agent.c runs the rank and has copies made and woken, kills.c kills it by chance, points.c where
   it is told to. */
#ifndef FT_OUTCOME_TEST_AGENT_H
#define FT_OUTCOME_TEST_AGENT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "ft/outcome/log.h"
#include "ft/outcome/test/shared.h"

enum { SLOTS = 2, ZERO = 0, NAMED = 1, POINTS = 8 };

struct slot {
    pid_t pid;
    uint64_t outcome, closings, number;
};

/* Of memory that outlives the rank, what changes as it goes on. */
struct seen {
    uint64_t tail, done, closings, once, signals, forked, child, row;
    struct ft_outcome record;
};

struct points {
    /* options */
    struct point {
        long stop, store;
    } at[POINTS];      /* where it is killed, each incarnation once */
    int n;
    FILE *list;        /* of the points of the one that is not killed */
    long copy_at;      /* the first incarnation has a copy made from that stop on. 0: no */
    bool used;

    struct ft_outcome_log log;      /* the agent's own look at it */
    const struct ft_outcome *last;  /* record */
    struct seen seen;               /* at the last point */
    long stop, store;               /* where it is */
    long call;                      /* of the system, the last one */
    bool leaves;                    /* it has been made */
    bool watches;                   /* stores ... */
    const struct ft_outcome *watched; /* ... also into this record. NULL: none */
};

struct agent {
    /* options */
    uint64_t seed;
    long kills, max_us, max_calls, cut_us, mib;
    bool only_zero, lock_kills;
    const char *input, *peer;
    struct points points;

    struct shared *shared;
    struct ft_outcome_words *words;
    int memory, bell, life[2];
    pid_t rank, peer_pid;
    pid_t dead;            /* the one before, until the next one runs */
    int pidfd;
    struct slot slots[SLOTS];
    uint64_t number;       /* of the copy that is being made, 0: none is */
    uint64_t numbers;
    uint64_t asked;        /* copies that the rank has asked for by itself, and got */
    uint64_t start_ns, kill_ns, cut_ns;
    long calls_left;       /* until the kill, traced */
    int phase;
    bool traced, waking;
    /* counted */
    long *back;            /* which of these was counted last */
    uint64_t woken;        /* the copy, by its number */
    long killed, named, zero, cuts, torn, copies;   /* copies: that were killed */
};

/* agent.c */
uint64_t agent_random(struct agent *a);
void agent_kill(struct agent *a);
void agent_ask(struct agent *a);    /* for a copy */
void agent_look(struct agent *a);   /* whether there is one */

/* agent_says.c: option -L, false: it is no list; of a rank that was killed at one of its points; of one that hangs. */
bool agent_read_lock_kills(struct agent *a, const char *text);
void agent_say_point(struct agent *a);
void agent_tell_hang(struct agent *a);

/* kills.c: the next kill is drawn, of a rank that runs or is about to; a stop of one that is traced for it. */
void kills_arm(struct agent *a);
void kills_stop(struct agent *a, int status);

/* points.c: the same, for a rank that has just been started or is not let go yet. "12,7.2" is taken in, false: it is no list. */
void points_arm(struct agent *a);
void points_stop(struct agent *a, int status);
bool points_read(struct points *p, const char *text);

#endif
