/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent of the tests, in parts: agent.c runs the rank and has copies made and woken, kills.c kills it by chance. */
#ifndef FT_OUTCOME_TEST_AGENT_H
#define FT_OUTCOME_TEST_AGENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ft/outcome/log.h"
#include "ft/outcome/test/shared.h"

enum { SLOTS = 2, ZERO = 0, NAMED = 1 };

struct slot {
    pid_t pid;
    uint64_t outcome, closings;
};

struct agent {
    /* options */
    uint64_t seed;
    long kills, max_us, max_calls, cut_us, mib;
    bool only_zero;
    const char *input, *peer;

    struct shared *shared;
    struct ft_outcome_words *words;
    int memory, bell, life[2];
    pid_t rank, peer_pid;
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
    long killed, named, zero, cuts, torn;
};

/* agent.c */
uint64_t agent_random(struct agent *a);
void agent_kill(struct agent *a);

/* kills.c: the next kill is drawn, of a rank that runs or is about to; a stop of one that is traced for it. */
void kills_arm(struct agent *a);
void kills_stop(struct agent *a, int status);

#endif
