/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/base/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include "ft/shm/wait.h"

/* timeout(1) signals its child and then the group, and may be kept waiting in between: on a busy machine a millisecond was not enough, and ranks were
   killed that should have had their --grace. Whoever means to hurry us needs longer than that. Of SIGUSR1 each may count. */
enum { END_TWICE_NS = 100000000, TWICE_NS = 1000000 };

/* Writing to whom nobody listens, or beyond ulimit -f; a terminal that belongs to somebody else. */
static const int ignored[FT_IGNORED] = {SIGPIPE, SIGXFSZ, SIGTTIN, SIGTTOU};

int ft_signals_take(struct ft_signals *s)
{
    static const int taken[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT, SIGCHLD};
    struct sigaction before;
    sigset_t set;

    sigemptyset(&set);
    signal(SIGCHLD, SIG_DFL); /* it may be inherited as ignored: then children vanish unseen */
    for (int i = 0; i < FT_IGNORED; i++)
        s->before[i] = signal(ignored[i], SIG_IGN);
    for (unsigned i = 0; i < sizeof taken / sizeof taken[0]; i++)
        if (sigaction(taken[i], NULL, &before) < 0 || before.sa_handler != SIG_IGN)
            sigaddset(&set, taken[i]);
    sigprocmask(SIG_BLOCK, &set, &s->mask);
    s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return s->fd < 0 ? -1 : 0;
}

/* Of SIGTSTP and SIGCONT the last one counts, which may be the same as the one before the other. */
bool ft_signals_twice(struct ft_signals *s, int signal, pid_t sender, uint64_t now_ns)
{
    struct ft_signal_seen *seen = &s->seen[signal];

    if (!sender || signal == SIGCHLD || signal == SIGTSTP || signal == SIGCONT)
        return false;
    if (seen->sender == sender && now_ns - seen->at_ns < (ft_signals_end(signal) ? END_TWICE_NS : TWICE_NS))
        return true;
    *seen = (struct ft_signal_seen){sender, now_ns};
    return false;
}

/* What a process of ftrun passes on (sigqueue) may have come here before it, from whoever has sent it there. */
static bool is_queued_twice(const struct ft_signals *s, int signal, uint64_t now_ns)
{
    return s->seen[signal].at_ns && now_ns - s->seen[signal].at_ns < END_TWICE_NS;
}

int ft_signals_next_from(struct ft_signals *s, bool *kernel)
{
    struct signalfd_siginfo info;

    while (read(s->fd, &info, sizeof info) == (ssize_t)sizeof info) {
        int signal = (int)info.ssi_signo;
        uint64_t now = ft_clock_ns();

        *kernel = info.ssi_code == SI_KERNEL;
        if (info.ssi_code == SI_QUEUE && is_queued_twice(s, signal, now))
            continue;
        if (!ft_signals_twice(s, signal, *kernel ? 0 : (pid_t)info.ssi_pid, now))
            return signal;
    }
    return 0;
}

int ft_signals_next(struct ft_signals *s)
{
    bool kernel;

    return ft_signals_next_from(s, &kernel);
}

void ft_signals_put_back(struct ft_signals *s, int signal)
{
    s->seen[signal] = (struct ft_signal_seen){0};
    kill(getpid(), signal);
}

bool ft_signals_end(int signal)
{
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
}

bool ft_signals_count(struct ft_signals *s, bool passed_on)
{
    if (++s->ends[passed_on] <= s->counted)
        return false;
    s->counted++;
    return true;
}

void ft_signals_forget(struct ft_signals *s)
{
    s->ends[0] = s->ends[1] = s->counted = 0;
}

void ft_signals_give_back(const struct ft_signals *s)
{
    for (int i = 0; i < FT_IGNORED; i++)
        if (s->before[i] != SIG_ERR) {
            struct sigaction sa = {.sa_handler = s->before[i]};

            sigaction(ignored[i], &sa, NULL);
        }
    sigprocmask(SIG_SETMASK, &s->mask, NULL);
}
