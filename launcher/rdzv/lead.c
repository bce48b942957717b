/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/rdzv/lead.h"

#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"

enum {
    STAMP_BITS = 20,           /* of the change; the rest is the leader's term */
    LOOK_MS = 20,              /* between two looks at all members: many come at once */
    TELL_MS = 1000,            /* between two STATEs that say no more than how many there are: each is read by all */
    BAD_READS = 4              /* so often a LIST that cannot be read is tried */
};

/* ---- writing ---- */

static void write_state(struct ft_rdzv_round *r, struct ft_rdzv_state s, char *list)
{
    struct ft_rdzv_round_effect *e = ft_rdzv_round_write(r, &r->state_token);

    s.term = r->leader_slot.at;
    s.by = r->config.id;
    s.min = r->config.min;
    s.max = r->config.max;
    s.come = ft_rdzv_roll_count(r->roll);
    ft_rdzv_round_compare(e, FT_RK_LEADER, NULL, s.term);
    ft_rdzv_round_compare(e, FT_RK_STATE, NULL, r->state_slot.there ? r->state_slot.at : 0);
    ft_rdzv_round_put(e, FT_RK_STATE, NULL, ft_rdzv_print_state(ft_rdzv_round_text(r), &s), 0);
    if (list)
        ft_rdzv_round_put(e, FT_RK_LIST, NULL, list, 0);
    if (s.phase == FT_RDZV_JOINABLE) {
        ft_rdzv_round_put(e, FT_RK_CONTROLLER, NULL, NULL, 0);
        e->forget = s.version - 1;
    }
    r->told_come_at = r->now;
}

/* The next STATE, in that phase. Its LIST is the one that there is, until write_list. */
static struct ft_rdzv_state next_state(const struct ft_rdzv_round *r, enum ft_rdzv_phase phase)
{
    struct ft_rdzv_state s = r->state;

    s.phase = phase;
    s.change++;
    s.spares = 0;
    return s;
}

static void write_list(struct ft_rdzv_round *r, struct ft_rdzv_state s, const struct ft_rdzv_member *members, uint32_t n)
{
    char *text;

    s.list = (r->leader_slot.at << STAMP_BITS) + (s.change & ((1 << STAMP_BITS) - 1));
    s.members = n;
    text = ft_rdzv_print_list(s.version, s.list, members, n);
    if (!text) {
        ft_rdzv_round_fail(r, FT_RW_MEMORY);
        return;
    }
    r->lists[r->nlists++] = text;
    write_state(r, s, text);
}

static void begin(struct ft_rdzv_round *r)
{
    struct ft_rdzv_state s = next_state(r, FT_RDZV_JOINABLE);

    s.version = ft_rdzv_round_next(r);
    s.members = 0;
    r->call_until = 0;
    r->renew = false;
    write_state(r, s, NULL);
}

/* ---- joinable ---- */

static int by_name(const void *a, const void *b)
{
    return ft_rdzv_compare(((const struct ft_rdzv_member *)a)->name, ((const struct ft_rdzv_member *)b)->name);
}

/* The first max that came, the leader among them: it is theirs. */
static void freeze(struct ft_rdzv_round *r)
{
    uint32_t n = ft_rdzv_roll_count(r->roll), i = 0;
    struct ft_rdzv_member *members = ft_rdzv_roll_by_arrival(r->roll);

    if (!members) {
        ft_rdzv_round_fail(r, FT_RW_MEMORY);
        return;
    }
    while (i < n && strcmp(members[i].name, r->config.name) != 0)
        i++;
    if (n > r->config.max) {
        if (i < n && i >= r->config.max)
            members[r->config.max - 1] = members[i];
        n = r->config.max;
    }
    qsort(members, n, sizeof *members, by_name);
    write_list(r, next_state(r, FT_RDZV_FROZEN), members, n);
    free(members);
}

static void lead_joinable(struct ft_rdzv_round *r)
{
    uint32_t n = ft_rdzv_roll_count(r->roll);

    if (n < r->config.min)
        r->call_until = 0;
    else if (!r->call_until)
        r->call_until = r->now + r->config.last_call_ms;
    if (n >= r->config.max || (r->call_until && r->now >= r->call_until))
        freeze(r);
    else if (n != r->state.come && r->now >= r->told_come_at + TELL_MS)
        write_state(r, next_state(r, FT_RDZV_JOINABLE), NULL);
}

/* ---- frozen ---- */

static bool is_there(const struct ft_rdzv_round *r, const struct ft_rdzv_member *m, const struct ft_rdzv_member **now)
{
    *now = ft_rdzv_roll_find(r->roll, m->name);
    return *now && (*now)->id == m->id;
}

