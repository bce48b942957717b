/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/controller/comers.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "ft/base/util.h"
#include "launcher/base/address.h"
#include "launcher/base/child.h"
#include "launcher/base/shared.h"
#include "launcher/base/timer.h"
#include "launcher/controller/job.h"
#include "launcher/controller/lead.h"
#include "launcher/net/words.h"
#include "launcher/options/map.h"
#include "launcher/options/rendezvous.h"

enum { SAY_MS = 5000 /* for a connection to say whose it is */, MORE = 64 /* hosts, besides as many as began */ };

/* In shared memory, by host. */
struct known {
    char name[FT_WIRE_NAME];
    uint64_t id;               /* of the process that came last; 0: none has */
    uint32_t slots;            /* when it came last */
    bool away, used;           /* used: it has had a node */
};

/* A connection. */
struct comer {
    LIST_ENTRY(comer) link;
    struct ft_comers *s;
    struct ft_channel *channel;
    struct ft_words words;
    struct event *late;        /* it says nothing */
    int64_t host;              /* -1: it has not said which */
    bool guest;                /* of this host, whose node is ours already: it is told the end */
};

struct place {
    struct ft_comers *s;
    struct comer *comer;       /* NULL: it is not connected, ... */
    struct event *patience;    /* ... and when this ends it is away */
    char *text;                /* of the node that is to be started there when it comes; NULL: none */
    uint32_t node, incarnation;
};

struct ft_comers {
    struct ft_controller *c;
    struct ft_comers_calls calls;
    LIST_HEAD(, comer) comers;
    bool over;
    int code;
    struct place places[];     /* by host */
};

static struct ft_host *hosts(const struct ft_controller *c) { return c->map->hosts.list; }
static uint32_t nhosts(const struct ft_controller *c) { return (uint32_t)c->map->hosts.n; }
static struct known *known_of(const struct ft_comers *s, uint32_t host) { return &s->c->known[host]; }

static void tell_policy(struct ft_comers *s, enum ft_nodes_event_kind kind, uint32_t host, uint32_t slots)
{
    ft_controller_post(s->c, &(struct ft_nodes_event){.kind = kind, .host = host, .slots = slots});
}

static void forget_text(struct place *p)
{
    ft_child_wipe(p->text);
    p->text = NULL;
}

/* Nothing can be started there before it comes again. */
static void set_away(struct ft_comers *s, uint32_t host, const char *why)
{
    struct ft_controller *c = s->c;

    if (known_of(s, host)->away || s->over)
        return;
    known_of(s, host)->away = true;
    forget_text(&s->places[host]);
    for (uint32_t i = 0; i < c->map->nnodes; i++)
        if (ft_nodes_host(c->policy, i) == host)
            snprintf(c->nodes[i].why, sizeof c->nodes[i].why, "%s", why);
    ft_say_step(&c->say, "host %s: %s", hosts(c)[host].name, why);
    tell_policy(s, FT_NV_HOST_AWAY, host, 0);
}

static void drop(struct comer *comer)
{
    struct ft_comers *s = comer->s;

    if (comer->host >= 0 && s->places[comer->host].comer == comer) {
        s->places[comer->host].comer = NULL;
        ft_timer_set(s->places[comer->host].patience, s->c->o->lease_ms);
    }
    LIST_REMOVE(comer, link);
    ft_timer_free(comer->late);
    ft_channel_free(comer->channel);
    ft_words_forget(&comer->words);
    free(comer);
    ft_controller_post(s->c, NULL); /* it may have been waited for */
}

static void on_patience(evutil_socket_t fd, short what, void *arg)
{
    struct place *p = arg;

    (void)fd;
    (void)what;
    set_away(p->s, (uint32_t)(p - p->s->places), "its ftrun is not there any more");
}

static void on_late(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    drop(arg);
}

static void on_closed(void *arg, struct ft_channel *c, const struct ft_error *e)
{
    (void)c;
    (void)e;
    drop(arg);
}

/* ---- what they say ---- */

static void give(struct place *p)
{
    struct ft_share_word w = {.kind = FT_SHARE_START, .node = p->node, .id = p->incarnation, .text = hosts(p->s->c)[p - p->s->places].name};

    ft_words_send(p->comer->channel, &w, p->text);
    forget_text(p);
}

/* The entry of that name, or one that nobody needs; -1: there is no room. */
static int64_t find(const struct ft_comers *s, const char *name)
{
    int64_t found = -1;

    for (uint32_t h = 0; h < nhosts(s->c); h++) {
        const struct known *k = known_of(s, h);

        if (!strcmp(k->name, name))
            return h;
        if (found < 0 && k->away && !k->used)
            found = h;
    }
    return found;
}

