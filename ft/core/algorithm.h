/* SPDX-License-Identifier: BSD-3-Clause */
/* The ways of doing an operation on one node, one file each, which says when it is taken, why,
   and what it costs. Which one is taken is the table in plan.c. */
#ifndef FT_CORE_ALGORITHM_H
#define FT_CORE_ALGORITHM_H

#include <stdint.h>

#include "ft/base/err.h"
#include "ft/core/plan.h"

struct ft_await;
struct ft_coll;

struct ft_algorithm {
    /* Bytes of a contribution per unit. */
    uint64_t (*segment)(const struct ft_params *p, const struct ft_sig *sig, uint64_t bytes);
    /* The operation has been begun (ft_stream_begin) and planned: fills c->progress. 0 or
       FT_ENOMEM: then it has not been started. */
    int (*start)(struct ft_coll *c, struct ft_error *e);
    /* Does all that can be done now, and never waits. 1: the operation is over, ft_stream_end
       included; 0: nothing more can be done before *a; an error as in ft.h: it is over, too. */
    int (*step)(struct ft_coll *c, struct ft_await *a, struct ft_error *e);
    /* Waits for *a, in a way of its own; NULL: as for anything else of the stream's. 0 or an error. */
    int (*await)(struct ft_coll *c, const struct ft_await *a, struct ft_error *e);
};

extern const struct ft_algorithm ft_short, ft_chunked, ft_redundant, ft_pipelined_bcast, ft_pipelined_reduce, ft_log_bcast, ft_log_gather,
    ft_between_nodes;

/* The one that does an operation on one node, and how that is cut. Arguments as of
   ft_plan_choose. */
const struct ft_algorithm *ft_algorithm_plan(struct ft_plan *plan, const struct ft_params *p, uint32_t n, const struct ft_sig *sig, uint64_t bytes,
                                             uint64_t total);

#endif
