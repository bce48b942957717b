/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/agent/sweep.h"

#include <event2/event.h>
#include <signal.h>

#include "ft/shm/wait.h"
#include "launcher/node/node.h"
#include "launcher/snap/durable.h"
#include "launcher/snap/snapshot.h"
#include "launcher/stdio/output.h"
#include "launcher/stdio/sink.h"

/* After a success, processes that a rank left behind (a `tee` that is about to end) get a moment to end by
   themselves; then they are asked to; then killed; and what cannot be killed is named and left. */
enum { LEAVE, ASK, KILL, NAME };
enum { AGAIN_MS = 10, LEAVE_MS = 250, KILL_MS = 5000 };

static uint64_t stage_ms(const struct ft_job *job)
{
    switch (job->sweep_stage) {
    case LEAVE: return job->code ? 0 : LEAVE_MS;
    case ASK: return ft_node_is_fenced(job->node) ? 0 : job->options->grace_ms; /* its time is up */
    default: return KILL_MS;
    }
}

static void enter_stage(struct ft_job *job, int stage)
{
    job->sweep_stage = stage;
    job->sweep_next_ns = ft_clock_ns() + stage_ms(job) * 1000000;
}

static void leave_loop(struct ft_job *job)
{
    job->over = true;
    event_base_loopbreak(job->base);
}

static bool may_leave(struct ft_job *job)
{
    bool waiting = ft_sink_pending(job->sinks[0]) || ft_sink_pending(job->sinks[1]);

    return job->node ? ft_node_may_leave(job->node, waiting) : !waiting;
}

static void write_out(struct ft_job *job)
{
    if (!ft_durable_settled(job))
        return;
    if (!job->swept) {
        job->swept = true;
        ft_output_finish(job->output);
    }
    if (may_leave(job))
        leave_loop(job);
}

/* A snapshot of some GiB takes a while to die: nothing to wonder about, unless it takes longer than anything does. */
static bool snapshots_die(const struct ft_job *job, uint64_t now)
{
    if (job->code || job->sweep_stage != LEAVE || now >= job->sweep_next_ns + KILL_MS * 1000000ull)
        return false;
    for (uint32_t r = 0; r < job->options->nranks; r++)
        if (!ft_snapshots_gone(job, r))
            return true;
    return false;
}

void ft_sweep_step(struct ft_job *job)
{
    static const int signals[] = {[LEAVE] = 0, [ASK] = SIGTERM, [KILL] = SIGKILL, [NAME] = SIGKILL};
    struct timeval soon = {.tv_usec = AGAIN_MS * 1000};
    struct ft_leaders leaders = ft_job_leaders(job);
    pid_t one = 0;

    if (job->swept) {
        write_out(job);
        return;
    }
    ft_reap_orphans(&leaders);
    /* Asked once, on entering the stage; killed until dead. */
    if (!ft_reap_signal(&leaders, 0, 0, job->sweep_stage == KILL ? SIGKILL : 0, &one)) {
        write_out(job);
        return;
    }
    while (job->sweep_stage < NAME && ft_clock_ns() >= job->sweep_next_ns && !snapshots_die(job, ft_clock_ns())) {
        enter_stage(job, job->sweep_stage + 1);
        if (job->sweep_stage == ASK && !job->code)
            ft_say_notice(&job->say, "process %d, left behind by a rank that is done, is told to end with the job", one);
        ft_reap_signal(&leaders, 0, 0, signals[job->sweep_stage], NULL);
    }
    if (job->sweep_stage == NAME) {
        ft_say(&job->say, "process %d, left behind by a rank, does not die; it is left to itself", one);
        write_out(job);
        return;
    }
    event_add(job->again, &soon);
}

void ft_sweep_begin(struct ft_job *job)
{
    job->sweeping = true;
    enter_stage(job, LEAVE);
    ft_sweep_step(job);
}

void ft_sweep_hurry(struct ft_job *job)
{
    ft_durable_hurry(job);
    if (job->swept)
        leave_loop(job); /* nobody reads what is waiting */
    else
        job->sweep_next_ns = 0;
}