static void say_over(const struct comer *comer)
{
    struct ft_share_word w = {.kind = FT_SHARE_OVER, .status = comer->s->code};

    ft_words_send(comer->channel, &w, NULL);
}

/* Another process than the one before: whatever ran there is its no more. */
static void enter(struct comer *comer, const struct ft_share_word *w)
{
    struct ft_comers *s = comer->s;
    struct known *k = known_of(s, (uint32_t)comer->host);

    if (k->id && k->id != w->id)
        set_away(s, (uint32_t)comer->host, "it has begun anew");
    if (k->id == w->id && !k->away)
        return;
    k->id = w->id;
    k->slots = ft_max(w->slots, s->c->most);
    k->away = false;
    ft_say_detail(&s->c->say, "host %s is there", k->name);
    tell_policy(s, FT_NV_HOST, (uint32_t)comer->host, k->slots);
}

/* The ftrun that was started here first is gone, perhaps. */
static void welcome_guest(struct comer *comer, const struct ft_share_word *welcome)
{
    comer->guest = true;
    ft_timer_set(comer->late, comer->s->c->o->lease_ms);
    ft_words_send(comer->channel, welcome, NULL);
    if (comer->s->over)
        say_over(comer);
}

static void take_come(struct comer *comer, const struct ft_share_word *w)
{
    struct ft_comers *s = comer->s;
    struct ft_share_word welcome = {.kind = FT_SHARE_WELCOME, .lease_ms = (uint32_t)s->c->o->lease_ms,
                                    .text = s->c->o->rendezvous->name};
    int64_t host = find(s, w->text);
    struct place *p;

    if (host < 0) {
        ft_say_notice(&s->c->say, "host %.200s has come, and there is no place for it: there are too many", w->text);
        drop(comer);
        return;
    }
    if (hosts(s->c)[host].here) {
        welcome_guest(comer, &welcome);
        return;
    }
    p = &s->places[host];
    snprintf(known_of(s, (uint32_t)host)->name, FT_WIRE_NAME, "%s", w->text);
    if (p->comer)
        drop(p->comer);
    event_del(p->patience);
    comer->host = host;
    p->comer = comer;
    ft_timer_set(comer->late, s->c->o->lease_ms);
    ft_words_send(comer->channel, &welcome, NULL);
    if (s->over)
        say_over(comer);
    else
        enter(comer, w);
    if (p->text)
        give(p);
}

static int take_word(struct comer *comer, const struct ft_share_word *w, struct ft_error *e)
{
    struct ft_comers *s = comer->s;
    uint32_t host = (uint32_t)comer->host;
    bool its = comer->host >= 0 && w->node < s->c->map->nnodes && ft_nodes_host(s->c->policy, w->node) == host;

    if (comer->guest)
        return 0;
    if (w->kind == FT_SHARE_COME && comer->host < 0)
        take_come(comer, w);
    else if (comer->host < 0)
        return ft_err_set(e, FT_EDAMAGED, "a host that has not come says something");
    else if (w->kind == FT_SHARE_LEAVE)
        set_away(s, host, "its ftrun was told to stop");
    else if (w->kind == FT_SHARE_ENDED && its && w->id == ft_nodes_incarnation(s->c->policy, w->node))
        s->calls.ended(s->c, w->node, w->status, w->text, NULL);
    else if (w->kind == FT_SHARE_LINE && its)
        s->calls.line(s->c, w->node, w->text);
    return 0;
}

static void on_frame(void *arg, struct ft_channel *channel, const struct ft_wire_frame *f)
{
    struct comer *comer = arg;
    struct ft_share_word w;
    struct ft_error e;
    int err;

    if (comer->host >= 0 || comer->guest)
        ft_timer_set(comer->late, comer->s->c->o->lease_ms);
    if (f->type == FT_WIRE_BEAT) {
        ft_channel_send(channel, ft_wire_put_beat());
        return;
    }
    err = ft_words_take(&comer->words, f, &w, &e);
    if (err > 0) {
        err = take_word(comer, &w, &e);
        ft_share_free(&w);
    }
    if (err < 0)
        drop(comer);
}

void ft_comers_add(struct ft_comers *s, int fd)
{
    struct comer *comer = calloc(1, sizeof *comer);
    struct ft_channel_config config = {.frame = on_frame, .closed = on_closed, .arg = comer};

    if (!comer) {
        evutil_closesocket(fd);
        return;
    }
    comer->s = s;
    comer->host = -1;
    LIST_INSERT_HEAD(&s->comers, comer, link);
    ft_address_tune(fd);
    comer->late = evtimer_new(s->c->base, on_late, comer);
    comer->channel = ft_channel_new(s->c->base, fd, &config);
    if (!comer->late || !comer->channel)
        drop(comer);
    else
        ft_timer_set(comer->late, SAY_MS);
}

