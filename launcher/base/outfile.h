/* SPDX-License-Identifier: BSD-3-Clause */
/* A file that a job writes when it ends, by whichever launcher process is there: beside the place where it belongs, and
   renamed, so that whoever looks finds the older one or all of the new one. That this can be done is known when the job starts. */
#ifndef LAUNCHER_BASE_OUTFILE_H
#define LAUNCHER_BASE_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "ft/base/err.h"

/* All zero but for fd: nothing is wanted. May be in memory that processes share, if it was opened before they were forked. */
struct ft_outfile {
    int fd;              /* of a pipe, a device, or what ftrun's own output goes to, and written as it is; -1: it is a file */
    char *path, *beside; /* of a file, absolute; NULL: none */
};

/* option is for the line. FT_ESYS: it cannot be written there. */
int ft_outfile_open(struct ft_outfile *f, const char *option, const char *path, struct ft_error *e);

/* Two names of one file, also of one that is not there yet. Of pipes and devices: false. */
bool ft_outfile_same(const char *a, const char *b);

bool ft_outfile_wanted(const struct ft_outfile *f);

/* A file, which may be written again and again. */
bool ft_outfile_is_file(const struct ft_outfile *f);

/* This is all that it holds. 0, or -1 with errno: the older one is there as it was. */
int ft_outfile_put(const struct ft_outfile *f, const char *data, size_t len);

void ft_outfile_close(struct ft_outfile *f);

#endif
