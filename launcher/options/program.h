/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the program to run before anything is started, so that a wrong name costs one line and nothing else. */
#ifndef LAUNCHER_OPTIONS_PROGRAM_H
#define LAUNCHER_OPTIONS_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "ft/base/err.h"

enum { FT_CODE_NOT_EXECUTABLE = 126, FT_CODE_NOT_FOUND = 127 };

struct ft_context;
struct ft_elf;
struct ft_say;

/* A program that $PATH has, or a file here ("did you mean ./NAME?"). */
bool ft_program_exists(const char *name);

/* What the first n bytes of a file show, and its ELF: "is an empty file". NULL: nothing speaks against it. */
const char *ft_program_fault(const struct ft_elf *elf, const char *head, size_t n);

/* Says which variables are to be passed on (-x) and are not there. Over several hosts they are the controller's. */
void ft_program_tell_exports(const struct ft_context *c, const struct ft_say *say);

/* Looks a context's program up as execvp would in its directory; its path (always with a slash in it) is then filled.
   What ft_program_tell_exports does is done. any_mpi: also a program of MPICH's (--other-mpi).
   0, or ftrun's exit code (FT_CODE_NOT_FOUND, FT_CODE_NOT_EXECUTABLE, FT_CODE_USAGE for the directory) with one line. */
int ft_program_check(struct ft_context *c, bool any_mpi, const struct ft_say *say, struct ft_error *e);

/* The line and code for an exec of a program that was found and still failed with errno `error`. */
int ft_program_exec_failed(const struct ft_context *c, int error, struct ft_error *e);

#endif
