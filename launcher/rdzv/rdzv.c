/* SPDX-License-Identifier: BSD-3-Clause */
/* The round (round.h) with its store (store.h): what the one wants is asked of the other, sealed; and what that answers is told the one. */
#include "config.h"
#include "launcher/rdzv/rdzv.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "launcher/base/say.h"
#include "launcher/base/timer.h"
#include "launcher/rdzv/here.h"
#include "launcher/rdzv/keys.h"
#include "launcher/rdzv/round.h"
#include "launcher/rdzv/seal.h"
#include "launcher/rdzv/server.h"
#include "launcher/rdzv/store.h"

enum {
    TELL_AWAY_MS = 3000,       /* so long without an answer it is not worth a line */
    TELL_STRANGERS_MS = 60000,
    LEAST_PATIENCE_MS = 1000, MOST_PATIENCE_MS = 5000,
    LINGER_LOOK_MS = 50
};

/* What is done from the event loop: a step is never taken within a step. */
enum wish { PUBLISH = 1, RENEW = 2, CLOSE = 4, LEAVE = 8, ANEW = 16 /* the store's */, FAIL = 32 };

/* A write, or a lease's renewal, that is on its way. */
struct write {
    LIST_ENTRY(write) link;
    struct ft_rdzv *r;
    uint64_t token, lease;
};

struct ft_rdzv {
    struct ft_rdzv_config config;
    char name[FT_RDZV_NAME + 1], address[FT_RDZV_ADDRESS + 1];
    struct ft_rdzv_secret secret;
    struct ft_rdzv_server *server;
    struct ft_rdzv_store *store;
    struct ft_rdzv_round *round;
    struct ft_rdzv_values *values;
    uint64_t id;
    struct event *due, *wished, *again, *linger;
    struct ft_rdzv_watch *watch, *members_watch;
    bool looking, looking_at_members, follows;
    LIST_HEAD(, write) writes;
    char failure[1024];
    unsigned wishes;
    char *publish;
    uint64_t told_term;            /* of the controller that was told last */
    bool told_stranger, told_away;
    uint64_t away_since, told_strangers_ms, untold;
    char why[512];                 /* the store does not answer */
    uint64_t linger_until;
    bool revoking;
};


static uint64_t now_ms(void) { return ft_timer_boot_ns() / 1000000; }

static void step(struct ft_rdzv *r, struct ft_rdzv_round_event *v);
static void look(struct ft_rdzv *r);
static void look_at_members(struct ft_rdzv *r);

static void tell(struct ft_rdzv *r, enum ft_rdzv_round_event_kind kind, uint64_t value)
{
    struct ft_rdzv_round_event v = {.kind = kind, .lease = value, .token = value, .at = value};

    step(r, &v);
}

/* ---- its end ---- */

static void over(struct ft_rdzv *r)
{
    ft_rdzv_store_unwatch(r->watch);
    ft_rdzv_store_unwatch(r->members_watch);
    r->watch = r->members_watch = NULL;
    ft_timer_free(r->again);
    r->again = NULL;
}

static void wish(struct ft_rdzv *r, enum wish what)
{
    r->wishes |= what;
    ft_timer_set(r->wished, 0);
}

static void fail(struct ft_rdzv *r, const char *line)
{
    if (!r->failure[0])
        snprintf(r->failure, sizeof r->failure, "%s", line);
    wish(r, FAIL);
}

static void out_of_memory(struct ft_rdzv *r) { fail(r, "out of memory"); }

static void deny(struct ft_rdzv *r, const char *why)
{
    char line[1024];

    snprintf(line, sizeof line, "--rdzv: %.900s", why);
    fail(r, line);
}

/* ---- from the store to the round ---- */

static void tell_stranger(struct ft_rdzv *r, const char *key)
{
    if (!r->told_stranger)
        ft_say_notice(r->config.say, "--rdzv: what stands under %s in the store is not this job's (its secret is another one); it has no effect", key);
    r->told_stranger = true;
}

/* The text of an entry, the caller's; NULL: it is a stranger's, or there is no memory. */
static char *open_seal(struct ft_rdzv *r, const struct ft_kvs_entry *kv)
{
    size_t n;
    const unsigned char *text = ft_rdzv_unseal(&r->secret, kv->key, kv->value, kv->n, &n);
    char *copy = text && !memchr(text, 0, n) ? malloc(n + 1) : NULL;

    if (copy) {
        memcpy(copy, text, n);
        copy[n] = 0;
    }
    return copy;
}

