/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FT_LAUNCHER_PROBE_H
#define FT_LAUNCHER_PROBE_H

#include <stdbool.h>
#include <stddef.h>

/* Us that two processors take, with a log: for 128 KiB that one hands to the other one, which reads them where they are (process_vm_readv(2)), or out of shared slots; and for
   the sum of 128 KiB of each for both, of which each makes a half, or each makes all of it. The least of some rounds, and the mean of that of bytes just written and of the same bytes
   again. False: it could not be tried (one processor, no such call, or somebody else needs the processors). 3 ms. */
struct ft_probe {
    double single_us, slots_us, halved_us, doubled_us;
};
bool ft_probe_take(struct ft_probe *p);

/* Whether ranks of one user may read each other's memory, as far as can be seen before there are any. */
bool ft_probe_allowed(void);

#endif
