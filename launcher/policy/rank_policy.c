/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/policy/rank_policy.h"

#include <signal.h>
#include <stdatomic.h>

#include "ft/base/util.h"
#include "ft/shm/layout.h"
#include "launcher/policy/phases.h"

enum stage { RUNNING, GATHERING, STAYING, ASKED, TERMINATING, KILLING, OVER };

struct rank {
    enum ft_phase life;    /* NEW, CLEARING, RUNNING, RETIRED */
    uint32_t restarts;
    uint32_t own_deaths;   /* in a row, at `progress` */
    bool exec_died;        /* one of own_deaths was not a copy's */
    uint32_t quick_kills;  /* in a row, at `progress` */
    uint32_t hangs;        /* in a row, at `progress` */
    uint64_t progress;
};

struct whole {             /* what is not of one rank */
    enum stage stage;
    int asked;             /* signal last sent to all */
    int code;              /* of the job, once it is ending */
    uint32_t up, done;     /* ranks that run; that left with 0 */
    uint64_t restarts;
    uint64_t gatherings;   /* so often all ranks had to start together */
    int signal;            /* that the job ends by; 0: by something else, or not */
    bool rabit_used;
};

/* What a step in progress began with: its process may be killed before the effects are deeds. A step changes its event's rank
   and `now`; what it does to other ranks (end, stranded) may be done twice. */
struct journal {
    atomic_bool open;
    struct ft_event event;
    struct rank rank;
    struct whole whole;
};

struct ft_policy {
    struct ft_policy_config config;
    struct journal journal;
    struct whole now;
    struct rank ranks[];
};

/* A process of it is to be started. */
static bool is_awaited(const struct rank *rank)
{
    return rank->life == FT_PROC_NEW || rank->life == FT_PROC_CLEARING;
}

static struct ft_effect *effect(struct ft_effects *out, enum ft_effect_kind kind)
{
    struct ft_effect *e;

    FT_INVARIANT(out->n < FT_EFFECTS_MAX, "a step has at most FT_EFFECTS_MAX effects");
    e = &out->e[out->n++];
    *e = (struct ft_effect){.kind = kind};
    return e;
}

static void finish(struct ft_policy *p, struct ft_effects *out)
{
    effect(out, FT_DO_FINISH)->code = p->now.code;
    p->now.stage = OVER;
}

static void send(struct ft_policy *p, enum stage stage, int signal, struct ft_effects *out)
{
    p->now.stage = stage;
    p->now.asked = signal;
    effect(out, FT_DO_SIGNAL)->number = (uint64_t)signal;
}

static void end(struct ft_policy *p, enum ft_reason reason, uint32_t rank, uint64_t number, int code, struct ft_effects *out)
{
    struct ft_effect *e = effect(out, FT_DO_END);

    e->reason = reason;
    e->rank = rank;
    e->number = number;
    e->code = p->now.code = code;
    for (uint32_t r = 0; r < p->config.nranks; r++)
        if (is_awaited(&p->ranks[r]))
            p->ranks[r].life = FT_PROC_RETIRED;
    if (!p->now.up)
        finish(p, out);
    else if (reason == FT_END_FENCED)
        send(p, KILLING, SIGKILL, out);
    else if (reason != FT_END_SIGNALLED)
        send(p, TERMINATING, SIGTERM, out);
    else if (number == SIGTERM)
        send(p, TERMINATING, SIGTERM, out);
    else
        send(p, ASKED, (int)number, out); /* as the user meant it; SIGTERM after a while */
}

static int death_code(const struct ft_event *ev)
{
    return ev->signal ? 128 + ev->signal : ev->code;
}

static bool restartable(const struct ft_policy *p, const struct ft_event *ev)
{
    const struct ft_restart_on *on = &p->config.restart_on;

    if (ev->signal)
        return on->signal;
    return on->codes[(ev->code & 255) / 64] >> (ev->code & 63) & 1;
}

/* Somebody else's doing, like an operator's kill or a preempted host; a shell passes those on as 128 + signal. */
static bool killed_by_others(const struct ft_event *ev)
{
    int signal = ev->signal ? ev->signal : ev->code - 128;

    return (signal == SIGKILL || signal == SIGTERM) && !ev->oom && !ev->by_itself;
}

/* It does so again if it goes on with the memory of just before: in that is what it decided by. */
static bool decided_to_die(const struct ft_event *ev) { return ev->by_itself || !ev->signal; }

