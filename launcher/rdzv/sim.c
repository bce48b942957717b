/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/rdzv/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"

enum { AGAIN_MS = 1000 /* without an answer */, FOLLOWERS = 64, CHANGES = 256 };

static const char *const names[] = {"/r/state", "/list", "/r/leader", "/r/controller", "/m/"};

struct item {
    enum ft_rdzv_round_event_kind kind;
    enum ft_rdzv_round_key key;
    char *name, *text;
    uint64_t at, made, lease;
};

enum kind { PUMP, FOLLOW, MEMBERS, LEASE, KEEP, REVOKE, WRITE, READ, ANSWER, WAKE };

struct message {
    uint64_t when, order;
    enum kind kind;
    uint32_t host;
    unsigned incarnation, tries;
    uint64_t lease, token;
    struct ft_rdzv_round_effect e;     /* WRITE: with strings of its own */
    struct item *items;
    uint32_t nitems;
    struct ft_rdzv_list *list;
    bool read, again;
};

struct world {
    struct sim sim;            /* first */
    struct message **heap;
    uint32_t n, room;
    uint64_t order, cluster_of_lists;
    struct ft_rdzv_list *lists[8];     /* that were read last: shared */
    uint64_t lists_at[8], nlists;
    struct { uint64_t version, stamp; struct ft_rdzv_list *list; } said[64];   /* what hosts were told */
    uint32_t nsaid;
    uint32_t follow[FOLLOWERS], nfollow;   /* hosts */
    uint64_t changed[CHANGES], nchanged;   /* when something changed that is not of members alone: most hosts watch no more */
};

uint64_t sim_draw(struct sim *s, uint64_t below)
{
    s->random = s->random * 6364136223846793005u + 1442695040888963407u;
    return below ? (s->random >> 33) % below : 0;
}

static void break_promise(struct sim *s, const char *what, uint32_t host)
{
    if (!s->broken[0])
        snprintf(s->broken, sizeof s->broken, "%s (host %u, at %llu ms)", what, host, (unsigned long long)s->now);
}

/* ---- the queue ---- */

static bool before(const struct message *a, const struct message *b) { return a->when != b->when ? a->when < b->when : a->order < b->order; }

static void push(struct world *w, struct message *m)
{
    uint32_t i = w->n++;

    if (w->n > w->room) {
        w->room = w->room ? 2 * w->room : 1024;
        w->heap = realloc(w->heap, w->room * sizeof *w->heap);
    }
    m->order = w->order++;
    for (; i && before(m, w->heap[(i - 1) / 2]); i = (i - 1) / 2)
        w->heap[i] = w->heap[(i - 1) / 2];
    w->heap[i] = m;
}

static struct message *pop(struct world *w)
{
    struct message *top = w->heap[0], *last = w->heap[--w->n];
    uint32_t i = 0, child;

    while ((child = 2 * i + 1) < w->n) {
        child += child + 1 < w->n && before(w->heap[child + 1], w->heap[child]);
        if (!before(w->heap[child], last))
            break;
        w->heap[i] = w->heap[child];
        i = child;
    }
    w->heap[i] = last;
    return top;
}

static void free_message(struct message *m)
{
    for (uint32_t i = 0; i < m->nitems; i++) {
        free(m->items[i].name);
        free(m->items[i].text);
    }
    free(m->items);
    for (uint32_t i = 0; m->kind == WRITE && i < m->e.nputs; i++)
        free((char *)m->e.puts[i].text);
    ft_rdzv_list_drop(m->list);
    free(m);
}

static struct message *message(struct sim *s, uint32_t host, enum kind kind)
{
    struct message *m = calloc(1, sizeof *m);

    *m = (struct message){.when = s->now + 1 + sim_draw(s, s->config.delay_ms), .host = host, .kind = kind,
                          .incarnation = s->hosts[host].incarnation};
    return m;
}

static void send(struct sim *s, struct message *m) { push((struct world *)s, m); }

/* ---- keys ---- */

static const char *key_text(char *text, enum ft_rdzv_round_key key, const char *name)
{
    snprintf(text, 64, "%s%s", names[key], key == FT_RK_MEMBER ? name : "");
    return text;
}