/* ---- what they are told ---- */

void ft_comers_start(struct ft_comers *s, uint32_t node, uint32_t incarnation, uint32_t host, char *text)
{
    struct place *p = &s->places[host];
    struct ft_controller *c = s->c;

    known_of(s, host)->used = true;
    forget_text(p);
    if (known_of(s, host)->away) {
        ft_child_wipe(text);
        snprintf(c->nodes[node].why, sizeof c->nodes[node].why, "its ftrun is not there any more");
        ft_controller_post(c, &(struct ft_nodes_event){.kind = FT_NV_NOT_STARTED, .node = node, .fatal = true, .code = FT_CODE_JOB});
        return;
    }
    p->text = text;
    p->node = node;
    p->incarnation = incarnation;
    if (p->comer)
        give(p);
}

void ft_comers_over(struct ft_comers *s, int code)
{
    struct comer *comer;

    if (!s)
        return;
    s->over = true;
    s->code = code;
    LIST_FOREACH(comer, &s->comers, link)
        say_over(comer);
}

/* The predecessor may have died after a host came or went and before the policy was told. */
void ft_comers_recover(struct ft_comers *s)
{
    for (uint32_t h = 0; s && h < nhosts(s->c); h++) {
        const struct known *k = known_of(s, h);

        if (!hosts(s->c)[h].here && k->away != ft_nodes_is_away(s->c->policy, h))
            tell_policy(s, k->away ? FT_NV_HOST_AWAY : FT_NV_HOST, h, k->slots);
    }
}

bool ft_comers_busy(const struct ft_comers *s) { return s && !LIST_EMPTY(&s->comers); }

void ft_comers_drop(struct ft_comers *s)
{
    struct comer *comer;

    while (s && (comer = LIST_FIRST(&s->comers)))
        drop(comer);
}

/* ---- made and freed ---- */

uint32_t ft_comers_later(const struct ft_controller *c) { return c->lead ? c->nlater : 0; }

/* The list as it was, then room: entries without a name. */
static struct ft_host *new_list(const struct ft_hosts *from, uint32_t n, struct known *known)
{
    struct ft_host *list = calloc(n, sizeof *list);

    for (uint32_t h = 0; list && h < n; h++) {
        if (h < from->n)
            list[h] = from->list[h];
        snprintf(known[h].name, sizeof known[h].name, "%s", h < from->n ? from->list[h].name : "");
        list[h].name = known[h].name;
        known[h].away = h >= from->n;
    }
    return list;
}

int ft_comers_make(struct ft_controller *c, struct ft_error *e)
{
    struct ft_hosts *all = &c->o->map->hosts;
    uint32_t n = (uint32_t)ft_min(2 * all->n + MORE, FT_NODES_MAX + MORE);

    if (!c->lead)
        return 0;
    c->nlater = n - (uint32_t)all->n;
    c->known = ft_shared_new(n * sizeof *c->known);
    c->comers_list = c->known ? new_list(all, n, c->known) : NULL;
    if (!c->comers_list)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    all->list = c->comers_list;
    all->n = n;
    for (uint32_t i = 0; i < c->map->nnodes; i++)
        c->most = ft_max(c->most, c->map->first[i + 1] - c->map->first[i]);
    return 0;
}

int ft_comers_open(struct ft_controller *c, const struct ft_comers_calls *calls, struct ft_error *e)
{
    struct ft_comers *s = c->lead ? calloc(1, sizeof *s + nhosts(c) * sizeof s->places[0]) : NULL;

    if (!c->lead)
        return 0;
    if (!s)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    s->c = c;
    s->calls = *calls;
    c->comers = s;
    for (uint32_t h = 0; h < nhosts(c); h++) {
        const struct known *k = known_of(s, h);

        s->places[h].s = s;
        if (!(s->places[h].patience = evtimer_new(c->base, on_patience, &s->places[h])))
            return ft_err_set(e, FT_ENOMEM, "out of memory");
        if (!k->away && !hosts(c)[h].here)
            ft_timer_set(s->places[h].patience, k->id ? c->o->lease_ms : c->lead->come_ms);
    }
    return 0;
}

void ft_comers_close(struct ft_controller *c)
{
    struct ft_comers *s = c->comers;

    if (!s)
        return;
    ft_comers_drop(s);
    for (uint32_t h = 0; h < nhosts(c); h++) {
        ft_timer_free(s->places[h].patience);
        forget_text(&s->places[h]);
    }
    free(s);
    c->comers = NULL;
}

void ft_comers_free(struct ft_controller *c)
{
    if (!c->lead)
        return;
    if (c->known)
        ft_shared_free(c->known, (c->map->hosts.n) * sizeof *c->known);
    free(c->comers_list);
    c->o->map->hosts = (struct ft_hosts){0};
}