/* What is counted is counted at the furthest unit this rank ever reached (RULE 19: deaths in replay come earlier). */
static void note_progress(struct rank *rank, uint64_t progress)
{
    if (progress <= rank->progress)
        return;
    rank->progress = progress;
    rank->own_deaths = rank->quick_kills = rank->hangs = 0;
    rank->exec_died = false;
}

static void count_death(struct rank *rank, const struct ft_event *ev)
{
    note_progress(rank, ev->progress);
    if (!killed_by_others(ev)) {
        rank->own_deaths++;
        rank->exec_died |= ev->from == FT_FROM_EXEC;
    } else if (ev->quick) {
        rank->quick_kills++;
    } else {
        rank->quick_kills = 0;
    }
}

/* Whether a rank that died of something restartable stays dead, and why. What only copies of it die of may be the copies' fault. */
static bool stays_dead(const struct ft_policy *p, const struct rank *rank, enum ft_reason *reason, uint64_t *number)
{
    if (rank->own_deaths >= FT_OWN_DEATHS && rank->exec_died) {
        *reason = FT_END_GIVEN_UP;
        *number = rank->own_deaths;
    } else if (rank->quick_kills >= FT_QUICK_KILLS) {
        *reason = FT_END_KILLED_EARLY;
        *number = rank->quick_kills;
    } else if (p->now.restarts >= p->config.max_restarts) {
        *reason = p->config.max_restarts ? FT_END_MAX_RESTARTS : FT_END_DEATH;
        *number = p->now.restarts;
    } else {
        return false;
    }
    return true;
}

static bool is_going(const struct ft_policy *p)
{
    return p->now.stage == RUNNING || p->now.stage == GATHERING || p->now.stage == STAYING;
}

static void start_again(struct ft_policy *p, uint32_t rank, struct ft_effects *out)
{
    struct ft_effect *e = effect(out, FT_DO_RESTART);

    p->ranks[rank].life = FT_PROC_CLEARING;
    e->rank = rank;
    e->number = p->ranks[rank].restarts;
}

static void restart(struct ft_policy *p, uint32_t rank, struct ft_effects *out)
{
    p->ranks[rank].restarts++;
    start_again(p, rank, out);
}

/* A fault of its own may have been chance: it goes on from its newest snapshot, once. Then that may have the fault in it: from zero, which is to
   do more again. Last it is started by exec, if that has not died there, too. */
static void step_back(const struct rank *rank, const struct ft_event *ev, struct ft_effects *out)
{
    struct ft_effect *e;

    if (rank->own_deaths == 1 && !decided_to_die(ev))
        return;
    e = effect(out, FT_DO_FORSAKE);
    e->rank = ev->rank;
    e->number = rank->own_deaths < FT_OWN_DEATHS ? 1 : 2;
}

static void died(struct ft_policy *p, const struct ft_event *ev, struct ft_effects *out)
{
    struct rank *rank = &p->ranks[ev->rank];
    enum ft_reason reason;
    uint64_t number;

    count_death(rank, ev);
    if (stays_dead(p, rank, &reason, &number)) {
        effect(out, FT_DO_RETIRE)->rank = ev->rank;
        end(p, reason, ev->rank, number, death_code(ev), out);
        return;
    }
    if (!killed_by_others(ev))
        step_back(rank, ev, out);
    p->now.restarts++;
    restart(p, ev->rank, out);
}

/* Other nodes may have to begin again, and need the log. */
static void stay(struct ft_policy *p, struct ft_effects *out)
{
    p->now.stage = STAYING;
    effect(out, FT_DO_STAY);
}

static void all_done(struct ft_policy *p, struct ft_effects *out)
{
    if (p->config.need_rabit && !p->now.rabit_used)
        end(p, FT_END_NO_RABIT, 0, 0, FT_CODE_JOB, out);
    else if (p->config.node)
        stay(p, out);
    else
        finish(p, out);
}

/* All are to start again: it was killed for that, or would have been. */
static bool is_gathered(const struct ft_policy *p, const struct ft_event *ev)
{
    if (p->now.stage != GATHERING)
        return false;
    if (ev->lost || ev->state == FT_RANK_ENDED)
        return ev->lost;
    if (ev->signal)
        return ev->signal == SIGKILL && !ev->oom;
    return ev->code == 0 && ev->state != FT_RANK_ATTACHED;
}

