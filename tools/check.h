/* SPDX-License-Identifier: BSD-3-Clause */
/* ftmpi_info --check: what a program needs and does not get, said before it is started. */
#ifndef TOOLS_CHECK_H
#define TOOLS_CHECK_H

#include <stdbool.h>

/* Prints what can be seen in the program's file and in those of the libraries that the dynamic loader would give it under
   ftrun; nothing of the program runs. The exit code: 0 it gets all it needs, 1 it does not, 2 it cannot be looked at. */
int info_check(const char *program, bool parsable);

#endif