static void tell_entry(struct ft_rdzv *r, const struct ft_kvs_entry *kv)
{
    struct ft_rdzv_round_event v = {.kind = kv->value ? FT_RV_ENTRY : FT_RV_GONE, .at = kv->at, .made = kv->made, .lease = kv->lease};
    char *text = NULL;

    if (!ft_rdzv_key_read(r->config.settings, kv->key, &v.key, &v.name) || v.key == FT_RK_LIST)
        return;
    if (kv->value)
        v.text = text = open_seal(r, kv);
    if (kv->value && !text)
        tell_stranger(r, kv->key);
    step(r, &v);
    free(text);
}

static void tell_gone(struct ft_rdzv *r, enum ft_rdzv_round_key key, uint64_t at)
{
    struct ft_rdzv_round_event v = {.kind = FT_RV_GONE, .key = key, .name = r->name, .at = at};

    step(r, &v);
}

/* Those of keys that are there, and that the others are not. */
static void tell_keys(struct ft_rdzv *r, const struct ft_gateway_reply *reply, unsigned keys)
{
    for (uint32_t i = 0; i < reply->n; i++) {
        enum ft_rdzv_round_key key;
        const char *name;

        if (ft_rdzv_key_read(r->config.settings, reply->entries[i].key, &key, &name))
            keys &= ~(1u << key);
        tell_entry(r, &reply->entries[i]);
    }
    for (int key = FT_RK_STATE; key <= FT_RK_MEMBER; key++)
        if (keys & 1u << key && key != FT_RK_LIST)
            tell_gone(r, (enum ft_rdzv_round_key)key, reply->revision);
}

static void on_events(void *arg, const struct ft_gateway_reply *events, const char *why)
{
    struct ft_rdzv *r = arg;

    if (!events) {
        ft_say_step(r->config.say, "--rdzv: the round is read anew: %s", why);
        r->watch = NULL;
        look(r);
        return;
    }
    for (uint32_t i = 0; i < events->n && !ft_rdzv_round_is_over(r->round); i++)
        tell_entry(r, &events->entries[i]);
}

static void on_looked(void *arg, enum ft_rdzv_answer a, const struct ft_gateway_reply *reply, const char *why)
{
    struct ft_rdzv *r = arg;
    char prefix[FT_RDZV_KEY];

    r->looking = false;
    if (a != FT_RA_DONE) {
        deny(r, why);
        return;
    }
    tell_keys(r, reply, 1u << FT_RK_STATE | 1u << FT_RK_LEADER | 1u << FT_RK_CONTROLLER | 1u << FT_RK_MEMBER);
    tell(r, FT_RV_SYNCED, 0);
    if (ft_rdzv_round_is_over(r->round))
        return;
    if (!r->watch)
        r->watch = ft_rdzv_store_watch(r->store, ft_rdzv_key_prefix(r->config.settings, prefix, false), reply->revision + 1, on_events, r);
    if (!r->watch)
        out_of_memory(r);
    else
        ft_timer_set(r->again, r->config.settings->lease_ms);
}

/* STATE, LEADER, CONTROLLER and its own MEMBER: at first, when the watch has ended, and once a lease: a watch may be dead without a word. */
static void look(struct ft_rdzv *r)
{
    char prefix[FT_RDZV_KEY], own[FT_RDZV_KEY], *end;
    struct ft_kvs_op ops[2] = {{.kind = FT_KVS_RANGE}, {.kind = FT_KVS_RANGE}};
    struct ft_kvs_txn txn = {.then = ops, .nthen = 2};

    if (r->looking || ft_rdzv_round_is_over(r->round))
        return;
    ops[0].key = ft_rdzv_key_prefix(r->config.settings, prefix, false);
    ops[0].end = end = ft_gateway_end(prefix);
    ops[1].key = ft_rdzv_key(r->config.settings, own, FT_RK_MEMBER, r->name);
    r->looking = end && ft_rdzv_store_do(r->store, &txn, false, on_looked, r) == 0;
    free(end);
    if (!r->looking)
        out_of_memory(r);
}

/* ---- members ---- */

static void on_member_events(void *arg, const struct ft_gateway_reply *events, const char *why)
{
    struct ft_rdzv *r = arg;

    if (events) {
        for (uint32_t i = 0; i < events->n && !ft_rdzv_round_is_over(r->round); i++)
            tell_entry(r, &events->entries[i]);
        return;
    }
    ft_say_step(r->config.say, "--rdzv: the members are read anew: %s", why);
    r->members_watch = NULL;
    look_at_members(r);
}

