/* SPDX-License-Identifier: BSD-3-Clause */
/* Calling others and being called by them is one thing here: both end in a link of the same peer and stream, and each makes the other
   needless. */
#include "config.h"
#include "launcher/node/links.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ft/shm/region.h"
#include "ft/shm/word.h"
#include "launcher/base/say.h"
#include "launcher/base/shared.h"
#include "launcher/base/timer.h"
#include "launcher/net/await.h"
#include "launcher/net/handover.h"
#include "launcher/node/doubts.h"
#include "launcher/node/fetch.h"
#include "launcher/node/kept.h"
#include "launcher/wire/greeting.h"

enum {
    RETRY_MS = 10, RETRY_MOST_MS = 1000,
    CALL_MS = 100,       /* time for who was asked to connect */
    GREETING_MS = 5000,
    LOOK_MS = 1000       /* a ring may be lost with the rank that owed it */
};

/* Another node, as far as one stream is concerned. */
struct peer {
    struct ft_links *l;
    uint32_t stream, node;
    char of[24];         /* for people: " of stream 1", nothing for stream 0 */
    bool forced;         /* a link is to be made though the representative has not asked */
    struct ft_dial *dial;
    struct ft_await *answer; /* of who has been called */
    uint32_t called;     /* its incarnation */
    struct event *retry; /* pending: not before that */
    unsigned wait_ms;    /* the next time */
    char told[128];      /* the last reason why there is none */
};

/* A proved connection whose greeting is awaited. */
struct caller {
    LIST_ENTRY(caller) link;
    struct ft_links *l;
    enum ft_auth_kind kind;
    struct ft_await *greeting;
};

struct serving {
    LIST_ENTRY(serving) link;
    struct ft_links *l;
    struct ft_serving *s;
};

struct ft_links {
    struct ft_links_config config;
    unsigned char secret[FT_SECRET_BYTES];
    uint32_t spread;
    uint32_t npeers;              /* [1 + spread][nnodes] */
    int pair[2];                  /* ours, local rank 0's */
    _Atomic uint32_t *posting;    /* by peer, in shared memory: said, perhaps not sent */

    /* of the agent */
    struct event_base *base;
    const struct ft_say *say;
    struct ft_auth *auth;
    struct peer *peers;
    uint32_t *seen;               /* by node: the highest incarnation heard of, plus one; 0: none */
    struct event *look;
    LIST_HEAD(, caller) callers;
    LIST_HEAD(, serving) servings;
};

static void consider(struct peer *p);

static struct peer *peer_of(const struct ft_links *l, uint32_t stream, uint32_t node)
{
    return &l->peers[stream * l->config.nnodes + node];
}

static _Atomic uint32_t *posting_of(const struct peer *p) { return &p->l->posting[p - p->l->peers]; }

static struct ft_link_words *words_of(const struct peer *p) { return ft_region_link(p->l->config.region, p->stream, p->node); }

/* Of all streams. */
static _Atomic uint64_t *gone_of(const struct ft_links *l, uint32_t node) { return &ft_region_link(l->config.region, 0, node)->gone; }

/* Not before so long from now, and longer the next time. */
static void wait_then(struct peer *p, unsigned at_least_ms)
{
    unsigned ms = p->wait_ms > at_least_ms ? p->wait_ms : at_least_ms;

    p->wait_ms = p->wait_ms * 2 < RETRY_MOST_MS ? p->wait_ms * 2 : RETRY_MOST_MS;
    ft_timer_set(p->retry, ms);
}

/* ---- handing over ---- */

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* The link is the representative's from now on. `posted` is said first (layout.h): killed before it is sent, a successor sees that in
   `posting` and makes another. */
static void post(struct peer *p, int fd, uint32_t incarnation)
{
    struct ft_links *l = p->l;
    struct ft_link_words *words = words_of(p);
    struct ft_link_post said = {.stream = p->stream, .peer = p->node, .peer_incarnation = incarnation};
    int failed, error;

    ft_address_tune(fd);
    said.generation = ft_max(ft_peek(&words->posted) + 1, ft_look(&words->wanted));
    atomic_store(posting_of(p), 1);
    ft_note(gone_of(l, p->node), 0);
    ft_announce(&words->posted, said.generation);
    failed = ft_handover(l->pair, &said, fd);
    error = errno;
    atomic_store(posting_of(p), 0);
    close(fd);
    event_del(p->retry); /* what it waited for is there */
    p->forced = failed;
    p->wait_ms = RETRY_MS;
    p->told[0] = 0;
    if (failed) {
        ft_say_step(l->say, "a link%s with node %u cannot be handed to its rank: %s", p->of, p->node, strerror(error));
        wait_then(p, RETRY_MOST_MS);
    } else {
        ft_say_debug(l->say, "link %llu%s with node %u", (unsigned long long)said.generation, p->of, p->node);
    }
}

