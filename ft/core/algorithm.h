/* SPDX-License-Identifier: BSD-3-Clause */
/* The ways of doing an operation on one node, one file each, which says when it is taken, why,
   and what it costs. Which one is taken is the table in plan.c. */
#ifndef FT_CORE_ALGORITHM_H
#define FT_CORE_ALGORITHM_H

#include <stdint.h>

#include "ft/base/err.h"
#include "ft/core/plan.h"

struct ft_coll;

struct ft_algorithm {
    /* Bytes of a contribution per unit. */
    uint64_t (*segment)(const struct ft_params *p, const struct ft_sig *sig, uint64_t bytes);
    /* The operation has been begun (ft_stream_begin) and planned; runs it to its end,
       ft_stream_end included. Errors as in ft.h. */
    int (*run)(struct ft_coll *c, struct ft_error *e);
};

extern const struct ft_algorithm ft_short, ft_chunked, ft_redundant, ft_pipelined_bcast, ft_pipelined_reduce, ft_log_bcast, ft_log_gather;

/* The one that does an operation on one node, and how that is cut. Arguments as of
   ft_plan_choose. */
const struct ft_algorithm *ft_algorithm_plan(struct ft_plan *plan, const struct ft_params *p, const struct ft_sig *sig, uint64_t bytes, uint64_t total);

#endif