static void add(struct message *m, enum ft_rdzv_round_event_kind kind, const char *key, const struct ft_kvs_entry *kv, uint64_t at)
{
    struct item *item;

    m->items = realloc(m->items, (m->nitems + 1) * sizeof *m->items);
    item = &m->items[m->nitems++];
    *item = (struct item){.kind = kind, .at = kv ? kv->at : at, .made = kv ? kv->made : 0, .lease = kv ? kv->lease : 0};
    for (int k = FT_RK_STATE; k <= FT_RK_MEMBER; k++)
        if (strncmp(key, names[k], strlen(names[k])) == 0)
            item->key = (enum ft_rdzv_round_key)k;
    item->name = strdup(item->key == FT_RK_MEMBER ? key + 3 : "");
    if (kv && kv->value && item->key != FT_RK_LIST) {
        item->kind = FT_RV_ENTRY;
        item->text = strndup((const char *)kv->value, kv->n);
    }
}

struct answer {
    struct message *m;
    const char *key;
    bool found;
    uint64_t bytes;
};

static void on_kv(void *arg, uint32_t op, const struct ft_kvs_entry *kv)
{
    struct answer *a = arg;

    (void)op;
    a->found = true;
    a->bytes += kv->n;
    add(a->m, FT_RV_ENTRY, kv->key, kv, 0);
}

static void on_change(void *arg, const struct ft_kvs_entry *kv)
{
    struct answer *a = arg;

    a->bytes += kv->n;
    add(a->m, FT_RV_GONE, kv->key, kv, 0);
}

static void on_deleted(void *arg, uint32_t op, uint64_t n)
{
    (void)arg;
    (void)op;
    (void)n;
}

/* The value of a key as it is now. */
static void look_up(struct sim *s, struct message *m, const char *key)
{
    struct ft_kvs_op op = {.kind = FT_KVS_RANGE, .key = key};
    struct ft_kvs_txn txn = {.then = &op, .nthen = 1};
    struct answer a = {.m = m, .key = key};
    bool held;

    ft_kvs_do(s->kvs, &txn, &held, on_kv, on_deleted, &a);
    if (!a.found)
        add(m, FT_RV_GONE, key, NULL, ft_kvs_revision(s->kvs));
    s->bytes += a.bytes;
}

/* Those who watch are told, a little later. */
static void news(struct sim *s, bool members_only)
{
    struct world *w = (struct world *)s;
    uint32_t n = members_only ? w->nfollow : s->nhosts;

    if (!members_only)
        w->changed[w->nchanged++ % CHANGES] = ft_kvs_revision(s->kvs);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t host = members_only ? w->follow[i] : i;
        struct sim_host *h = &s->hosts[host];

        if (!h->round || !h->seen || h->pumping)
            continue;
        h->pumping = true;
        send(s, message(s, host, PUMP));
    }
}

static void follow(struct sim *s, uint32_t host, bool follows)
{
    struct world *w = (struct world *)s;
    uint32_t i = 0;

    while (i < w->nfollow && w->follow[i] != host)
        i++;
    if (follows && i == w->nfollow && i < FOLLOWERS)
        w->follow[w->nfollow++] = host;
    if (!follows && i < w->nfollow)
        w->follow[i] = w->follow[--w->nfollow];
    s->hosts[host].follows = follows;
}

/* ---- the store's side ---- */

static struct message *answer_to(struct sim *s, const struct message *m)
{
    struct message *a = message(s, m->host, ANSWER);

    a->incarnation = m->incarnation;
    a->token = m->token;
    s->messages++;
    return a;
}

/* Lost on its way back: then the same is asked again. */
static void answer(struct sim *s, struct message *a, const struct message *request)
{
    (void)request;
    if (s->config.twice && sim_draw(s, 1000) < s->config.twice) {
        struct message *b = message(s, a->host, ANSWER);

        b->incarnation = a->incarnation;
        b->token = a->token;
        b->lease = a->lease;
        b->read = a->read;
        b->list = ft_rdzv_list_keep(a->list);
        for (uint32_t i = 0; i < a->nitems; i++) {
            b->items = realloc(b->items, (b->nitems + 1) * sizeof *b->items);
            b->items[b->nitems] = a->items[i];
            b->items[b->nitems].name = a->items[i].name ? strdup(a->items[i].name) : NULL;
            b->items[b->nitems].text = a->items[i].text ? strdup(a->items[i].text) : NULL;
            b->nitems++;
        }
        send(s, b);
    }
    send(s, a);
}