/* ---- one peer ---- */

static bool is_needed(const struct peer *p)
{
    const struct ft_link_words *words = words_of(p);

    return p->forced || (ft_look(&words->wanted) > ft_peek(&words->posted) && !ft_peek(gone_of(p->l, p->node)));
}

static void on_retry(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    consider(arg);
}

/* What is under way leads to somebody who is not there any more, or comes too early. */
static void start_anew(struct peer *p)
{
    if (p->dial)
        ft_auth_hang_up(p->dial);
    p->dial = NULL;
    ft_await_free(p->answer);
    p->answer = NULL;
    event_del(p->retry);
    p->wait_ms = RETRY_MS;
}

/* There is such an incarnation of it: none before counts any more. */
static void has_come(struct ft_links *l, uint32_t node, uint32_t incarnation)
{
    if (incarnation + 1 <= l->seen[node])
        return;
    l->seen[node] = incarnation + 1;
    for (uint32_t i = node; i < l->npeers; i += l->config.nnodes)
        start_anew(&l->peers[i]);
    ft_note(gone_of(l, node), 0); /* it was another one that had left */
}

/* What the table says, together with what we have heard ourselves. False: there is nobody to talk to now. */
static bool look_up(struct ft_links *l, uint32_t node, struct ft_whereabouts *entry)
{
    *entry = (struct ft_whereabouts){0};
    if (!l->config.look_up(l->config.arg, node, entry))
        return false;
    has_come(l, node, entry->incarnation);
    return entry->up && entry->naddresses && entry->incarnation + 1 == l->seen[node];
}

static bool say_it(int fd, const void *text, size_t n)
{
    return send(fd, text, n, MSG_NOSIGNAL) == (ssize_t)n; /* the first bytes of a connection always fit, or it has ended */
}

static void give_up(struct peer *p, const char *why)
{
    if (strncmp(p->told, why, sizeof p->told - 1))
        ft_say_step(p->l->say, "no link%s with node %u yet: %s", p->of, p->node, why);
    strncpy(p->told, why, sizeof p->told - 1);
    wait_then(p, 0);
}

static void on_answer(void *arg, int fd, const uint8_t *bytes, const char *why)
{
    struct peer *p = arg;
    struct ft_answer a;
    bool sound = bytes && ft_answer_get(bytes, &a) && a.node == p->node && (a.verdict != FT_VERDICT_YES || a.incarnation == p->called);

    p->answer = NULL;
    if (!bytes) {
        give_up(p, why);
        return;
    }
    if (sound && a.verdict == FT_VERDICT_YES && p->node < p->l->config.node) {
        post(p, fd, p->called);
        consider(p);
        return;
    }
    close(fd);
    if (sound && a.verdict == FT_VERDICT_YES) {
        p->forced = false; /* it connects to us; if not, it is asked again */
        wait_then(p, CALL_MS);
    } else if (sound && a.verdict == FT_VERDICT_LEFT) {
        p->forced = false;
        ft_publish(gone_of(p->l, p->node), 1);
    } else {
        give_up(p, sound ? ft_verdict_text(a.verdict) : "it breaks the protocol");
    }
}

static void on_dialed(void *arg, int fd, enum ft_auth_kind kind, const struct ft_error *e)
{
    struct peer *p = arg;
    struct ft_links *l = p->l;
    struct ft_greeting g = {.want = p->node < l->config.node ? FT_WANT_LINK : FT_WANT_CALL, .from = l->config.node,
                            .from_incarnation = l->config.incarnation, .to = p->node, .stream = p->stream};
    uint8_t text[FT_GREETING_BYTES];
    struct ft_whereabouts entry;

    (void)kind;
    p->dial = NULL;
    if (fd < 0) {
        give_up(p, e->text);
        return;
    }
    if (!look_up(l, p->node, &entry)) { /* meanwhile it is gone */
        close(fd);
        return;
    }
    g.to_incarnation = entry.incarnation;
    ft_greeting_put(&g, text);
    if (!say_it(fd, text, sizeof text)) {
        close(fd);
        give_up(p, "it broke off");
        return;
    }
    p->called = entry.incarnation;
    p->answer = ft_await_new(l->base, fd, FT_ANSWER_BYTES, GREETING_MS, on_answer, p);
    if (!p->answer)
        give_up(p, "out of memory");
}

/* Makes a link if one is needed and none is being made. */
static void consider(struct peer *p)
{
    struct ft_whereabouts entry;

    if (p->node == p->l->config.node || p->dial || p->answer || event_pending(p->retry, EV_TIMEOUT, NULL) || !is_needed(p) ||
        !look_up(p->l, p->node, &entry))
        return;
    p->dial = ft_auth_dial(p->l->auth, entry.addresses, entry.naddresses, FT_AUTH_LINK, on_dialed, p);
    if (!p->dial)
        give_up(p, "out of memory");
}