static void on_members(void *arg, enum ft_rdzv_answer a, const struct ft_gateway_reply *reply, const char *why)
{
    struct ft_rdzv *r = arg;
    char prefix[FT_RDZV_KEY];

    r->looking_at_members = false;
    if (a != FT_RA_DONE) {
        deny(r, why);
        return;
    }
    if (!r->follows)
        return;
    tell(r, FT_RV_MEMBERS, reply->revision);
    for (uint32_t i = 0; i < reply->n; i++)
        tell_entry(r, &reply->entries[i]);
    tell(r, FT_RV_MEMBERS_END, 0);
    if (!r->members_watch && !ft_rdzv_round_is_over(r->round))
        r->members_watch =
            ft_rdzv_store_watch(r->store, ft_rdzv_key_prefix(r->config.settings, prefix, true), reply->revision + 1, on_member_events, r);
}

static void look_at_members(struct ft_rdzv *r)
{
    char prefix[FT_RDZV_KEY], *end;
    struct ft_kvs_op op = {.kind = FT_KVS_RANGE};
    struct ft_kvs_txn txn = {.then = &op, .nthen = 1};

    if (!r->follows || r->looking_at_members || ft_rdzv_round_is_over(r->round))
        return;
    op.key = ft_rdzv_key_prefix(r->config.settings, prefix, true);
    op.end = end = ft_gateway_end(prefix);
    r->looking_at_members = end && ft_rdzv_store_do(r->store, &txn, true, on_members, r) == 0;
    free(end);
    if (!r->looking_at_members)
        out_of_memory(r);
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
    struct ft_rdzv *r = arg;

    (void)fd;
    (void)what;
    ft_timer_set(r->again, r->config.settings->lease_ms);
    look(r);
    look_at_members(r);
}

/* ---- what the round wants: leases ---- */

static void on_leased(void *arg, enum ft_rdzv_answer a, const struct ft_gateway_reply *reply, const char *why)
{
    if (a == FT_RA_DONE)
        tell(arg, FT_RV_LEASED, reply->lease);
    else
        deny(arg, why);
}

static struct write *new_write(struct ft_rdzv *r, uint64_t token, uint64_t lease)
{
    struct write *w = malloc(sizeof *w);

    if (w) {
        *w = (struct write){.r = r, .token = token, .lease = lease};
        LIST_INSERT_HEAD(&r->writes, w, link);
    }
    return w;
}

static void free_write(struct write *w)
{
    if (w)
        LIST_REMOVE(w, link);
    free(w);
}

static void on_kept(void *arg, enum ft_rdzv_answer a, const struct ft_gateway_reply *reply, const char *why)
{
    struct write *w = arg;
    struct ft_rdzv *r = w->r;
    uint64_t lease = w->lease;

    free_write(w);
    if (a == FT_RA_DENIED)
        deny(r, why);
    else
        tell(r, a == FT_RA_DONE && reply->ttl ? FT_RV_KEPT : FT_RV_UNLEASED, lease);
}

static void keep(struct ft_rdzv *r, uint64_t lease)
{
    struct write *w = new_write(r, 0, lease);

    if (w && ft_rdzv_store_keep(r->store, lease, on_kept, w) == 0)
        return;
    free_write(w);
    out_of_memory(r);
}

static void on_revoked(void *arg, enum ft_rdzv_answer a, const struct ft_gateway_reply *reply, const char *why)
{
    struct ft_rdzv *r = arg;

    (void)a;
    (void)reply;
    (void)why;
    r->revoking = false;
}

/* ---- what the round wants: writes ---- */

static void on_written(void *arg, enum ft_rdzv_answer a, const struct ft_gateway_reply *reply, const char *why)
{
    struct write *w = arg;
    struct ft_rdzv *r = w->r;
    uint64_t token = w->token, lease = w->lease;

    free_write(w);
    if (a == FT_RA_DENIED) {
        deny(r, why);
        return;
    }
    if (a == FT_RA_NO_LEASE)
        tell(r, FT_RV_UNLEASED, lease);
    else
        tell_keys(r, reply, (unsigned)(token >> 56));
    tell(r, FT_RV_WRITTEN, token & (UINT64_MAX >> 8));
}

