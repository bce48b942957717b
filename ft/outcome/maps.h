/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that the program has mapped (DESIGN-ranks section 3). What is in such a mapping may change from outside, in a copy as well.

   Followed: a file of a disk, not changed for 2 s, that the program can only read there, or changes privately, and has not open for
   writing. The library holds it; if it is the same when a copy is woken, and where the log ends, the pages are what they were. Any other
   mapping closes the ways back, and forbids copies while it is there. */
#ifndef FT_OUTCOME_MAPS_H
#define FT_OUTCOME_MAPS_H

#include <stdbool.h>
#include <sys/stat.h>

/* There is one that is not followed. */
bool ft_maps_any(void);

/* There is one that is. */
bool ft_maps_followed(void);

/* This process is about to change the file. True: it has mapped it, and that is not followed from now on. */
bool ft_maps_change(const struct stat *file);

/* Each one that is followed is what it was. Else this does not return: the replay differs. */
void ft_maps_compare(void);

#endif
