/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/job/activity.h"

#include "ft/shm/inspect.h"
#include "launcher/job/job.h"

static enum ft_activity in_mpi(const struct ft_inspect *i)
{
    if (i->state == FT_RANK_ABSENT)
        return FT_STARTING;
    if (i->replaying)
        return FT_REPLAYING;
    return i->in_call ? FT_IN_MPI : FT_COMPUTING;
}

enum ft_activity ft_activity_of(const struct ft_proc *proc, const struct ft_inspect *i)
{
    return ft_phase_activity(ft_proc_phase(proc), proc->signal || proc->code, in_mpi(i));
}
