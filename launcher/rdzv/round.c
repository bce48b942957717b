/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/rdzv/round.h"

#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"
#include "launcher/rdzv/round_state.h"

enum {
    JITTER_MS = 500,           /* of all who want to be the leader, at most; or a quarter of a lease */
    READ_AGAIN_MS = 500,
    READ_SOON_MS = 50,         /* it was older than the STATE */
    LEASES_FOR_NAME = 3,       /* so long a name that another process has is waited for: it may be dead */
    LEASES_FOR_FROZEN = 3,
    LEASES_OF_DOUBT = 2        /* each looks at its MEMBER once a lease */
};

/* ---- effects ---- */

struct ft_rdzv_round_effect *ft_rdzv_round_effect(struct ft_rdzv_round *r, enum ft_rdzv_round_effect_kind kind)
{
    struct ft_rdzv_round_effect *e;

    FT_INVARIANT(r->neffects < FT_RDZV_ROUND_EFFECTS, "a step has room for its effects");
    e = &r->effects[r->neffects++];
    *e = (struct ft_rdzv_round_effect){.kind = kind};
    return e;
}

struct ft_rdzv_round_effect *ft_rdzv_round_write(struct ft_rdzv_round *r, uint64_t *token)
{
    struct ft_rdzv_round_effect *e = ft_rdzv_round_effect(r, FT_RE_WRITE);

    e->token = *token = ++r->tokens;
    return e;
}

void ft_rdzv_round_compare(struct ft_rdzv_round_effect *e, enum ft_rdzv_round_key key, const char *name, uint64_t at)
{
    e->compares[e->ncompares++] = (struct ft_rdzv_round_compare){key, name, at};
}

void ft_rdzv_round_put(struct ft_rdzv_round_effect *e, enum ft_rdzv_round_key key, const char *name, const char *text, uint64_t lease)
{
    e->puts[e->nputs++] = (struct ft_rdzv_round_put){key, name, text, lease};
}

char *ft_rdzv_round_text(struct ft_rdzv_round *r)
{
    FT_INVARIANT(r->ntexts < 6, "a step has room for its texts");
    return r->texts[r->ntexts++];
}

static void drop_lists(struct ft_rdzv_round *r)
{
    while (r->nlists)
        free(r->lists[--r->nlists]);
}

/* As far as is known: STATE says it a little late. */
uint32_t ft_rdzv_round_come(const struct ft_rdzv_round *r)
{
    if (r->roll && r->rolled)
        return ft_rdzv_roll_count(r->roll);
    return r->state.come ? r->state.come : r->mine_slot.there && r->mine_slot.good;
}

/* Nothing is done any more, and what is bound to the lease goes. */
static void end(struct ft_rdzv_round *r, enum ft_rdzv_round_effect_kind how)
{
    if (r->roll)
        ft_rdzv_round_lead_end(r);
    if (r->lease)
        ft_rdzv_round_effect(r, FT_RE_REVOKE)->lease = r->lease;
    ft_rdzv_round_effect(r, how);
    r->over = true;
}

void ft_rdzv_round_fail(struct ft_rdzv_round *r, enum ft_rdzv_round_why why)
{
    uint32_t come = ft_rdzv_round_come(r);

    end(r, FT_RE_FAILED);
    r->effects[r->neffects - 1].why = why;
    r->effects[r->neffects - 1].state = r->state;
    r->effects[r->neffects - 1].state.come = come;
}

/* ---- what is known ---- */

bool ft_rdzv_round_leads(const struct ft_rdzv_round *r)
{
    return r->lease && r->leader_slot.there && r->leader_slot.good && r->leader_id == r->config.id && r->leader_lease == r->lease;
}

uint64_t ft_rdzv_round_next(const struct ft_rdzv_round *r)
{
    return ft_rdzv_version_after(r->version, r->config.since_1970_ms + r->now - r->began);
}

static bool is_the_list(const struct ft_rdzv_round *r, const struct ft_rdzv_list *list)
{
    return list->stamp == r->state.list && list->version == r->state.version && list->n == r->state.members;
}

bool ft_rdzv_round_has_list(const struct ft_rdzv_round *r)
{
    return r->list && is_the_list(r, r->list);
}

static bool is_registered(const struct ft_rdzv_round *r)
{
    return r->lease && r->mine_slot.there && r->mine_slot.good && r->mine_id == r->config.id && r->mine_lease == r->lease;
}

