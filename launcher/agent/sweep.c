/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/agent/sweep.h"

#include <event2/event.h>
#include <signal.h>

#include "ft/shm/wait.h"
#include "launcher/base/reap.h"
#include "launcher/job/above.h"
#include "launcher/snap/durable.h"
#include "launcher/snap/slot.h"
#include "launcher/snap/snapshot.h"
#include "launcher/stdio/output.h"
#include "launcher/stdio/sink.h"

/* After a success, processes that a rank left behind (a `tee` that is about to end) get a moment to end by
   themselves; then they are asked to; then killed; and what cannot be killed is named and left. */
enum { LEAVE, ASK, KILL, NAME };
enum { AGAIN_MS = 10, LEAVE_MS = 250, KILL_MS = 5000 };

static uint64_t stage_ms(const struct ft_agent *a)
{
    switch (a->sweep.stage) {
    case LEAVE: return a->job.code || ft_above_is_fenced(&a->job) ? 0 : LEAVE_MS;
    case ASK: return ft_above_is_fenced(&a->job) ? 0 : a->job.options->grace_ms; /* its time is up */
    default: return KILL_MS;
    }
}

static void enter_stage(struct ft_agent *a, int stage)
{
    a->sweep.stage = stage;
    a->sweep.next_ns = ft_clock_ns() + stage_ms(a) * 1000000;
}

static void leave_loop(struct ft_agent *a)
{
    a->sweep.over = true;
    event_base_loopbreak(a->job.base);
}

static bool may_leave(struct ft_agent *a)
{
    bool waiting = ft_sink_pending(a->sinks[0]) || ft_sink_pending(a->sinks[1]);

    return a->job.above ? a->job.above->may_leave(a->job.node, waiting) : !waiting;
}

static void write_out(struct ft_agent *a)
{
    if (!ft_durable_settled(&a->job))
        return;
    if (!a->sweep.done) {
        a->sweep.done = true;
        ft_output_finish(a->job.output);
    }
    if (may_leave(a))
        leave_loop(a);
}

/* A snapshot of some GiB takes a while to die: nothing to wonder about, unless it takes longer than anything does. */
static bool snapshots_die(const struct ft_agent *a, uint64_t now)
{
    if (a->job.code || a->sweep.stage != LEAVE || now >= a->sweep.next_ns + KILL_MS * 1000000ull)
        return false;
    for (uint32_t r = 0; r < a->job.options->nranks; r++)
        if (!ft_snapshots_gone(&a->job, r))
            return true;
    return false;
}

void ft_sweep_step(struct ft_agent *a)
{
    static const int signals[] = {[LEAVE] = 0, [ASK] = SIGTERM, [KILL] = SIGKILL, [NAME] = SIGKILL};
    struct timeval soon = {.tv_usec = AGAIN_MS * 1000};
    struct ft_leaders leaders;
    pid_t one = 0;

    if (!a->sweep.on)
        return; /* the usual case: each time that output has been written */
    if (a->sweep.done) {
        write_out(a);
        return;
    }
    leaders = ft_leaders_of(&a->job);
    ft_reap_orphans(&leaders);
    /* Asked once, on entering the stage; killed until dead. */
    if (!ft_reap_signal(&leaders, 0, 0, a->sweep.stage == KILL ? SIGKILL : 0, &one)) {
        write_out(a);
        return;
    }
    while (a->sweep.stage < NAME && ft_clock_ns() >= a->sweep.next_ns && !snapshots_die(a, ft_clock_ns())) {
        enter_stage(a, a->sweep.stage + 1);
        if (a->sweep.stage == ASK && !a->job.code)
            ft_say_notice(&a->job.say, "process %d, left behind by a rank that is done, is ended with the job", one);
        ft_reap_signal(&leaders, 0, 0, signals[a->sweep.stage], NULL);
    }
    if (a->sweep.stage == NAME) {
        ft_say(&a->job.say, "process %d, left behind by a rank, does not die and is left running", one);
        write_out(a);
        return;
    }
    event_add(a->job.again, &soon);
}

void ft_sweep_begin(struct ft_agent *a)
{
    a->sweep.on = true;
    enter_stage(a, LEAVE);
    ft_sweep_step(a);
}

void ft_sweep_hurry(struct ft_agent *a)
{
    if (!a->sweep.on)
        return;
    ft_durable_hurry(&a->job);
    if (a->sweep.done)
        leave_loop(a); /* nobody reads what is waiting */
    else
        a->sweep.next_ns = 0;
}
