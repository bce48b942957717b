/* SPDX-License-Identifier: BSD-3-Clause */
/* ftrun --tune: which way bytes go faster between two processors of this host. No job does this:
   the same job takes the same way each time, by the host's topology and by what the user has
   set, and this prints what may be set. */
#ifndef LAUNCHER_TUNE_TUNE_H
#define LAUNCHER_TUNE_TUNE_H

#include <stdbool.h>

/* Microseconds for 128 KiB of 4-byte integers, with a log: the mean of the least for bytes just
   written and of the least for the same bytes again. */
struct ft_tune {
    double slots_cached_us, slots_past_us;      /* one hands them to the other in shared slots, written through its cache, or past it */
    double written_cached_us, written_past_us;  /* one writes them into the log, where both read them */
    double halved_us, doubled_us;               /* the sum of both's: each makes a half, or each makes all of it */
};

/* False: it could not be tried: one processor, or somebody else needs them. 3 ms; the calling
   thread is where it was afterwards. */
bool ft_tune_take(struct ft_tune *t);

/* Prints settings for ftmpi.conf. The exit code. */
int ft_tune_run(void);

#endif
