/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/job/groups.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"
#include "launcher/base/timer.h"

enum {
    EVERY_MS = 1000,  /* who is killed dies within two of these, but for very much memory: then it is told as any SIGKILL */
    LOOK = 5,         /* every so many of these, ranks are looked for where they are */
    MOST = 64         /* groups; ranks in others count as in our own */
};

struct group {
    struct ft_memgroup at;
    uint64_t old;     /* kills that explain no death any more */
    uint64_t seen;    /* all, when the timer last came */
};

struct ft_groups {
    struct event *timer;
    uint32_t rounds;
    struct group list[MOST];
    uint32_t n, nranks;
    uint32_t *of;     /* by rank */
    uint64_t *noted;  /* by rank: the process that was looked at, twice, + 1 if it was attached */
};

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct ft_groups *g = arg;

    (void)fd;
    (void)what;
    for (uint32_t i = 0; i < g->n; i++) {
        g->list[i].old = ft_max(g->list[i].old, g->list[i].seen);
        g->list[i].seen = ft_memgroup_kills(&g->list[i].at);
    }
    if (g->rounds++ % LOOK == 0)
        memset(g->noted, 0, g->nranks * sizeof *g->noted); /* a rank may have been moved */
}

static uint32_t add(struct ft_groups *g, const struct ft_memgroup *at)
{
    for (uint32_t i = 0; i < g->n; i++)
        if (ft_memgroup_is(&g->list[i].at, at))
            return i;
    if (g->n == MOST)
        return 0;
    g->list[g->n] = (struct group){.at = *at};
    g->list[g->n].old = g->list[g->n].seen = ft_memgroup_kills(at);
    return g->n++;
}

struct ft_groups *ft_groups_new(struct event_base *base, uint32_t nranks)
{
    struct ft_groups *g = calloc(1, sizeof *g);
    struct ft_memgroup own;
    bool known;

    if (!g)
        return NULL;
    g->nranks = nranks;
    g->of = calloc(nranks, sizeof *g->of);
    g->noted = calloc(nranks, sizeof *g->noted);
    g->timer = event_new(base, -1, EV_PERSIST, on_timer, g);
    if (!g->of || !g->noted || !g->timer) {
        ft_groups_free(g);
        return NULL;
    }
    ft_memgroup_of(&own, 0, &known);
    add(g, &own);
    ft_timer_set(g->timer, EVERY_MS);
    return g;
}

void ft_groups_free(struct ft_groups *g)
{
    if (!g)
        return;
    ft_timer_free(g->timer);
    free(g->noted);
    free(g->of);
    free(g);
}

static void note(struct ft_groups *g, uint32_t rank, pid_t pid)
{
    struct ft_memgroup at;
    bool known;

    ft_memgroup_of(&at, pid, &known);
    if (known)
        g->of[rank] = add(g, &at);
}

void ft_groups_note(struct ft_groups *g, uint32_t rank, pid_t pid, bool attached)
{
    uint64_t now = 2 * (uint64_t)pid + attached;

    if (!g || g->noted[rank] == now)
        return;
    note(g, rank, pid);
    g->noted[rank] = now;
}

bool ft_groups_took(struct ft_groups *g, uint32_t rank, pid_t pid)
{
    struct group *group;

    if (!g)
        return false;
    if (pid)
        note(g, rank, pid);
    group = &g->list[g->of[rank]];
    if (ft_memgroup_kills(&group->at) <= group->old)
        return false;
    group->old++;
    return true;
}

uint32_t ft_groups_count(const struct ft_groups *g) { return g ? g->n : 0; }
const struct ft_memgroup *ft_groups_get(const struct ft_groups *g, uint32_t i) { return &g->list[i].at; }
uint32_t ft_groups_of(const struct ft_groups *g, uint32_t rank) { return g->of[rank]; }
