/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of --app: each line holds the options, the program and the arguments of one context; "#" at the start of a word
   begins a comment, quotes and backslashes work as in a shell, "\" at the end joins the next line. */
#ifndef LAUNCHER_OPTIONS_APPFILE_H
#define LAUNCHER_OPTIONS_APPFILE_H

#include <stdio.h>

#include "launcher/options/options.h"

struct ft_appfile {
    struct ft_options *o;  /* keeps the words */
    const char *path;
    FILE *f;
    char *line;
    size_t room;
    unsigned number;
    char **words;          /* of the line read last, NULL at the end; o's */
    int nwords;
};

int ft_appfile_open(struct ft_appfile *a, struct ft_options *o, const char *path, struct ft_error *e);

/* 1: words are those of the next line that has some, *where names it; 0: no more; FT_EINVAL with a line. */
int ft_appfile_next(struct ft_appfile *a, const char **where, struct ft_error *e);

void ft_appfile_close(struct ft_appfile *a);

#endif
