/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts: where each rank can go on from, in all its streams (docs/internals/log.md, "Cuts and the
   released log"). A rank's cut is one of two banks of positions, and chosen as a whole by one word:
   the agent fills the bank that is not the cut, and then names it (struct ft_cut_words). Whoever is
   killed in the middle leaves the cut as it was. The keeper reads a bank and then looks at the name
   once more, since two cuts later the same bank is filled again.

   The agent's, one process at a time; reads are anybody's. */
#ifndef FT_SHM_CUT_H
#define FT_SHM_CUT_H

#include "ft/shm/region.h"

/* Rank has a snapshot at p that can be woken from now on, and will not go back before it. Before its
   earlier snapshot is discarded, while the later one exists. Nothing changes if the cut is after p.
   The keeper then releases what nobody needs any more: at once with ft_keeper_kick. */
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

/* Rank's cut in a stream: never of two cuts. Zeros: it has none, or had never been in that stream. */
struct ft_position ft_cut_in(const struct ft_region *r, uint32_t rank, uint32_t stream);

/* What of a stream's log rank needs from `at` on, or from its cut, is at this position or later: where it came in, if that was
   later. FT_POSITION_LEFT: it needs nothing. */
uint64_t ft_cut_need_from(const struct ft_region *r, uint32_t rank, uint32_t stream, struct ft_position at);
uint64_t ft_cut_need(const struct ft_region *r, uint32_t rank, uint32_t stream);

/* No rank goes back to what is below this position. */
uint64_t ft_cut_floor(const struct ft_region *r, uint32_t stream);

/* Its unit in stream 0. */
static inline uint64_t ft_cut_unit(const struct ft_region *r, uint32_t rank) { return ft_cut_in(r, rank, 0).unit; }

#endif
