/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LAUNCHER_AGENT_PROBE_H
#define LAUNCHER_AGENT_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#include "ft/shm/layout.h"
#include "launcher/options/options.h"

/* Us that two processors take, with a log: for 128 KiB that one hands to the other one, which reads them where they are (process_vm_readv(2)), or out of shared slots; and for
   the sum of 128 KiB of each for both, of which each makes a half, or each makes all of it. Of more than two ranks: for 128 KiB that one writes into the log, through its cache or past
   it, and both read there. The least of some rounds, and the mean of that of bytes just written and of the same bytes again. The others are 0. False: it could not be tried (one processor,
   no such call, or somebody else needs the processors). 3 ms. */
struct ft_probe {
    double single_us, slots_us, halved_us, doubled_us;
    double cached_us, past_us;
};
bool ft_probe_take(struct ft_probe *p, uint32_t nranks);

/* Of ranks on one host: the ways that are faster here, by such a trial, or that are asked for. False: one was to be tried, and could not be. */
bool ft_probe_choose(struct ft_params *params, enum ft_single single_copy, enum ft_allreduce allreduce);

#endif