struct prepared {
    char keys[FT_RDZV_ROUND_COMPARES + FT_RDZV_ROUND_PUTS][FT_RDZV_KEY];
    unsigned char *sealed[FT_RDZV_ROUND_PUTS];
    char from[FT_RDZV_KEY], to[FT_RDZV_KEY];
    struct ft_kvs_compare compares[FT_RDZV_ROUND_COMPARES];
    struct ft_kvs_op then[2 * FT_RDZV_ROUND_PUTS + FT_RDZV_ROUND_COMPARES + 1], otherwise[FT_RDZV_ROUND_PUTS + FT_RDZV_ROUND_COMPARES];
    struct ft_kvs_txn txn;
    unsigned read;             /* keys whose values come back with the answer */
};

/* Afterwards it is looked at, whether the write was done or not. */
static void read_back(struct prepared *p, enum ft_rdzv_round_key key, const char *text)
{
    struct ft_kvs_op op = {.kind = FT_KVS_RANGE, .key = text};

    if (key == FT_RK_LIST || p->read & 1u << key)
        return;
    p->read |= 1u << key;
    p->then[p->txn.nthen++] = p->otherwise[p->txn.notherwise++] = op;
}

static bool prepare_put(struct ft_rdzv *r, struct prepared *p, const struct ft_rdzv_round_put *put, const char *key)
{
    struct ft_kvs_op *op = &p->then[p->txn.nthen];
    unsigned char **sealed = &p->sealed[p->txn.nthen];

    *op = (struct ft_kvs_op){.kind = put->text ? FT_KVS_PUT : FT_KVS_DELETE, .key = key, .lease = put->lease};
    if (put->text)
        op->value = *sealed = ft_rdzv_seal(&r->secret, key, (const unsigned char *)put->text, strlen(put->text), &op->n);
    p->txn.nthen++;
    return !put->text || op->value;
}

static bool prepare(struct ft_rdzv *r, struct prepared *p, const struct ft_rdzv_round_effect *e)
{
    const struct ft_rdzv_settings *s = r->config.settings;

    p->txn = (struct ft_kvs_txn){.compares = p->compares, .ncompares = e->ncompares, .then = p->then, .otherwise = p->otherwise};
    for (uint32_t i = 0; i < e->nputs; i++)
        if (!prepare_put(r, p, &e->puts[i], ft_rdzv_key(s, p->keys[FT_RDZV_ROUND_COMPARES + i], e->puts[i].key, e->puts[i].name)))
            return false;
    if (e->forget)
        p->then[p->txn.nthen++] = (struct ft_kvs_op){.kind = FT_KVS_DELETE, .key = ft_rdzv_key_values(s, p->from, 0),
                                                     .end = ft_rdzv_key_values(s, p->to, e->forget + 1)};
    for (uint32_t i = 0; i < e->ncompares; i++) {
        const struct ft_rdzv_round_compare *c = &e->compares[i];

        p->compares[i] = (struct ft_kvs_compare){FT_KVS_MOD, ft_rdzv_key(s, p->keys[i], c->key, c->name), c->at};
        read_back(p, c->key, p->keys[i]);
    }
    for (uint32_t i = 0; i < e->nputs; i++)
        read_back(p, e->puts[i].key, p->keys[FT_RDZV_ROUND_COMPARES + i]);
    return true;
}

static void write_all(struct ft_rdzv *r, const struct ft_rdzv_round_effect *e)
{
    struct prepared *p = calloc(1, sizeof *p);
    bool good = p && prepare(r, p, e);
    struct write *w = good ? new_write(r, e->token | (uint64_t)p->read << 56, e->puts[0].lease) : NULL;

    good = w && ft_rdzv_store_do(r->store, &p->txn, e->nputs > 1, on_written, w) == 0;
    for (int i = 0; p && i < FT_RDZV_ROUND_PUTS; i++)
        free(p->sealed[i]);
    free(p);
    if (good)
        return;
    free_write(w);
    out_of_memory(r);
}

/* ---- what the round wants: the LIST ---- */

static void on_list(void *arg, enum ft_rdzv_answer a, const struct ft_gateway_reply *reply, const char *why)
{
    struct ft_rdzv *r = arg;
    struct ft_rdzv_round_event v = {.kind = FT_RV_LIST};
    char *text;

    if (a != FT_RA_DONE) {
        deny(r, why);
        return;
    }
    text = reply->n ? open_seal(r, &reply->entries[0]) : NULL;
    if (reply->n && !text)
        tell_stranger(r, reply->entries[0].key);
    v.list = text ? ft_rdzv_read_list(text) : NULL;
    free(text);
    step(r, &v);
    ft_rdzv_list_drop(v.list);
}

