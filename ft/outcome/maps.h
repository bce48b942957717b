/* SPDX-License-Identifier: BSD-3-Clause */
/* Mappings of files that the program has made. What is in them may change from outside, in a copy as well. */
#ifndef FT_OUTCOME_MAPS_H
#define FT_OUTCOME_MAPS_H

#include <stdbool.h>

/* There is one. */
bool ft_maps_any(void);

#endif
