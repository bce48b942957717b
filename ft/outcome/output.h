/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard output as it comes. What a rank prints goes through a pipe, where the C library and Python keep it until kilobytes are
   together; people want a line when it is printed, as at a terminal. So lines are what is buffered there: of the rank and of the
   processes that it starts, where their output is that pipe (FTMPI_OUTPUT, the inodes of both). A program that chooses a buffering for itself
   has its own. */
#ifndef FT_OUTCOME_OUTPUT_H
#define FT_OUTCOME_OUTPUT_H

#include <stdbool.h>

/* Before main. */
void ft_output_by_lines(void);

/* Python asks once, while it starts, whether its standard output is a terminal, and buffers lines then. It is told so then; a program
   that asks later hears what is true. */
bool ft_output_lines_wanted(int fd);

/* --tty: standard output and standard error pass for a terminal (FTMPI_TERMINAL, its columns and lines), whose size is filled in; size NULL:
   not asked for. They stay pipes: so each byte is printed once. */
struct winsize;
bool ft_output_is_terminal(int fd, struct winsize *size);

#endif