static void lead_frozen(struct ft_rdzv_round *r)
{
    const struct ft_rdzv_member *m;
    uint32_t confirmed = 0;

    for (uint32_t i = 0; i < r->list->n; i++) {
        bool there = is_there(r, &r->list->members[i], &m);

        if (!there && !ft_rdzv_roll_is_doubted(r->roll, r->list->members[i].name)) {
            begin(r);
            return;
        }
        confirmed += there && m->confirmed == r->state.version;
    }
    if (confirmed == r->list->n) {
        struct ft_rdzv_state s = next_state(r, FT_RDZV_FINAL);

        s.spares = ft_rdzv_roll_count(r->roll) - confirmed;
        write_state(r, s, NULL);
    }
}

/* ---- final ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp((*(const struct ft_rdzv_member *const *)a)->name, (*(const struct ft_rdzv_member *const *)b)->name);
}

/* The places that are not lost, by name. NULL: no memory. */
static const struct ft_rdzv_member **taken(const struct ft_rdzv_member *places, uint32_t n, uint32_t *ntaken)
{
    const struct ft_rdzv_member **sorted = malloc((n + 1) * sizeof *sorted);

    *ntaken = 0;
    if (!sorted)
        return NULL;
    for (uint32_t i = 0; i < n; i++)
        if (!places[i].lost)
            sorted[(*ntaken)++] = &places[i];
    qsort(sorted, *ntaken, sizeof *sorted, by_text);
    return sorted;
}

/* Leaves the spares in list, who came first first, out of all who are there. */
static uint32_t sift(struct ft_rdzv_member *list, uint32_t n, const struct ft_rdzv_member **sorted, uint32_t ntaken)
{
    uint32_t nspares = 0;

    for (uint32_t i = 0; i < n; i++) {
        const struct ft_rdzv_member *key = &list[i];

        if (!bsearch(&key, sorted, ntaken, sizeof *sorted, by_text))
            list[nspares++] = list[i];
    }
    return nspares;
}

/* Spares take lost places, in the order of both; how many spares are left, or -1: no memory. */
static int64_t fill(struct ft_rdzv_round *r, struct ft_rdzv_member *places, uint32_t n, struct ft_rdzv_member **list, bool *changed)
{
    uint32_t ntaken, nspares, used = 0;
    const struct ft_rdzv_member **sorted = taken(places, n, &ntaken);

    *list = ft_rdzv_roll_by_arrival(r->roll);
    if (!sorted || !*list) {
        free(sorted);
        return -1;
    }
    nspares = sift(*list, ft_rdzv_roll_count(r->roll), sorted, ntaken);
    free(sorted);
    for (uint32_t i = 0; i < n && used < nspares; i++)
        if (places[i].lost) {
            places[i] = (*list)[used++];
            *changed = true;
        }
    return nspares - used;
}

/* Marks the places that are lost, or are not after all; how many are not, and *there: whose members are known to be there. */
static uint32_t look_after(const struct ft_rdzv_round *r, struct ft_rdzv_member *places, uint32_t n, uint32_t *there, bool *changed)
{
    const struct ft_rdzv_member *m;
    uint32_t living = 0;

    *there = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool is = is_there(r, &places[i], &m);
        bool lost = !is && (places[i].lost || (r->now >= r->patient_until && !ft_rdzv_roll_is_doubted(r->roll, places[i].name)));

        *changed |= lost != places[i].lost;
        places[i].lost = lost;
        living += !lost;
        *there += is;
    }
    return living;
}

static void write_final(struct ft_rdzv_round *r, const struct ft_rdzv_member *places, uint32_t n, uint32_t nspares, bool changed)
{
    struct ft_rdzv_state s = next_state(r, FT_RDZV_FINAL);

    s.spares = nspares;
    if (changed) {
        r->rewrite = false;
        write_list(r, s, places, n);
    } else if ((nspares != r->state.spares || ft_rdzv_roll_count(r->roll) != r->state.come) && r->now >= r->told_come_at + TELL_MS) {
        write_state(r, s, NULL);
    }
}

static void lead_places(struct ft_rdzv_round *r, struct ft_rdzv_member *places, uint32_t n)
{
    struct ft_rdzv_member *list = NULL;
    bool changed = r->rewrite;
    int64_t nspares = 0;
    uint32_t there, living = look_after(r, places, n, &there, &changed);

    /* The controller may live, though all who had places are gone: whoever cannot reach it asks for a new round (RENEW). */
    if (!living && !ft_rdzv_round_has_controller(r)) {
        begin(r);
        return;
    }
    if (ft_rdzv_roll_count(r->roll) > there)
        nspares = fill(r, places, n, &list, &changed);
    if (nspares < 0)
        ft_rdzv_round_fail(r, FT_RW_MEMORY);
    else
        write_final(r, places, n, (uint32_t)nspares, changed);
    free(list);
}

/* A stranger may write over the LIST, which nobody watches: whoever comes could not read it. */
static void verify(struct ft_rdzv_round *r)
{
    if (r->reading || r->now < r->verify_at)
        return;
    r->verify_at = r->now + r->config.lease_ms;
    r->reading = true;
    ft_rdzv_round_effect(r, FT_RE_READ);
}

