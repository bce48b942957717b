/* SPDX-License-Identifier: BSD-3-Clause */
/* --output-filename of a job on several hosts: the controller writes the files of all ranks, on its own host and as it gets what they print, so a
   lost host takes nothing of them along, and what its replacement prints again is not written again (merge.h). */
#ifndef LAUNCHER_CONTROLLER_FILES_H
#define LAUNCHER_CONTROLLER_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ft/base/err.h"

struct ft_options;
struct ft_say;
struct ft_files;

/* Makes directories and empty files. *out is NULL if none are wanted; it may be in all that follows. say stays the caller's: a file that cannot be
   written is told, once in the job. FT_EINVAL, FT_ESYS or FT_ENOMEM with a line. */
int ft_files_new(struct ft_files **out, const struct ft_options *o, const struct ft_say *say, struct ft_error *e);

/* What ranks print goes there only (nocopy). */
bool ft_files_instead(const struct ft_files *f);

/* Goes on with a rank's file (stream 0 stdout, 1 stderr). */
void ft_files_append(struct ft_files *f, uint32_t rank, int stream, const char *data, size_t len);

/* A file could not be written. */
bool ft_files_failed(const struct ft_files *f);

void ft_files_free(struct ft_files *f);

#endif
