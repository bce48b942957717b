/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts: where each rank can go on from, in all its streams (docs/internals/log.md, "Cuts and the
   released log"). Of each stream one position, moved one after the other: each stream is released by
   its own, so nobody reads two that belong together (docs/models.md, "Cuts").

   The agent's, one process at a time; reads are anybody's. */
#ifndef FT_SHM_CUT_H
#define FT_SHM_CUT_H

#include "ft/shm/region.h"

/* Rank's snapshot at p is the one to wake from now on, and no earlier one is. Nothing changes if the cut
   is after p. The keeper then releases what nobody needs any more: at once with ft_keeper_kick. */
void ft_cut_register(const struct ft_region *r, uint32_t rank, const struct ft_positions *p);

/* In some stream rank's cut is after p: a snapshot or a checkpoint there is of no use to it. Asked before that becomes what the rank
   goes back to. */
bool ft_cut_is_after(const struct ft_region *r, uint32_t rank, const struct ft_positions *p);

/* Rank has no snapshot any more and lives: it is to start from the beginning when it dies, or to load its checkpoint
   (ft_versions_loadable), if the log is all there from then on and it is not still on its way there; else nothing changes. */
void ft_cut_unregister(const struct ft_region *r, uint32_t rank);

/* Rank is dead and reaped, and its snapshot is to be woken: is the log all there from its cut on? Before ft_region_start_rank. True
   is final: nothing of that is forgotten (FT_FULL_FORGET) before the woken one has left it behind. False is, too: the snapshot is
   of no use any more, the rank can only start over with all the others (ft_region_reset). */
bool ft_cut_reaches(const struct ft_region *r, uint32_t rank);

/* Rank is dead and reaped, has no snapshot that can be woken, and is to start from the beginning, and perhaps to load its checkpoint: its
   cut is that then, or the start; and as ft_cut_reaches. Whoever restarts a rank from the beginning asks this, not ft_cut_whole: another rank's cut may advance
   meanwhile, or the log reach its limit. */
bool ft_cut_withdraw(const struct ft_region *r, uint32_t rank);

/* What rank's next incarnation needs is held for it, as far as it is there: part of ft_region_start_rank. */
void ft_cut_hold(const struct ft_region *r, uint32_t rank);

/* The log is all there from rank's cut on, at this moment. */
bool ft_cut_holds(const struct ft_region *r, uint32_t rank);

/* Nothing has been released: a start from the beginning is possible at this moment. */
bool ft_cut_whole(const struct ft_region *r);

/* What of a stream's log rank needs from a cut at `position` on, or from its own, is at this position or later: where it first
   came in, if that was later. FT_CUT_NOWHERE: it was never in that stream, and comes in where the log has come to at the earliest. */
#define FT_CUT_NOWHERE UINT64_MAX
uint64_t ft_cut_need_from(const struct ft_region *r, uint32_t rank, uint32_t stream, uint64_t position);
uint64_t ft_cut_need(const struct ft_region *r, uint32_t rank, uint32_t stream);

/* No rank goes back to what is below this position. */
uint64_t ft_cut_floor(const struct ft_region *r, uint32_t stream);

/* The unit of rank's cut in stream 0; 0: it has none. */
uint64_t ft_cut_unit(const struct ft_region *r, uint32_t rank);

#endif