static void read_list(struct ft_rdzv *r)
{
    char key[FT_RDZV_KEY];
    struct ft_kvs_op op = {.kind = FT_KVS_RANGE, .key = ft_rdzv_key(r->config.settings, key, FT_RK_LIST, NULL)};
    struct ft_kvs_txn txn = {.then = &op, .nthen = 1};

    if (ft_rdzv_store_do(r->store, &txn, true, on_list, r) < 0)
        out_of_memory(r);
}

/* ---- what the round tells ---- */

static void drop_values(struct ft_rdzv *r)
{
    ft_rdzv_values_free(r->values);
    r->values = NULL;
}

static void tell_failed(struct ft_rdzv *r, const struct ft_rdzv_round_effect *e)
{
    const struct ft_rdzv_settings *s = r->config.settings;
    char line[1024], where[FT_RDZV_TEXT + 64];
    uint32_t min = e->state.min ? e->state.min : s->min;

    ft_rdzv_settings_print(s, where, sizeof where);
    switch (e->why) {
    case FT_RW_TOO_FEW:
        snprintf(line, sizeof line, "--rdzv: %u of at least %u host%s came to job %s within %llu s (%s)", e->state.come, min, ft_plural(min), s->job,
                 (unsigned long long)(s->timeout_ms / 1000), where);
        break;
    case FT_RW_NAME:
        snprintf(line, sizeof line, "--rdzv: another host of job %s is called %s, too; each needs a name of its own", s->job, r->name);
        break;
    case FT_RW_SECRET:
        snprintf(line, sizeof line, "--rdzv: there is a job %s at %s, whose secret is another one than this host's", s->job, where);
        break;
    case FT_RW_STORE:
        snprintf(line, sizeof line, "--rdzv: the store at %s has not answered within %llu s (%.200s)", where, (unsigned long long)(s->timeout_ms / 1000),
                 r->why[0] ? r->why : "it answers, but nothing becomes of the round");
        break;
    case FT_RW_MEMORY:
        snprintf(line, sizeof line, "out of memory");
        break;
    }
    r->config.calls.failed(r->config.calls.arg, line);
}

static void tell_controller(struct ft_rdzv *r, const struct ft_rdzv_round_effect *e)
{
    if (e->term < r->told_term)
        return;
    r->told_term = e->term;
    r->config.calls.controller(r->config.calls.arg, e->term, e->text);
}

static void tell_others(const struct ft_rdzv *r, const struct ft_rdzv_state *s)
{
    ft_say_notice(r->config.say, "--rdzv: hosts of job %s were told --nodes %u:%u, this one %u:%u; the leader's count: %u:%u", r->config.settings->job,
                  s->min, s->max, r->config.settings->min, r->config.settings->max, s->min, s->max);
}

static void tell_joined(struct ft_rdzv *r, const struct ft_rdzv_round_effect *e)
{
    const struct ft_rdzv_calls *c = &r->config.calls;

    if (e->kind == FT_RE_CHANGED) {
        c->changed(c->arg, &e->state, e->list, e->place);
        return;
    }
    drop_values(r);
    c->joined(c->arg, &e->state, e->list, e->place);
}

static void follow(struct ft_rdzv *r, bool follows)
{
    r->follows = follows;
    if (follows) {
        look_at_members(r);
        return;
    }
    ft_rdzv_store_unwatch(r->members_watch);
    r->members_watch = NULL;
}

static void obey(struct ft_rdzv *r, const struct ft_rdzv_round_effect *e)
{
    const struct ft_rdzv_calls *c = &r->config.calls;

    switch (e->kind) {
    case FT_RE_LEASE:
        if (ft_rdzv_store_grant(r->store, r->config.settings->lease_ms / 1000, on_leased, r) < 0)
            out_of_memory(r);
        break;
    case FT_RE_KEEP:
        keep(r, e->lease);
        break;
    case FT_RE_REVOKE:
        r->revoking = ft_rdzv_store_revoke(r->store, e->lease, on_revoked, r) == 0;
        break;
    case FT_RE_FOLLOW:
    case FT_RE_UNFOLLOW:
        follow(r, e->kind == FT_RE_FOLLOW);
        break;
    case FT_RE_WRITE:
        write_all(r, e);
        break;
    case FT_RE_READ:
        read_list(r);
        break;
    case FT_RE_LED:
        c->led(c->arg, e->term);
        break;
    case FT_RE_CONTROLLER:
        tell_controller(r, e);
        break;
    case FT_RE_JOINED:
    case FT_RE_CHANGED:
        tell_joined(r, e);
        break;
    case FT_RE_VOID:
        drop_values(r);
        c->voided(c->arg, &e->state);
        break;
    case FT_RE_CLOSED:
        over(r);
        c->closed(c->arg);
        break;
    case FT_RE_FAILED:
        over(r);
        tell_failed(r, e);
        break;
    case FT_RE_LEFT:
        over(r);
        break;
    case FT_RE_STRANGER:
        break; /* told by whoever could not open the seal; or it is of another version of ftmpi's */
    case FT_RE_OTHERS:
        tell_others(r, &e->state);
        break;
    }
}

