/* SPDX-License-Identifier: BSD-3-Clause */
/* What the controller knows for its report (report.h). In shared memory: a successor goes on with it, at the same place. */
#ifndef LAUNCHER_CONTROLLER_REPORT_STATE_H
#define LAUNCHER_CONTROLLER_REPORT_STATE_H

#include <stdatomic.h>

#include "launcher/options/map.h"
#include "launcher/report/report.h"

struct ft_report_sums {
    uint64_t logged, released, spilled, peak_log, peak_memory;
};

/* What the present incarnation of a node has said. */
struct ft_report_life {
    uint32_t host;
    bool heard_of;              /* skew is known */
    bool lost, ranks_lost;      /* its host is, its ranks are, and that is entered: who succeeds another process may say it again */
    int64_t skew_ns;            /* from its clock to ours, and the way here is too much in it */
    uint64_t dead_ns;           /* its ranks have been since then, as far as the timeline knows; 0: they are not */
    struct ft_report_sums sums;
    uint64_t last;              /* of its restarts, in struct ft_report_origin's terms */
};

/* Where a restart comes from: which one of its node's life it is, and the one of that life that was entered before it (its place plus 1; 0: none). */
struct ft_report_origin {
    uint64_t index, before;
};

struct ft_report_node {
    uint64_t heard_ns;          /* anything at all, last */
    uint64_t lost_ns;           /* last; 0: never */
    struct ft_report_sums before; /* of earlier incarnations */
    struct ft_report_life life;
};

struct ft_report_of_rank {
    bool started;               /* in this life, and that is entered */
    struct ft_restart *waits;   /* for its start; NULL: it was never lost */
    struct ft_rank_total before; /* its snapshots in earlier lives */
};

struct ft_controller_report {
    const struct ft_map *map;
    size_t bytes;               /* of all this */
    struct ft_report report;
    struct ft_report shown;     /* of now: sums, and restarts in order */
    struct ft_restart *sorted;
    struct ft_report_hosts hosts;
    struct ft_report_origin *origins; /* by restart */
    struct ft_report_node *nodes;
    struct ft_report_of_rank *ranks; /* by rank of the job */
    struct ft_report_undo {
        _Atomic uint32_t open;  /* something is being entered for `n` nodes; what was there before: */
        uint32_t first, n;
        uint64_t nrestarts, nlosses;
        struct ft_report_node *nodes;
        struct ft_report_of_rank *ranks;
        struct ft_rank_total *totals;
    } undo;
};

enum { FT_REPORT_LOSSES = 1 << 16 };

/* Ranks of a node, and the number in the job of one of them. */
static inline uint32_t ft_controller_report_ranks(const struct ft_controller_report *c, uint32_t node)
{
    return c->map->first[node + 1] - c->map->first[node];
}

static inline uint32_t ft_controller_report_rank(const struct ft_controller_report *c, uint32_t node, uint32_t local)
{
    return c->map->rank_at[c->map->first[node] + local];
}

/* Between them n nodes from `first` on are changed, their ranks, and how many restarts and losses there are: all of it, or nothing if the process is
   killed (ft_controller_report_recover). */
void ft_controller_report_begin(struct ft_controller_report *c, uint32_t first, uint32_t n);
void ft_controller_report_end(struct ft_controller_report *c);

/* The timeline: its ranks have been dead until then. */
void ft_controller_report_gap(struct ft_controller_report *c, uint32_t node, uint64_t until_ns);

#endif
