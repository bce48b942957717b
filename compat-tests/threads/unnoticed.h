/* SPDX-License-Identifier: BSD-3-Clause */
/* unnoticed: threads that wait, each in another way, again and again, and look whether something is as it would not be without snapshots: EINTR without
   a signal, a count that is short, a time-out that comes too early or much too late, a signal that is lost or comes twice. */
#ifndef COMPAT_TESTS_THREADS_UNNOTICED_H
#define COMPAT_TESTS_THREADS_UNNOTICED_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum { SHORT_MS = 25, LATE_MS = 4000, NS = 1000000000, MS = 1000000 };

struct kind {
    const char *name;
    void (*once)(void);
};
extern const struct kind unnoticed_times[], unnoticed_streams[], unnoticed_signals[], unnoticed_children[], unnoticed_numbers[];

/* The end of the program, unless it is so. */
#define must(is_so) unnoticed_must(is_so, __FILE__, __LINE__, #is_so)
void unnoticed_must(bool is_so, const char *file, int line, const char *what);

/* A wait of so long begins, and has ended: no more than `early` ms before it was to, and not much later. */
uint64_t unnoticed_begin(void);
void unnoticed_ended(uint64_t begin, long ms, long early);

struct timespec unnoticed_in(clockid_t clock, long ms);

/* A helper of this thread's runs until it is joined. */
void unnoticed_help(void *(*run)(void *arg), void *arg);
void unnoticed_helped(void);

#endif
