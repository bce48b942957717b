/* SPDX-License-Identifier: BSD-3-Clause */
/* --output-filename DIR[:nocopy]: the output of each rank in files of its own as well, or (nocopy) instead: DIR/rank.R/stdout
   and stderr. R has as many digits as the last rank, and :nojobid is taken and changes nothing: as Open MPI 4 does, but for
   its directory 1 below DIR. What ftrun itself says goes to DIR/ftrun.stderr as well. */
#ifndef LAUNCHER_STDIO_OUTPUT_DIR_H
#define LAUNCHER_STDIO_OUTPUT_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ft/base/err.h"

struct ft_output_dir {
    const char *text;        /* the option's argument */
    int len;                 /* of it is the directory */
    int digits;              /* of a rank */
    uint32_t nranks;
    bool merged;             /* no stderr */
    bool instead;            /* nocopy */
};

/* FT_EINVAL with a line. */
int ft_output_dir_read(struct ft_output_dir *d, const char *text, uint32_t nranks, bool merged, struct ft_error *e);

/* Makes the directories and empty files. FT_EINVAL with a line. */
int ft_output_dir_make(const struct ft_output_dir *d, struct ft_error *e);

/* Writes to a rank's file at an offset (which 0 stdout, 1 stderr): the same bytes may be written there again. 0 or
   FT_ESYS with a line. */
int ft_output_dir_write(const struct ft_output_dir *d, uint32_t rank, int which, uint64_t at, const void *data, size_t len,
                        struct ft_error *e);

/* Goes on with ftrun's own file, whoever else does. What cannot be written there is on its stderr all the same. */
void ft_output_dir_say(const struct ft_output_dir *d, const char *line, size_t len);

#endif
