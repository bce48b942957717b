/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FT_LAUNCHER_PROBE_H
#define FT_LAUNCHER_PROBE_H

#include <stdbool.h>
#include <stddef.h>

/* Us in which one processor hands 128 KiB to another one, and they are logged: read where they are by the other one (process_vm_readv(2)), or through shared slots. The least of some rounds,
   and the mean of that of bytes just written and of the same bytes again. False: it could not be tried (one processor, no such call, or somebody else needs the
   processors). Some ms. */
struct ft_probe {
    double single_us, slots_us;
};
bool ft_probe_take(struct ft_probe *p);

/* Whether ranks of one user may read each other's memory, as far as can be seen before there are any. */
bool ft_probe_allowed(void);

/* Whether two ranks are to read each other's memory: they may, and it is faster here. */
bool ft_probe_single(void);

#endif
