/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/rdzv/hear.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"

enum {
    JITTER_MS = 500,           /* of all who want to be the leader, at most; or a quarter of a lease */
    READ_AGAIN_MS = 500,
    READ_SOON_MS = 50,         /* it was older than the STATE */
    LEASES_OF_DOUBT = 2        /* each looks at its MEMBER once a lease */
};

/* Whether the news is newer than what is known; then it is known. */
static bool renew_slot(struct ft_rdzv_round_slot *slot, const struct ft_rdzv_round_event *v, bool there, bool good)
{
    if (v->at <= slot->at)
        return false;
    *slot = (struct ft_rdzv_round_slot){v->at, there, good, there && v->lease};
    return true;
}

static void tell_stranger(struct ft_rdzv_round *r, enum ft_rdzv_round_key key, const char *name)
{
    struct ft_rdzv_round_effect *e = ft_rdzv_round_effect(r, FT_RE_STRANGER);

    e->key = key;
    e->name = name;
}

/* ---- events: entries ---- */

static void on_state(struct ft_rdzv_round *r, const struct ft_rdzv_round_event *v)
{
    struct ft_rdzv_state s;
    bool good = v->text && ft_rdzv_read_state(v->text, &s);

    if (!renew_slot(&r->state_slot, v, true, good))
        return;
    r->claimed = v->text ? FT_RDZV_SETUP : v->claimed;
    if (!good) {
        tell_stranger(r, FT_RK_STATE, NULL);
        return;
    }
    r->state = s;
    r->version = ft_max(r->version, s.version);
    r->read_at = 0;
}

/* A second wait so that not all of a job's hosts run for it together. */
static void vacate(struct ft_rdzv_round *r)
{
    uint64_t spread = ft_min(JITTER_MS, r->config.lease_ms / 4), draw = (r->config.id ^ r->leader_slot.at) * 0x9e3779b97f4a7c15u;

    r->campaign_at = r->now + (draw >> 32) % (spread + 1) + (!r->joined ? r->config.yields_ms : r->place < 0 ? r->config.lease_ms : 0);
}

static void on_leader(struct ft_rdzv_round *r, const struct ft_rdzv_round_event *v)
{
    char *text = v->text ? strcpy(ft_rdzv_round_text(r), v->text) : NULL;
    struct ft_rdzv_member m;
    bool good = text && ft_rdzv_read_leader(text, &m);

    if (!renew_slot(&r->leader_slot, v, true, good))
        return;
    if (!good) {
        tell_stranger(r, FT_RK_LEADER, NULL);
        return;
    }
    r->leader_id = m.id;
    r->leader_lease = m.lease;
}

static void on_controller(struct ft_rdzv_round *r, const struct ft_rdzv_round_event *v)
{
    char *text = v->text ? strcpy(ft_rdzv_round_text(r), v->text) : NULL;
    const char *address;
    uint64_t term, version;
    bool good = text && ft_rdzv_read_controller(text, &term, &version, &address);

    if (!renew_slot(&r->controller_slot, v, true, good))
        return;
    if (!good) {
        tell_stranger(r, FT_RK_CONTROLLER, NULL);
        return;
    }
    snprintf(r->there.address, sizeof r->there.address, "%s", address);
    r->there.term = term;
    r->there.version = version;
}

static void on_member(struct ft_rdzv_round *r, const struct ft_rdzv_round_event *v)
{
    char *text = v->text ? strcpy(ft_rdzv_round_text(r), v->text) : NULL;
    struct ft_rdzv_member m;
    bool good = text && ft_rdzv_read_member(text, &m) && strcmp(m.name, v->name) == 0;

    if (!good)
        tell_stranger(r, FT_RK_MEMBER, v->name);
    if (strcmp(v->name, r->config.name) == 0 && renew_slot(&r->mine_slot, v, true, good) && good) {
        r->mine_id = m.id;
        r->mine_lease = m.lease;
        r->mine_confirmed = m.confirmed;
    }
    if (r->roll && (good ? ft_rdzv_roll_set(r->roll, v->name, v->at, v->made, &m)
                         : ft_rdzv_roll_doubt(r->roll, v->name, v->at, r->now + LEASES_OF_DOUBT * r->config.lease_ms)) < 0)
        ft_rdzv_round_fail(r, FT_RW_MEMORY);
}

static void on_entry(struct ft_rdzv_round *r, const struct ft_rdzv_round_event *v)
{
    static void (*const read[])(struct ft_rdzv_round *, const struct ft_rdzv_round_event *) = {
        [FT_RK_STATE] = on_state, [FT_RK_LEADER] = on_leader, [FT_RK_CONTROLLER] = on_controller, [FT_RK_MEMBER] = on_member};

    if ((v->text && strlen(v->text) >= FT_RDZV_LINE && v->key != FT_RK_LIST) || !read[v->key])
        return;
    read[v->key](r, v);
}

