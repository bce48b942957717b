/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/rdzv/follow.h"

#include <stdlib.h>
#include <string.h>

#include "launcher/base/say.h"
#include "launcher/base/timer.h"

static void look_at_members(struct ft_rdzv *r);

/* ---- entries ---- */

static void tell_stranger(struct ft_rdzv *r, const char *key)
{
    if (!r->told_stranger)
        ft_say_notice(r->config.say, "--rdzv: what stands under %s in the store is not this job's (its secret is another one); it has no effect",
                      key);
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

/* What a STATE says that is sealed, but not with the job's secret. */
static enum ft_rdzv_phase claim(const struct ft_kvs_entry *kv)
{
    char text[FT_RDZV_LINE] = "";
    struct ft_rdzv_state s;

    if (kv->n > FT_SEAL_HEX && kv->n - FT_SEAL_HEX < sizeof text && kv->value[FT_SEAL_HEX - 1] == ' ')
        memcpy(text, kv->value + FT_SEAL_HEX, kv->n - FT_SEAL_HEX);
    return ft_rdzv_read_state(text, &s) ? s.phase : FT_RDZV_SETUP;
}

static void tell_entry(struct ft_rdzv *r, const struct ft_kvs_entry *kv)
{
    struct ft_rdzv_round_event v = {.kind = kv->value ? FT_RV_ENTRY : FT_RV_GONE, .at = kv->at, .made = kv->made, .lease = kv->lease};
    char *text = NULL;

    if (!ft_rdzv_key_read(r->config.settings, kv->key, &v.key, &v.name) || v.key == FT_RK_LIST)
        return;
    if (kv->value)
        v.text = text = open_seal(r, kv);
    if (kv->value && !text) {
        v.claimed = claim(kv);
        tell_stranger(r, kv->key);
    }
    r->step(r, &v);
    free(text);
}

static void tell_gone(struct ft_rdzv *r, enum ft_rdzv_round_key key, uint64_t at)
{
    struct ft_rdzv_round_event v = {.kind = FT_RV_GONE, .key = key, .name = r->name, .at = at};

    r->step(r, &v);
}

void ft_rdzv_tell_keys(struct ft_rdzv *r, const struct ft_gateway_reply *reply, unsigned keys)
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
        ft_rdzv_look(r);
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
    if (a == FT_RA_ANEW)
        return; /* and all is read anew */
    if (a != FT_RA_DONE) {
        ft_rdzv_deny(r, why);
        return;
    }
    ft_rdzv_tell_keys(r, reply, 1u << FT_RK_STATE | 1u << FT_RK_LEADER | 1u << FT_RK_CONTROLLER | 1u << FT_RK_MEMBER);
    ft_rdzv_tell(r, FT_RV_SYNCED, 0);
    if (ft_rdzv_round_is_over(r->round))
        return;
    if (!r->watch)
        r->watch = ft_rdzv_store_watch(r->store, ft_rdzv_key_prefix(r->config.settings, prefix, false), reply->revision + 1, on_events, r);
    if (!r->watch)
        ft_rdzv_out_of_memory(r);
    else
        ft_timer_set(r->again, r->config.settings->lease_ms);
}

void ft_rdzv_look(struct ft_rdzv *r)
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
        ft_rdzv_out_of_memory(r);
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
    if (a == FT_RA_ANEW)
        return; /* and all is read anew */
    if (a != FT_RA_DONE) {
        ft_rdzv_deny(r, why);
        return;
    }
    if (!r->follows)
        return;
    ft_rdzv_tell(r, FT_RV_MEMBERS, reply->revision);
    for (uint32_t i = 0; i < reply->n; i++)
        tell_entry(r, &reply->entries[i]);
    ft_rdzv_tell(r, FT_RV_MEMBERS_END, 0);
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
        ft_rdzv_out_of_memory(r);
}

void ft_rdzv_on_again(evutil_socket_t fd, short what, void *arg)
{
    struct ft_rdzv *r = arg;

    (void)fd;
    (void)what;
    ft_timer_set(r->again, r->config.settings->lease_ms);
    ft_rdzv_look(r);
    look_at_members(r);
}

/* ---- the LIST ---- */

static void on_list(void *arg, enum ft_rdzv_answer a, const struct ft_gateway_reply *reply, const char *why)
{
    struct ft_rdzv *r = arg;
    struct ft_rdzv_round_event v = {.kind = FT_RV_LIST};
    char *text;

    if (a == FT_RA_ANEW)
        return; /* and all is read anew */
    if (a != FT_RA_DONE) {
        ft_rdzv_deny(r, why);
        return;
    }
    text = reply->n ? open_seal(r, &reply->entries[0]) : NULL;
    if (reply->n && !text)
        tell_stranger(r, reply->entries[0].key);
    v.list = text ? ft_rdzv_read_list(text) : NULL;
    free(text);
    r->step(r, &v);
    ft_rdzv_list_drop(v.list);
}

void ft_rdzv_fetch_list(struct ft_rdzv *r)
{
    char key[FT_RDZV_KEY];
    struct ft_kvs_op op = {.kind = FT_KVS_RANGE, .key = ft_rdzv_key(r->config.settings, key, FT_RK_LIST, NULL)};
    struct ft_kvs_txn txn = {.then = &op, .nthen = 1};

    if (ft_rdzv_store_do(r->store, &txn, true, on_list, r) < 0)
        ft_rdzv_out_of_memory(r);
}

void ft_rdzv_follow(struct ft_rdzv *r, bool follows)
{
    r->follows = follows;
    if (follows) {
        look_at_members(r);
        return;
    }
    ft_rdzv_store_unwatch(r->members_watch);
    r->members_watch = NULL;
}
