/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/core/plan.h"

/* A bcast, and what is relayed, is read while it is written, so in pieces: not too many, since each costs the news of it, some 0.1 us, and a record's head
   (docs/design.md, section 10). The more ranks read, the longer a piece has to stay in the cache. */
enum { PIECES = 4, LEAST_PIECE = 4096, MOST_RELAYED = 64 << 10, MOST_READ = 512 << 10, MOST_PIECE = 32 << 10 };

static bool reduces(const struct ft_sig *sig)
{
    return sig->call == FT_CALL_ALLREDUCE || sig->call == FT_CALL_REDUCE;
}

static bool gathers(const struct ft_sig *sig)
{
    return sig->call == FT_CALL_ALLGATHER || sig->call == FT_CALL_ALLGATHERV;
}

FT_HOT void ft_plan_make(struct ft_plan *plan, const struct ft_params *p, uint32_t nranks, const struct ft_sig *sig,
                  uint64_t bytes, uint64_t total)
{
    plan->gathered = plan->swapped = plan->doubled = false;
    if (ft_params_short(p, sig, bytes, total)) {
        plan->way = FT_WAY_SHORT;
        plan->units = 1;
        plan->segment = bytes;
        return;
    }
    plan->gathered = reduces(sig) && sig->elem > p->slot_bytes;
    if (reduces(sig) && !plan->gathered) {
        plan->way = FT_WAY_REDUCE;
        plan->doubled = ft_params_doubles(p, sig, bytes);
        plan->segment = p->slot_bytes / sig->elem * sig->elem;
    } else {
        plan->way = FT_WAY_DIRECT;
        plan->segment = p->slot_bytes;
        if (gathers(sig) || plan->gathered)  /* each rank's slice of a unit */
            plan->segment = ft_max(FT_LINE, ft_align(p->gather_bytes / nranks, FT_LINE));
        plan->swapped = ft_params_swaps(p, sig, bytes);
        if (plan->swapped)
            plan->segment = ft_min(plan->segment, p->slot_room);
    }
    if (sig->call == FT_CALL_BCAST || ft_params_relays(p, sig)) {
        uint64_t piece = ft_max(ft_align(bytes / PIECES, FT_LINE), LEAST_PIECE);

        if (plan->way == FT_WAY_REDUCE)
            piece = ft_max(ft_min(piece, MOST_RELAYED) / sig->elem, 1) * sig->elem;
        plan->segment = ft_min(plan->segment, piece);
    }
    if (sig->call == FT_CALL_BCAST && !ft_params_relays(p, sig))
        plan->segment = ft_min(plan->segment, ft_max(ft_align(MOST_READ / nranks, FT_LINE), MOST_PIECE));
    plan->units = ft_div_up(bytes, plan->segment);
    plan->turns = ft_plan_turns(p, plan->segment);
}

void ft_plan_chunk(uint64_t bytes, uint32_t elem, uint32_t n, uint32_t r, uint64_t *from, uint64_t *to)
{
    bool by_lines = elem <= FT_LINE && (elem & (elem - 1)) == 0;
    uint64_t grain = by_lines ? FT_LINE : elem, grains = by_lines ? ft_div_up(bytes, FT_LINE) : ft_div_up(bytes, elem);
    uint64_t per = grains <= 1 ? grain : ft_div_up(grains, n) * grain; /* no division for the smallest, of which there are the most */

    *from = ft_min(bytes, r * per);
    *to = ft_min(bytes, *from + per);
}
