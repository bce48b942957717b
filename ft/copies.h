/* SPDX-License-Identifier: BSD-3-Clause */
/* A collective of data with gaps as one of contiguous copies: for what works in the program's memory
   itself. A user's function sees elements side by side, and a hash and the bootstrap cache have them so. */
#ifndef FT_COPIES_H
#define FT_COPIES_H

#include "ft/core/op.h"

typedef int ft_copies_run(struct ft_coll *c, const struct ft_sig *sig, uint64_t total, uint64_t site, struct ft_error *e);

/* What `run` returns of the same call with copies; after 0 what it received is in c->recv. FT_ENOMEM. */
int ft_copies_use(struct ft_coll *c, const struct ft_sig *sig, uint64_t total, uint64_t site, ft_copies_run *run, struct ft_error *e);

#endif