static void single(struct message *a, enum ft_rdzv_round_event_kind kind, uint64_t at)
{
    a->items = realloc(a->items, (a->nitems + 1) * sizeof *a->items);
    a->items[a->nitems++] = (struct item){.kind = kind, .at = at};
}

static void serve_follow(struct sim *s, const struct message *m)
{
    struct message *a = answer_to(s, m);
    char key[64];

    for (int k = FT_RK_STATE; k <= FT_RK_CONTROLLER; k++)
        if (k != FT_RK_LIST)
            look_up(s, a, names[k]);
    look_up(s, a, key_text(key, FT_RK_MEMBER, s->hosts[m->host].name));
    single(a, FT_RV_SYNCED, 0);
    if (!s->hosts[m->host].seen)
        s->hosts[m->host].seen = ft_kvs_revision(s->kvs) + 1;
    answer(s, a, m);
}

static void serve_members(struct sim *s, const struct message *m)
{
    struct message *a = answer_to(s, m);
    struct ft_kvs_op op = {.kind = FT_KVS_RANGE, .key = "/m/", .end = "/m0"};
    struct ft_kvs_txn txn = {.then = &op, .nthen = 1};
    struct answer found = {.m = a};
    bool held;

    single(a, FT_RV_MEMBERS, ft_kvs_revision(s->kvs));
    ft_kvs_do(s->kvs, &txn, &held, on_kv, on_deleted, &found);
    single(a, FT_RV_MEMBERS_END, 0);
    s->bytes += found.bytes;
    answer(s, a, m);
}

static void take_list(void *arg, uint32_t op, const struct ft_kvs_entry *kv)
{
    char *text = strndup((const char *)kv->value, kv->n);

    (void)op;
    *(struct ft_rdzv_list **)arg = ft_rdzv_read_list(text);
    free(text);
}

static struct ft_rdzv_list *stored_list(struct sim *s)
{
    struct ft_kvs_op op = {.kind = FT_KVS_RANGE, .key = names[FT_RK_LIST]};
    struct ft_kvs_txn txn = {.then = &op, .nthen = 1};
    struct ft_rdzv_list *list = NULL;
    bool held;

    ft_kvs_do(s->kvs, &txn, &held, take_list, on_deleted, &list);
    return list;
}

/* Within a version no place moves from one LIST to the next. */
static void compare_places(struct sim *s, struct ft_rdzv_list *old, uint32_t host)
{
    struct ft_rdzv_list *new = stored_list(s);

    for (uint32_t k = 0; new && old->version == new->version && k < old->n && old->n < 200; k++) {
        int64_t place = old->members[k].lost ? -1 : ft_rdzv_list_find(new, old->members[k].name, old->members[k].id);

        if (place >= 0 && place != k)
            break_promise(s, "a member's place has moved", host);
    }
    ft_rdzv_list_drop(old);
    ft_rdzv_list_drop(new);
}