static int64_t place_in(const struct ft_rdzv_round *r, const struct ft_rdzv_list *list)
{
    return ft_rdzv_list_find(list, r->config.name, r->config.id);
}

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

    r->campaign_at = r->now + (draw >> 32) % (spread + 1) + (r->joined && r->place < 0 ? r->config.lease_ms : 0);
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
    uint64_t term;
    bool good = text && ft_rdzv_read_controller(text, &term, &address);
    struct ft_rdzv_round_effect *e;

    if (!renew_slot(&r->controller_slot, v, true, good))
        return;
    if (!good) {
        tell_stranger(r, FT_RK_CONTROLLER, NULL);
        return;
    }
    e = ft_rdzv_round_effect(r, FT_RE_CONTROLLER);
    e->term = term;
    e->text = address;
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
    if (r->roll && !good)
        ft_rdzv_roll_doubt(r->roll, v->name, v->at, r->now + LEASES_OF_DOUBT * r->config.lease_ms);
    else if (r->roll && ft_rdzv_roll_set(r->roll, v->name, v->at, v->made, &m) < 0)
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
    bool had = ft_rdzv_round_has_list(r), good = list && is_the_list(r, list);

    r->reading = false;
    r->read_at = r->now + (list && list->stamp < r->state.list ? READ_SOON_MS : READ_AGAIN_MS);
    r->bad_reads = good ? 0 : r->bad_reads + 1;
    r->rewrite |= had && !good && r->roll && !r->state_token;
    if (good && !had) {
        ft_rdzv_list_drop(r->list);
        r->list = ft_rdzv_list_keep(list);
        r->place_listed = place_in(r, list);
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
    if (r->roll)
        ft_rdzv_round_lead_end(r);
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
    r->published = 0;
    if (!r->publish)
        ft_rdzv_round_fail(r, FT_RW_MEMORY);
}

static void apply(struct ft_rdzv_round *r, const struct ft_rdzv_round_event *v)
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
        break;
    case FT_RV_LEAVE:
        end(r, FT_RE_LEFT);
        break;
    }
}

/* ---- what is done then ---- */

static void keep_lease(struct ft_rdzv_round *r)
{
    if (!r->lease && !r->asked) {
        r->asked = true;
        ft_rdzv_round_effect(r, FT_RE_LEASE);
    }
    if (r->lease && !r->keeping && r->now >= r->keep_at) {
        r->keeping = true;
        ft_rdzv_round_effect(r, FT_RE_KEEP)->lease = r->lease;
    }
}

/* The version that its MEMBER is to say it has confirmed. */
static uint64_t confirms(const struct ft_rdzv_round *r)
{
    bool listed = r->state_slot.good && (r->state.phase == FT_RDZV_FROZEN || r->state.phase == FT_RDZV_FINAL) && ft_rdzv_round_has_list(r) &&
                  r->place_listed >= 0;

    return listed ? r->state.version : r->joined && r->place >= 0 ? r->joined_version : 0;
}

/* Another process has the name: it may be dead, and its lease run on. */
static bool waits_for_name(struct ft_rdzv_round *r)
{
    if (!r->mine_slot.there || !r->mine_slot.good || r->mine_id == r->config.id) {
        r->taken_by = 0;
        return false;
    }
    if (r->taken_by != r->mine_id) {
        r->taken_by = r->mine_id;
        r->taken_since = r->now;
        r->again_at = r->now + r->config.lease_ms / 4;
    }
    if (r->now >= r->taken_since + LEASES_FOR_NAME * r->config.lease_ms) {
        ft_rdzv_round_fail(r, FT_RW_NAME);
        return true;
    }
    if (r->now < r->again_at)
        return true;
    r->again_at = r->now + r->config.lease_ms / 4;
    return false;
}

static void keep_member(struct ft_rdzv_round *r)
{
    uint64_t confirmed = confirms(r);
    struct ft_rdzv_member m = {.name = r->config.name, .address = r->config.address, .slots = r->config.slots, .id = r->config.id,
                               .confirmed = confirmed, .lease = r->lease};
    bool anothers;
    struct ft_rdzv_round_effect *e;

    if (!r->lease || r->member_token || (is_registered(r) && r->mine_confirmed == confirmed) || waits_for_name(r))
        return;
    anothers = r->mine_slot.there && r->mine_slot.good && r->mine_id != r->config.id; /* written if it is gone by now */
    e = ft_rdzv_round_write(r, &r->member_token);
    ft_rdzv_round_compare(e, FT_RK_MEMBER, r->config.name, r->mine_slot.there && !anothers ? r->mine_slot.at : 0);
    ft_rdzv_round_put(e, FT_RK_MEMBER, r->config.name, ft_rdzv_print_member(ft_rdzv_round_text(r), &m), r->lease);
}

