/* SPDX-License-Identifier: BSD-3-Clause */
/* Kills at points, of the tests' agent: the same ones each time.

   The rank is traced from its beginning. It stops twice in each call of the system: before the kernel does anything, and
   after. Between two stops it acts by stores in memory that outlives it: a record is begun, noted, done. The processor
   watches the words that say so. A point is N.K: the N-th stop, and the K-th store after it (0: the stop). What a kill
   leaves behind is told by the last point before it, whatever else was computed.

   Counted from where the program goes on: after snapshot zero stands, and where an incarnation is let go. Point 0 is
   before that. Stores are seen on x86-64 only; on others the next stop takes their place. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ft/outcome/kinds.h"
#include "ft/outcome/test/agent.h"
#include "ft/shm/wait.h"

static const char *const names[] = {
#define X(name, text, how, leaves, ends) #name,
    FT_CALL_KINDS(X)
#undef X
};

/* ---- what outlives the rank ---- */

/* The log's last record, which begins before `tail`. */
static const struct ft_outcome *last_record(struct agent *a)
{
    struct points *p = &a->points;
    struct ft_outcome *o;

    p->log.end = atomic_load(&a->words->tail);
    while ((o = ft_outcome_next(&p->log))) {
        p->last = o;
        if (atomic_load(&o->state) != FT_OUTCOME_DONE || p->log.last + o->room >= p->log.end)
            break; /* the last one may have given back what it did not need, when it is looked at again */
        ft_outcome_pass(&p->log, o);
    }
    return p->last;
}

/* Written to by the rank alone. */
static void look(struct agent *a, struct seen *s)
{
    const struct ft_outcome *o = last_record(a);

    memset(s, 0, sizeof *s); /* what lies between the members is compared, too */
    s->tail = atomic_load(&a->words->tail);
    s->done = atomic_load(&a->words->done);
    s->closings = atomic_load(&a->words->closings);
    s->once = atomic_load(&a->words->once);
    s->signals = atomic_load(&a->words->signals);
    s->forked = ft_look(&a->shared->block.snap.forked);
    s->child = ft_look(&a->shared->block.snap.child);
    s->row = atomic_load(&a->shared->row);
    if (o)
        memcpy(&s->record, o, sizeof s->record);
}

static bool has_changed(struct agent *a)
{
    struct seen now;

    look(a, &now);
    if (memcmp(&now, &a->points.seen, sizeof now) == 0)
        return false;
    a->points.seen = now;
    return true;
}

/* ---- where it is ---- */

/* The record that it is at, in its own memory: before the tail in a replay. */
static bool replays(const struct agent *a)
{
    long at;

    if (!a->shared->position)
        return false;
    errno = 0;
    at = ptrace(PTRACE_PEEKDATA, a->rank, a->shared->position, 0);
    return errno == 0 && (uint64_t)at < atomic_load(&a->words->tail);
}

static const char *state_of(const struct ft_outcome *o)
{
    switch (atomic_load(&o->state)) {
    case FT_OUTCOME_BEGUN: return o->step ? "noted" : "begun";
    case FT_OUTCOME_DONE: return "done";
    default: return "none";
    }
}

/* The way back that there is from here. */
static const char *way_back(const struct agent *a)
{
    uint64_t closings = atomic_load(&a->words->closings);
    const struct slot *s = a->slots;

    if (s[NAMED].pid && s[NAMED].closings >= closings)
        return "newer";
    return s[ZERO].pid && s[ZERO].closings >= closings ? "zero" : "closed";
}

/* "12.1 TRUNCATE noted live enter 76 zero truncate": the point, the last record and its state, whether this incarnation has come to
   that, the stop and the last call of the system, the way back that there is, and the row that the program is in. */
static void say(const struct agent *a, FILE *to, const char *what)
{
    const struct points *p = &a->points;
    const struct ft_outcome *o = p->last;

    fprintf(to, "%s%ld.%ld %s %s %s %s %ld %s %s\n", what, p->stop, p->store, o ? names[o->kind] : "-", o ? state_of(o) : "none",
            replays(a) ? "replay" : "live", p->store ? "store" : p->leaves ? "leave" : "enter", p->call, way_back(a),
            a->shared->rows[atomic_load(&a->shared->row) % 2]);
}

/* It is killed here. */
static bool is_end(struct agent *a)
{
    struct points *p = &a->points;
    const struct point *end = &p->at[a->killed];
    bool here = a->killed < p->n && (p->stop > end->stop || (p->stop == end->stop && p->store >= end->store));

    if (p->list && a->killed == p->n)
        say(a, p->list, "");
    if (!here)
        return false;
    say(a, stderr, "killed ");
    agent_kill(a);
    return true;
}

/* ---- stores ---- */

#if defined(__x86_64__)
static bool set(const struct agent *a, int i, uint64_t to)
{
    return ptrace(PTRACE_POKEUSER, a->rank, offsetof(struct user, u_debugreg) + (size_t)i * sizeof to, to) == 0;
}

/* Where the rank has it that is here in the memory of both. */
static uint64_t there(const struct agent *a, const void *here)
{
    return a->shared->mapped + (uint64_t)((const char *)here - (const char *)a->shared);
}