void ft_links_table_changed(struct ft_links *l)
{
    struct ft_whereabouts entry;

    if (!l || !l->peers)
        return;
    for (uint32_t k = 0; k < l->config.nnodes; k++)
        if (k != l->config.node)
            look_up(l, k, &entry);
    ft_links_look(l);
}

void ft_links_look(struct ft_links *l)
{
    if (!l || !l->peers)
        return;
    for (uint32_t i = 0; i < l->npeers; i++)
        consider(&l->peers[i]);
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    ft_links_look(arg);
}

/* ---- being called ---- */

static void on_served(void *arg)
{
    struct serving *v = arg;

    LIST_REMOVE(v, link);
    free(v);
}

static void serve_log(struct ft_links *l, int fd, uint64_t position)
{
    struct serving *v = calloc(1, sizeof *v);

    if (!v) {
        close(fd);
        return;
    }
    v->l = l;
    LIST_INSERT_HEAD(&l->servings, v, link);
    v->s = ft_fetch_serve(l->base, fd, l->config.region, l->config.spill_fd, position, on_served, v);
    if (!v->s)
        on_served(v);
}

static bool has_left(const struct ft_links *l)
{
    return l->config.left && l->config.left(l->config.arg);
}

/* It is for the agents, and no link. */
static bool is_fetch(const struct ft_greeting *g) { return g->want >= FT_WANT_LOG; }

static enum ft_verdict judge(struct ft_links *l, const struct ft_greeting *g, enum ft_auth_kind kind)
{
    struct ft_whereabouts entry;

    if (g->to != l->config.node || g->from >= l->config.nnodes || g->from == l->config.node ||
        g->stream > (is_fetch(g) ? 0 : l->spread) || is_fetch(g) != (kind == FT_AUTH_FETCH) ||
        (g->want == FT_WANT_LINK && g->from < l->config.node) || (g->want == FT_WANT_CALL && g->from > l->config.node))
        return FT_VERDICT_NODE;
    look_up(l, g->from, &entry);
    if (g->to_incarnation != l->config.incarnation || g->from_incarnation + 1 < l->seen[g->from])
        return FT_VERDICT_STALE;
    has_come(l, g->from, g->from_incarnation); /* the controller has started it: its predecessor is dead, though we have not been told yet */
    if (!is_fetch(g) && has_left(l))
        return FT_VERDICT_LEFT;
    return FT_VERDICT_YES;
}

static void take_greeting(struct ft_links *l, int fd, enum ft_auth_kind kind, const struct ft_greeting *said)
{
    struct ft_answer a = {.node = l->config.node, .incarnation = l->config.incarnation, .verdict = judge(l, said, kind)};
    bool wanted = a.verdict == FT_VERDICT_YES, answered;
    uint8_t text[FT_ANSWER_BYTES];
    struct peer *p;

    if (wanted && said->want == FT_WANT_LOG)
        ft_fetch_answer(l->config.region, said->position, &a);
    else if (wanted && said->want == FT_WANT_UNIT)
        ft_doubts_answer(l->config.region, l->config.spill_fd, said->position, &a);
    else if (wanted && is_fetch(said))
        ft_kept_answer(l->config.kept, said, &a);
    ft_answer_put(&a, text);
    answered = say_it(fd, text, sizeof text);
    if (!wanted || is_fetch(said)) {
        if (!answered || a.verdict != FT_VERDICT_YES || said->want == FT_WANT_UNIT)
            close(fd);
        else if (said->want == FT_WANT_LOG)
            serve_log(l, fd, said->position);
        else
            ft_kept_take(l->config.kept, fd, said);
        return;
    }
    p = peer_of(l, said->stream, said->from);
    if (answered && said->want == FT_WANT_LINK) {
        post(p, fd, said->from_incarnation);
    } else {
        close(fd);
        p->forced = true;
        event_del(p->retry);
    }
    consider(p);
}

static void free_caller(struct caller *c)
{
    LIST_REMOVE(c, link);
    ft_await_free(c->greeting);
    free(c);
}

static void on_greeting(void *arg, int fd, const uint8_t *bytes, const char *why)
{
    struct caller *c = arg;
    struct ft_links *l = c->l;
    enum ft_auth_kind kind = c->kind;
    struct ft_greeting said;

    (void)why;
    c->greeting = NULL;
    free_caller(c);
    if (bytes && ft_greeting_get(bytes, &said))
        take_greeting(l, fd, kind, &said);
    else if (bytes)
        close(fd);
}

