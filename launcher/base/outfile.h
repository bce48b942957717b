/* SPDX-License-Identifier: BSD-3-Clause */
/* A file that is opened when the job starts, so that a wrong name is known then, and written when it ends, by whichever launcher
   process is there. */
#ifndef LAUNCHER_BASE_OUTFILE_H
#define LAUNCHER_BASE_OUTFILE_H

#include "ft/base/err.h"

/* A descriptor, empty and close-on-exec; option is for the line. FT_ESYS. */
int ft_outfile_open(const char *option, const char *path, struct ft_error *e);

/* Before it is written: a launcher process that was killed while it wrote has left a part. What a pipe or a device was
   given cannot be taken back. */
void ft_outfile_rewind(int fd);

#endif
