/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors are values: 0, or one of these negative numbers. The shim alone turns them into MPI error
   classes; the text that goes with one is written by whoever finds it (struct ft_error). */
#ifndef FT_BASE_ERR_H
#define FT_BASE_ERR_H

enum ft_err {
    FT_OK = 0,
    FT_ENOMEM = -1,     /* out of memory */
    FT_ESYS = -2,       /* a system call failed */
    FT_EJOB = -3,       /* the job's shared memory cannot be used */
    FT_EMISMATCH = -4,  /* ranks called different collectives */
    FT_EDIVERGED = -5,  /* a restarted rank called, or contributed, something else than before */
    FT_EINVAL = -6,     /* invalid argument */
    FT_ESPACE = -7,     /* no room left for the log */
    FT_EDAMAGED = -8    /* a file is not what was written to it */
};

enum { FT_ERROR_TEXT = 512 };

/* One line for a person: what happened, to which rank, and what can be done. Never holds a newline. */
struct ft_error {
    char text[FT_ERROR_TEXT];
};

/* Formats the line into e (cut at its size) and returns err, so that `return ft_err_set(...)` reads well. */
int ft_err_set(struct ft_error *e, int err, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
