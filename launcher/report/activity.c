/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/report/activity.h"

#include "ft/shm/inspect.h"
#include "launcher/job/job.h"

enum ft_activity ft_activity_of(const struct ft_proc *proc, const struct ft_inspect *i)
{
    switch (ft_proc_phase(proc)) {
    case FT_PROC_CLEARING:
        return FT_CLEARING;
    case FT_PROC_DEAD:
        return FT_DEAD;
    case FT_PROC_RETIRED:
        return proc->signal || proc->code ? FT_DEAD : FT_DONE;
    default:
        break;
    }
    if (i->state == FT_RANK_ABSENT)
        return FT_STARTING;
    if (i->replaying)
        return FT_REPLAYING;
    return i->in_call ? FT_IN_MPI : FT_COMPUTING;
}

const char *ft_activity_text(enum ft_activity activity)
{
    static const char *const texts[] = {
        [FT_COMPUTING] = "outside MPI", [FT_IN_MPI] = "in MPI", [FT_REPLAYING] = "replaying", [FT_STARTING] = "starting",
        [FT_CLEARING] = "clearing", [FT_DEAD] = "dead", [FT_DONE] = "done",
    };

    return texts[activity];
}
