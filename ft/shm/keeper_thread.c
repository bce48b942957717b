/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread in which a process is the keeper: when it serves, and how it begins and ends. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "ft/shm/keeper_state.h"

enum {
    IDLE_MS = 1000,  /* looks at `want` even if a kick was lost with the rank that owed it */
    SHORT_MS = 1     /* at the limit: ranks do not say when they have committed, so look again soon */
};

static void *keep(void *arg)
{
    struct ft_keeper *k = arg;

    sem_post(&k->begun);
    ft_keeper_populate(k);
    while (!atomic_load(&k->stopping)) {
        struct pollfd p = { .fd = k->kick_fd, .events = POLLIN };
        uint64_t kicks;
        /* First of all: a predecessor may have taken the kick with it. */
        bool met = ft_keeper_serve(k);

        if (poll(&p, 1, met ? IDLE_MS : SHORT_MS) > 0 && read(k->kick_fd, &kicks, sizeof kicks) < 0 && errno != EAGAIN) {
            ft_keeper_fail(k, "the log cannot go on: its eventfd cannot be read: %s", strerror(errno));
            break;
        }
    }
    return NULL;
}

/* The thread takes no signals: they are the launcher's. It has begun when this returns: the launcher forks, and what a thread that is
   being made holds then is held in the copy for ever (AddressSanitizer's allocator, in node.sh). */
static int start_thread(struct ft_keeper *k, struct ft_error *e)
{
    sigset_t all, old;
    int err;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    sem_init(&k->begun, 0, 0);
    err = pthread_create(&k->thread, NULL, keep, k);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    while (!err && sem_wait(&k->begun) < 0)
        ;
    return err ? ft_err_set(e, FT_ESYS, "cannot start a thread: %s (is ulimit -u, -v or -d too small?)", strerror(err)) : 0;
}

int ft_keeper_run(struct ft_keeper *k, ft_keeper_failed *failed, void *arg, struct ft_error *e)
{
    int err;

    ft_keeper_adopt(k, failed, arg);
    err = start_thread(k, e);
    k->runs = !err;
    return err;
}

void ft_keeper_kick(const struct ft_keeper *k)
{
    uint64_t one = 1;

    if (write(k->kick_fd, &one, sizeof one) != sizeof one)
        return;  /* the counter is full, so it is awake anyway */
}

void ft_keeper_stop(struct ft_keeper *k)
{
    if (!k->runs)
        return;
    k->runs = false;
    atomic_store(&k->stopping, true);
    ft_keeper_kick(k);
    pthread_join(k->thread, NULL);
}
