/* SPDX-License-Identifier: BSD-3-Clause */
/* The round (round.h) with its store (store.h): what the one wants is asked of the other, sealed (write.c); and what that answers is told the one
   (follow.c). */
#include "config.h"
#include "launcher/rdzv/rdzv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "ft/base/util.h"
#include "launcher/base/say.h"
#include "launcher/base/timer.h"
#include "launcher/rdzv/attach.h"
#include "launcher/rdzv/etcd_own.h"
#include "launcher/rdzv/follow.h"
#include "launcher/rdzv/rdzv_state.h"
#include "launcher/rdzv/write.h"

enum {
    LINGER_LOOK_MS = 50,
    YIELDS_MS = 1500           /* the host that has the store leads, if it can: so there is one host less whose loss is the job's end */
};

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
        snprintf(line, sizeof line, "--rdzv: %u of at least %u host%s came to job %s within %llu s (%s)", e->state.come, min,
                 ft_plural(min), s->job, (unsigned long long)(s->timeout_ms / 1000), where);
        break;
    case FT_RW_NAME:
        snprintf(line, sizeof line, "--rdzv: another host of job %s is called %s, too; each needs a name of its own", s->job, r->name);
        break;
    case FT_RW_SECRET:
        snprintf(line, sizeof line, "--rdzv: there is a job %s at %s, whose secret is another one than this host's", s->job, where);
        break;
    case FT_RW_STORE:
        snprintf(line, sizeof line, "--rdzv: the store at %s has not answered within %llu s (%.200s)", where,
                 (unsigned long long)(s->timeout_ms / 1000), r->why[0] ? r->why : "it answers, but nothing becomes of the round");
        break;
    case FT_RW_MEMORY:
        snprintf(line, sizeof line, "out of memory");
        break;
    }
    r->config.calls.failed(r->config.calls.arg, line);
}

static void tell_controller(struct ft_rdzv *r, const struct ft_rdzv_round_effect *e)
{
    r->config.calls.controller(r->config.calls.arg, e->term, e->text);
}