static void serve_write(struct sim *s, const struct message *m)
{
    struct ft_kvs_compare compares[FT_RDZV_ROUND_COMPARES];
    struct ft_kvs_op ops[FT_RDZV_ROUND_PUTS];
    struct ft_kvs_txn txn = {.compares = compares, .ncompares = m->e.ncompares, .then = ops, .nthen = m->e.nputs};
    char keys[FT_RDZV_ROUND_COMPARES + FT_RDZV_ROUND_PUTS][64];
    struct message *a = answer_to(s, m);
    struct answer none = {.m = a};
    struct ft_rdzv_list *old;
    bool held, members = true;
    int err;

    for (uint32_t i = 0; i < m->e.ncompares; i++)
        compares[i] = (struct ft_kvs_compare){.what = FT_KVS_MOD, .key = key_text(keys[i], m->e.compares[i].key, m->e.compares[i].name), .is = m->e.compares[i].at};
    for (uint32_t i = 0; i < m->e.nputs; i++) {
        const struct ft_rdzv_round_put *p = &m->e.puts[i];

        ops[i] = (struct ft_kvs_op){.kind = p->text ? FT_KVS_PUT : FT_KVS_DELETE, .key = key_text(keys[FT_RDZV_ROUND_COMPARES + i], p->key, p->name),
                                    .value = (const unsigned char *)p->text, .n = p->text ? strlen(p->text) : 0, .lease = p->lease};
        members &= p->key == FT_RK_MEMBER;
        s->bytes += ops[i].n;
    }
    old = m->e.nputs > 1 ? stored_list(s) : NULL;
    err = ft_kvs_do(s->kvs, &txn, &held, on_kv, on_deleted, &none);
    if (old)
        compare_places(s, old, m->host);
    s->refused += err == 0 && !held;
    if (err == FT_KVS_NO_LEASE) {
        single(a, FT_RV_UNLEASED, 0);
        a->items[0].made = m->e.puts[0].lease;
    }
    for (uint32_t i = 0; i < m->e.ncompares; i++)
        look_up(s, a, compares[i].key);
    for (uint32_t i = 0; i < m->e.nputs; i++)
        if (m->e.puts[i].key != FT_RK_LIST)
            look_up(s, a, ops[i].key);
    single(a, FT_RV_WRITTEN, 0);
    answer(s, a, m);
    if (err == 0 && held)
        news(s, members);
}

static void on_list(void *arg, uint32_t op, const struct ft_kvs_entry *kv)
{
    struct message *a = arg;
    struct world *w = (struct world *)(uintptr_t)a->lease;
    char *text;

    (void)op;
    w->sim.bytes += kv->n;
    for (int i = 0; i < 8; i++)
        if (w->lists[i] && w->lists_at[i] == kv->at && w->cluster_of_lists == w->sim.cluster) {
            a->list = ft_rdzv_list_keep(w->lists[i]);
            return;
        }
    text = strndup((const char *)kv->value, kv->n);
    a->list = ft_rdzv_read_list(text);
    free(text);
    w->cluster_of_lists = w->sim.cluster;
    ft_rdzv_list_drop(w->lists[w->nlists % 8]);
    w->lists_at[w->nlists % 8] = kv->at;
    w->lists[w->nlists++ % 8] = ft_rdzv_list_keep(a->list);
}

static void serve_read(struct sim *s, const struct message *m)
{
    struct ft_kvs_op op = {.kind = FT_KVS_RANGE, .key = names[FT_RK_LIST]};
    struct ft_kvs_txn txn = {.then = &op, .nthen = 1};
    struct message *a = answer_to(s, m);
    bool held;

    a->read = true;
    a->lease = (uintptr_t)s;
    ft_kvs_do(s->kvs, &txn, &held, on_list, on_deleted, a);
    a->lease = 0;
    single(a, FT_RV_LIST, 0);
    answer(s, a, m);
}

static void serve_lease(struct sim *s, const struct message *m)
{
    struct message *a = answer_to(s, m);
    uint64_t lease = 0;

    ft_kvs_grant(s->kvs, s->now, s->config.lease_ms / 1000, &lease);
    single(a, FT_RV_LEASED, 0);
    a->items[0].made = lease;
    answer(s, a, m);
}

static void serve_keep(struct sim *s, const struct message *m)
{
    struct message *a = answer_to(s, m);

    single(a, ft_kvs_keep(s->kvs, s->now, m->lease) ? FT_RV_KEPT : FT_RV_UNLEASED, 0);
    a->items[0].made = m->lease;
    answer(s, a, m);
}

/* The first change from there on that may concern a host that follows no members. */
static uint64_t skip(const struct sim *s, uint64_t from)
{
    const struct world *w = (const struct world *)s;
    uint64_t first = from;

    for (uint64_t k = w->nchanged; k > 0 && w->nchanged - k < CHANGES && w->changed[(k - 1) % CHANGES] >= from; k--)
        first = w->changed[(k - 1) % CHANGES];
    return w->nchanged ? first : from;
}

