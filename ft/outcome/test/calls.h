/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank of points.sh: each row of calls.table has a function that makes its calls. */
#ifndef FT_OUTCOME_TEST_CALLS_H
#define FT_OUTCOME_TEST_CALLS_H

#include <stdbool.h>
#include <stddef.h>

struct calls_row {
    const char *name;      /* as in calls.table */
    void (*make)(void);
    bool closes;           /* the ways back: made only when it is asked for */
};

/* Up to a name that is NULL. */
extern const struct calls_row calls_of_files[], calls_of_names[], calls_of_streams[], calls_of_process[], calls_of_sockets[];

#define SAY(call) calls_say(#call, (long)(call))
#define TELL(call, value) (SAY(call), calls_told(&(value), sizeof(value)))
long calls_say(const char *what, long result);        /* one that is the same in each run */
void calls_say_bytes(const char *what, const void *bytes, long n);
void calls_told(const void *value, size_t n);         /* one that is not, but stays what it was */
int calls_left(const char *directory, const char *out);   /* prints what is in both, and empties the directory. Exit code */
int calls_file(const char *name, const char *text);   /* a new one, open to be read and written, at its beginning */

#endif
