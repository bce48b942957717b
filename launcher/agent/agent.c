/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/agent/agent.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ft/shm/wait.h"
#include "launcher/agent/act.h"
#include "launcher/agent/adopt.h"
#include "launcher/agent/bindings.h"
#include "launcher/agent/control_job.h"
#include "launcher/agent/deadlines.h"
#include "launcher/agent/happens.h"
#include "launcher/agent/jobmem.h"
#include "launcher/agent/loop.h"
#include "launcher/agent/state.h"
#include "launcher/agent/status.h"
#include "launcher/agent/store.h"
#include "launcher/agent/tracking.h"
#include "launcher/base/library.h"
#include "launcher/base/limits.h"
#include "launcher/base/needs.h"
#include "launcher/base/reap.h"
#include "launcher/base/shared.h"
#include "launcher/base/signals.h"
#include "launcher/events/events.h"
#include "launcher/job/above.h"
#include "launcher/job/full.h"
#include "launcher/job/pair.h"
#include "launcher/job/twin.h"
#include "launcher/options/program.h"
#include "launcher/options/topology.h"
#include "launcher/ranks/ranks.h"
#include "launcher/ranks/spawn.h"
#include "launcher/report/checks.h"
#include "launcher/report/summary.h"
#include "launcher/report/svg.h"
#include "launcher/snap/durable.h"
#include "launcher/snap/slot.h"
#include "launcher/snap/snapshot.h"
#include "launcher/stdio/memory.h"
#include "launcher/stdio/output_dir.h"
#include "launcher/stdio/sink.h"
#include "launcher/tracker/tracker.h"

enum { LATE_MS = 100 };
enum { POSTED_MORE = 16 /* beside those about ranks */, PATH_BYTES = 4096, PRELOAD_BYTES = 2 * PATH_BYTES + 64 };

/* The agent, and what was made for it and nobody else needs to see. */
struct made {
    struct ft_agent agent;
    char library_path[PATH_BYTES], preload[PRELOAD_BYTES], recorder[PATH_BYTES], python_path[PATH_BYTES];
    struct ft_limits limits;
    struct ft_topology *topology;
};

static void on_say(void *arg, const char *line, size_t len) { ft_output_dir_say(arg, line, len); }

static int set_up_stdio(struct ft_job *job, struct ft_error *e)
{
    const struct ft_options *o = job->options;
    struct ft_stdio_config config = {.nranks = o->nranks, .keep = o->max_restarts > 0, .merge = o->merge_stderr,
                                     .output_dir = o->output_dir, .store_dir = o->stdin_rank >= 0 ? o->log_spill : NULL};

    if (o->node)
        config.ranks = o->node->rank_at + o->node->first[o->node->node];
    job->stdio = ft_stdio_memory_new(&config, e);
    if (!job->stdio)
        return FT_ESYS;
    if (o->output_dir) {
        job->say.copy = on_say;
        job->say.copy_arg = &job->stdio->dir;
    }
    return 0;
}

static int set_up_spawn(struct made *m, struct ft_error *e)
{
    struct ft_job *job = &m->agent.job;
    const struct ft_options *o = job->options;
    struct ft_spawn_config config = {
        .contexts = o->contexts, .ncontexts = o->ncontexts, .nranks = o->nranks, .job_id = o->job_id,
        .library_path = m->library_path, .preload = o->rabit ? m->preload : NULL,
        .recorder = m->recorder, .recorded = job->region.header->params.outcome_bytes > 0, .other_mpi_allowed = o->other_mpi_allowed,
        .python_path = o->rabit ? m->python_path : NULL,
        .bootstrap_cache = o->bootstrap_cache,
        .node = o->node, .links = job->above ? job->above->socket(job->node) : -1,
        .memfd = job->region.fd, .kick = ft_keeper_kick_fd(job->keeper), .spill = ft_keeper_spill_fd(job->keeper),
        .bell = ft_snapshots_bell(job), .models = job->models,
        .limits = &m->limits, .signals = &m->agent.signals,
    };

    m->topology = ft_bindings_make(o, &job->say);
    config.topology = m->topology;
    if (ft_tracking_new(job, &config, e) < 0)
        return FT_ESYS;
    return ft_spawn_new(&job->spawn, &config, e);
}