static void serve_pump(struct sim *s, const struct message *m)
{
    struct sim_host *h = &s->hosts[m->host];
    struct message *a = answer_to(s, m);
    struct answer found = {.m = a};
    uint64_t oldest;

    h->pumping = false;
    if (ft_kvs_changes(s->kvs, skip(s, h->seen), "/r/", "/r0", on_change, &found, &oldest) < 0)
        break_promise(s, "the simulated store has forgotten changes", m->host);
    if (h->follows)
        ft_kvs_changes(s->kvs, h->seen, "/m/", "/m0", on_change, &found, &oldest);
    h->seen = ft_kvs_revision(s->kvs) + 1;
    s->bytes += found.bytes;
    a->when = s->now; /* in order: a stream */
    send(s, a);
}

/* ---- a host's side ---- */

static void step(struct sim *s, uint32_t host, struct ft_rdzv_round_event *v);

static void request(struct sim *s, uint32_t host, enum kind kind, const struct ft_rdzv_round_effect *e)
{
    struct message *m = message(s, host, kind);

    s->messages++;
    m->lease = e->lease;
    m->token = e->token;
    if (kind == WRITE) {
        m->e = *e;
        for (uint32_t i = 0; i < e->nputs; i++)
            m->e.puts[i].text = e->puts[i].text ? strdup(e->puts[i].text) : NULL;
        for (uint32_t i = 0; i < e->ncompares; i++)
            m->e.compares[i].name = s->hosts[host].name;
        for (uint32_t i = 0; i < e->nputs; i++)
            m->e.puts[i].name = s->hosts[host].name;
    }
    send(s, m);
}

/* All are told the same of one LIST. */
static void compare_lists(struct sim *s, uint32_t host, struct ft_rdzv_list *list)
{
    struct world *w = (struct world *)s;

    for (uint32_t i = 0; i < w->nsaid; i++) {
        const struct ft_rdzv_list *other = w->said[i].list;

        if (other == list)
            return;
        if (w->said[i].version != list->version)
            continue;
        if (w->said[i].stamp == list->stamp && other->n != list->n)
            break_promise(s, "two hosts have joined rounds of one version that differ", host);
        for (uint32_t k = 0; k < list->n && k < other->n; k++) {
            bool same = other->members[k].id == list->members[k].id;

            if (w->said[i].stamp == list->stamp && (!same || strcmp(other->members[k].name, list->members[k].name) != 0))
                break_promise(s, "two hosts were told lists that differ", host);
        }
    }
    if (w->nsaid == 64) {
        ft_rdzv_list_drop(w->said[0].list);
        memmove(&w->said[0], &w->said[1], 63 * sizeof w->said[0]);
        w->nsaid--;
    }
    w->said[w->nsaid].version = list->version;
    w->said[w->nsaid].stamp = list->stamp;
    w->said[w->nsaid++].list = ft_rdzv_list_keep(list);
    for (uint32_t k = 0; k < list->n; k++)
        for (uint32_t j = k + 1; j < list->n && list->n < 100; j++)
            if (!list->members[k].lost && !list->members[j].lost && strcmp(list->members[k].name, list->members[j].name) == 0)
                break_promise(s, "a host is in two places", host);
}

static void joined(struct sim *s, uint32_t host, const struct ft_rdzv_round_effect *e)
{
    struct sim_host *h = &s->hosts[host];

    h->life = SIM_JOINED;
    h->changes += e->kind == FT_RE_CHANGED;
    h->joined_at = e->kind == FT_RE_JOINED ? s->now : h->joined_at;
    h->state = e->state;
    h->place = e->place;
    ft_rdzv_list_drop(h->list);
    h->list = ft_rdzv_list_keep(e->list);
    if (e->list->n < s->config.min || e->list->n > s->config.max)
        break_promise(s, "a round of fewer than min, or more than max", host);
    if (e->place >= 0 && strcmp(e->list->members[e->place].name, h->name) != 0)
        break_promise(s, "a host was told another's place", host);
    compare_lists(s, host, e->list);
}

static void over(struct sim *s, uint32_t host, enum sim_life life)
{
    s->hosts[host].life = life;
    s->hosts[host].term = 0;
}

