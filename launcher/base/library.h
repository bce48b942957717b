/* SPDX-License-Identifier: BSD-3-Clause */
/* Where our own libraries are: beside this binary in a build tree, else in the installation it belongs to. */
#ifndef LAUNCHER_BASE_LIBRARY_H
#define LAUNCHER_BASE_LIBRARY_H

#include <stddef.h>

#include "ft/base/err.h"

/* Every rank's LD_LIBRARY_PATH begins with this directory; there are no libraries in it but libmpi.so.40, ours under Open
   MPI's name, and librabit.so. FT_EINVAL with a line if it is not there or cannot be expressed. */
int ft_library_compat(char *dir, size_t size, struct ft_error *e);

/* --rabit: "libftmpi.so.0:libftmpi_rabit.so" with full paths, to preload so that a stock libxgboost finds our engine; and the
   directory of ftmpi_xgboost.py, for PYTHONPATH. FT_EINVAL with a line likewise. */
int ft_library_rabit(char *preload, size_t size, char *python, size_t python_size, struct ft_error *e);

#endif