static void lead_final(struct ft_rdzv_round *r)
{
    size_t bytes = r->list->n * sizeof(struct ft_rdzv_member);
    struct ft_rdzv_member *places = malloc(bytes + 1);

    if (r->renew || !places) {
        free(places);
        begin(r);
        return;
    }
    verify(r);
    memcpy(places, r->list->members, bytes);
    lead_places(r, places, r->list->n);
    free(places);
}

/* ---- the store has lost its memory ---- */

/* The round that it was in is written once more, and the others have a lease's time to come again. */
static void restore(struct ft_rdzv_round *r)
{
    struct ft_rdzv_state s = next_state(r, FT_RDZV_FINAL);

    s.version = r->joined_version;
    r->patient_until = r->now + r->config.lease_ms;
    write_list(r, s, r->final->members, r->final->n);
}

/* Somebody who was in a round that it knows nothing of is there: that one is the better leader. */
static void resign(struct ft_rdzv_round *r)
{
    struct ft_rdzv_round_effect *e = ft_rdzv_round_write(r, &r->leader_token);

    r->shun_until = r->now + 2 * r->config.lease_ms;
    ft_rdzv_round_compare(e, FT_RK_LEADER, NULL, r->leader_slot.at);
    ft_rdzv_round_put(e, FT_RK_LEADER, NULL, NULL, 0);
}

/* ---- all of it ---- */

static void look(struct ft_rdzv_round *r)
{
    uint64_t version = r->state_slot.good ? r->state.version : 0;
    bool listed = version && r->state.phase >= FT_RDZV_FROZEN;

    if (r->final && version < r->final->version)
        restore(r);
    else if (!r->leader_token && ft_rdzv_roll_confirmed(r->roll) > version)
        resign(r);
    else if (!version || (listed && !ft_rdzv_round_has_list(r) && r->bad_reads >= BAD_READS))
        begin(r);
    else if (r->state.phase == FT_RDZV_JOINABLE)
        lead_joinable(r);
    else if (ft_rdzv_round_has_list(r) && r->state.phase == FT_RDZV_FROZEN)
        lead_frozen(r);
    else if (ft_rdzv_round_has_list(r) && r->state.phase == FT_RDZV_FINAL)
        lead_final(r);
}

/* Until its own entry has been heard of, it would count itself out. */
static bool sees_itself(const struct ft_rdzv_round *r)
{
    const struct ft_rdzv_member *m = ft_rdzv_roll_find(r->roll, r->config.name);

    return m && m->id == r->config.id;
}

void ft_rdzv_round_lead(struct ft_rdzv_round *r)
{
    if (r->over)
        return;
    if (!ft_rdzv_round_leads(r)) {
        ft_rdzv_round_stop_leading(r);
        return;
    }
    if (!r->roll) {
        r->roll = ft_rdzv_roll_new();
        r->rolled = r->rewrite = false;
        r->doubt_until = UINT64_MAX;
        r->call_until = r->patient_until = r->bad_reads = 0;
        r->verify_at = r->now + r->config.lease_ms;
        if (!r->roll)
            ft_rdzv_round_fail(r, FT_RW_MEMORY);
        else
            ft_rdzv_round_effect(r, FT_RE_FOLLOW);
        return;
    }
    if (!r->rolled || r->state_token || r->leader_token || r->now < ft_rdzv_round_lead_due(r))
        return;
    r->dirty = false;
    r->looked = r->now;
    r->doubt_until = ft_rdzv_roll_expire(r->roll, r->now);
    look(r);
}

static uint64_t when(bool wanted, uint64_t at) { return wanted ? at : UINT64_MAX; }

uint64_t ft_rdzv_round_lead_due(const struct ft_rdzv_round *r)
{
    enum ft_rdzv_phase phase = r->state.phase;
    uint64_t due;

    if (!r->roll || !r->rolled || r->state_token || r->leader_token || !sees_itself(r))
        return UINT64_MAX;
    due = ft_min(when(r->dirty, r->looked + LOOK_MS), r->doubt_until);
    due = ft_min(due, when(phase == FT_RDZV_JOINABLE && r->call_until, r->call_until));
    due = ft_min(due, when(phase == FT_RDZV_JOINABLE && ft_rdzv_roll_count(r->roll) != r->state.come, r->told_come_at + TELL_MS));
    due = ft_min(due, when(phase == FT_RDZV_FINAL && ft_rdzv_roll_count(r->roll) != r->state.come, r->told_come_at + TELL_MS));
    due = ft_min(due, when(phase == FT_RDZV_FINAL && r->patient_until > r->looked, r->patient_until));
    due = ft_min(due, when(phase == FT_RDZV_FINAL && !r->reading, r->verify_at));
    return ft_max(due, r->looked + LOOK_MS);
}
