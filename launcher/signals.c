/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/signals.h"

#include <sys/signalfd.h>

/* timeout(1) signals its child and then the group; whoever means to hurry us needs longer than that. */
enum { TWICE_NS = 1000000, PAIR_NS = 2000000000 };

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

/* Each kind by itself: what the standby passes on may come after something else has come to us. */
bool ft_signals_again(struct ft_signals *s, int signal, pid_t sender, bool direct, uint64_t now_ns)
{
    struct ft_signal_seen *seen = &s->seen[signal];
    bool paired, twice;

    if (!sender)
        return false;
    if (seen->sender != sender || now_ns - seen->at_ns > PAIR_NS)
        *seen = (struct ft_signal_seen){.sender = sender};
    twice = now_ns - seen->at_ns < TWICE_NS;
    paired = direct ? seen->ahead < 0 : seen->ahead > 0;
    seen->ahead += direct ? 1 : -1;
    if (paired || twice)
        return true;
    seen->at_ns = now_ns;
    return false;
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
