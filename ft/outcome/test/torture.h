/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests' rank and its peer have in common: random numbers, and a hash of all that they are told. */
#ifndef FT_OUTCOME_TEST_TORTURE_H
#define FT_OUTCOME_TEST_TORTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BUFFER = 1 << 20, NAME = 32 };

struct torture {
    uint64_t seed, hash;
    int message;      /* the rank is before this one */
    bool traced;
    int root, lock;   /* descriptors of the rank: of its directory, of the file that it locks */
    char buffer[BUFFER];
};

extern struct torture torture;

uint64_t torture_random(void);
int torture_pick(int n);             /* 0 to n - 1 */
void torture_fill(size_t n);         /* the buffer, with random bytes */
void torture_mix(const void *data, size_t n);
void torture_mix_number(long x);
long torture_say(const char *what, long result);   /* a call's outcome */

void torture_begin(void);
void torture_operation(void);        /* any one */

#endif