static void step(struct ft_rdzv *r, struct ft_rdzv_round_event *v)
{
    struct ft_rdzv_round_effects fx;
    uint64_t due;

    v->now_ms = now_ms();
    fx = ft_rdzv_round_step(r->round, v);
    for (uint32_t i = 0; i < fx.n; i++)
        obey(r, &fx.e[i]);
    due = ft_rdzv_round_due(r->round);
    if (due == UINT64_MAX)
        event_del(r->due);
    else
        ft_timer_set(r->due, due > v->now_ms ? due - v->now_ms : 0);
}

static void on_due(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    tell(arg, FT_RV_TIME, 0);
}

/* ---- the store comes and goes ---- */

static void on_away(void *arg, const char *why)
{
    struct ft_rdzv *r = arg;
    uint64_t now = now_ms();

    snprintf(r->why, sizeof r->why, "%s", why);
    if (!r->away_since)
        r->away_since = now;
    if (r->told_away || now - r->away_since < TELL_AWAY_MS || ft_rdzv_round_is_over(r->round))
        return;
    r->told_away = true;
    ft_say_notice(r->config.say, "--rdzv: the store does not answer, and is asked again until it does: %s", why);
}

static void on_back(void *arg)
{
    struct ft_rdzv *r = arg;

    if (r->told_away)
        ft_say_notice(r->config.say, "--rdzv: the store answers again");
    r->told_away = false;
    r->away_since = 0;
    r->why[0] = 0;
}

/* Comes with an answer, which is told first: then the round begins anew with what is there. */
static void on_anew(void *arg) { wish(arg, ANEW); }

static void begin_anew(struct ft_rdzv *r)
{
    if (ft_rdzv_round_is_over(r->round))
        return;
    ft_say_notice(r->config.say, "--rdzv: the store has lost its memory; the round is written into it once more");
    ft_rdzv_store_forget(r->store, r);
    ft_rdzv_store_unwatch(r->watch);
    r->watch = NULL;
    r->looking = r->looking_at_members = false;
    tell(r, FT_RV_NEW_STORE, 0);
    look(r);
}

static void on_stranger(void *arg, const char *from, const char *what)
{
    struct ft_rdzv *r = arg;
    uint64_t now = now_ms();
    char more[64] = "";

    if (r->told_strangers_ms && now - r->told_strangers_ms < TELL_STRANGERS_MS) {
        r->untold++;
        return;
    }
    if (r->untold)
        snprintf(more, sizeof more, " (%llu more since the last such line)", (unsigned long long)r->untold);
    r->told_strangers_ms = now;
    r->untold = 0;
    ft_say_notice(r->config.say, "--rdzv: a stranger connected from %s: %s; it was turned away%s", from, what, more);
}

/* ---- what a user wants ---- */

static void try_to_end(struct ft_rdzv *r);

static void on_wished(evutil_socket_t fd, short what, void *arg)
{
    struct ft_rdzv *r = arg;
    unsigned wishes = r->wishes;

    (void)fd;
    (void)what;
    r->wishes = 0;
    if (wishes & ANEW)
        begin_anew(r);
    if (wishes & FAIL && !ft_rdzv_round_is_over(r->round)) {
        tell(r, FT_RV_LEAVE, 0);
        r->config.calls.failed(r->config.calls.arg, r->failure);
    }
    if (wishes & PUBLISH) {
        struct ft_rdzv_round_event v = {.kind = FT_RV_PUBLISH, .text = r->publish};

        step(r, &v);
    }
    if (wishes & RENEW)
        tell(r, FT_RV_RENEW, 0);
    if (wishes & CLOSE)
        tell(r, FT_RV_CLOSE, 0);
    if (wishes & LEAVE) {
        tell(r, FT_RV_LEAVE, 0);
        r->linger_until = now_ms() + r->config.settings->lease_ms;
        try_to_end(r);
    }
}