static void on_came(void *arg, int fd, enum ft_auth_kind kind, const struct ft_error *e)
{
    struct ft_links *l = arg;
    struct caller *c = calloc(1, sizeof *c);

    (void)e;
    if (!c) {
        close(fd);
        return;
    }
    *c = (struct caller){.l = l, .kind = kind};
    LIST_INSERT_HEAD(&l->callers, c, link);
    c->greeting = ft_await_new(l->base, fd, FT_GREETING_BYTES, GREETING_MS, on_greeting, c);
    if (!c->greeting)
        free_caller(c);
}

/* ---- all of it ---- */

int ft_links_new(struct ft_links **out, const struct ft_links_config *config, struct ft_error *e)
{
    struct ft_links *l = calloc(1, sizeof *l);

    if (!l) {
        close(config->listener);
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    }
    l->config = *config;
    memcpy(l->secret, config->secret, sizeof l->secret);
    l->config.secret = l->secret;
    l->pair[0] = l->pair[1] = -1;
    l->spread = config->region->header->params.spread;
    l->npeers = (1 + l->spread) * config->nnodes;
    l->posting = ft_shared_new(l->npeers * sizeof *l->posting);
    if (!l->posting || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, l->pair) < 0) {
        ft_err_set(e, FT_ESYS, "cannot prepare for links to other hosts: %s", strerror(errno));
        ft_links_free(l);
        return FT_ESYS;
    }
    *out = l;
    return 0;
}

int ft_links_socket(const struct ft_links *l)
{
    return l ? l->pair[1] : -1;
}

void ft_links_forget(struct ft_links *l)
{
    if (!l)
        return;
    l->base = NULL;
    l->say = NULL;
    l->auth = NULL;
    l->peers = NULL; /* its events are of the other agent's loop */
    l->seen = NULL;
    l->look = NULL;
    LIST_INIT(&l->callers);
    LIST_INIT(&l->servings);
}

static int make_peers(struct ft_links *l)
{
    l->seen = calloc(l->config.nnodes, sizeof *l->seen);
    l->peers = calloc(l->npeers, sizeof *l->peers);
    for (uint32_t i = 0; l->peers && i < l->npeers; i++) {
        struct peer *p = &l->peers[i];

        *p = (struct peer){.l = l, .stream = i / l->config.nnodes, .node = i % l->config.nnodes, .wait_ms = RETRY_MS,
                           .retry = evtimer_new(l->base, on_retry, p)};
        p->forced = atomic_exchange(posting_of(p), 0); /* a predecessor did not come to it */
        if (p->stream)
            snprintf(p->of, sizeof p->of, " of stream %u", p->stream);
        if (!p->retry)
            return -1;
    }
    return l->peers && l->seen ? 0 : -1;
}

int ft_links_serve(struct ft_links *l, struct event_base *base, const struct ft_say *say)
{
    struct timeval often = {.tv_sec = LOOK_MS / 1000};

    if (!l)
        return 0;
    l->base = base;
    l->say = say;
    l->auth = ft_auth_new(base, l->secret, say);
    if (l->auth)
        ft_auth_expect(l->auth, l->npeers);
    l->look = event_new(base, -1, EV_PERSIST, on_look, l);
    if (!l->auth || !l->look || event_add(l->look, &often) < 0 || make_peers(l) < 0 ||
        ft_auth_listen(l->auth, l->config.listener, 1u << FT_AUTH_LINK | 1u << FT_AUTH_FETCH, on_came, l) < 0)
        return -1;
    ft_links_look(l);
    return 0;
}

void ft_links_leave(struct ft_links *l)
{
    if (!l)
        return;
    while (!LIST_EMPTY(&l->servings)) {
        struct serving *v = LIST_FIRST(&l->servings);

        ft_fetch_hang_up(v->s);
        on_served(v);
    }
    while (!LIST_EMPTY(&l->callers))
        free_caller(LIST_FIRST(&l->callers));
    for (uint32_t i = 0; l->peers && i < l->npeers; i++)
        ft_await_free(l->peers[i].answer);
    ft_auth_free(l->auth); /* and with it all dials */
    l->auth = NULL;
    for (uint32_t i = 0; l->peers && i < l->npeers; i++)
        ft_timer_free(l->peers[i].retry);
    free(l->peers);
    l->peers = NULL;
    free(l->seen);
    l->seen = NULL;
    ft_timer_free(l->look);
    l->look = NULL;
}

void ft_links_free(struct ft_links *l)
{
    if (!l)
        return;
    close_fd(&l->config.listener);
    close_fd(&l->pair[0]);
    close_fd(&l->pair[1]);
    ft_shared_free(l->posting, l->npeers * sizeof *l->posting);
    explicit_bzero(l->secret, sizeof l->secret);
    free(l);
}
