/* SPDX-License-Identifier: BSD-3-Clause */
/* What a job runs, in a few words: a checkpoint is only for a job that runs the same. */
#ifndef LAUNCHER_OPTIONS_IDENTITY_H
#define LAUNCHER_OPTIONS_IDENTITY_H

#include <stddef.h>

struct ft_options;

/* "train", for python3 and its like "python3 train.py"; of several programs, each with its ranks: "2 a : 3 b". File names without
   directories, no other arguments: a job may be resumed with more rounds. Cut, with a hash of the whole, where it does not fit;
   never empty, no control characters. Returns text. */
char *ft_identity(const struct ft_options *o, char *text, size_t size);

#endif
