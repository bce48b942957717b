/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/agent/streams.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/agent/state.h"
#include "launcher/agent/sweep.h"
#include "launcher/control/server.h"
#include "launcher/job/above.h"
#include "launcher/job/twin.h"
#include "launcher/ranks/ranks.h"
#include "launcher/snap/outcomes.h"
#include "launcher/stdio/input.h"
#include "launcher/stdio/output.h"
#include "launcher/stdio/sink.h"
static void on_room(void *arg)
{
    struct ft_agent *a = arg;

    ft_output_resume(a->job.output);
    ft_sweep_step(a);
}

static void on_tap(void *arg, int stream, const char *data, size_t len)
{
    const struct ft_agent *a = arg;

    ft_control_tap(a->control, stream, data, len);
}

static void on_differs(void *arg, uint32_t rank, int stream, uint64_t line)
{
    struct ft_agent *a = arg;
    struct ft_job *job = &a->job;

    ft_outcomes_differ(job, rank);
    ft_output_tell(&job->say, ft_job_rank(job, rank), stream, line);
}

/* A terminal, a pipe or a socket: somebody may be waiting for a prompt. */
static bool somebody_types(void)
{
    struct stat st;

    return !fstat(0, &st) && (isatty(0) || S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

static void on_file_failed(void *arg, const struct ft_error *e)
{
    const struct ft_agent *a = arg;

    ft_say(&a->job.say, "%s", e->text);
}

int ft_streams_output(struct ft_agent *a)
{
    struct ft_job *job = &a->job;
    const struct ft_options *o = job->options;
    struct ft_output_config config = {
        .alone = o->nranks == 1 && !o->node,
        .prompts = o->nranks == 1 && !o->node ? 0 : somebody_types() ? o->stdin_rank : -1,
        .tag = o->tag_output,
        .timestamp = o->timestamp_output,
        .differs = on_differs,
        .tap = on_tap,
        .failed = on_file_failed,
        .room = on_room,
        .arg = a,
        .flush = job->above ? job->above->flush : NULL,
        .fenced = job->above ? job->above->is_fenced : NULL,
        .node = job->node,
    };

    job->output = ft_output_new(job->base, job->stdio, &config);
    if (!job->output)
        return -1;
    for (int i = 0; i < 2; i++)
        a->sinks[i] = ft_output_sink(job->output, i);
    job->say.put = ft_sink_put;
    job->say.put_arg = a->sinks[1];
    job->say.tap = on_tap;
    job->say.tap_arg = a;
    return 0;
}

static void on_input_ended(void *arg)
{
    const struct ft_job *job = arg;

    ft_twin_send_eof(job->twin, (uint32_t)job->options->stdin_rank);
}

static void on_input_failed(void *arg, const struct ft_error *e)
{
    struct ft_job *job = arg;

    ft_say(&job->say, "%s; the job is ended", e->text);
    ft_job_post(job, &(struct ft_event){.kind = FT_EV_FAILED, .code = FT_CODE_JOB});
}

int ft_streams_input(struct ft_job *job)
{
    struct ft_input_config config = {.ended = on_input_ended, .failed = on_input_failed, .arg = job};

    if (job->stdio->store.kind == FT_STORE_NONE)
        return 0;
    job->input = ft_input_new(job->base, job->stdio, &config);
    return job->input ? 0 : -1;
}