static int set_up_ranks(struct ft_job *job, struct ft_error *e)
{
    const struct ft_options *o = job->options;
    struct ft_policy_config config = {.nranks = o->nranks, .restart_on = o->restart_on, .max_restarts = o->max_restarts,
                                      .need_rabit = o->rabit, .node = o->node};

    job->policy = ft_policy_new(ft_shared_new(ft_policy_bytes(o->nranks)), &config);
    job->procs = ft_shared_new(o->nranks * sizeof *job->procs);
    job->leaders = calloc(o->nranks, sizeof *job->leaders);
    job->posted = (struct ft_posted){.room = 2 * o->nranks + POSTED_MORE};
    job->posted.events = calloc(job->posted.room, sizeof *job->posted.events);
    if (!job->policy || !job->procs || !job->leaders || !job->posted.events)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    for (uint32_t r = 0; r < o->nranks; r++)
        job->procs[r] = (struct ft_proc){.job = job, .rank = r, .pidfd = -1, .way = FT_BACK_START,
                                         .incarnation = o->node ? o->node->incarnations[r] : 0};
    return 0;
}

/* On one node of several, the controller has the files. */
static int open_report(struct ft_job *job, struct ft_error *e)
{
    const struct ft_options *o = job->options;
    int err = ft_report_open(job->report, o->report, o->contexts->argv, o->nranks, ft_clock_ns(), e);

    job->report->job = o->job_id;
    job->report->name = o->job_name;
    if (err < 0 || (err = ft_timeline_open(&job->report->timeline, o->timeline, o->nranks, job->report->begin_ns, e)) < 0)
        return err;
    job->report->wanted |= o->node && o->node->report;
    job->report->checks = o->check_seed;
    if (!o->node || !o->node->timeline)
        return 0;
    job->report->timeline = ft_timeline_new(o->nranks, job->report->begin_ns);
    return job->report->timeline ? 0 : ft_err_set(e, FT_ENOMEM, "out of memory");
}

static int make_output_dir(const struct ft_options *o, struct ft_error *e)
{
    struct ft_output_dir dir;

    if (!o->output_dir)
        return 0;
    return ft_output_dir_read(&dir, o->output_dir, o->nranks, o->merge_stderr, e) < 0 || ft_output_dir_make(&dir, e) < 0 ? FT_CODE_USAGE : 0;
}

/* What the user can get wrong, checked before anything is made. 0 or the exit code, with a line. */
static int check_request(struct made *m, struct ft_error *e)
{
    struct ft_job *job = &m->agent.job;
    const struct ft_options *o = job->options;
    int code;

    for (size_t c = 0; c < o->ncontexts; c++)
        if ((code = ft_program_check(&o->contexts[c], o->other_mpi_allowed, &job->say, e)))
            return code;
    if (ft_needs_check(e) < 0 || ft_limits_raise(o->nranks, &m->limits, e) < 0)
        return FT_CODE_JOB;
    if (ft_library_compat(m->library_path, sizeof m->library_path, e) < 0)
        return FT_CODE_JOB;
    if (ft_library_records() && ft_library_rank(m->recorder, sizeof m->recorder, e) < 0)
        return FT_CODE_JOB;
    if (o->rabit && ft_library_rabit(m->preload, sizeof m->preload, m->python_path, sizeof m->python_path, e) < 0)
        return FT_CODE_JOB;
    if (open_report(job, e) < 0 || ft_events_new(&m->agent.events, o, &job->say, o->nranks, 0, e) < 0)
        return FT_CODE_USAGE;
    if ((code = ft_durable_open(job, e)))
        return code;
    return make_output_dir(o, e);
}

/* All that outlives a launcher process, in the order in which each needs the one before. Nothing has to be undone: the
   process ends. */
static int prepare(struct made *m, struct ft_error *e)
{
    struct ft_agent *a = &m->agent;
    struct ft_job *job = &a->job;
    struct ft_control_job shown = ft_control_job_of(a);
    int err;

    if (ft_signals_take(&a->signals) < 0)
        return ft_err_set(e, FT_ESYS, "cannot take signals: %s", strerror(errno));
    if (job->above && (err = job->above->make(&job->node, a, e)) < 0)
        return err;
    if ((err = ft_jobmem_open(job, e)) < 0 || (job->above && (err = job->above->open(job->node, e)) < 0) ||
        (err = set_up_stdio(job, e)) < 0 || (err = set_up_ranks(job, e)) < 0 || (err = ft_snapshots_new(job, e)) < 0 ||
        (err = set_up_spawn(m, e)) < 0 || (err = ft_store_new(a, e)) < 0)
        return err;
    a->control = job->above ? NULL : ft_control_new(&shown, e);
    if (!a->control && !job->above)
        ft_say_notice(&job->say, "%s; ftrun list, status, stop, wait and attach do not find this job", e->text);
    return ft_twin_new(&job->twin, job->options->nranks, e);
}

