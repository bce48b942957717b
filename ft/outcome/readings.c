/* SPDX-License-Identifier: BSD-3-Clause */
/* How often a thread reads a clock may hang on what no library sees: a std::future that is waited for with a time is asked first, by an atomic, and the
   clock is read only if it is not ready. A reading changes nothing outside of its thread: other threads do not wait for it (threads.c). So in a replay
   of several threads one that is in the log, and that the thread does not come to, is passed by; and one that is not gets the time of the reading
   before it (of its creator, or the rank's beginning, if there is none). Where a reading belongs is told by the calls around it, and by how many lock operations its thread had done (its record's step). */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ft/outcome/real.h"
#include "ft/outcome/record.h"
#include "ft/outcome/signals.h"

enum { MOST = 50000 /* readings in a row that are not in the log, PAUSE_NS apart */, PAUSE_NS = 100000 };

_Thread_local struct ft_readings ft_readings __attribute__((tls_model("initial-exec")));

void ft_readings_begin(void)
{
    for (clockid_t id = 0; id < FT_READINGS_CLOCKS; id++)
        ft_real()->clock_gettime(id, &ft_readings.last[id]);
}

/* Nobody was told the result: it was under way when the rank was killed. */
static bool never_was(const struct ft_outcome *o) { return atomic_load_explicit(&o->state, memory_order_acquire) != FT_OUTCOME_DONE; }

static bool is_reading(const struct ft_outcome *o) { return o && o->kind == FT_CALL_CLOCK && (ft_threads_many || never_was(o)); }

/* It was made after so many lock operations of this thread more than there have been now; fewer: below 0. */
static int ahead(const struct ft_outcome *o) { return (int16_t)(o->step - (uint16_t)ft_thread.locks); }

struct ft_outcome *ft_log_peek(void)
{
    struct ft_outcome *o;

    while (is_reading(o = ft_log_next()) && (never_was(o) || ahead(o) <= 0))
        ft_outcome_pass(ft_thread.log, o);
    return o;
}

struct ft_outcome *ft_reading_next(uint64_t what)
{
    struct ft_outcome *o;

    while (is_reading(o = ft_log_next()) && (never_was(o) || ahead(o) < 0 || (ahead(o) == 0 && o->what != what)))
        ft_outcome_pass(ft_thread.log, o);
    return o;
}

void ft_reading_made(struct ft_outcome *o) { o->step = (uint16_t)ft_thread.locks; }

bool ft_reading_is_missing(uint64_t what)
{
    static _Thread_local int missing;
    const struct ft_outcome *o;

    if (__builtin_expect(!ft_thread.replays, 1) || !ft_threads_many || !ft_recorder_replays())
        return false;
    ft_signals_give_at_reading(what);
    o = ft_reading_next(what);
    if (!ft_recorder_replays() || (is_reading(o) && ahead(o) == 0)) {
        missing = 0;
        return false;
    }
    if (++missing > MOST)
        ft_recorder_lost("a replay asks for the time again and again where its predecessor did not");
    syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    return true;
}