static void on_gone(struct ft_rdzv_round *r, const struct ft_rdzv_round_event *v)
{
    switch (v->key) {
    case FT_RK_STATE:
        renew_slot(&r->state_slot, v, false, false);
        break;
    case FT_RK_LEADER: {
        bool was = r->leader_slot.there && r->leader_slot.good;

        if (renew_slot(&r->leader_slot, v, false, false) && was)
            vacate(r);
        break;
    }
    case FT_RK_CONTROLLER:
        renew_slot(&r->controller_slot, v, false, false);
        break;
    case FT_RK_MEMBER:
        if (strcmp(v->name, r->config.name) == 0)
            renew_slot(&r->mine_slot, v, false, false);
        if (r->roll)
            ft_rdzv_roll_set(r->roll, v->name, v->at, 0, NULL);
        break;
    case FT_RK_LIST:
        break;
    }
}

/* ---- events: the rest ---- */

static void on_list(struct ft_rdzv_round *r, struct ft_rdzv_list *list)
{
    bool had = ft_rdzv_round_has_list(r), good = list && ft_rdzv_round_is_the_list(r, list);

    r->reading = false;
    r->read_at = r->now + (list && list->stamp < r->state.list ? READ_SOON_MS : READ_AGAIN_MS);
    r->bad_reads = good ? 0 : r->bad_reads + 1;
    r->rewrite |= had && !good && r->roll && !r->state_token;
    if (good && !had) {
        ft_rdzv_list_drop(r->list);
        r->list = ft_rdzv_list_keep(list);
        r->place_listed = ft_rdzv_round_place_in(r, list);
    }
}

static void on_leased(struct ft_rdzv_round *r, uint64_t lease)
{
    r->asked = false;
    r->lease = lease;
    r->keeping = false;
    r->keep_at = r->now + r->config.lease_ms / 2;
}

static void on_unleased(struct ft_rdzv_round *r, uint64_t lease)
{
    if (lease == r->lease)
        r->lease = 0;
}

static void on_new_store(struct ft_rdzv_round *r)
{
    r->state_slot = r->leader_slot = r->controller_slot = r->mine_slot = (struct ft_rdzv_round_slot){0};
    r->lease = 0;
    r->asked = r->keeping = r->reading = r->synced = false;
    r->member_token = r->leader_token = r->state_token = r->controller_token = 0;
    ft_rdzv_round_stop_leading(r);
    if (r->joined)
        r->campaign_at = r->now + (r->place < 0 ? r->config.lease_ms : 0);
}

static void on_written(struct ft_rdzv_round *r, uint64_t token)
{
    uint64_t *const writes[] = {&r->member_token, &r->leader_token, &r->state_token, &r->controller_token};

    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++)
        if (*writes[i] == token)
            *writes[i] = 0;
}

static void on_members(struct ft_rdzv_round *r, const struct ft_rdzv_round_event *v)
{
    if (!r->roll)
        return;
    if (v->kind == FT_RV_MEMBERS) {
        ft_rdzv_roll_begin(r->roll, v->at);
    } else {
        ft_rdzv_roll_end(r->roll);
        r->rolled = true;
    }
}

static void on_publish(struct ft_rdzv_round *r, const char *address)
{
    free(r->publish);
    r->publish = strdup(address);
    if (!r->publish)
        ft_rdzv_round_fail(r, FT_RW_MEMORY);
}

void ft_rdzv_round_hear(struct ft_rdzv_round *r, const struct ft_rdzv_round_event *v)
{
    r->dirty |= v->kind != FT_RV_TIME && v->kind != FT_RV_KEPT;
    switch (v->kind) {
    case FT_RV_TIME:
        break;
    case FT_RV_ENTRY:
        on_entry(r, v);
        break;
    case FT_RV_GONE:
        on_gone(r, v);
        break;
    case FT_RV_SYNCED:
        r->synced = r->stored = true;
        break;
    case FT_RV_MEMBERS:
    case FT_RV_MEMBERS_END:
        on_members(r, v);
        break;
    case FT_RV_LIST:
        on_list(r, v->list);
        break;
    case FT_RV_LEASED:
        on_leased(r, v->lease);
        break;
    case FT_RV_KEPT:
        if (v->lease == r->lease) {
            r->keeping = false;
            r->keep_at = r->now + r->config.lease_ms / 2;
        }
        break;
    case FT_RV_UNLEASED:
        on_unleased(r, v->lease);
        break;
    case FT_RV_WRITTEN:
        on_written(r, v->token);
        break;
    case FT_RV_NEW_STORE:
        on_new_store(r);
        break;
    case FT_RV_PUBLISH:
        on_publish(r, v->text);
        break;
    case FT_RV_RENEW:
        r->renew = ft_rdzv_round_leads(r) && r->state.phase == FT_RDZV_FINAL;
        break;
    case FT_RV_CLOSE:
        r->closing = true;
        r->code = v->code;
        break;
    case FT_RV_LEAVE:
        ft_rdzv_round_end(r, FT_RE_LEFT);
        break;
    }
}