void ft_rdzv_publish(struct ft_rdzv *r, const char *address)
{
    free(r->publish);
    r->publish = strdup(address);
    wish(r, r->publish ? PUBLISH : 0);
}

void ft_rdzv_renew(struct ft_rdzv *r) { wish(r, RENEW); }
void ft_rdzv_close(struct ft_rdzv *r) { wish(r, CLOSE); }
void ft_rdzv_leave(struct ft_rdzv *r) { wish(r, LEAVE); }

/* ---- leaving ---- */

/* The lease is given back; then the store of others, if it is here, waits for them. Neither for ever. */
static void try_to_end(struct ft_rdzv *r)
{
    bool late = now_ms() >= r->linger_until;

    if (!r->revoking || late) {
        drop_values(r);
        ft_rdzv_store_free(r->store);
        r->store = NULL;
        r->revoking = false;
    }
    if (!late && (r->revoking || (r->server && ft_rdzv_server_clients(r->server)))) {
        ft_timer_set(r->linger, LINGER_LOOK_MS);
        return;
    }
    r->config.calls.left(r->config.calls.arg);
}

static void on_linger(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    try_to_end(arg);
}

/* ---- its beginning ---- */

static uint32_t most_connections(const struct ft_rdzv_settings *s)
{
    struct rlimit limit = {.rlim_cur = 1024};

    getrlimit(RLIMIT_NOFILE, &limit);
    return (uint32_t)ft_min(4 * (uint64_t)s->max + 256, limit.rlim_cur / 2);
}

/* Another process of this host may serve already. */
static int serve(struct ft_rdzv *r, const char *token, struct ft_error *e)
{
    const struct ft_rdzv_endpoint *p = &r->config.settings->endpoints[0];
    struct ft_rdzv_server_config c = {.base = r->config.base, .address = "::", .port = p->port, .token = token,
                                      .connections = most_connections(r->config.settings), .seed = r->id * 0x9e3779b97f4a7c15u, .stranger = on_stranger,
                                      .arg = r};

    if (!ft_rdzv_is_here(p->host))
        return 0;
    if (ft_rdzv_server_new(&r->server, &c, e) < 0 && errno != EADDRINUSE)
        return FT_ESYS;
    return 0;
}

static int read_password(const struct ft_rdzv_config *c, char password[FT_RDZV_TEXT], struct ft_error *e)
{
    const char *path = c->settings->password_file;
    FILE *f;
    size_t n;

    snprintf(password, FT_RDZV_TEXT, "%s", c->password ? c->password : c->settings->password);
    if (!*path)
        return 0;
    f = fopen(path, "re");
    if (!f)
        return ft_err_set(e, FT_ESYS, "--rdzv: cannot read the password file %s: %s", path, strerror(errno));
    n = fread(password, 1, FT_RDZV_TEXT - 1, f);
    fclose(f);
    while (n && strchr("\r\n", password[n - 1]))
        n--;
    password[n] = 0;
    return n && strlen(password) == n ? 0 : ft_err_set(e, FT_EINVAL, "--rdzv: there is no password in %s", path);
}

/* Or each try would fail for it, until the time is up. */
static int check_files(const struct ft_rdzv_settings *s, struct ft_error *e)
{
    const char *const files[] = {s->cacert, s->cert, s->key};

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (*files[i] && access(files[i], R_OK) < 0)
            return ft_err_set(e, FT_ESYS, "--rdzv: cannot read %s: %s", files[i], strerror(errno));
    return 0;
}

static int open_store(struct ft_rdzv *r, struct ft_error *e)
{
    const struct ft_rdzv_settings *s = r->config.settings;
    char password[FT_RDZV_TEXT], token[FT_SEAL_HEX] = "";
    struct ft_rdzv_store_config c = {.base = r->config.base, .settings = s, .password = password, .token = token,
                                     .patience_ms = ft_max(LEAST_PATIENCE_MS, ft_min(MOST_PATIENCE_MS, s->lease_ms / 3)),
                                     .away = on_away, .back = on_back, .anew = on_anew, .arg = r};
    int err = check_files(s, e);

    if (err == 0)
        err = read_password(&r->config, password, e);
    if (err == 0 && s->embedded) {
        ft_rdzv_secret_derive(&r->secret, "the embedded store", token);
        err = serve(r, token, e);
    }
    if (err == 0 && !(r->store = ft_rdzv_store_new(&c)))
        err = ft_err_set(e, FT_ENOMEM, "out of memory");
    explicit_bzero(password, sizeof password);
    explicit_bzero(token, sizeof token);
    return err;
}

