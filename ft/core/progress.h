/* SPDX-License-Identifier: BSD-3-Clause */
/* How far an operation is that is under way: what its algorithm keeps between two steps. */
#ifndef FT_CORE_PROGRESS_H
#define FT_CORE_PROGRESS_H

#include "ft/core/nodes_op.h"
#include "ft/core/units.h"

/* Of the short way. */
struct ft_brief {
    uint64_t result;         /* bytes, ... */
    uint64_t position, end;  /* ... and where their record begins and ends */
    char *record;            /* NULL: this rank has not contributed */
    uint32_t come;           /* so many of those whom it waits for have come, in the order of short.c */
    uint32_t given_way;      /* how often this rank had given way when it had contributed */
};

union ft_progress {
    struct ft_brief brief;
    struct ft_units units;
    struct ft_nodes_op nodes;
};

#endif
