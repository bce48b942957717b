/* SPDX-License-Identifier: BSD-3-Clause */
/* From a call's arguments to an operation on a stream: ft.h's collectives, and what they are made of. */
#ifndef FT_COLLECTIVE_H
#define FT_COLLECTIVE_H

#include "ft/core/op.h"

/* Of one rank, with nobody to agree with. */
static inline bool ft_collective_is_lone(const struct ft_stream *s) { return s->apart && !s->nodes; }

/* Every collective: takes a snapshot first if one is wanted, and asks the bootstrap cache if that has a say. total: bytes of the whole
   result. Errors as in ft.h. */
int ft_collective_run(struct ft_coll *c, const struct ft_sig *sig, uint64_t total, uint64_t site, struct ft_error *e);

/* Its last part, a ft_perform (ft/core/cache.h): sign, check, plan, run. */
int ft_collective_perform(struct ft_coll *c, const struct ft_sig *sig, uint64_t total, uint64_t site, struct ft_error *e);

/* One without data. */
int ft_collective_rendezvous(struct ft_stream *s, enum ft_call call, uint64_t site, struct ft_error *e);

#endif
