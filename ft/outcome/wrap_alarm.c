/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for signals, and the timer that sends one. It is the process's: a new one has none, so it is set again when a replay ends.
   Under way, calls are made once more. */
#include <errno.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "ft/outcome/children.h"
#include "ft/outcome/real.h"
#include "ft/outcome/signals.h"

/* ---- waiting for them ---- */

enum { PAUSE, SUSPEND, WAIT, ALARM, SETITIMER };

int pause(void)
{
    if (!ft_recording())
        return ft_real()->pause();
    return (int)FT_CALL_WAITING(FT_CALL_SLEEP, ft_what(-1, PAUSE, 0), ft_real()->pause());
}

int sigsuspend(const sigset_t *set)
{
    if (!ft_recording())
        return ft_real()->sigsuspend(set);
    return (int)FT_CALL_WAITING(FT_CALL_SLEEP, ft_what(-1, SUSPEND, 0), (ft_waits_masked(), ft_real()->sigsuspend(set)));
}

static long take_signal(struct ft_recorded *c, const sigset_t *set, siginfo_t *info, const struct timespec *most)
{
    int result = FT_WAITING(ft_real()->sigtimedwait(set, info, most)), error = errno;

    if (result == SIGCHLD)
        ft_children_signal(info);
    ft_signals_name(info);
    errno = error;
    return ft_call_end_struct(c, result, info, sizeof *info);
}

int sigtimedwait(const sigset_t *set, siginfo_t *to, const struct timespec *most)
{
    struct ft_recorded c;
    siginfo_t info = {0};
    long result;

    if (!ft_recording())
        return ft_real()->sigtimedwait(set, to, most);
    if (ft_call_begin_wait(&c, FT_CALL_SLEEP, ft_what(-1, WAIT, 0), sizeof info)) {
        if (c.record->result > 0)
            ft_signals_repeated((int)c.record->result);
        result = ft_call_give_struct(&c, &info, sizeof info);
    } else {
        result = take_signal(&c, set, &info, most);
    }
    if (result > 0) {
        ft_signals_taken((int)result);
        ft_alarm_sent(&info);
    }
    if (result == SIGCHLD)
        ft_children_signalled(&info);
    if (result > 0 && to)
        *to = info;
    return (int)result;
}

int sigwaitinfo(const sigset_t *set, siginfo_t *to) { return sigtimedwait(set, to, NULL); }

int sigwait(const sigset_t *set, int *to)
{
    int signal, error = errno;

    do {
        signal = sigtimedwait(set, NULL, NULL);
    } while (signal < 0 && errno == EINTR);
    if (signal < 0)
        return errno;
    errno = error;
    *to = signal;
    return 0;
}

/* ---- the timer that sends SIGALRM: of the process, so a new one has none ---- */

static int64_t alarm_at, alarm_every; /* ns of the monotonic clock; 0: there is none */

static int64_t now_ns(void) { return (int64_t)ft_real_clock_ns(); }

static int64_t from_timeval(struct timeval t) { return t.tv_sec * 1000000000 + t.tv_usec * 1000; }

static struct timeval to_timeval(int64_t ns) { return (struct timeval){.tv_sec = ns / 1000000000, .tv_usec = ns % 1000000000 / 1000}; }

void ft_alarm_sent(const siginfo_t *info)
{
    if (info->si_signo == SIGALRM && info->si_code == SI_KERNEL)
        alarm_at = alarm_every ? alarm_at + alarm_every : 0;
}

void ft_alarm_runs_on(void)
{
    struct itimerval on = {.it_interval = to_timeval(alarm_every)};
    int64_t left = alarm_at - now_ns();

    if (!alarm_at)
        return;
    on.it_value = to_timeval(left > 1000 ? left : 1000);
    syscall(SYS_setitimer, ITIMER_REAL, &on, NULL);
}

static void set_alarm(const struct ft_recorded *c, long result, const struct itimerval *set)
{
    if (result == 0 && c->record) {
        alarm_at = c->record->note[0];
        alarm_every = from_timeval(set->it_interval);
    }
}

/* note[0]: when it is to end. Under way it is set once more. The one of a replay runs on as soon as the log's end is given. */
int setitimer(__itimer_which_t which, const struct itimerval *set, struct itimerval *old)
{
    int64_t length = set ? from_timeval(set->it_value) : 0;
    struct itimerval before = {0};
    struct ft_recorded c;
    long result;

    if (!ft_recording() || which != ITIMER_REAL || !set)
        return ft_real()->setitimer(which, set, old);
    if (ft_call_begin(&c, FT_CALL_CLOCK, ft_what(SETITIMER, length, from_timeval(set->it_interval)), sizeof before)) {
        set_alarm(&c, (long)c.record->result, set);
        result = ft_call_give_struct(&c, &before, sizeof before);
    } else {
        if (c.record)
            c.record->note[0] = length ? now_ns() + length : 0;
        result = ft_real()->setitimer(which, set, &before);
        set_alarm(&c, result, set);
        result = ft_call_end_struct(&c, result, &before, sizeof before);
    }
    if (result == 0 && old)
        *old = before;
    return (int)result;
}

unsigned alarm(unsigned seconds)
{
    struct itimerval set = {.it_value.tv_sec = seconds}, old;

    if (!ft_recording())
        return ft_real()->alarm(seconds);
    if (setitimer(ITIMER_REAL, &set, &old) < 0)
        return 0;
    return (unsigned)(old.it_value.tv_sec + (old.it_value.tv_usec >= 500000 || (old.it_value.tv_sec == 0 && old.it_value.tv_usec > 0)));
}