static void obey(struct sim *s, uint32_t host, const struct ft_rdzv_round_effect *e)
{
    struct sim_host *h = &s->hosts[host];

    switch (e->kind) {
    case FT_RE_LEASE:
        request(s, host, LEASE, e);
        break;
    case FT_RE_KEEP:
        request(s, host, KEEP, e);
        break;
    case FT_RE_REVOKE:
        request(s, host, REVOKE, e);
        break;
    case FT_RE_FOLLOW:
        follow(s, host, true);
        request(s, host, MEMBERS, e);
        break;
    case FT_RE_UNFOLLOW:
        follow(s, host, false);
        break;
    case FT_RE_WRITE:
        request(s, host, WRITE, e);
        break;
    case FT_RE_READ:
        request(s, host, READ, e);
        break;
    case FT_RE_LED:
        h->term = e->term;
        break;
    case FT_RE_CONTROLLER:
        h->controller_term = e->term;
        snprintf(h->controller, sizeof h->controller, "%s", e->text);
        break;
    case FT_RE_JOINED:
    case FT_RE_CHANGED:
        joined(s, host, e);
        break;
    case FT_RE_VOID:
        h->life = SIM_WAITS;
        h->voids++;
        break;
    case FT_RE_CLOSED:
        over(s, host, SIM_CLOSED);
        h->state = e->state;
        break;
    case FT_RE_FAILED:
        over(s, host, SIM_FAILED);
        h->why = e->why;
        h->state = e->state;
        break;
    case FT_RE_LEFT:
        over(s, host, SIM_LEFT);
        break;
    case FT_RE_STRANGER:
        h->strangers++;
        break;
    case FT_RE_OTHERS:
        h->others++;
        break;
    }
}

static void wake_up(struct sim *s, uint32_t host)
{
    struct sim_host *h = &s->hosts[host];
    uint64_t due = ft_rdzv_round_due(h->round);
    struct message *m;

    if (due == UINT64_MAX || (h->wake > s->now && h->wake <= due))
        return;
    m = message(s, host, WAKE);
    h->wake = m->when = ft_max(due, s->now + 1);
    send(s, m);
}

static void step(struct sim *s, uint32_t host, struct ft_rdzv_round_event *v)
{
    struct ft_rdzv_round_effects fx;

    v->now_ms = s->now;
    fx = ft_rdzv_round_step(s->hosts[host].round, v);
    s->told += fx.n;
    for (uint32_t i = 0; i < fx.n; i++)
        obey(s, host, &fx.e[i]);
    wake_up(s, host);
}

static void hear(struct sim *s, const struct message *m)
{
    for (uint32_t i = 0; i < m->nitems; i++) {
        const struct item *item = &m->items[i];
        struct ft_rdzv_round_event v = {.kind = item->kind, .key = item->key, .name = item->name ? item->name : "", .text = item->text, .at = item->at,
                                        .made = item->made, .lease = item->text ? item->lease : item->made, .token = m->token, .list = m->list};

        if (v.kind == FT_RV_ENTRY && v.text && strncmp(v.text, "stranger", 8) == 0) {
            v.claimed = strstr(v.text, "closed") ? FT_RDZV_CLOSED : strstr(v.text, "final") ? FT_RDZV_FINAL : FT_RDZV_SETUP;
            v.text = NULL;
        }
        step(s, m->host, &v);
    }
}

static bool is_lost(struct sim *s, const struct message *m)
{
    return m->kind != WAKE && m->kind != PUMP && m->kind != ANSWER && s->config.lost && sim_draw(s, 1000) < s->config.lost;
}

static void serve(struct sim *s, const struct message *m)
{
    static void (*const serves[])(struct sim *, const struct message *) = {
        [PUMP] = serve_pump, [FOLLOW] = serve_follow, [MEMBERS] = serve_members, [LEASE] = serve_lease, [KEEP] = serve_keep,
        [WRITE] = serve_write, [READ] = serve_read};

    if (m->kind == REVOKE) {
        ft_kvs_revoke(s->kvs, m->lease);
        news(s, false);
    } else {
        serves[m->kind](s, m);
    }
}

/* The same request once more: it never came, or its answer is late, when the store has done already what it says. */
static bool again(struct sim *s, struct message *m)
{
    bool lost = s->away || is_lost(s, m);

    if (!lost || m->kind == ANSWER || m->kind == WAKE || m->kind == PUMP)
        return false;
    if (!s->away && m->tries == 0 && m->kind == WRITE && sim_draw(s, 2)) {
        struct sim_host *h = &s->hosts[m->host];
        unsigned real = m->incarnation;

        m->incarnation = h->incarnation + 1000; /* its answer finds nobody */
        serve(s, m);
        m->incarnation = real;
    }
    m->tries++;
    m->when = s->now + AGAIN_MS;
    push((struct world *)s, m);
    return true;
}

