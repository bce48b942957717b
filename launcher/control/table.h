/* SPDX-License-Identifier: BSD-3-Clause */
/* Text for a terminal of so many columns; 0: it is none, and nothing is broken into lines. */
#ifndef LAUNCHER_CONTROL_TABLE_H
#define LAUNCHER_CONTROL_TABLE_H

#include <stddef.h>
#include <stdio.h>

enum { FT_TABLE_TEXT = 256, FT_TABLE_COLUMNS = 5 };

struct ft_table_row {
    char cells[FT_TABLE_COLUMNS][FT_TABLE_TEXT];
};

/* Under their headings, as wide as need be; where the terminal is narrower the widest cells go on in the next line. Row i is row(arg, i). */
void ft_table_print(FILE *to, const char *const heads[FT_TABLE_COLUMNS], size_t nrows, const struct ft_table_row *(*row)(const void *arg, size_t i),
                    const void *arg, size_t columns);

/* A line, which goes on in the next one, further to the right, where the terminal ends. */
void ft_table_line(FILE *to, const char *line, size_t columns);

/* The terminal that a descriptor is: its columns and lines; 0: it is none. COLUMNS goes before both. */
void ft_table_terminal(int fd, size_t *columns, size_t *lines);

#endif
