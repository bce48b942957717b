/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of locks.sh: threads whose order anybody can check by what they print.

   A chain is a number of steps, each by the thread that has a lock then. It is printed every 16 steps: its name, how many steps, by whom
   the last ones, and a hash of all steps so far. A replay in another order breaks it. */
#ifndef FT_OUTCOME_TEST_LOCKS_H
#define FT_OUTCOME_TEST_LOCKS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LOCKS_SHOWN = 16 };

struct chain {
    char name;           /* A to Z */
    unsigned steps;
    uint64_t hash;
    char who[LOCKS_SHOWN];
};

void locks_step(struct chain *c, unsigned thread);

/* The same rule: what the hash becomes. */
uint64_t locks_hash(uint64_t hash, unsigned thread, unsigned step);

/* A line: a name that does not begin with a capital, and a number. */
void locks_say(const char *name, long value);

/* Some computing, of a random length. */
void locks_work(unsigned *seed, unsigned most);
unsigned locks_random(unsigned *seed);

/* `run` in that many threads; the one that calls is thread 0. */
void locks_run(int threads, void *(*run)(void *thread));

struct locks_row {
    const char *name;
    void (*run)(void);
};

extern const struct locks_row locks_of_threads[], locks_of_openmp[], locks_of_cpp[], locks_of_torture[], locks_of_robust[];

/* 0: the chains in a file are whole. */
int locks_check(const char *path);

/* What a lock and unlock takes. */
void locks_cost(void);

#ifdef __cplusplus
}
#endif

#endif