/* What a forked copy of another agent brings along and must not use. */
static void forget(struct ft_agent *a)
{
    struct ft_job *job = &a->job;

    job->say.put = NULL;
    job->say.tap = NULL;
    job->base = NULL;
    job->output = NULL;
    job->input = NULL;
    job->again = NULL;
    job->strangers = false;
    job->posted.n = 0;
    job->posted.wake = NULL;
    memset(job->leaders, 0, job->options->nranks * sizeof *job->leaders);
    a->sinks[0] = a->sinks[1] = NULL;
    a->timeout = NULL;
    a->watch = NULL;
    a->grace = NULL;
    a->sweep = (struct ft_sweep){.on = false};
    ft_durable_forget(job);
    ft_tracker_forget(job->tracker);
    ft_store_forget(a->store);
    if (job->above)
        job->above->forget(job->node);
    ft_control_forget(a->control);
    ft_events_forget(a->events);
    ft_signals_forget(&a->signals);
}

static void stand_by(struct ft_agent *a);

/* The keeper's thread is of this process, and takes none of the loop's signals. */
static int set_up(struct ft_agent *a, struct ft_error *e)
{
    struct ft_job *job = &a->job;

    forget(a);
    if (ft_reap_adopt() < 0)
        return ft_err_set(e, FT_ESYS, "cannot become the parent of the job: %s", strerror(errno));
    a->loop = ft_loop_new(a, stand_by, e);
    return a->loop ? ft_keeper_run(job->keeper, job->keeper_failed, job->keeper_arg, e) : FT_ESYS;
}

/* What --check-replay has no room for is not silently taken for good. */
static void tell_unchecked(struct ft_job *job)
{
    uint64_t room = job->region.header->params.check_units, units = ft_region_done(&job->region, 0);

    if (room && units > room)
        ft_say(&job->say, "--check-replay: only what was contributed before unit %llu of %llu could be compared; a larger "
               "--log-limit makes room for more", (unsigned long long)room, (unsigned long long)units);
}

static void not_written(struct ft_job *job, const struct ft_error *e)
{
    ft_say(&job->say, "%s", e->text);
    job->code = job->code ? job->code : FT_CODE_JOB;
}

static void report(struct ft_job *job)
{
    uint64_t now = ft_clock_ns(), cuts = 0;
    struct ft_error e;
    char line[512];
    int code;

    if (!job->above && !job->code && ft_report_differs(job->report))
        job->code = FT_CODE_DIFFERED;
    code = job->code;

    ft_status_note(job);
    ft_full_tell(job);
    for (uint32_t r = 0; r < job->options->nranks; r++)
        cuts += job->report->ranks[r].cuts;
    ft_say_detail(&job->say, "done: %llu restart%s, %llu snapshot%s taken, %llu bytes logged, %llu of them spilled",
                  (unsigned long long)ft_policy_restarts(job->policy), ft_policy_restarts(job->policy) == 1 ? "" : "s", (unsigned long long)cuts,
                  cuts == 1 ? "" : "s", (unsigned long long)job->report->log_bytes, (unsigned long long)job->report->spilled_bytes);
    tell_unchecked(job);
    if (!code)
        ft_tracking_tell_unused(job);
    if (!job->above && ft_report_checks(job->report, code != 0, line, sizeof line))
        (ft_report_differs(job->report) ? ft_say : ft_say_notice)(&job->say, "%s", line);
    if (!code && !job->above && ft_report_summary(job->report, line, sizeof line))
        ft_say_notice(&job->say, "%s", line);
    if (ft_report_write(job->report, code, now, &e) < 0)
        not_written(job, &e);
    if (ft_svg_write(job->report->timeline, job->report, code, now, &e) < 0)
        not_written(job, &e);
}

/* Output that could not be written is a failure of the job, unless its reader went away. */
static void check_written(struct ft_agent *a)
{
    struct ft_job *job = &a->job;

    for (int i = 0; i < 2; i++) {
        int error = ft_sink_error(a->sinks[i]);

        if (error && !(i && a->sinks[0] == a->sinks[1])) {
            ft_say(&job->say, "output was lost: cannot write to %s: %s", i ? "stderr" : "stdout", strerror(error));
            job->code = job->code ? job->code : FT_CODE_JOB;
        }
    }
    if (job->stdio->shared->file_failed) /* it has been told */
        job->code = job->code ? job->code : FT_CODE_JOB;
}

/* Of this process; the memory that all share goes with the last of them. */
static void tear_down(struct ft_agent *a)
{
    struct ft_job *job = &a->job;

    ft_keeper_stop(job->keeper);
    if (job->above)
        job->above->leave(job->node);
    if (a->loop)
        ft_loop_free(a->loop);
    a->loop = NULL;
}

