/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/agent/control_job.h"

#include <signal.h>

#include "launcher/agent/act.h"
#include "launcher/agent/status.h"
#include "launcher/agent/sweep.h"

static json_t *info(void *arg)
{
    return ft_status_info(arg);
}

static json_t *status(void *arg)
{
    return ft_status_all(arg);
}

static void stop(void *arg)
{
    struct ft_agent *a = arg;

    ft_sweep_hurry(a);
    ft_act(a, &(struct ft_event){.kind = FT_EV_SIGNAL, .signal = SIGTERM});
}

struct ft_control_job ft_control_job_of(struct ft_agent *a)
{
    return (struct ft_control_job){.id = a->job.options->job_id, .info = info, .status = status, .stop = stop, .arg = a};
}
