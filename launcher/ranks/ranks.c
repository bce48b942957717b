/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/ranks/ranks.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "ft/shm/wait.h"
#include "ft/shm/word.h"
#include "launcher/base/kill.h"
#include "launcher/base/reap.h"
#include "launcher/job/above.h"
#include "launcher/job/death.h"
#include "launcher/options/program.h"
#include "launcher/ranks/check.h"
#include "launcher/ranks/spawn.h"
#include "launcher/snap/slot.h"
#include "launcher/snap/snapshot.h"
#include "launcher/stdio/input.h"
#include "launcher/stdio/output.h"

enum { AGAIN_MS = 10, QUICK_MS = 1000 };

static void on_gone(evutil_socket_t fd, short what, void *arg);

const char *ft_ranks_death(const struct ft_proc *proc, char *text, size_t size)
{
    const char *name = sigabbrev_np(proc->signal);

    if (proc->lost)
        snprintf(text, size, "was lost with a process of ftrun");
    else if (!proc->signal)
        snprintf(text, size, "exited with code %d", proc->code);
    else if (name)
        snprintf(text, size, "was killed by signal %d (SIG%s%s)", proc->signal, name, proc->oom ? ": out of memory" : "");
    else
        snprintf(text, size, "was killed by signal %d", proc->signal);
    return text;
}

int ft_ranks_failed(struct ft_job *job, const struct ft_error *e, int code)
{
    ft_say(&job->say, "%s", e->text);
    ft_job_post(job, &(struct ft_event){.kind = FT_EV_FAILED, .code = code});
    return -1;
}

struct ft_ends ft_ranks_ends(const struct ft_job *job, uint32_t rank)
{
    const struct ft_proc *proc = &job->procs[rank];

    return (struct ft_ends){proc->incarnation, {
        [FT_END_OUT] = ft_output_fd(job->output, rank, 0),
        [FT_END_ERR] = ft_output_fd(job->output, rank, 1),
        [FT_END_IN] = rank == job->options->stdin_rank && job->input ? ft_input_fd(job->input) : -1,
        [FT_END_PIDFD] = proc->pidfd,
    }};
}

void ft_ranks_tell_standby(const struct ft_job *job, uint32_t rank)
{
    struct ft_ends ends = ft_ranks_ends(job, rank);

    ft_twin_send(job->twin, rank, &ends);
}

int ft_ranks_watch(struct ft_job *job, struct ft_proc *proc, struct ft_error *e)
{
    proc->gone = event_new(job->base, proc->pidfd, EV_READ, on_gone, proc);
    if (proc->gone && event_add(proc->gone, NULL) == 0)
        return 0;
    return ft_err_set(e, FT_ESYS, "rank %u cannot be watched: %s", ft_job_rank(job, proc->rank), strerror(errno));
}

static void close_ends(const int write[2], int in)
{
    for (int i = 0; i < 2; i++)
        if (write[i] >= 0)
            close(write[i]);
    if (in >= 0)
        close(in);
}

int ft_ranks_begin(struct ft_job *job, struct ft_proc *proc)
{
    struct ft_rank_block *block = ft_region_rank(&job->region, proc->rank);
    struct ft_error e;
    struct ft_child kid;
    int write[2], in = -1, error = 0, err;

    proc->pid = 0;
    ft_proc_enter(proc, FT_PROC_STARTING);
    if (ft_output_open(job->output, proc->rank, write, &e) < 0) {
        err = FT_ESYS;
    } else if (proc->rank == job->options->stdin_rank && job->input && (in = ft_input_open(job->input)) < 0) {
        err = ft_err_set(&e, FT_ESYS, "cannot make a pipe for the standard input of rank %u: %s", ft_job_rank(job, proc->rank), strerror(errno));
    } else {
        ft_ranks_tell_standby(job, proc->rank);
        ft_region_start_rank(&job->region, proc->rank, proc->incarnation);
        ft_snapshots_begin(job, proc->rank);
        atomic_store_explicit(&block->started_ns, ft_clock_ns(), memory_order_relaxed); /* exec orders it */
        err = ft_spawn_start(job->spawn, proc->rank, proc->incarnation, in, write[0], write[1], &proc->pid, &kid, &error, &e);
    }
    close_ends(write, in);
    if (err < 0) {
        ft_proc_enter(proc, FT_PROC_RETIRED);
        return ft_ranks_failed(job, &e, error ? ft_program_exec_failed(ft_options_context(job->options, proc->rank), error, &e) : FT_CODE_JOB);
    }
    proc->pid = job->leaders[proc->rank] = kid.pid;
    proc->pidfd = kid.pidfd;
    proc->started_ns = proc->seen_ns = ft_clock_ns();
    ft_proc_enter(proc, FT_PROC_RUNNING);
    ft_ranks_tell_standby(job, proc->rank);
    if (ft_ranks_watch(job, proc, &e) < 0) {
        ft_kill(kid.pid, kid.pidfd, SIGKILL);
        job->leaders[proc->rank] = 0; /* an orphan from now on */
        return ft_ranks_failed(job, &e, FT_CODE_JOB);
    }
    ft_job_post(job, &(struct ft_event){.kind = FT_EV_STARTED, .rank = proc->rank});
    return 0;
}

