/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/rdzv/round.h"

#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"
#include "launcher/rdzv/hear.h"
#include "launcher/rdzv/lead.h"
#include "launcher/rdzv/round_state.h"

enum {
    LEASES_FOR_NAME = 3,       /* so long a name that another process has is waited for: it may be dead */
    LEASES_FOR_FROZEN = 3
};

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

    if (!r->lease || r->member_token || (ft_rdzv_round_is_registered(r) && r->mine_confirmed == confirmed) || waits_for_name(r))
        return;
    anothers = r->mine_slot.there && r->mine_slot.good && r->mine_id != r->config.id; /* written if it is gone by now */
    e = ft_rdzv_round_write(r, &r->member_token);
    ft_rdzv_round_compare(e, FT_RK_MEMBER, r->config.name, r->mine_slot.there && !anothers ? r->mine_slot.at : 0);
    ft_rdzv_round_put(e, FT_RK_MEMBER, r->config.name, ft_rdzv_print_member(ft_rdzv_round_text(r), &m), r->lease);
}

static uint64_t foreign_until(const struct ft_rdzv_round *r)
{
    return ft_max(r->foreign_since, r->claimed == FT_RDZV_CLOSED ? 0 : r->foreign_led) + LEASES_FOR_NAME * r->config.lease_ms;
}

/* One host with another secret file would else fight with all the others. A job of two secrets does not begin; one that goes on, goes on; one that
   has been closed is. A STATE that is neither is what a dead job has left, if nobody has led that for as long as it takes to find a leader. */
static bool finds_another_job(struct ft_rdzv_round *r)
{
    bool led = r->leader_slot.there && !r->leader_slot.good && r->leader_slot.leased, ours = r->leader_slot.there && r->leader_slot.good,
         stated = r->state_slot.there && !r->state_slot.good && r->claimed != FT_RDZV_SETUP && !ours;

    if (r->joined || (!led && !stated)) {
        r->foreign_since = 0;
        return false;
    }
    if (!r->foreign_since)
        r->foreign_since = r->now;
    if (r->now >= r->foreign_since + LEASES_FOR_NAME * r->config.lease_ms && (led || r->claimed == FT_RDZV_CLOSED)) {
        ft_rdzv_round_fail(r, FT_RW_SECRET);
        return true;
    }
    if (led)
        r->foreign_led = r->now;
    return led || r->now < foreign_until(r);
}

static void campaign(struct ft_rdzv_round *r)
{
    struct ft_rdzv_member m = {.name = r->config.name, .id = r->config.id, .lease = r->lease};
    struct ft_rdzv_round_effect *e;

    if (r->config.follows || !ft_rdzv_round_is_registered(r) || r->leader_token || (r->leader_slot.there && r->leader_slot.good) ||
        r->now < ft_max(r->campaign_at, r->shun_until))
        return;
    e = ft_rdzv_round_write(r, &r->leader_token);
    ft_rdzv_round_compare(e, FT_RK_LEADER, NULL, r->leader_slot.there ? r->leader_slot.at : 0);
    ft_rdzv_round_compare(e, FT_RK_CONTROLLER, NULL, r->controller_slot.there ? r->controller_slot.at : 0);
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
    s.code = r->code;
    s.ended = r->config.since_1970_ms + r->now - r->began;
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
    if (r->told_others || r->config.follows || !r->state_slot.good || (r->state.min == r->config.min && r->state.max == r->config.max))
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
    if (r->joined_version != r->state.version)
        r->controller.address[0] = 0;
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
        r->controller.address[0] = 0;
        r->place = -1;
        ft_rdzv_list_drop(r->final);
        r->final = NULL;
        r->deadline = r->now + r->config.timeout_ms;
        ft_rdzv_round_effect(r, FT_RE_VOID)->state = r->state;
    }
    if (r->state.phase == FT_RDZV_FINAL && ft_rdzv_round_has_list(r) && ft_rdzv_round_is_registered(r))
        tell_final(r);
}

/* One that is of another round, which began when the store had lost its memory, is nobody's; the leader writes over it. */
static void tell_controller(struct ft_rdzv_round *r)
{
    struct ft_rdzv_round_effect *e;

    if (!ft_rdzv_round_has_controller(r) ||
        (r->controller.term == r->there.term && strcmp(r->controller.address, r->there.address) == 0))
        return;
    r->controller = r->there;
    e = ft_rdzv_round_effect(r, FT_RE_CONTROLLER);
    e->term = r->controller.term;
    e->text = r->controller.address;
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

/* One for the round, whoever leads later: a second one would run the job a second time. It is written again if the store has lost it. */
static void publish(struct ft_rdzv_round *r)
{
    uint64_t term = ft_rdzv_round_term(r);
    bool known = *r->controller.address;
    struct ft_rdzv_round_effect *e;
    const char *text;

    if (!term || !r->joined || r->joined_version != r->state.version || (!known && !r->publish) || r->controller_token ||
        ft_rdzv_round_has_controller(r))
        return;
    text = ft_rdzv_print_controller(ft_rdzv_round_text(r), known ? r->controller.term : term, r->joined_version,
                                    known ? r->controller.address : r->publish);
    e = ft_rdzv_round_write(r, &r->controller_token);
    ft_rdzv_round_compare(e, FT_RK_LEADER, NULL, term);
    ft_rdzv_round_put(e, FT_RK_CONTROLLER, NULL, text, 0);
}

static void act(struct ft_rdzv_round *r)
{
    keep_lease(r);
    if (r->synced && r->state_slot.good && r->state.phase == FT_RDZV_CLOSED) {
        ft_rdzv_round_end(r, FT_RE_CLOSED);
        r->effects[r->neffects - 1].state = r->state;
    }
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
        tell_controller(r);
        ft_rdzv_round_lead(r);
    }
    if (!r->over)
        watch_time(r);
}

struct ft_rdzv_round_effects ft_rdzv_round_step(struct ft_rdzv_round *r, const struct ft_rdzv_round_event *event)
{
    ft_rdzv_round_begin_step(r);
    if (!r->over) {
        r->now = event->now_ms;
        ft_rdzv_round_hear(r, event);
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
    sooner(&due, r->foreign_since && r->now < r->foreign_since + LEASES_FOR_NAME * r->config.lease_ms,
           r->foreign_since + LEASES_FOR_NAME * r->config.lease_ms);
    sooner(&due, r->foreign_since && r->now < foreign_until(r), foreign_until(r));
    sooner(&due, r->taken_by && !r->member_token, r->again_at);
    sooner(&due, !r->config.follows && ft_rdzv_round_is_registered(r) && !r->leader_token && !(r->leader_slot.there && r->leader_slot.good),
           ft_max(r->campaign_at, r->shun_until));
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
    r->campaign_at = now_ms + config->yields_ms;
    r->place = -1;
    return r;
}

void ft_rdzv_round_free(struct ft_rdzv_round *r)
{
    if (!r)
        return;
    ft_rdzv_round_begin_step(r);
    ft_rdzv_roll_free(r->roll);
    ft_rdzv_list_drop(r->list);
    ft_rdzv_list_drop(r->final);
    free(r->publish);
    free(r);
}

uint64_t ft_rdzv_round_term(const struct ft_rdzv_round *r) { return !r->over && r->synced && ft_rdzv_round_leads(r) ? r->leader_slot.at : 0; }
bool ft_rdzv_round_is_over(const struct ft_rdzv_round *r) { return r->over; }
uint64_t ft_rdzv_round_version(const struct ft_rdzv_round *r) { return r->joined ? r->joined_version : 0; }
