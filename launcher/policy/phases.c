/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/policy/phases.h"

enum ft_node_rank ft_phase_said(enum ft_phase phase)
{
    switch (phase) {
    case FT_PROC_NEW:
    case FT_PROC_STARTING:
        return FT_NODE_RANK_STARTING;
    case FT_PROC_RUNNING:
        return FT_NODE_RANK_UP;
    case FT_PROC_RETIRED:
        return FT_NODE_RANK_DOWN;
    case FT_PROC_WAKING:
    case FT_PROC_DEAD:
    case FT_PROC_CLEARING:
        break;
    }
    return FT_NODE_RANK_RESTARTING;
}

const char *ft_phase_text(enum ft_node_rank said)
{
    static const char *const texts[FT_NODE_RANK_STATES] = {"starting", "running", "restarting", "done"};

    return texts[said];
}

enum ft_activity ft_phase_activity(enum ft_phase phase, bool failed, enum ft_activity in_mpi)
{
    switch (phase) {
    case FT_PROC_CLEARING:
        return FT_CLEARING;
    case FT_PROC_DEAD:
        return FT_DEAD;
    case FT_PROC_RETIRED:
        return failed ? FT_DEAD : FT_DONE;
    case FT_PROC_NEW:
    case FT_PROC_STARTING:
    case FT_PROC_WAKING:
    case FT_PROC_RUNNING:
        break;
    }
    return in_mpi;
}

const char *ft_activity_text(enum ft_activity activity)
{
    static const char *const texts[] = {
        [FT_COMPUTING] = "outside MPI", [FT_IN_MPI] = "in MPI", [FT_REPLAYING] = "replaying", [FT_STARTING] = "starting",
        [FT_CLEARING] = "clearing", [FT_DEAD] = "dead", [FT_DONE] = "done",
    };

    return texts[activity];
}