void ft_ranks_start(struct ft_job *job)
{
    if (!ft_above_is_ready(job))
        return;
    for (uint32_t r = 0; r < job->options->nranks; r++)
        if (ft_proc_phase(&job->procs[r]) == FT_PROC_NEW) {
            if (ft_ranks_begin(job, &job->procs[r]) < 0)
                return;
            ft_report_started(job->report, r, job->procs[r].way, job->procs[r].started_ns);
        }
}

static struct ft_event death_of(const struct ft_job *job, const struct ft_proc *proc)
{
    struct ft_rank_block *block = ft_region_rank(&job->region, proc->rank);

    /* The writer is dead and reaped: acquire is more than enough. */
    return (struct ft_event){
        .kind = FT_EV_EXITED,
        .rank = proc->rank,
        .signal = proc->signal,
        .code = proc->code,
        .state = atomic_load_explicit(&block->state, memory_order_acquire),
        .job_code = atomic_load_explicit(&block->exit_code, memory_order_acquire),
        .progress = ft_region_progress(&job->region, proc->rank),
        .oom = proc->oom,
        .by_itself = proc->by_itself,
        .astray = proc->astray != FT_ASTRAY_NOT,
        .from = proc->from,
        .quick = proc->died_ns - proc->started_ns < QUICK_MS * 1000000ull,
        .rabit_used = atomic_load_explicit(&block->rabit_used, memory_order_acquire) != 0,
        .lost = proc->lost,
    };
}

void ft_ranks_note_recovery(struct ft_job *job, uint32_t rank)
{
    struct ft_rank_block *block = ft_region_rank(&job->region, rank);
    struct ft_restart *restart = ft_report_last(job->report, rank);
    const struct ft_proc *proc = &job->procs[rank];

    if (proc->check.on)
        return; /* that was no restart */
    if (restart ? !restart->started_ns && proc->started_ns > restart->died_ns : !job->report->ranks[rank].origin_ns)
        ft_report_started(job->report, rank, proc->way, proc->started_ns); /* its agent was killed before it could */
    if (!restart || !restart->started_ns)
        return;
    restart->live_ns = atomic_load_explicit(&block->live_ns, memory_order_acquire);
    restart->replayed = ft_region_replayed(&job->region, rank);
}

uint64_t ft_ranks_furthest(const struct ft_job *job, uint32_t rank)
{
    return ft_max(job->report->ranks[rank].units, ft_region_progress(&job->region, rank));
}

static void note_messages(struct ft_job *job, uint32_t rank)
{
    const struct ft_message_words *w = &ft_region_rank(&job->region, rank)->messages;

    job->report->ranks[rank].messages = (struct ft_message_totals){
        .sent = ft_peek(&w->sent), .sent_bytes = ft_peek(&w->sent_bytes), .received = ft_peek(&w->received),
        .received_bytes = ft_peek(&w->received_bytes), .most_unexpected = ft_peek(&w->most_kept),
    };
}

void ft_ranks_note_end(struct ft_job *job, uint32_t rank)
{
    const struct ft_proc *proc = &job->procs[rank];
    struct ft_rank_total *total = &job->report->ranks[rank];
    bool runs = ft_proc_phase(proc) == FT_PROC_RUNNING;

    ft_ranks_note_recovery(job, rank);
    note_messages(job, rank);
    total->pid = proc->pid;
    total->signal = runs ? 0 : proc->signal;
    total->code = runs ? 0 : proc->code;
    total->ended_ns = runs ? 0 : proc->died_ns;
    total->units = ft_ranks_furthest(job, rank);
}

void ft_ranks_buried(struct ft_job *job, struct ft_proc *proc)
{
    struct ft_event ev;
    char how[64];

    job->leaders[proc->rank] = 0;
    ft_snapshots_buried(job, proc->rank);
    ev = death_of(job, proc);
    ft_check_look(job, &ev);
    ft_say_detail(&job->say, "rank %u (pid %d) %s at unit %llu", ft_job_rank(job, proc->rank), proc->pid, ft_ranks_death(proc, how, sizeof how),
                  (unsigned long long)ev.progress);
    ft_job_post(job, &ev);
}

static void on_gone(evutil_socket_t fd, short what, void *arg)
{
    struct timeval soon = {.tv_usec = AGAIN_MS * 1000};
    struct ft_proc *proc = arg;
    struct ft_job *job = proc->job;

    (void)fd;
    (void)what;
    if (!ft_death_reap(proc)) {
        /* Its pidfd is readable, but a tracer has its exit status first: not in a loop. */
        event_assign(proc->gone, job->base, -1, 0, on_gone, proc);
        event_add(proc->gone, &soon);
        return;
    }
    event_free(proc->gone);
    proc->gone = NULL;
    ft_ranks_buried(job, proc);
}

void ft_ranks_signal(struct ft_job *job, int signal)
{
    for (uint32_t r = 0; r < job->options->nranks; r++)
        if (job->leaders[r])
            ft_kill_group(job->leaders[r], job->procs[r].pidfd, signal);
}
