/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the program to run before anything is started, so that a wrong name costs one line and nothing else. */
#ifndef LAUNCHER_PROGRAM_H
#define LAUNCHER_PROGRAM_H

#include <stddef.h>

#include "ft/base/err.h"

enum { FT_CODE_NOT_EXECUTABLE = 126, FT_CODE_NOT_FOUND = 127 };

/* Looks name up as execvp would in directory wdir (NULL: here). Fills path (always with a slash in it) and returns
   0, or FT_CODE_NOT_FOUND or FT_CODE_NOT_EXECUTABLE with one line. */
int ft_program_find(const char *name, const char *wdir, char *path, size_t size, struct ft_error *e);

/* The line and code for an exec of a program that was found and still failed with errno `error`. */
int ft_program_exec_failed(const char *path, int error, struct ft_error *e);

#endif
