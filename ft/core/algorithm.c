/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/core/algorithm.h"

static const struct ft_algorithm *const algorithms[FT_WAYS] = {
    [FT_WAY_SHORT] = &ft_short,
    [FT_WAY_CHUNKED] = &ft_chunked,
    [FT_WAY_REDUNDANT] = &ft_redundant,
    [FT_WAY_PIPELINED_BCAST] = &ft_pipelined_bcast,
    [FT_WAY_PIPELINED_REDUCE] = &ft_pipelined_reduce,
    [FT_WAY_LOG_BCAST] = &ft_log_bcast,
    [FT_WAY_LOG_GATHER] = &ft_log_gather,
};

FT_HOT const struct ft_algorithm *ft_algorithm_plan(struct ft_plan *plan, const struct ft_params *p, uint32_t n, const struct ft_sig *sig, uint64_t bytes,
                                                    uint64_t total)
{
    enum ft_way way = ft_plan_choose(p, n, sig, bytes, total);
    const struct ft_algorithm *a = algorithms[way];

    if (way == FT_WAY_SHORT) {
        plan->gathered = false;
        plan->segment = bytes;
        plan->units = 1;
        return a;
    }
    plan->gathered = way == FT_WAY_LOG_GATHER && (sig->call == FT_CALL_REDUCE || sig->call == FT_CALL_ALLREDUCE);
    plan->segment = a->segment(p, sig, bytes);
    plan->units = ft_div_up(bytes, plan->segment);
    plan->turns = ft_plan_turns(p, plan->segment);
    return a;
}