/* One host with another secret file would else fight with all the others. A job of two secrets does not begin; one that goes on, goes on. */
static bool finds_another_job(struct ft_rdzv_round *r)
{
    bool foreign = !r->joined && r->leader_slot.there && !r->leader_slot.good && r->leader_slot.leased;

    if (!foreign)
        r->foreign_since = 0;
    else if (!r->foreign_since)
        r->foreign_since = r->now;
    else if (r->now >= r->foreign_since + LEASES_FOR_NAME * r->config.lease_ms)
        ft_rdzv_round_fail(r, FT_RW_SECRET);
    return foreign;
}

static void campaign(struct ft_rdzv_round *r)
{
    struct ft_rdzv_member m = {.name = r->config.name, .id = r->config.id, .lease = r->lease};
    struct ft_rdzv_round_effect *e;

    if (!is_registered(r) || r->leader_token || (r->leader_slot.there && r->leader_slot.good) ||
        r->now < ft_max(r->campaign_at, r->shun_until))
        return;
    e = ft_rdzv_round_write(r, &r->leader_token);
    ft_rdzv_round_compare(e, FT_RK_LEADER, NULL, r->leader_slot.there ? r->leader_slot.at : 0);
    ft_rdzv_round_put(e, FT_RK_LEADER, NULL, ft_rdzv_print_leader(ft_rdzv_round_text(r), &m), r->lease);
}

static void close_round(struct ft_rdzv_round *r)
{
    struct ft_rdzv_state s = r->state;
    struct ft_rdzv_round_effect *e;

    if (!r->closing || r->state_token)
        return;
    s.phase = FT_RDZV_CLOSED;
    s.version = r->version ? r->version : ft_rdzv_round_next(r);
    s.change++;
    s.term = 0;
    s.by = r->config.id;
    e = ft_rdzv_round_write(r, &r->state_token);
    ft_rdzv_round_compare(e, FT_RK_STATE, NULL, r->state_slot.there ? r->state_slot.at : 0);
    ft_rdzv_round_put(e, FT_RK_STATE, NULL, ft_rdzv_print_state(ft_rdzv_round_text(r), &s), 0);
    e->forget = s.version;
}

static void read_list(struct ft_rdzv_round *r)
{
    if (r->reading || !r->state_slot.good || r->state.phase < FT_RDZV_FROZEN || r->state.phase == FT_RDZV_CLOSED || ft_rdzv_round_has_list(r) ||
        r->now < r->read_at)
        return;
    r->reading = true;
    ft_rdzv_round_effect(r, FT_RE_READ);
}

static void tell_others(struct ft_rdzv_round *r)
{
    if (r->told_others || !r->state_slot.good || (r->state.min == r->config.min && r->state.max == r->config.max))
        return;
    r->told_others = true;
    ft_rdzv_round_effect(r, FT_RE_OTHERS)->state = r->state;
}

static void tell_final(struct ft_rdzv_round *r)
{
    struct ft_rdzv_round_effect *e;

    if (r->joined && r->joined_version == r->state.version && r->told_list == r->state.list && r->told_spares == r->state.spares)
        return;
    r->place = r->place_listed;
    e = ft_rdzv_round_effect(r, r->joined && r->joined_version == r->state.version ? FT_RE_CHANGED : FT_RE_JOINED);
    e->state = r->state;
    e->list = r->list;
    e->place = r->place;
    r->joined = true;
    r->joined_version = r->state.version;
    r->told_list = r->state.list;
    r->told_spares = r->state.spares;
    if (r->final != r->list) {
        ft_rdzv_list_drop(r->final);
        r->final = ft_rdzv_list_keep(r->list);
    }
}

/* After the store had lost its memory a round of a lower version may have begun. Who has a place in the old one does not go over to that, but
   has the old one written again (lead.c); a spare does. */
static bool obeys(const struct ft_rdzv_round *r)
{
    return !r->joined || r->state.version >= r->joined_version || r->place < 0;
}

static void tell(struct ft_rdzv_round *r)
{
    if (!r->state_slot.good || !obeys(r))
        return;
    if (r->joined && r->state.version != r->joined_version && r->state.phase < FT_RDZV_FINAL) {
        r->joined = false;
        r->place = -1;
        ft_rdzv_list_drop(r->final);
        r->final = NULL;
        r->deadline = r->now + r->config.timeout_ms;
        ft_rdzv_round_effect(r, FT_RE_VOID)->state = r->state;
    }
    if (r->state.phase == FT_RDZV_FINAL && ft_rdzv_round_has_list(r) && is_registered(r))
        tell_final(r);
}

static void tell_led(struct ft_rdzv_round *r)
{
    uint64_t term = ft_rdzv_round_term(r);

    if (term == r->led)
        return;
    r->led = term;
    ft_rdzv_round_effect(r, FT_RE_LED)->term = term;
}

