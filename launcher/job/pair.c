/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/job/pair.h"

#include <event2/event.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/base/say.h"
#include "launcher/base/signals.h"
#include "launcher/base/timer.h"
#include "launcher/job/twin.h"

enum { AGAIN_MS = 100, LONELY_MS = 1000 };

struct ft_pair {
    struct ft_pair_config config;
    struct event *signals, *twin, *lonely;
    bool told;                         /* that there is no standby, and none to be had */
};

static void on_signals(evutil_socket_t fd, short what, void *arg)
{
    const struct ft_pair *p = arg;
    const struct ft_pair_config *c = &p->config;
    int signal;

    (void)fd;
    (void)what;
    while ((signal = ft_signals_next(c->signals)))
        if (signal == SIGCHLD)
            c->died(c->arg);
        else if (ft_twin_leads(c->twin) || ft_signals_end(signal))
            c->take(c->arg, signal, false);
}

static int watch_twin(struct ft_pair *p);

/* The standby is dead: from now on the death of this process would be the job's. */
static void on_lonely(evutil_socket_t fd, short what, void *arg)
{
    struct ft_pair *p = arg;
    const struct ft_pair_config *c = &p->config;
    struct ft_error e;
    sigset_t all, mask;
    int role;

    (void)fd;
    (void)what;
    if (c->note)
        c->note(c->arg);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    role = ft_twin_fork(c->twin, FT_TWIN_AGENT, &e);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    if (role == FT_TWIN_STANDBY)
        c->stand_by(c->arg);
    if (role < 0 || watch_twin(p) < 0) {
        if (!p->told)
            ft_say(c->say, "%s; it is tried again", role < 0 ? e.text : "no memory for a second process of ftrun");
        p->told = true;
        ft_timer_set(p->lonely, LONELY_MS);
        return;
    }
    p->told = false;
    ft_say_step(c->say, "process %d stands by for process %d", ft_twin_pid(c->twin), getpid());
}

void ft_pair_alone(struct ft_pair *p)
{
    if (!p->config.die_with_launcher) {
        on_lonely(-1, 0, p);
        return;
    }
    ft_say(p->config.say, "a process of ftrun was killed; the job is ended (--die-with-launcher)");
    p->config.end(p->config.arg);
}

static void on_twin(evutil_socket_t fd, short what, void *arg)
{
    struct ft_pair *p = arg;
    const struct ft_pair_config *c = &p->config;
    pid_t twin = ft_twin_pid(c->twin);
    int got, signal;

    (void)fd;
    (void)what;
    while ((got = ft_twin_receive(c->twin, &signal)) > 0)
        c->take(c->arg, signal, true);
    if (got == 0)
        return;
    event_free(p->twin);
    p->twin = NULL;
    ft_say_notice(c->say, "process %d of ftrun is gone; process %d goes on with the job", twin, getpid());
    if (c->die_with_launcher)
        ft_pair_alone(p);
    else
        ft_timer_set(p->lonely, AGAIN_MS);
}

static int watch_twin(struct ft_pair *p)
{
    p->twin = event_new(p->config.base, ft_twin_fd(p->config.twin), EV_READ | EV_PERSIST, on_twin, p);
    return p->twin ? event_add(p->twin, NULL) : -1;
}

struct ft_pair *ft_pair_new(const struct ft_pair_config *config)
{
    struct ft_pair *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->config = *config;
    p->signals = event_new(config->base, config->signals->fd, EV_READ | EV_PERSIST, on_signals, p);
    p->lonely = evtimer_new(config->base, on_lonely, p);
    if (p->signals && p->lonely && event_add(p->signals, NULL) == 0 && (!ft_twin_pid(config->twin) || watch_twin(p) == 0))
        return p;
    ft_pair_free(p);
    return NULL;
}

void ft_pair_free(struct ft_pair *p)
{
    if (!p)
        return;
    ft_timer_free(p->lonely);
    ft_timer_free(p->twin);
    ft_timer_free(p->signals);
    free(p);
}

void ft_pair_tell(const struct ft_say *say, int how)
{
    char text[64] = "has died";

    if (how >= 0 && WIFSIGNALED(how))
        snprintf(text, sizeof text, "was killed by signal %d (SIG%s)", WTERMSIG(how), sigabbrev_np(WTERMSIG(how)));
    else if (how >= 0)
        snprintf(text, sizeof text, "left with code %d", WEXITSTATUS(how));
    ft_say_notice(say, "the process of ftrun that ran the job %s; process %d goes on with it", text, getpid());
}
