/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/outcome/record.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ft/base/hash.h"
#include "ft/base/util.h"
#include "ft/outcome/children.h"
#include "ft/outcome/descriptors.h"
#include "ft/outcome/images.h"
#include "ft/outcome/maps.h"
#include "ft/outcome/pipes.h"
#include "ft/outcome/process.h"
#include "ft/outcome/signals.h"
#include "ft/outcome/stand.h"
#include "ft/outcome/stdio.h"

enum {
    ROOM_MS = 2000, /* the agent looks 20 times a second */
    RENEWALS = 3    /* tries: a thread may begin or end just then, or open a file */
};

struct ft_recorder ft_recorder;

static const struct kind {
    const char *text;
    bool waits;          /* others run while such a call is made */
    bool leaves_nothing;
    int ends;
} kinds[] = {
#define X(name, text, how, leaves, ends) {text, FT_CALL_##how, FT_CALL_##leaves, FT_CALL_##ends},
    FT_CALL_KINDS(X)
#undef X
};

bool ft_recorder_start(void *memory, uint64_t bytes)
{
    const char *why;

    ft_outcome_log_open(&ft_recorder.log, memory, bytes);
    why = ft_stdio_open();
    if (!why && !ft_pipes_open())
        why = "there is no descriptor for a pipe";
    if (!why && !ft_process_open())
        why = "there is no memory";
    if (why) {
        ft_recorder_tell("what it does to files is not followed: %s", why);
        return false;
    }
    ft_descriptors_open();
    ft_threads_open();
    ft_readings_begin();
    ft_recorder.switched = ft_recorder.settled = true;
    ft_recorder.on = true;
    return true;
}

/* ---- arguments ---- */

uint64_t ft_what(int64_t a, int64_t b, int64_t c)
{
    return ft_hash_mix(ft_hash_mix((uint64_t)a, (uint64_t)b), (uint64_t)c);
}

uint64_t ft_what_name(const char *name)
{
    return name ? ft_hash(0, name, strlen(name)) : 0;
}

uint64_t ft_what_bytes(const void *data, size_t n)
{
    return ft_hash(n, data, n);
}

/* ---- ends ---- */

static void close_because(const char *format, va_list args)
{
    char why[FT_OUTCOME_WHY];

    vsnprintf(why, sizeof why, format, args);
    ft_outcome_close(ft_recorder.log.words, why);
}

void ft_recorder_close(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    close_because(format, args);
    va_end(args);
}

void ft_recorder_end(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    close_because(format, args);
    va_end(args);
    atomic_store(&ft_recorder.log.words->ended, 1);
    ft_recorder.on = false;
    ft_recorder.ended = true;
}

/* One at a time. The lock is not held while the copy is made: another thread may be at one, which is as good, and need it. */
static _Atomic bool renews;

bool ft_recorder_may_renew(void)
{
    while (!ft_recorder_replays()) {
        ft_recorder_live();
        ft_threads_lock();
        if (!renews && !ft_thread.replays) {
            renews = true;
            return true;
        }
        ft_threads_unlock();
        while (renews) /* it stands for that copy */
            syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 100000}, NULL);
    }
    return false;
}

void ft_recorder_renew_not(void)
{
    renews = false;
    ft_threads_unlock();
}

void ft_recorder_renew(const char *why)
{
    uint64_t before = ft_recorder.renewed;

    ft_recorder.closes = true;
    ft_threads_unlock();
    for (int i = 0; i < RENEWALS && ft_recorder.cut_now && ft_recorder.renewed == before; i++)
        ft_recorder.cut_now();
    ft_busy(); /* no copy is made that would be one of those before */
    if (ft_recorder.renewed == before)
        ft_recorder_close("%s", why); /* there is no such copy */
    else
        ft_outcome_renewed(ft_recorder.log.words, why, ft_recorder.renewed); /* what comes of it finds the others closed, or closes them */
    ft_recorder.closes = false;
    renews = false;
    ft_idle();
}

void ft_recorder_lost(const char *format, ...)
{
    struct ft_outcome_words *words = ft_recorder.log.words;
    va_list args;

    va_start(args, format);
    vsnprintf(words->how, sizeof words->how, format, args);
    va_end(args);
    atomic_fetch_add(&words->differs, 1);
    for (;;)
        syscall(SYS_kill, (pid_t)syscall(SYS_getpid), SIGKILL);
}

void ft_recorder_tell(const char *format, ...)
{
    struct ft_outcome_words *words = ft_recorder.log.words;
    va_list args;

    if (ft_recorder.told)
        return;
    ft_recorder.told = true;
    va_start(args, format);
    vsnprintf(words->told, sizeof words->told, format, args);
    va_end(args);
    atomic_fetch_add(&words->tells, 1);
}

enum ft_call_kind ft_recorder_next(void)
{
    struct ft_outcome *o = ft_log_peek();

