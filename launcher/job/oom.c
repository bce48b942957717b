/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/job/oom.h"

#include <event2/event.h>
#include <stdint.h>
#include <stdlib.h>

#include "ft/base/util.h"
#include "launcher/base/limits.h"
#include "launcher/base/timer.h"

/* A process with very much memory may take some seconds to die. */
enum { EVERY_MS = 30000 };

struct ft_oom {
    struct event *timer;
    uint64_t old;               /* kills that explain no death any more */
    uint64_t seen;              /* all, when the timer last came */
};

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct ft_oom *o = arg;

    (void)fd;
    (void)what;
    o->old = ft_max(o->old, o->seen);
    o->seen = ft_limits_oom_kills();
}

struct ft_oom *ft_oom_new(struct event_base *base)
{
    struct ft_oom *o = calloc(1, sizeof *o);

    if (!o)
        return NULL;
    o->timer = event_new(base, -1, EV_PERSIST, on_timer, o);
    if (!o->timer) {
        free(o);
        return NULL;
    }
    o->old = o->seen = ft_limits_oom_kills();
    ft_timer_set(o->timer, EVERY_MS);
    return o;
}

void ft_oom_free(struct ft_oom *o)
{
    if (!o)
        return;
    event_free(o->timer);
    free(o);
}

bool ft_oom_took_it(struct ft_oom *o)
{
    if (!o || ft_limits_oom_kills() <= o->old)
        return false;
    o->old++;
    return true;
}