static void follow_anew(struct sim *s, uint32_t host)
{
    struct sim_host *h = &s->hosts[host];
    struct ft_rdzv_round_event v = {.kind = FT_RV_NEW_STORE};
    struct ft_rdzv_round_effect none = {0};

    h->cluster = s->cluster;
    follow(s, host, false);
    h->pumping = false;
    h->seen = 0;
    step(s, host, &v);
    request(s, host, FOLLOW, &none);
}

static void deliver(struct sim *s, struct message *m)
{
    struct sim_host *h = &s->hosts[m->host];
    bool alive = h->round && m->incarnation == h->incarnation;

    if (alive && h->cluster != s->cluster && m->kind != WAKE && !s->away)
        follow_anew(s, m->host);
    if (m->kind == ANSWER && alive) {
        hear(s, m);
    } else if (m->kind == WAKE && alive) {
        struct ft_rdzv_round_event v = {.kind = FT_RV_TIME};
        struct ft_rdzv_round_effect none = {0};

        if (s->now >= h->again) {
            h->again = s->now + s->config.lease_ms;
            request(s, m->host, FOLLOW, &none);
        }
        step(s, m->host, &v);
    } else if (m->kind == PUMP && alive) {
        if (h->seen && !s->away)
            serve_pump(s, m);
        else
            h->pumping = false;
    } else if (m->kind != ANSWER && m->kind != WAKE && m->kind != PUMP) {
        if (again(s, m))
            return;
        serve(s, m); /* also of who has died since */
    }
    free_message(m);
}

/* ---- all of it ---- */

static void expire(struct sim *s)
{
    uint64_t before_it = ft_kvs_revision(s->kvs);

    ft_kvs_expire(s->kvs, s->now);
    if (ft_kvs_revision(s->kvs) != before_it)
        news(s, false);
}

bool sim_until(struct sim *s, uint64_t ms, bool (*is)(const struct sim *s))
{
    struct world *w = (struct world *)s;
    uint64_t to = s->now + ms, told = UINT64_MAX;

    for (;;) {
        uint64_t next = w->n ? w->heap[0]->when : UINT64_MAX, lease = s->away ? UINT64_MAX : ft_kvs_due(s->kvs);

        if (is && told != s->told && is(s))
            return true;
        told = s->told;
        if (ft_min(next, lease) > to) {
            s->now = to;
            return !is || is(s);
        }
        s->now = ft_max(s->now, ft_min(next, lease));
        if (lease <= s->now)
            expire(s);
        else
            deliver(s, pop(w));
    }
}

void sim_run(struct sim *s, uint64_t ms) { sim_until(s, ms, NULL); }

struct sim *sim_new(const struct sim_config *config, uint32_t nhosts)
{
    struct world *w = calloc(1, sizeof *w);
    struct sim *s = &w->sim;

    s->config = *config;
    s->random = config->seed * 2862933555777941757u + 3037000493u;
    s->now = 1000;
    s->cluster = 1;
    s->kvs = ft_kvs_new(config->seed);
    s->nhosts = nhosts;
    s->hosts = calloc(nhosts, sizeof *s->hosts);
    for (uint32_t i = 0; i < nhosts; i++)
        snprintf(s->hosts[i].name, sizeof s->hosts[i].name, "host%u", i);
    return s;
}

void sim_free(struct sim *s)
{
    struct world *w = (struct world *)s;

    while (w->n)
        free_message(pop(w));
    for (uint32_t i = 0; i < s->nhosts; i++) {
        ft_rdzv_round_free(s->hosts[i].round);
        ft_rdzv_list_drop(s->hosts[i].list);
    }
    for (int i = 0; i < 8; i++)
        ft_rdzv_list_drop(w->lists[i]);
    for (uint32_t i = 0; i < w->nsaid; i++)
        ft_rdzv_list_drop(w->said[i].list);
    ft_kvs_free(s->kvs);
    free(s->hosts);
    free(w->heap);
    free(w);
}

