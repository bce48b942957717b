/* SPDX-License-Identifier: BSD-3-Clause */
/* Where our own libraries are: beside this binary in a build tree, else in the installation it belongs to. */
#ifndef LAUNCHER_BASE_LIBRARY_H
#define LAUNCHER_BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "ft/base/err.h"

/* Every rank's LD_LIBRARY_PATH begins with this directory; there are no libraries in it but libmpi.so.40, ours under Open
   MPI's name, librabit.so and libftmpi_rank.so. FT_EINVAL with a line if it is not there or cannot be expressed. */
int ft_library_compat(char *dir, size_t size, struct ft_error *e);

/* Whether that can be. Not in a build for sanitizers, whose runtime must come first in a process. */
bool ft_library_records(void);

/* "libftmpi_rank.so", with its full path if LD_PRELOAD can express that, to preload in every rank: it records what the rank does, and makes its snapshots. */
int ft_library_rank(char *preload, size_t size, struct ft_error *e);

/* --rabit: "libftmpi.so.0:libftmpi_rabit.so" with full paths, to preload so that a stock libxgboost finds our engine; and the
   directory of ftmpi_xgboost.py, for PYTHONPATH. FT_EINVAL with a line likewise. */
int ft_library_rabit(char *preload, size_t size, char *python, size_t python_size, struct ft_error *e);

#endif
