/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of outcome_conditions (conditions.c). */
#ifndef FT_OUTCOME_TEST_CONDITIONS_H
#define FT_OUTCOME_TEST_CONDITIONS_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

/* What all have: tokens that threads wait for; so many are about to wait, or do; so many have had one. */
extern pthread_mutex_t mutex;
extern pthread_cond_t condition;
extern int tokens, sleepers, woken;

/* A line: what should be so, and whether it is. */
void say(const char *what, bool good);

/* This process's conditions are. */
bool are_ours(void);

struct timespec in_ms(clockid_t clock, long ms);
struct timespec long_time(void);
bool is_over(clockid_t clock, const struct timespec *t);

/* A thread's value. One that does not end is a failure of all. */
void *joined(pthread_t thread);

/* With the mutex: until so many threads are about to wait, or do. */
void await_sleepers(int n);

/* A thread that waits for a token. */
void *take_token(void *arg);

/* Mutexes of other kinds. */
void run_robust(void);
void run_inheriting(bool ours);
void run_put_back(void); /* only where conditions are ours */

/* Other processes: a child; one that is no rank, which calls be_other. */
void run_forked(void);
void run_shared(const char *program);
void be_other(const char *file);

/* Other names of the functions. */
void run_c11(void);
void run_old(void);

/* What they take. */
void cost(void);

#endif