void sim_start(struct sim *s, uint32_t host)
{
    struct sim_host *h = &s->hosts[host];
    struct ft_rdzv_round_config config = {.name = h->name, .address = "192.0.2.1:4711", 
                                          .slots = 4, .since_1970_ms = 1000000 + s->now, .min = s->config.min, .max = s->config.max,
                                          .follows = host < s->config.followers,
                                          .yields_ms = host + 1 < s->nhosts ? s->config.yields_ms : 0,
                                          .id = sim_draw(s, UINT32_MAX) << 31 | (sim_draw(s, UINT32_MAX) + 1), .lease_ms = s->config.lease_ms,
                                          .timeout_ms = s->config.timeout_ms, .last_call_ms = s->config.last_call_ms};
    struct ft_rdzv_round_event v = {.kind = FT_RV_TIME};
    struct ft_rdzv_round_effect none = {0};

    sim_kill(s, host);
    h->incarnation++;
    h->life = SIM_WAITS;
    h->place = -1;
    h->cluster = s->cluster;
    h->again = s->now + s->config.lease_ms;
    h->round = ft_rdzv_round_new(&config, s->now);
    request(s, host, FOLLOW, &none);
    step(s, host, &v);
}

void sim_kill(struct sim *s, uint32_t host)
{
    struct sim_host *h = &s->hosts[host];

    ft_rdzv_round_free(h->round);
    ft_rdzv_list_drop(h->list);
    h->list = NULL;
    h->round = NULL;
    h->life = SIM_DEAD;
    follow(s, host, false);
    h->pumping = false;
    h->seen = h->wake = h->term = h->controller_term = 0;
    h->voids = h->changes = h->strangers = h->others = 0;
    h->state = (struct ft_rdzv_state){0};
}

void sim_freeze(struct sim *s, uint32_t host)
{
    s->hosts[host].frozen = s->hosts[host].round;
    s->hosts[host].round = NULL;
}

/* What came meanwhile is lost, so it begins with a look at all. */
void sim_thaw(struct sim *s, uint32_t host)
{
    struct ft_rdzv_round_event v = {.kind = FT_RV_TIME};
    struct ft_rdzv_round_effect none = {0};
    struct sim_host *h = &s->hosts[host];

    h->round = h->frozen;
    h->frozen = NULL;
    h->pumping = false;
    h->wake = 0;
    if (h->cluster != s->cluster) {
        follow_anew(s, host);
        return;
    }
    request(s, host, FOLLOW, &none);
    step(s, host, &v);
}

void sim_tell(struct sim *s, uint32_t host, enum ft_rdzv_round_event_kind kind, const char *text)
{
    struct ft_rdzv_round_event v = {.kind = kind, .text = text, .code = kind == FT_RV_CLOSE && text ? (uint32_t)atoi(text) : 0};

    step(s, host, &v);
}

void sim_stranger(struct sim *s, const char *key, const char *text)
{
    struct ft_kvs_op op = {.kind = text ? FT_KVS_PUT : FT_KVS_DELETE, .key = key, .value = (const unsigned char *)text, .n = text ? strlen(text) : 0};
    struct ft_kvs_txn txn = {.then = &op, .nthen = 1};
    bool held;

    ft_kvs_do(s->kvs, &txn, &held, on_kv, on_deleted, NULL);
    news(s, false);
}

void sim_new_store(struct sim *s)
{
    ft_kvs_free(s->kvs);
    ((struct world *)s)->nchanged = 0;
    s->cluster++;
    s->kvs = ft_kvs_new(s->config.seed + s->cluster * 7919);
    for (uint32_t i = 0; i < s->nhosts; i++)
        if (s->hosts[i].round)
            follow_anew(s, i);
}

uint32_t sim_count(const struct sim *s, enum sim_life life)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->nhosts; i++)
        n += s->hosts[i].life == life;
    return n;
}

uint32_t sim_placed(const struct sim *s)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->nhosts; i++)
        n += s->hosts[i].life == SIM_JOINED && s->hosts[i].place >= 0;
    return n;
}

uint32_t sim_leader(const struct sim *s)
{
    for (uint32_t i = 0; i < s->nhosts; i++)
        if (s->hosts[i].term)
            return i;
    return UINT32_MAX;
}
