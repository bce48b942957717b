/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/agent/tracking.h"

#include "launcher/agent/state.h"
#include "launcher/control/server.h"
#include "launcher/ranks/environ.h"
#include "launcher/stdio/sink.h"
#include "launcher/tracker/listener.h"
#include "launcher/tracker/tracker.h"

/* What the tracker of XGBoost's own prints: a line of nobody's, on standard output; over several hosts the controller's, on standard error. */
static void print(void *arg, const char *text, size_t len)
{
    struct ft_agent *a = arg;

    ft_sink_put(a->sinks[a->job.above ? 1 : 0], text, len);
    if (!a->job.above)
        ft_control_tap(a->control, 0, text, len);
}

static void failed(void *arg)
{
    struct ft_agent *a = arg;

    ft_job_post(&a->job, &(struct ft_event){.kind = FT_EV_FAILED, .code = FT_CODE_JOB});
}

int ft_tracking_new(struct ft_job *job, struct ft_spawn_config *config, struct ft_error *e)
{
    const struct ft_options *o = job->options;
    const struct ft_description *d = o->node;
    struct ft_tracker_config t = {.world = d ? d->world : o->nranks, .host = d ? ft_environ_master(d) : NULL,
                                  .port = d ? ft_tracker_port_for(o->job_id) : 0};
    int err;

    if (!o->xgboost_tracker)
        return 0;
    config->tracker_host = d ? t.host : "127.0.0.1";
    config->tracker_port = t.port;
    if (d && d->rank_at[d->first[d->node]] != 0)
        return 0;
    if ((err = ft_tracker_new(&job->tracker, &t, e)) == 0)
        config->tracker_port = ft_tracker_port(job->tracker);
    return err;
}

void ft_tracking_tell_unused(const struct ft_job *job)
{
    if (job->tracker && !ft_tracker_was_used(job->tracker))
        ft_say(&job->say, "--xgboost-tracker: no rank has used it: each trained a model of its own, if any; does the program start its communicator "
               "(xgboost.collective.CommunicatorContext) with dmlc_tracker_uri and dmlc_tracker_port?");
}

int ft_tracking_serve(struct ft_agent *a)
{
    struct ft_tracker_calls calls = {.say = &a->job.say, .print = print, .failed = failed, .arg = a};

    return ft_tracker_serve(a->job.tracker, a->job.base, &calls);
}