/* The job, or what is left of it. Returns ftrun's exit code. */
static int run(struct ft_agent *a, const int *predecessor)
{
    struct ft_job *job = &a->job;
    struct ft_error e;

    if (set_up(a, &e) < 0) {
        job->say.put = NULL;
        ft_say(&job->say, "%s", e.text);
        return FT_CODE_JOB; /* the ranks die with the last launcher process */
    }
    if (predecessor) {
        ft_pair_tell(&job->say, *predecessor); /* not before: without the loop it might be waited for, and the ranks' lease be over */
        ft_adopt(a);
        ft_loop_alone(a->loop);
    }
    ft_loop_serve(a->loop);
    ft_happens_serve(a);
    if (job->above && job->above->serve(job->node) < 0)
        ft_job_post(job, &(struct ft_event){.kind = FT_EV_FAILED, .code = FT_CODE_JOB});
    ft_act_posted(a);
    if (!predecessor)
        ft_ranks_start(job);
    ft_loop_run(a->loop);
    job->say.put = job->above ? NULL : ft_sink_put_last; /* what is said from here on is not waited for by the loop */
    if (job->above)
        job->say.verbose = 0; /* and not heard by the controller */
    check_written(a);
    report(job);
    ft_happens_end(a);
    ft_control_end(a->control, job->code);
    tear_down(a);
    return job->code;
}

static int take_over(struct ft_agent *a)
{
    struct ft_job *job = &a->job;
    int code, how;

    if (ft_twin_stand_by(job->twin, &a->signals, &code, &how))
        return code;
    forget(a);
    code = run(a, &how);
    ft_twin_finish(job->twin, code);
    return code;
}

static void stand_by(struct ft_agent *a)
{
    fflush(NULL);
    _exit(take_over(a));
}

static void release(struct made *m)
{
    struct ft_agent *a = &m->agent;
    struct ft_job *job = &a->job;

    ft_control_free(a->control);
    ft_events_free(a->events);
    if (job->node)
        job->above->free(job->node);
    ft_spawn_free(job->spawn);
    ft_snapshots_free(job);
    ft_durable_close(job);
    ft_tracker_free(job->tracker);
    ft_store_free(a->store);
    ft_topology_free(m->topology);
    if (job->keeper)
        ft_keeper_close(job->keeper);
    if (job->region.base)
        ft_region_close(&job->region);
    if (job->models >= 0)
        close(job->models);
    ft_stdio_memory_free(job->stdio);
    ft_shared_free(job->policy, ft_policy_bytes(job->options->nranks));
    ft_shared_free(job->procs, job->options->nranks * sizeof *job->procs);
    free(job->leaders);
    free(job->posted.events);
    ft_timeline_close(job->report->timeline);
    ft_report_close(job->report);
    ft_shared_free(job->report, sizeof *job->report);
    ft_deadlines_free(a->deadlines);
    ft_twin_free(job->twin);
    free(m);
}

/* The process that the user started stands by; the child runs the job. */
static int run_in_two(struct ft_agent *a, int *code, struct ft_error *e)
{
    struct ft_job *job = &a->job;
    int role;

    if (ft_reap_adopt() < 0)
        return ft_err_set(e, FT_ESYS, "cannot become the parent of the job: %s", strerror(errno));
    fflush(NULL);
    role = ft_twin_fork(job->twin, FT_TWIN_STANDBY, e);
    if (role < 0)
        return role;
    if (job->above)
        ft_twin_watch(job->twin, job->above->is_late, job->node, LATE_MS);
    if (role == FT_TWIN_STANDBY) {
        *code = take_over(a);
        return 0;
    }
    *code = run(a, NULL);
    ft_twin_finish(job->twin, *code);
    _exit(*code);
}

int ft_agent_run(const struct ft_options *options, const struct ft_above *above)
{
    struct made *m = calloc(1, sizeof *m);
    struct ft_report *report = ft_shared_new(sizeof *report);
    struct ft_deadlines *deadlines = ft_deadlines_new(ft_clock_ns(), options->timeout_ms);
    struct ft_agent *a;
    struct ft_error e;
    int err = 0, code;

    if (!m || !report || !deadlines) {
        ft_say(&(struct ft_say){0}, "out of memory");
        return FT_CODE_JOB;
    }
    a = &m->agent;
    *a = (struct ft_agent){.deadlines = deadlines, .launcher = getpid(),
                           .job = {.options = options, .above = above, .report = report, .models = -1,
                                   .say = {.quiet = options->quiet, .verbose = options->verbose, .timestamp = options->timestamp_output}}};
    report->file.fd = -1;
    code = check_request(m, &e);
    if (code || (err = prepare(m, &e)) < 0 || (code = ft_durable_resume(&a->job, &e)) || (err = run_in_two(a, &code, &e)) < 0) {
        ft_say(&a->job.say, "%s%s", e.text, err == FT_ENOMEM ? " (a small ulimit -v or -d?)" : "");
        code = code ? code : err == FT_EINVAL ? FT_CODE_USAGE : FT_CODE_JOB; /* --log-limit, --log-spill, --log-prepare */
    }
    release(m);
    return code;
}
