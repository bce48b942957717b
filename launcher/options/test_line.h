/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests: a command line as one string. */
#ifndef LAUNCHER_OPTIONS_TEST_LINE_H
#define LAUNCHER_OPTIONS_TEST_LINE_H

#include <string.h>

#include "launcher/options/parse.h"

/* Words are separated by single spaces. What o points to is good until the next call. */
static inline int parse_line(struct ft_options *o, const char *line, struct ft_error *e)
{
    static char text[512];
    static char *argv[32];
    int argc = 0;

    strncpy(text, line, sizeof text - 1);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    e->text[0] = 0;
    return ft_options_parse(o, argc, argv, e);
}

#endif
