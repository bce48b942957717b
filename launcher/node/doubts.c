/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/node/doubts.h"

#include <event2/event.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "ft/shm/doubt.h"
#include "launcher/base/say.h"
#include "launcher/base/timer.h"
#include "launcher/net/auth.h"
#include "launcher/net/await.h"
#include "launcher/node/job.h"
#include "launcher/node/whereabouts.h"
#include "launcher/wire/greeting.h"

enum { FIRST_MS = 2, MOST_MS = 200, ANSWER_MS = 5000 };

struct ft_doubts {
    struct ft_node *node;

    /* of the agent */
    struct event *later;
    struct ft_dial *dial;
    struct ft_await *await;
    unsigned wait_ms;
    uint64_t unit, operation;    /* what this node is in doubt about */
    uint32_t asked;              /* nodes, this time, from the next one on */
    uint32_t incarnation;        /* of the one that is asked */
    bool all, several;           /* so far all nodes ask, of more than one operation */
};

static struct ft_job *job_of(const struct ft_doubts *d) { return d->node->job; }
static uint32_t asked_node(const struct ft_doubts *d) { return (d->node->d->node + 1 + d->asked) % d->node->d->nnodes; }

static void next(struct ft_doubts *d);

void ft_doubts_answer(const struct ft_region *region, int spill_fd, uint64_t unit, struct ft_answer *a)
{
    enum ft_known known = ft_doubt_known(region, spill_fd, unit, &a->position);

    a->verdict = known == FT_KNOWN_CALL ? FT_VERDICT_YES : known == FT_KNOWN_DOUBT ? FT_VERDICT_DOUBT : FT_VERDICT_UNKNOWN;
    if (known == FT_KNOWN_NOT)
        a->position = 0;
}

/* ---- asking ---- */

static void tell(struct ft_doubts *d, uint64_t what)
{
    ft_doubt_tell(&job_of(d)->region, d->unit, what);
    ft_say_step(&job_of(d)->say, what == FT_TOLD_ALL ? "all ranks of the job ask what unit %llu is: it is done once more"
                  : what == FT_TOLD_SEVERAL ? "all ranks of the job ask what unit %llu is, and not about one operation"
                  : "another host knows what unit %llu is", (unsigned long long)d->unit);
}

static bool is_asking(const struct ft_doubts *d) { return d->dial || d->await; }

static void again(struct ft_doubts *d)
{
    ft_timer_set(d->later, d->wait_ms);
    d->wait_ms = ft_min(2 * d->wait_ms, MOST_MS);
}

/* What this node asks. False: nothing, or not yet. */
static bool asks(struct ft_doubts *d)
{
    const struct ft_job *job = job_of(d);
    uint64_t unit, what;

    if (!ft_doubt_asked(&job->region, &unit) || ft_doubt_told(&job->region, unit))
        return false;
    switch (ft_doubt_known(&job->region, ft_keeper_spill_fd(job->keeper), unit, &what)) {
    case FT_KNOWN_CALL: /* its ranks see that, too */
        return false;
    case FT_KNOWN_NOT:  /* some rank here may come to it */
        again(d);
        return false;
    case FT_KNOWN_DOUBT:
        break;
    }
    d->unit = unit;
    d->operation = what;
    return true;
}

static void begin(struct ft_doubts *d)
{
    if (!asks(d))
        return;
    d->asked = 0;
    d->all = true;
    d->several = !d->operation;
    next(d);
}

/* Who asks goes on only when somebody knows, and nobody does who asks or has asked: so it does not matter that they were not asked at one moment. */
static void end(struct ft_doubts *d)
{
    if (d->all)
        tell(d, d->several ? FT_TOLD_SEVERAL : FT_TOLD_ALL);
    else
        again(d);
}

/* Goes on with the next node that is there; who is not may know. */
static void next_one(struct ft_doubts *d)
{
    d->asked++;
    next(d);
}

static void on_answer(void *arg, int fd, const uint8_t *bytes, const char *why)
{
    struct ft_doubts *d = arg;
    struct ft_answer a;
    bool sound = bytes && ft_answer_get(bytes, &a) && a.node == asked_node(d) && a.incarnation == d->incarnation;

    (void)why;
    d->await = NULL;
    if (fd >= 0)
        close(fd);
    if (sound && a.verdict == FT_VERDICT_YES && a.position & 1) {
        tell(d, a.position);
        return;
    }
    d->all = d->all && sound && a.verdict == FT_VERDICT_DOUBT;
    d->several = d->several || (d->all && a.position != d->operation);
    next_one(d);
}

static void on_dialed(void *arg, int fd, enum ft_auth_kind kind, const struct ft_error *e)
{
    struct ft_doubts *d = arg;
    struct ft_greeting g = {.want = FT_WANT_UNIT, .from = d->node->d->node, .from_incarnation = d->node->d->incarnation,
                            .to = asked_node(d), .to_incarnation = d->incarnation, .position = d->unit};
    uint8_t text[FT_GREETING_BYTES];

    (void)kind;
    (void)e;
    d->dial = NULL;
    if (fd >= 0) {
        ft_greeting_put(&g, text);
        if (send(fd, text, sizeof text, MSG_NOSIGNAL) != (ssize_t)sizeof text)
            close(fd);
        else
            d->await = ft_await_new(job_of(d)->base, fd, FT_ANSWER_BYTES, ANSWER_MS, on_answer, d);
    }
    if (d->await)
        return;
    d->all = false;
    next_one(d);
}

static void next(struct ft_doubts *d)
{
    struct ft_whereabouts w;

    for (; d->asked + 1 < d->node->d->nnodes; d->asked++) {
        if (ft_whereabouts_of(d->node, asked_node(d), &w) && w.up && w.naddresses) {
            d->incarnation = w.incarnation;
            d->dial = ft_auth_dial(d->node->auth, w.addresses, w.naddresses, FT_AUTH_FETCH, on_dialed, d);
            if (d->dial)
                return;
        }
        d->all = false;
    }
    end(d);
}

static void on_later(evutil_socket_t fd, short what, void *arg)
{
    struct ft_doubts *d = arg;

    (void)fd;
    (void)what;
    if (!is_asking(d))
        begin(d);
}

void ft_doubts_look(struct ft_doubts *d)
{
    uint64_t unit;

    if (!d || !d->later || is_asking(d) || event_pending(d->later, EV_TIMEOUT, NULL) || !ft_doubt_asked(&job_of(d)->region, &unit) ||
        ft_doubt_told(&job_of(d)->region, unit))
        return;
    d->wait_ms = FIRST_MS;
    ft_timer_set(d->later, 0);
}

/* ---- all of it ---- */

struct ft_doubts *ft_doubts_new(struct ft_node *node)
{
    struct ft_doubts *d = calloc(1, sizeof *d);

    if (d)
        d->node = node;
    return d;
}

void ft_doubts_free(struct ft_doubts *d) { free(d); }

void ft_doubts_forget(struct ft_doubts *d)
{
    if (d)
        *d = (struct ft_doubts){.node = d->node};
}

int ft_doubts_serve(struct ft_doubts *d)
{
    if (!d)
        return 0;
    d->later = evtimer_new(job_of(d)->base, on_later, d);
    if (!d->later)
        return -1;
    ft_doubts_look(d); /* a dead agent was asking */
    return 0;
}

void ft_doubts_leave(struct ft_doubts *d)
{
    if (!d)
        return;
    if (d->dial)
        ft_auth_hang_up(d->dial);
    ft_await_free(d->await);
    ft_timer_free(d->later);
    ft_doubts_forget(d);
}
