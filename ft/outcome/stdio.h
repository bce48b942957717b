/* SPDX-License-Identifier: BSD-3-Clause */
/* The C library's streams. */
#ifndef FT_OUTCOME_STDIO_H
#define FT_OUTCOME_STDIO_H

#include <stdbool.h>
#include <stdio.h>

/* At the start: streams reach the functions of this library that have the names of system calls. NULL: they do. Otherwise why
   that cannot be had. */
const char *ft_stdio_open(void);

/* fclose. counted: in a replay it is done when it was done before, as what flushes all streams. */
int ft_stdio_close(FILE *f, bool counted);

#endif