/* The processor stops the rank after a store into any of these words. */
static void watch(struct agent *a)
{
    enum { ON = 1, WRITTEN = 1, EIGHT = 2, RECORD = 1, NOTE = 2 };
    const struct ft_outcome *o = a->points.last;
    const void *words[] = {&a->words->tail, o, o ? o->note : NULL, &a->shared->row};
    uint64_t how = 0;

    for (int i = 0; i < 4; i++)
        if (words[i] && set(a, i, there(a, words[i])))
            how |= (uint64_t)ON << 2 * i | (uint64_t)(WRITTEN | EIGHT << 2) << (16 + 4 * i);
    set(a, 7, how);
    a->points.watches = true;
    a->points.watched = o;
}

/* Which of them it was does not matter: what has changed is looked at. */
static bool is_store(const struct agent *a, int status)
{
    return a->points.watches && status >> 8 == SIGTRAP &&
           ptrace(PTRACE_PEEKUSER, a->rank, offsetof(struct user, u_debugreg) + 6 * sizeof(uint64_t), 0) & 15;
}
#else
static void watch(struct agent *a) { (void)a; }
static bool is_store(const struct agent *a, int status) { return a->points.watches && status < 0; }
#endif

/* ---- stops ---- */

/* Which call it is that it enters or leaves. A copy that has been begun stands when the rank goes on: or who is faster would decide
   which copy is woken. */
static void look_at_call(struct agent *a)
{
    struct points *p = &a->points;
    struct __ptrace_syscall_info call = {0};
    uint64_t begin = ft_clock_ns();

    ptrace(PTRACE_GET_SYSCALL_INFO, a->rank, sizeof call, &call);
    p->leaves = call.op == PTRACE_SYSCALL_INFO_EXIT;
    if (!p->leaves)
        p->call = (long)call.entry.nr;
    while (p->leaves && p->call == SYS_clone && call.exit.rval > 0 && a->number && ft_clock_ns() - begin < 2000000000ull)
        agent_look(a);
}

void points_arm(struct agent *a)
{
    struct points *p = &a->points;

    if (!p->log.words) {
        ft_outcome_log_open(&p->log, a->words, a->shared->bytes - LOG_AT);
        p->log.at = 0;
    }
    p->stop = p->store = p->call = 0;
    p->watches = false;
    strcpy(a->shared->rows[atomic_load(&a->shared->row) % 2], "-"); /* it has not come to one yet */
    if (ptrace(PTRACE_SEIZE, a->rank, 0, PTRACE_O_TRACESYSGOOD) < 0)
        return; /* it is dead already */
    atomic_store(&a->shared->begins, TEST_TRACED);
    a->traced = true;
    if (a->killed < p->n && p->at[a->killed].stop == 0) {
        fprintf(stderr, "killed 0.0 - none replay - 0 %s -\n", way_back(a));
        agent_kill(a);
        return;
    }
    ptrace(PTRACE_INTERRUPT, a->rank, 0, 0);
}

/* Stores matter here: the kill is after one, or all are listed. */
static bool is_watched(const struct agent *a)
{
    const struct points *p = &a->points;

    return a->killed < p->n ? p->at[a->killed].stop == p->stop && p->at[a->killed].store > 0 : p->list != NULL;
}

/* False: it is killed here. */
static bool at_call(struct agent *a)
{
    struct points *p = &a->points;

    p->stop++;
    p->store = 0;
    look(a, &p->seen);
    agent_look(a); /* first: the number of zero, which has said that it stands, is not that of the next one */
    look_at_call(a);
    if (p->copy_at && p->stop >= p->copy_at && a->killed == 0 && !a->number) { /* one at a time: the rank may have asked for one itself */
        agent_ask(a);
        p->copy_at = 0;
    }
    if (is_end(a))
        return false;
    if (is_watched(a) && (!p->watches || p->watched != p->last))
        watch(a);
    return true;
}

static bool at_store(struct agent *a)
{
    struct points *p = &a->points;

    if (!has_changed(a))
        return true;
    p->store++;
    if (is_end(a))
        return false;
    if (p->watched != p->last)
        watch(a);
    return true;
}

void points_stop(struct agent *a, int status)
{
    int signal = WSTOPSIG(status);

    if (is_store(a, status)) {
        if (!at_store(a))
            return;
        signal = 0;
    } else if (signal == (SIGTRAP | 0x80)) {
        if (atomic_load(&a->shared->begins) == TEST_BEGUN && !at_call(a))
            return;
        signal = 0;
    } else if (status >> 16 == PTRACE_EVENT_STOP) {
        signal = 0;
    }
    ptrace(PTRACE_SYSCALL, a->rank, 0, signal);
}

bool points_read(struct points *p, const char *text)
{
    char *end = NULL;

    for (; *text; text = *end == ',' ? end + 1 : end) {
        struct point *at = &p->at[p->n];

        if (p->n == POINTS)
            return false;
        *at = (struct point){strtol(text, &end, 10), 0};
        if (end == text)
            return false;
        if (*end == '.')
            at->store = strtol(end + 1, &end, 10);
        p->n++;
        if (*end && *end != ',')
            return false;
    }
    return true;
}