    return o ? (enum ft_call_kind)o->kind : FT_CALL_PAD;
}

/* The log cannot take any more. A newer copy makes room, when the older ones are ended: they are ended after it. */
static bool make_room(void)
{
    struct ft_outcome_log *log = &ft_recorder.log;
    uint64_t released = atomic_load(&log->words->released);
    uint32_t life = ft_threads_life;
    bool woken;

    ft_recorder_live();
    if (!ft_recorder.cut_now)
        return false;
    woken = ft_recorder.cut_now();
    for (int i = 0; !woken && i < ROOM_MS && atomic_load(&log->words->released) == released; i++) {
        ft_idle(); /* another thread may make one, which this one stands for */
        syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 1000000}, NULL);
        ft_busy();
        woken = life != ft_threads_life;
    }
    return woken || atomic_load(&log->words->released) != released;
}

void ft_recorder_full(void)
{
    ft_recorder_end("the log of what it did to files and read from them is full (--log-limit)");
}

bool ft_recorder_other(void)
{
    /* Its predecessor's thread had not come to this when that was killed, so the others come to the log's end without it. */
    while (atomic_load(&ft_threads_replay))
        syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 1000000}, NULL);
    ft_recorder_end("a thread of it that was not made by pthread_create opened, read or wrote something");
    return false;
}

void ft_recorder_resume(void)
{
    ft_recorder.switched = ft_recorder.settled = false;
    ft_recorder.told = false;
    ft_threads_resume();
}

uint64_t ft_recorder_position(void)
{
    return ft_thread.replays && ft_log_next() ? ft_thread.log->at : atomic_load(&ft_recorder.log.words->tail);
}

/* ---- calls ---- */

static bool switching;

static void switch_over(void)
{
    switching = true;
    ft_maps_compare();
    ft_inside();
    if (ft_threads_all_resolved())
        ft_descriptors_sweep();
    ft_children_live();
    ft_outside();
    ft_recorder.settled = !ft_images_held;
    ft_recorder.switched = true;
    switching = false;
}

void ft_recorder_live(void)
{
    if (ft_recorder_replays())
        return;
    if (!ft_recorder.switched) {
        ft_threads_lock();
        if (!ft_recorder.switched && !switching && !ft_thread.replays) { /* not in a process that has been made of a copy since */
            switch_over();
            ft_stand_once();
        }
        ft_threads_unlock();
    }
    ft_signals_release();
}

static void hold(struct ft_recorded *c)
{
    if (!c->held)
        ft_threads_lock();
    c->held = true;
}

static void let(struct ft_recorded *c)
{
    if (c->held)
        ft_threads_unlock();
    c->held = false;
}

/* In a replay: the predecessor's record, in *o. */
static bool is_replayed(enum ft_call_kind kind, uint64_t what, struct ft_outcome **o)
{
    if (!ft_recorder_replays())
        return false;
    *o = kind == FT_CALL_CLOCK ? ft_reading_next(what) : ft_log_peek();
    return *o || ft_recorder_replays(); /* others may have ended it: they do not wait for readings of a clock */
}

static bool given(struct ft_recorded *c, enum ft_call_kind kind, uint64_t what, uint32_t most, struct ft_outcome *o)
{
    if (!o)
        ft_recorder_lost("a replay made call %s where a thread had locks to take", kinds[kind].text);
    if (o->kind != kind || o->what != what)
        ft_recorder_lost("a replay made call %s where there was %s%s, %llu byte%s before the end of its log", kinds[kind].text, kinds[o->kind].text,
                         o->kind == kind ? " of something else" : "", (unsigned long long)(ft_thread.log->end - ft_thread.log->last),
                         ft_plural(ft_thread.log->end - ft_thread.log->last));
    c->record = o;
    ft_threads_arrived(o);
    if (atomic_load_explicit(&o->state, memory_order_acquire) == FT_OUTCOME_DONE) {
        ft_threads_await_turn(o->number);
        ft_outcome_pass(ft_thread.log, o);
        return true;
    }
    ft_threads_all_given();
    c->under_way = true;
    ft_thread.resolves = true;
    ft_thread.replays = false;
    hold(c);
    ft_outcome_again(ft_thread.log, o, most);
    return false;
}

/* A new one: with the lock, if it is. */
static void begin_record(struct ft_recorded *c, enum ft_call_kind kind, uint64_t what, uint32_t most)
{
    hold(c);
    c->record = ft_recorder.on ? ft_threads_record(kind, what, most) : NULL;
    if (!c->record)
        let(c);
    else if (kind == FT_CALL_CLOCK)
        ft_reading_made(c->record);
}

static bool is_due(void)
{
    return ft_recorder.want && atomic_load_explicit(ft_recorder.want, memory_order_relaxed) != *ft_recorder.answered;
}