static void exited_while_going(struct ft_policy *p, const struct ft_event *ev, struct ft_effects *out)
{
    bool ended = ev->state == FT_RANK_ENDED;
    bool zero = !ev->signal && ev->code == 0;

    if (is_gathered(p, ev)) {
        restart(p, ev->rank, out);
        return;
    }
    if (ev->astray || (ev->check && !ev->lost)) {
        start_again(p, ev->rank, out);
        return;
    }
    if (ev->lost) {
        if (ev->by_itself)
            step_back(&p->ranks[ev->rank], ev, out);
        p->now.restarts++;
        restart(p, ev->rank, out);
        return;
    }
    if (!ended && !zero && restartable(p, ev)) {
        died(p, ev, out);
        return;
    }
    effect(out, FT_DO_RETIRE)->rank = ev->rank;
    if (ended)
        end(p, FT_END_LAST_WORDS, ev->rank, 0, ev->job_code, out);
    else if (zero && ev->state == FT_RANK_ATTACHED)
        end(p, FT_END_NO_FINALIZE, ev->rank, 0, FT_CODE_JOB, out);
    else if (!zero)
        end(p, ev->signal ? FT_END_DEATH : FT_END_VERDICT, ev->rank, 0, death_code(ev), out);
    else if (++p->now.done == p->config.nranks)
        all_done(p, out);
}

static void exited(struct ft_policy *p, const struct ft_event *ev, struct ft_effects *out)
{
    struct rank *rank = &p->ranks[ev->rank];

    if (rank->life != FT_PROC_RUNNING)
        return;
    rank->life = FT_PROC_RETIRED;
    p->now.up--;
    p->now.rabit_used |= ev->rabit_used;
    if (is_going(p)) {
        exited_while_going(p, ev, out);
        return;
    }
    effect(out, FT_DO_RETIRE)->rank = ev->rank;
    if (!p->now.up)
        finish(p, out);
}

static void hung(struct ft_policy *p, const struct ft_event *ev, struct ft_effects *out)
{
    struct rank *rank = &p->ranks[ev->rank];

    if (p->now.stage != RUNNING || rank->life != FT_PROC_RUNNING)
        return;
    note_progress(rank, ev->progress);
    if (++rank->hangs >= FT_HANGS)
        end(p, FT_END_HUNG, ev->rank, rank->hangs, 128 + SIGKILL, out);
    else
        effect(out, FT_DO_KILL)->rank = ev->rank;
}

/* Ranks that have left are needed again. */
static void stranded(struct ft_policy *p, const struct ft_event *ev, struct ft_effects *out)
{
    if (p->now.stage != RUNNING || !is_awaited(&p->ranks[ev->rank]))
        return;
    if (p->config.node) { /* the other nodes' ranks go on, and these cannot start without them */
        end(p, FT_END_STRANDED, ev->rank, 0, FT_CODE_JOB, out);
        return;
    }
    for (uint32_t r = 0; r < p->config.nranks; r++) {
        if (p->ranks[r].life != FT_PROC_RETIRED)
            continue;
        p->ranks[r].restarts++;
        p->ranks[r].life = FT_PROC_CLEARING;
    }
    p->now.stage = GATHERING;
    p->now.gatherings++;
    p->now.done = 0;
    effect(out, FT_DO_TELL_ALL)->rank = ev->rank;
    effect(out, FT_DO_GATHER);
}

static void grace_over(struct ft_policy *p, struct ft_effects *out)
{
    if (p->now.stage == ASKED)
        send(p, TERMINATING, SIGTERM, out);
    else if (p->now.stage == TERMINATING)
        send(p, KILLING, SIGKILL, out);
}

static void fenced(struct ft_policy *p, struct ft_effects *out)
{
    if (is_going(p))
        end(p, FT_END_FENCED, 0, 0, FT_CODE_JOB, out);
    else if (p->now.stage != KILLING && p->now.stage != OVER)
        send(p, KILLING, SIGKILL, out);
}

