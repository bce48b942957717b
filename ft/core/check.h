/* SPDX-License-Identifier: BSD-3-Clause */
/* --check-replay: what a rank contributes is hashed before anybody sees it, and an incarnation that makes a call again
   must contribute the same (DESIGN invariant 6). Off, it costs one test of a pointer per call. */
#ifndef FT_CORE_CHECK_H
#define FT_CORE_CHECK_H

#include "ft/core/op.h"

/* Of the operation in progress (c->s->checks is not NULL). 0, or FT_EDIVERGED with a line: other data than an earlier
   incarnation's. An operation whose unit is past the end of the array (struct ft_params, check_units) is not looked at. */
int ft_check_contribution(const struct ft_coll *c, struct ft_error *e);

#endif
