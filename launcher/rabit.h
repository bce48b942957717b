/* SPDX-License-Identifier: BSD-3-Clause */
/* --rabit: which libraries to preload so that a stock libxgboost finds our engine. */
#ifndef LAUNCHER_RABIT_H
#define LAUNCHER_RABIT_H

#include <stddef.h>

#include "ft/base/err.h"

/* "libftmpi.so.0:libftmpi_rabit.so" with full paths: beside this binary in a build tree, else in the installation it
   belongs to. FT_EINVAL with a line if they are not there. */
int ft_rabit_preload(char *text, size_t size, struct ft_error *e);

#endif