static void step(struct ft_policy *p, const struct ft_event *ev, struct ft_effects *out)
{
    if (p->now.stage == OVER)
        return;
    switch (ev->kind) {
    case FT_EV_STARTED:
        if (is_awaited(&p->ranks[ev->rank])) {
            p->ranks[ev->rank].life = FT_PROC_RUNNING;
            p->now.up++;
        }
        break;
    case FT_EV_EXITED:
        exited(p, ev, out);
        break;
    case FT_EV_SIGNAL:
        if (is_going(p)) {
            p->now.signal = ev->signal;
            end(p, FT_END_SIGNALLED, 0, (uint64_t)ev->signal, 128 + ev->signal, out);
        } else if (p->now.stage != KILLING) {
            send(p, KILLING, SIGKILL, out); /* asked twice: at once */
        }
        break;
    case FT_EV_GRACE:
        grace_over(p, out);
        break;
    case FT_EV_FAILED:
        if (is_going(p))
            end(p, FT_END_SAID, 0, 0, ev->code, out);
        break;
    case FT_EV_HUNG:
        hung(p, ev, out);
        break;
    case FT_EV_ABSENT:
        if (p->now.stage == RUNNING)
            end(p, FT_END_NO_INIT, ev->rank, 0, FT_CODE_JOB, out);
        break;
    case FT_EV_STRANDED:
        stranded(p, ev, out);
        break;
    case FT_EV_RENEWED:
        FT_INVARIANT(p->now.stage != GATHERING || !p->now.up, "the log is new when no rank runs");
        if (p->now.stage == GATHERING)
            p->now.stage = RUNNING;
        break;
    case FT_EV_ALL_DONE:
        if (p->now.stage == STAYING)
            finish(p, out);
        break;
    case FT_EV_ENDED:
        if (is_going(p))
            end(p, FT_END_ELSEWHERE, 0, 0, ev->code, out);
        break;
    case FT_EV_FENCED:
        fenced(p, out);
        break;
    }
}

void ft_policy_step(struct ft_policy *p, const struct ft_event *ev, struct ft_effects *out)
{
    FT_INVARIANT(!atomic_load(&p->journal.open), "a step is settled before the next one");
    out->n = 0;
    p->journal.event = *ev;
    p->journal.rank = p->ranks[ev->rank];
    p->journal.whole = p->now;
    atomic_store(&p->journal.open, true);
    step(p, ev, out);
}

void ft_policy_settle(struct ft_policy *p)
{
    atomic_store(&p->journal.open, false);
}

void ft_policy_recover(struct ft_policy *p, struct ft_effects *out)
{
    out->n = 0;
    if (atomic_load(&p->journal.open)) {
        p->ranks[p->journal.event.rank] = p->journal.rank;
        p->now = p->journal.whole;
        step(p, &p->journal.event, out);
    } else if (p->now.stage == OVER) {
        effect(out, FT_DO_FINISH)->code = p->now.code;
    } else if (p->now.stage == GATHERING) {
        effect(out, FT_DO_GATHER);
    } else if (p->now.stage == STAYING) {
        effect(out, FT_DO_STAY);
    } else if (p->now.stage != RUNNING) {
        effect(out, FT_DO_SIGNAL)->number = (uint64_t)p->now.asked;
    }
}

void ft_policy_lose(struct ft_policy *p, uint32_t rank)
{
    struct ft_event *ev = &p->journal.event;

    if (atomic_load(&p->journal.open) && ev->kind == FT_EV_EXITED && ev->rank == rank)
        ev->lost = true;
}

bool ft_policy_wants(const struct ft_policy *p, uint32_t rank)
{
    return is_going(p) && is_awaited(&p->ranks[rank]);
}

bool ft_policy_gathers(const struct ft_policy *p)
{
    return p->now.stage == GATHERING;
}

bool ft_policy_stays(const struct ft_policy *p)
{
    return p->now.stage == STAYING;
}

bool ft_policy_ends(const struct ft_policy *p, int *code)
{
    *code = p->now.code;
    return !is_going(p);
}

size_t ft_policy_bytes(uint32_t nranks)
{
    return sizeof(struct ft_policy) + nranks * sizeof(struct rank);
}

struct ft_policy *ft_policy_new(void *memory, const struct ft_policy_config *config)
{
    struct ft_policy *p = memory;

    if (p)
        p->config = *config;
    return p;
}

uint64_t ft_policy_restarts(const struct ft_policy *p)
{
    return p->now.restarts;
}

uint64_t ft_policy_restarts_of(const struct ft_policy *p, uint32_t rank)
{
    return p->ranks[rank].restarts;
}

uint64_t ft_policy_gatherings(const struct ft_policy *p)
{
    return p->now.gatherings;
}

int ft_policy_signal(const struct ft_policy *p)
{
    return p->now.signal;
}
