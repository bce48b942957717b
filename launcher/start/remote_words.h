/* SPDX-License-Identifier: BSD-3-Clause */
/* What is called to start something on a host: ssh, srun, a command of the user's, or ftrun itself. */
#ifndef LAUNCHER_START_REMOTE_WORDS_H
#define LAUNCHER_START_REMOTE_WORDS_H

#include <limits.h>
#include <stdbool.h>

#include "ft/base/err.h"

struct ft_host;
struct ft_options;

struct ft_remote_words {
    const struct ft_options *options;
    char path[PATH_MAX];        /* of ftrun, here or there */
    char own[PATH_MAX];         /* here */
    char *command;              /* of exec:, cut into words */
    char quoted[2 * PATH_MAX];
    const char **words;         /* for one call; room for all */
};

/* path NULL: as options say. FT_ESYS, FT_ENOMEM with a line; ft_remote_words_close in any case. */
int ft_remote_words_open(struct ft_remote_words *w, const struct ft_options *options, const char *path, struct ft_error *e);

/* `ftrun mode` on the host; directly: as a child of ours. NULL at the end; valid until the next call. */
const char **ft_remote_words_make(struct ft_remote_words *w, const struct ft_host *host, const char *mode, bool directly);

/* What it has in its environment besides ours, or without it: as struct ft_child_config has it. */
char *const *ft_remote_words_env(const struct ft_remote_words *w);

void ft_remote_words_close(struct ft_remote_words *w);

#endif
