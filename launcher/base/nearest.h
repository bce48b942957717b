/* SPDX-License-Identifier: BSD-3-Clause */
/* What did the user mean? */
#ifndef LAUNCHER_BASE_NEAREST_H
#define LAUNCHER_BASE_NEAREST_H

#include <stddef.h>

/* Edit distance: characters to change, add, take away or swap with the next one between a and b. Beyond 64 bytes names are far away. */
size_t ft_nearest_distance(const char *a, size_t na, const char *b, size_t nb);

#endif