static void cut_if_due(void)
{
    ft_recorder_live(); /* first: the copy takes what is open for accounted for */
    ft_threads_lock();
    if (is_due() && !ft_thread.replays) { /* nor there: who waits for a replay's end has no lock */
        ft_images_settle();
        ft_recorder.cut();
    }
    ft_threads_unlock();
}

bool ft_call_begin(struct ft_recorded *c, enum ft_call_kind kind, uint64_t what, size_t most)
{
    struct ft_outcome *o = NULL;

    c->error = errno;
    if (is_due() && !ft_recorder_replays())
        cut_if_due();
    if (__builtin_expect(ft_thread.replays, 0) && kind == FT_CALL_CLOCK)
        ft_signals_give_at_reading(what);
    else if (__builtin_expect(ft_thread.replays, 0))
        ft_signals_give();
    if (__builtin_expect(ft_signals_wait, 0))
        ft_signals_before(kinds[kind].ends);
    ft_busy();
    ft_thread.led = false;
    c->under_way = c->held = false;
    c->record = NULL;
    if (is_replayed(kind, what, &o)) {
        if (given(c, kind, what, (uint32_t)most, o))
            return true;
    } else {
        begin_record(c, kind, what, (uint32_t)most);
        if (!c->record && ft_recorder.on && make_room()) {
            if (ft_recorder_replays()) {
                ft_idle();
                return ft_call_begin(c, kind, what, most); /* this is the next incarnation */
            }
            begin_record(c, kind, what, (uint32_t)most);
        }
        if (!c->record && ft_recorder.on)
            ft_recorder_full();
    }
    ft_thread.ends = kinds[kind].ends;
    ft_thread.in_call = true;
    if (__builtin_expect(ft_signals_wait, 0))
        ft_signals_in_call();
    if (ft_images_held)
        ft_images_settle();
    if (c->under_way) {
        ft_children_tell();
        ft_signals_release(); /* they interrupt it */
        if (kinds[kind].leaves_nothing)
            ft_threads_resolved();
    } else {
        ft_recorder_live();
    }
    if (kinds[kind].waits)
        let(c);
    errno = c->error;
    return false;
}

/* After it has been noted where this thread is to be led back to. Handlers of signals may have made such calls themselves. */
bool ft_call_begin_here(struct ft_recorded *c, enum ft_call_kind kind, uint64_t what, size_t most) __attribute__((visibility("hidden")));
bool ft_call_begin_here(struct ft_recorded *c, enum ft_call_kind kind, uint64_t what, size_t most)
{
    struct ft_lead lead;
    bool given;

    ft_lead_keep(&lead);
    given = ft_call_begin(c, kind, what, most);
    ft_lead_restore(&lead);
    ft_thread.led = true;
    return given;
}

long ft_call_give(struct ft_recorded *c)
{
    long result = c->record->result;

    ft_threads_given(c->record->number);
    errno = c->record->error;
    ft_idle();
    ft_signals_at(FT_SIGNALS_AFTER);
    if (ft_threads_ended()) {
        ft_signals_release(); /* the program may wait for one without a call, and this one may have been interrupted by one */
        ft_signals_at(FT_SIGNALS_AFTER);
    }
    return result;
}

long ft_call_end(struct ft_recorded *c, long result, size_t bytes)
{
    struct ft_outcome *o = c->record;
    int error = errno;

    if (o) {
        hold(c);
        o->result = result;
        o->error = error;
        ft_outcome_done(ft_thread.log, o, (uint32_t)bytes, ft_threads_number());
        let(c);
        ft_threads_resolved();
        ft_recorder_live();
    }
    if (__builtin_expect(ft_signals_wait, 0))
        ft_signals_past_call();
    errno = error;
    ft_thread.in_call = false;
    if (ft_threads_many)
        ft_signals_found();
    ft_idle();
    ft_signals_at(FT_SIGNALS_AFTER);
    return result;
}

int ft_call_give_fd(struct ft_recorded *c)
{
    if (c->record->result >= 0)
        ft_descriptors_add((int)c->record->result); /* first: a signal's handler may end the replay, and what is not known is swept away */
    return (int)ft_call_give(c);
}

int ft_call_end_fd(struct ft_recorded *c, int fd)
{
    if (fd >= 0)
        ft_descriptors_add(fd);
    return (int)ft_call_end(c, fd, 0);
}

long ft_call_give_struct(struct ft_recorded *c, void *to, size_t bytes)
{
    if (ft_call_bytes(c) == bytes)
        memcpy(to, ft_call_data(c), bytes);
    return ft_call_give(c);
}

long ft_call_end_struct(struct ft_recorded *c, long result, const void *from, size_t bytes)
{
    if (result < 0 || !c->record)
        return ft_call_end(c, result, 0);
    memcpy(ft_call_data(c), from, bytes);
    return ft_call_end(c, result, bytes);
}
