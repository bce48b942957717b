/* SPDX-License-Identifier: BSD-3-Clause */
/* What time it is, and sleeping. Times fit into a record's notes. A replay is told the times that its predecessor was told, and does
   not sleep. Under way, a clock is read again; of a sleep, what is left until the end that was noted. */
#include <errno.h>
#include <sys/time.h>
#include <sys/times.h>
#include <threads.h>
#include <time.h>

#include "ft/outcome/real.h"
#include "ft/outcome/record.h"

static const long SECOND = 1000000000; /* ns */

/* Which call it is, beside the clock. */
enum { CLOCK_GETTIME, GETTIMEOFDAY, TIME, TIMESPEC_GET, CLOCK, TIMES };

FT_CALLED bool is_told(void) { return ft_recording() && !ft_recorder.time_off; }

/* ---- clocks ---- */

static long give_time(struct ft_recorded *c, struct timespec *t)
{
    *t = (struct timespec){.tv_sec = c->record->note[0], .tv_nsec = c->record->note[1]};
    return ft_call_give(c);
}

static long end_time(struct ft_recorded *c, long result, const struct timespec *t)
{
    if (c->record) {
        c->record->note[0] = t->tv_sec;
        c->record->note[1] = t->tv_nsec;
    }
    return ft_call_end(c, result, 0);
}

/* As this function's, by what the program has called it. */
static long read_clock(clockid_t id, uint64_t what, struct timespec *t)
{
    struct timespec *last = id >= 0 && id < FT_READINGS_CLOCKS ? &ft_readings.last[id] : NULL;
    struct ft_recorded c;
    long result;

    if (last && ft_reading_is_missing(what)) {
        *t = *last;
        return 0;
    }
    if (ft_call_begin(&c, FT_CALL_CLOCK, what, 0))
        result = give_time(&c, t);
    else
        result = end_time(&c, ft_real()->clock_gettime(id, t), t);
    if (result == 0 && last)
        *last = *t;
    return result;
}

int clock_gettime(clockid_t id, struct timespec *to)
{
    struct timespec t = {0};
    int result;

    if (!is_told())
        return ft_real()->clock_gettime(id, to);
    result = (int)read_clock(id, ft_what(CLOCK_GETTIME, id < 0 ? -1 : id, 0), &t); /* one of a thread has the thread's number */
    if (result == 0)
        *to = t;
    return result;
}

/* The time zone that it knows of is none. */
int gettimeofday(struct timeval *to, void *zone)
{
    struct timespec t;

    if (!is_told())
        return ft_real()->gettimeofday(to, zone);
    if (zone)
        *(struct timezone *)zone = (struct timezone){0};
    read_clock(CLOCK_REALTIME, ft_what(GETTIMEOFDAY, 0, 0), &t);
    *to = (struct timeval){.tv_sec = t.tv_sec, .tv_usec = t.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *to)
{
    struct timespec t;

    if (is_told())
        read_clock(CLOCK_REALTIME_COARSE, ft_what(TIME, 0, 0), &t); /* time(2) reads that */
    else
        t.tv_sec = ft_real()->time(NULL);
    if (to)
        *to = t.tv_sec;
    return t.tv_sec;
}

int timespec_get(struct timespec *to, int base)
{
    if (!is_told() || base != TIME_UTC)
        return ft_real()->timespec_get(to, base);
    read_clock(CLOCK_REALTIME, ft_what(TIMESPEC_GET, 0, 0), to);
    return base;
}

clock_t clock(void)
{
    if (!is_told())
        return ft_real()->clock();
    return FT_CALL_PLAIN(FT_CALL_CLOCK, ft_what(CLOCK, 0, 0), ft_real()->clock());
}

clock_t times(struct tms *to)
{
    if (!is_told() || !to)
        return ft_real()->times(to);
    return FT_CALL_FILLS(FT_CALL_CLOCK, ft_what(TIMES, 0, 0), to, ft_real()->times(to));
}

/* ---- sleeps ---- */

static int64_t monotonic(void)
{
    struct timespec t;

    ft_real()->clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * SECOND + t.tv_nsec;
}

static struct timespec from_ns(int64_t ns)
{
    return (struct timespec){.tv_sec = ns > 0 ? ns / SECOND : 0, .tv_nsec = ns > 0 ? ns % SECOND : 0};
}

/* note[0]: when it ends, by the monotonic clock. */
static int64_t rest_of(struct ft_recorded *c, int64_t ns)
{
    if (ft_call_noted(c))
        return c->record->note[0] - monotonic();
    ft_call_note(c, monotonic() + ns, 0);
    return ns;
}

int ft_call_rest_ms(struct ft_recorded *c, int ms)
{
    int64_t rest = ms > 0 ? rest_of(c, (int64_t)ms * 1000000) : 0;

    return ms <= 0 ? ms : rest > 0 ? (int)((rest + 999999) / 1000000) : 0;
}

const struct timespec *ft_call_rest(struct ft_recorded *c, const struct timespec *time, struct timespec *room)
{
    if (!time || time->tv_sec < 0 || time->tv_sec > INT32_MAX || time->tv_nsec < 0 || time->tv_nsec >= SECOND)
        return time;
    *room = from_ns(rest_of(c, time->tv_sec * SECOND + time->tv_nsec));
    return room;
}

/* note[1], afterwards: what was left of it. */
static int sleep_for(struct ft_recorded *c, clockid_t id, struct timespec length, struct timespec *left)
{
    struct timespec room;
    const struct timespec *rest = ft_call_rest(c, &length, &room);
    int error;

    *left = (struct timespec){0};
    error = FT_WAITING(ft_real()->clock_nanosleep(id, 0, rest, left));
    if (c->record)
        c->record->note[1] = left->tv_sec * SECOND + left->tv_nsec;
    return error;
}

int clock_nanosleep(clockid_t id, int flags, const struct timespec *length, struct timespec *left)
{
    struct ft_recorded c;
    struct timespec rest;
    int error;

    if (!ft_recording())
        return ft_real()->clock_nanosleep(id, flags, length, left);
    if (ft_call_begin_wait(&c, FT_CALL_SLEEP, ft_what(flags, 0, 0), 0)) {
        error = (int)ft_call_give(&c);
        rest = from_ns(c.record->note[1]);
    } else {
        error = flags & TIMER_ABSTIME ? FT_WAITING(ft_real()->clock_nanosleep(id, flags, length, NULL)) : sleep_for(&c, id, *length, &rest);
        ft_call_end(&c, error, 0);
    }
    if (error == EINTR && left && !(flags & TIMER_ABSTIME))
        *left = rest;
    return error;
}

int nanosleep(const struct timespec *length, struct timespec *left)
{
    int error;

    if (!ft_recording())
        return ft_real()->nanosleep(length, left);
    error = clock_nanosleep(CLOCK_REALTIME, 0, length, left);
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

int usleep(useconds_t us)
{
    return nanosleep(&(struct timespec){.tv_sec = us / 1000000, .tv_nsec = (long)(us % 1000000) * 1000}, NULL);
}

unsigned sleep(unsigned seconds)
{
    struct timespec t = {.tv_sec = seconds};
    int error = errno;

    if (nanosleep(&t, &t) < 0)
        return (unsigned)t.tv_sec;
    errno = error;
    return 0;
}

int thrd_sleep(const struct timespec *length, struct timespec *left)
{
    int error = clock_nanosleep(CLOCK_REALTIME, 0, length, left);

    return error == 0 ? 0 : error == EINTR ? -1 : -2;
}
