/* SPDX-License-Identifier: BSD-3-Clause */
/* The C library's streams. */
#ifndef FT_OUTCOME_STDIO_H
#define FT_OUTCOME_STDIO_H

#include <stdio.h>

/* At the start: streams reach the functions of this library that have the names of system calls. NULL: they do. Otherwise why
   that cannot be had. */
const char *ft_stdio_open(void);

#endif