static int open_round(struct ft_rdzv *r, struct ft_error *e)
{
    const struct ft_rdzv_settings *s = r->config.settings;
    struct timespec wall;
    struct ft_rdzv_round_config c = {.name = r->name, .address = r->address, .slots = r->config.slots, .id = r->id, .min = s->min, .max = s->max,
                                     .lease_ms = s->lease_ms, .timeout_ms = s->timeout_ms, .last_call_ms = s->last_call_ms};

    clock_gettime(CLOCK_REALTIME, &wall);
    c.since_1970_ms = (uint64_t)wall.tv_sec * 1000 + (uint64_t)wall.tv_nsec / 1000000;
    r->round = ft_rdzv_round_new(&c, now_ms());
    r->due = evtimer_new(r->config.base, on_due, r);
    r->wished = evtimer_new(r->config.base, on_wished, r);
    r->again = evtimer_new(r->config.base, on_again, r);
    r->linger = evtimer_new(r->config.base, on_linger, r);
    if (!r->round || !r->due || !r->wished || !r->again || !r->linger)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    return 0;
}

static int check(const struct ft_rdzv_config *c, struct ft_error *e)
{
    if (!ft_rdzv_is_name(c->name))
        return ft_err_set(e, FT_EINVAL, "--rdzv: \"%.100s\" cannot be a host's name there (letters, digits, - _ and .)", c->name);
    if (!ft_rdzv_is_address(c->address))
        return ft_err_set(e, FT_EINVAL, "--rdzv: \"%.100s\" cannot be a host's address there", c->address);
    return 0;
}

static int open_all(struct ft_rdzv *r, struct ft_error *e)
{
    int err = check(&r->config, e);

    if (err == 0)
        err = ft_rdzv_secret_read(&r->secret, r->config.secret_file, e);
    if (err == 0 && getrandom(&r->id, sizeof r->id, 0) != sizeof r->id)
        err = ft_err_set(e, FT_ESYS, "no random numbers: %s", strerror(errno));
    r->id |= 1; /* not 0 */
    if (err == 0)
        err = open_round(r, e);
    return err == 0 ? open_store(r, e) : err;
}

int ft_rdzv_open(struct ft_rdzv **out, const struct ft_rdzv_config *config, struct ft_error *e)
{
    struct ft_rdzv *r = calloc(1, sizeof *r);
    int err;

    if (!r)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    r->config = *config;
    snprintf(r->name, sizeof r->name, "%s", config->name);
    snprintf(r->address, sizeof r->address, "%s", config->address);
    err = open_all(r, e);
    if (err < 0) {
        ft_rdzv_free(r);
        return err;
    }
    if (r->secret.is_known)
        ft_say_notice(config->say, "--rdzv: without a secret file whoever reaches %s can join this job, and lead it (--rdzv-secret-file FILE keeps others out)",
                      config->settings->embedded ? "the port" : "the store");
    look(r);
    tell(r, FT_RV_TIME, 0);
    *out = r;
    return 0;
}

void ft_rdzv_free(struct ft_rdzv *r)
{
    if (!r)
        return;
    drop_values(r);
    ft_rdzv_store_free(r->store);
    while (!LIST_EMPTY(&r->writes))
        free_write(LIST_FIRST(&r->writes));
    ft_rdzv_server_free(r->server);
    ft_rdzv_round_free(r->round);
    ft_timer_free(r->due);
    ft_timer_free(r->wished);
    ft_timer_free(r->again);
    ft_timer_free(r->linger);
    ft_rdzv_secret_forget(&r->secret);
    free(r->publish);
    free(r);
}

struct ft_rdzv_values *ft_rdzv_values(struct ft_rdzv *r)
{
    uint64_t version = ft_rdzv_round_version(r->round);
    char prefix[FT_RDZV_KEY];

    if (!version || !r->store)
        return NULL;
    if (!r->values)
        r->values = ft_rdzv_values_new(r->config.base, r->store, &r->secret, ft_rdzv_key_values(r->config.settings, prefix, version), r->id);
    return r->values;
}

bool ft_rdzv_serves(const struct ft_rdzv *r) { return r->server; }