static uint64_t last_deadline(const struct ft_rdzv_round *r)
{
    return r->deadline + r->config.last_call_ms + LEASES_FOR_FROZEN * r->config.lease_ms;
}

static void watch_time(struct ft_rdzv_round *r)
{
    bool too_few = !r->state_slot.good || r->state.phase < FT_RDZV_FROZEN;

    if (r->joined || r->now < r->deadline)
        return;
    if (!r->stored)
        ft_rdzv_round_fail(r, FT_RW_STORE);
    else if (too_few && ft_rdzv_round_come(r) < (r->state.min ? r->state.min : r->config.min))
        ft_rdzv_round_fail(r, FT_RW_TOO_FEW);
    else if (r->now >= last_deadline(r))
        ft_rdzv_round_fail(r, FT_RW_STORE);
}

static void publish(struct ft_rdzv_round *r)
{
    uint64_t term = ft_rdzv_round_term(r);
    struct ft_rdzv_round_effect *e;

    if (!term || !r->publish || r->published == term || r->controller_token)
        return;
    r->published = term;
    e = ft_rdzv_round_write(r, &r->controller_token);
    ft_rdzv_round_compare(e, FT_RK_LEADER, NULL, term);
    ft_rdzv_round_put(e, FT_RK_CONTROLLER, NULL, ft_rdzv_print_controller(ft_rdzv_round_text(r), term, r->publish), r->lease);
}

static void act(struct ft_rdzv_round *r)
{
    keep_lease(r);
    if (r->synced && r->state_slot.good && r->state.phase == FT_RDZV_CLOSED)
        end(r, FT_RE_CLOSED);
    if (r->synced && !r->over && !finds_another_job(r)) {
        close_round(r);
        keep_member(r);
        if (!r->over)
            campaign(r);
    }
    if (r->synced && !r->over) {
        tell_led(r);
        publish(r);
        read_list(r);
        tell_others(r);
        tell(r);
        ft_rdzv_round_lead(r);
    }
    if (!r->over)
        watch_time(r);
}

struct ft_rdzv_round_effects ft_rdzv_round_step(struct ft_rdzv_round *r, const struct ft_rdzv_round_event *event)
{
    r->neffects = r->ntexts = 0;
    drop_lists(r);
    if (!r->over) {
        r->now = event->now_ms;
        apply(r, event);
    }
    if (!r->over)
        act(r);
    return (struct ft_rdzv_round_effects){r->neffects, r->effects};
}

/* ---- its life ---- */

static void sooner(uint64_t *due, bool is_set, uint64_t at)
{
    if (is_set && at < *due)
        *due = at;
}

uint64_t ft_rdzv_round_due(const struct ft_rdzv_round *r)
{
    uint64_t due = UINT64_MAX;

    if (r->over)
        return due;
    sooner(&due, r->lease && !r->keeping, r->keep_at);
    sooner(&due, !r->joined && r->now < r->deadline, r->deadline);
    sooner(&due, !r->joined && r->now >= r->deadline, last_deadline(r));
    if (!r->synced)
        return due;
    sooner(&due, r->foreign_since, r->foreign_since + LEASES_FOR_NAME * r->config.lease_ms);
    sooner(&due, r->taken_by && !r->member_token, r->again_at);
    sooner(&due, is_registered(r) && !r->leader_token && !(r->leader_slot.there && r->leader_slot.good), ft_max(r->campaign_at, r->shun_until));
    sooner(&due, !r->reading && r->state_slot.good && r->state.phase >= FT_RDZV_FROZEN && !ft_rdzv_round_has_list(r), r->read_at);
    sooner(&due, true, ft_rdzv_round_lead_due(r));
    return due;
}

struct ft_rdzv_round *ft_rdzv_round_new(const struct ft_rdzv_round_config *config, uint64_t now_ms)
{
    struct ft_rdzv_round *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    r->config = *config;
    r->now = r->began = now_ms;
    r->deadline = now_ms + config->timeout_ms;
    r->place = -1;
    return r;
}

void ft_rdzv_round_free(struct ft_rdzv_round *r)
{
    if (!r)
        return;
    drop_lists(r);
    ft_rdzv_roll_free(r->roll);
    ft_rdzv_list_drop(r->list);
    ft_rdzv_list_drop(r->final);
    free(r->publish);
    free(r);
}

uint64_t ft_rdzv_round_term(const struct ft_rdzv_round *r) { return !r->over && r->synced && ft_rdzv_round_leads(r) ? r->leader_slot.at : 0; }
bool ft_rdzv_round_is_over(const struct ft_rdzv_round *r) { return r->over; }
uint64_t ft_rdzv_round_version(const struct ft_rdzv_round *r) { return r->joined ? r->joined_version : 0; }
