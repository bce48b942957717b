/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks call before they load a checkpoint: its part of the log is kept in the store, since each incarnation calls it again. */
#ifndef FT_PREFIX_H
#define FT_PREFIX_H

#include "ft/core/stream.h"

/* Rank 0, at the first load: copies the log up to here into the store, and says so in *kept: one more than where it ends; 0: not all of
   it is there any more, or there is no memory for it. Then a checkpoint is no cut for a rank that is restarted alone. Waits until it is
   committed. FT_EMISMATCH. */
int ft_prefix_keep(struct ft_stream *s, int models, _Atomic uint64_t *kept, struct ft_error *e);

/* A rank that is restarted and will load at unit `load`: what is below `end` comes out of the store. */
void ft_prefix_follow(struct ft_stream *s, int models, uint64_t end, uint64_t load);

/* It has loaded. */
void ft_prefix_leave(struct ft_stream *s);

/* Before each call: FT_EDIVERGED if this is where it had loaded. */
int ft_prefix_check(const struct ft_stream *s, const struct ft_sig *sig, uint64_t site, struct ft_error *e);

#endif