static void tell_others(const struct ft_rdzv *r, const struct ft_rdzv_state *s)
{
    ft_say_notice(r->config.say, "--rdzv: hosts of job %s were told --nodes %u:%u, this one %u:%u; the leader's count: %u:%u",
                  r->config.settings->job, s->min, s->max, r->config.settings->min, r->config.settings->max, s->min, s->max);
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

static void over(struct ft_rdzv *r)
{
    ft_rdzv_store_unwatch(r->watch);
    ft_rdzv_store_unwatch(r->members_watch);
    r->watch = r->members_watch = NULL;
    ft_timer_free(r->again);
    r->again = NULL;
}

static void obey(struct ft_rdzv *r, const struct ft_rdzv_round_effect *e)
{
    const struct ft_rdzv_calls *c = &r->config.calls;

    switch (e->kind) {
    case FT_RE_LEASE:
        ft_rdzv_lease(r);
        break;
    case FT_RE_KEEP:
        ft_rdzv_keep(r, e->lease);
        break;
    case FT_RE_REVOKE:
        ft_rdzv_revoke(r, e->lease);
        break;
    case FT_RE_FOLLOW:
    case FT_RE_UNFOLLOW:
        ft_rdzv_follow(r, e->kind == FT_RE_FOLLOW);
        break;
    case FT_RE_WRITE:
        ft_rdzv_write(r, e);
        break;
    case FT_RE_READ:
        ft_rdzv_fetch_list(r);
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
        c->closed(c->arg, &e->state);
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

    v->now_ms = ft_rdzv_now_ms();
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
    ft_rdzv_tell(arg, FT_RV_TIME, 0);
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
    if (wishes & FT_WISH_ANEW)
        ft_rdzv_begin_anew(r);
    if (wishes & FT_WISH_FAIL && !ft_rdzv_round_is_over(r->round)) {
        ft_rdzv_tell(r, FT_RV_LEAVE, 0);
        r->config.calls.failed(r->config.calls.arg, r->failure);
    }
    if (wishes & FT_WISH_PUBLISH) {
        struct ft_rdzv_round_event v = {.kind = FT_RV_PUBLISH, .text = r->publish};

        step(r, &v);
    }
    if (wishes & FT_WISH_RENEW)
        ft_rdzv_tell(r, FT_RV_RENEW, 0);
    if (wishes & FT_WISH_CLOSE) {
        struct ft_rdzv_round_event v = {.kind = FT_RV_CLOSE, .code = r->code};

        step(r, &v);
    }
    if (wishes & FT_WISH_LEAVE) {
        ft_rdzv_tell(r, FT_RV_LEAVE, 0);
        r->linger_until = ft_rdzv_now_ms() + r->config.settings->lease_ms;
        r->others = true;
        try_to_end(r);
    }
}

void ft_rdzv_publish(struct ft_rdzv *r, const char *address)
{
    free(r->publish);
    r->publish = strdup(address);
    ft_rdzv_wish(r, r->publish ? FT_WISH_PUBLISH : 0);
}

void ft_rdzv_renew(struct ft_rdzv *r) { ft_rdzv_wish(r, FT_WISH_RENEW); }
void ft_rdzv_leave(struct ft_rdzv *r) { ft_rdzv_wish(r, FT_WISH_LEAVE); }

void ft_rdzv_close(struct ft_rdzv *r, int code)
{
    r->code = (uint32_t)code;
    ft_rdzv_wish(r, FT_WISH_CLOSE);
}

/* ---- leaving ---- */

static void on_others(void *arg, enum ft_rdzv_answer a, const struct ft_gateway_reply *reply, const char *why)
{
    struct ft_rdzv *r = arg;

    (void)why;
    r->counting = false;
    r->others = a == FT_RA_DONE && reply->n > 0;
}

/* Whether hosts are there that need the etcd here: as far as is known. */
static bool is_needed(struct ft_rdzv *r)
{
    char prefix[FT_RDZV_KEY];
    struct ft_kvs_op op = {.kind = FT_KVS_RANGE, .limit = 1};
    struct ft_kvs_txn txn = {.then = &op, .nthen = 1};
    char *end;

    if (!r->store || !ft_etcd_own_serves(r->own))
        return false;
    if (!r->counting) {
        op.key = ft_rdzv_key_prefix(r->config.settings, prefix, true);
        op.end = end = ft_gateway_end(prefix);
        r->counting = end && ft_rdzv_store_do(r->store, &txn, false, on_others, r) == 0;
        free(end);
    }
    return r->others;
}

/* The lease is given back; then the store of others, if it is here, waits for them. Neither for ever. */
static void try_to_end(struct ft_rdzv *r)
{
    bool late = ft_rdzv_now_ms() >= r->linger_until;

    if (!late && (r->revoking || is_needed(r))) {
        ft_timer_set(r->linger, LINGER_LOOK_MS);
        return;
    }
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

static int open_round(struct ft_rdzv *r, struct ft_error *e)
{
    const struct ft_rdzv_settings *s = r->config.settings;
    struct timespec wall;
    struct ft_rdzv_round_config c = {.name = r->name, .address = r->address, .slots = r->config.slots, .id = r->id, .min = s->min, .max = s->max, .follows = r->config.follows,
                                     .yields_ms = s->embedded && !r->server ? YIELDS_MS : 0,
                                     .lease_ms = s->lease_ms, .timeout_ms = s->timeout_ms, .last_call_ms = s->last_call_ms};

    clock_gettime(CLOCK_REALTIME, &wall);
    c.since_1970_ms = (uint64_t)wall.tv_sec * 1000 + (uint64_t)wall.tv_nsec / 1000000;
    r->round = ft_rdzv_round_new(&c, ft_rdzv_now_ms());
    r->due = evtimer_new(r->config.base, on_due, r);
    r->wished = evtimer_new(r->config.base, on_wished, r);
    r->again = evtimer_new(r->config.base, ft_rdzv_on_again, r);
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
        err = ft_rdzv_attach(r, e);
    return err == 0 ? open_round(r, e) : err;
}

int ft_rdzv_open(struct ft_rdzv **out, const struct ft_rdzv_config *config, struct ft_error *e)
{
    struct ft_rdzv *r = calloc(1, sizeof *r);
    int err;

    if (!r)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    r->config = *config;
    r->step = step;
    snprintf(r->name, sizeof r->name, "%s", config->name);
    snprintf(r->address, sizeof r->address, "%s", config->address);
    err = open_all(r, e);
    if (err < 0) {
        ft_rdzv_free(r);
        return err;
    }
    if (r->secret.is_known)
        ft_say_notice(config->say,
                      "--rdzv: without a secret file whoever reaches %s can join this job, and lead it (--rdzv-secret-file FILE, "
                      "or FTMPI_SECRET_FILE, keeps others out; a pod of Kubernetes' mounts a Secret for it)",
                      config->settings->embedded ? "the port" : "the store");
    ft_rdzv_look(r);
    ft_timer_set(r->due, 0); /* nothing is called before this has returned */
    *out = r;
    return 0;
}

void ft_rdzv_free(struct ft_rdzv *r)
{
    if (!r)
        return;
    drop_values(r);
    ft_rdzv_store_free(r->store);
    ft_rdzv_free_writes(r);
    ft_rdzv_server_free(r->server);
    ft_etcd_own_free(r->own);
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

void ft_rdzv_derive(const struct ft_rdzv *r, const char *what, char hex[FT_SEAL_HEX]) { ft_rdzv_secret_derive(&r->secret, what, hex); }

bool ft_rdzv_serves(const struct ft_rdzv *r) { return r->server || ft_etcd_own_serves(r->own); }
bool ft_rdzv_has_child(const struct ft_rdzv *r, pid_t pid) { return r && ft_etcd_own_has(r->own, pid); }
void ft_rdzv_reaped(struct ft_rdzv *r, pid_t pid) { ft_etcd_own_reaped(r->own, pid); }
