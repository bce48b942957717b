/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/inspect.h"

#include <stdio.h>
#include <string.h>

#include "ft/base/reduce.h"
#include "ft/shm/acks.h"
#include "ft/shm/channels.h"
#include "ft/shm/streams.h"
#include "ft/shm/trail.h"
#include "ft/shm/versions.h"
#include "ft/shm/word.h"

enum { TRIES = 8 };

/* What is read of a stream. */
struct view {
    const struct ft_params *p;
    const struct ft_stream_head *head;
    const struct ft_member *members;
    const struct ft_stay *stays;
    const struct ft_counters *counters;
    const struct ft_trail *trails;
    const char *shorts;
    uint64_t short_bytes;
};

static struct view view_of(const struct ft_region *r, uint32_t stream)
{
    struct ft_stream_parts parts = ft_region_stream(r, stream);

    return (struct view){
        .p = &r->header->params,
        .head = parts.head,
        .members = parts.members,
        .stays = parts.stays,
        .counters = parts.counters,
        .trails = parts.trails,
        .shorts = parts.shorts,
        .short_bytes = r->stream.short_bytes,
    };
}

static const struct ft_trail *trail_of(const struct view *v, uint32_t rank, uint64_t unit)
{
    return &v->trails[(uint64_t)rank * v->p->trail + (unit & (v->p->trail - 1))];
}

/* A slot that it has taken is still being read. */
static bool awaits_slot(const struct ft_region *r, const struct ft_version_words *w)
{
    uint64_t pinned = ft_look(&ft_versions_head(r)->pinned);

    for (uint32_t slot = 0; slot < 2; slot++)
        if (pinned & ft_pin_bits(slot) && ft_peek(&w->slot[slot].version) == 0)
            return true;
    return false;
}

/* Models come before the unit: nothing but this says that it is in a call. */
static void read_store(const struct ft_region *r, uint32_t rank, struct ft_inspect *i)
{
    const struct ft_version_words *w = ft_versions_of(r, rank);

    i->consumed = ft_look(&w->consumed);
    if (i->state != FT_RANK_ATTACHED || i->in_call || ft_look(&w->store_unit) != i->unit + 1)
        return;
    i->in_call = i->in_store = true;
    i->first = i->unit;
    i->sig = (struct ft_sig){ .call = (uint8_t)ft_peek(&w->store_call), .root = -1, .elem = 1, .kind = FT_BYTE, .count = ft_peek(&w->store_count) };
    i->site = ft_peek(&w->store_site);
    i->store_pinned = !ft_peek(&w->store_commits) && i->sig.call == FT_CALL_CHECKPOINT && awaits_slot(r, w);
}

/* Nor is there a unit of a call that the bootstrap cache may have. */
static void read_doubt(const struct ft_region *r, uint32_t rank, struct ft_inspect *i)
{
    const struct ft_version_words *w = ft_versions_of(r, rank);

    if (i->state != FT_RANK_ATTACHED || i->in_call)
        return;
    i->in_call = i->in_doubt = ft_trail_read(&w->asking, i->unit, &i->sig, &i->site);
    i->first = i->unit;
    i->asks_all = i->in_doubt && ft_look(&w->doubt) == i->unit + 1;
}

/* The call in progress. Calls follow each other, so the next one begins where the last one left off: one entry of the trail
   tells whether it has been made. */
static void read_call(const struct view *v, uint32_t rank, struct ft_inspect *i)
{
    const struct ft_member *m = &v->members[rank];
    uint64_t mine = ft_look(&m->mine);

    i->called = ft_look(&m->called);
    for (int tries = 0; tries < TRIES; tries++) {
        i->unit = ft_look(&m->left);
        i->in_call = ft_trail_read(i->unit < i->called ? &m->again : trail_of(v, rank, i->unit), i->unit, &i->sig, &i->site);
        if (i->in_call || ft_look(&m->left) == i->unit)
            break;  /* else it has gone on meanwhile */
    }
    i->first = i->unit;
    i->replayed = ft_min(i->unit, mine);
    i->replay_to = mine;
    i->called = ft_max(i->called, i->unit + i->in_call);
}

/* What a dead incarnation has called, from all there is of its trail. */
static uint64_t called_before(const struct view *v, uint32_t rank)
{
    uint64_t called = 0;

    for (uint32_t k = 0; k < v->p->trail; k++)
        called = ft_max(called, ft_look(&trail_of(v, rank, k)->unit));
    return called;
}

/* How far it is with its contributions: all operations but the last one called are contributed to. */
static uint64_t shown(const struct view *v, uint32_t rank, uint64_t called)
{
    uint64_t last = called - 1, at = (uint64_t)rank * v->p->short_depth + (last & (v->p->short_depth - 1));
    const struct ft_slot *slot = (const struct ft_slot *)(const void *)(v->shorts + at * v->short_bytes);

    if (!called)
        return 0;
    return ft_look(&slot->unit) > last ? called : last;
}

static void read_counters(const struct view *v, uint32_t rank, struct ft_inspect *i)
{
    const struct ft_counters *c = &v->counters[rank];
    uint64_t ready = ft_look(&v->head->ready), extent_bytes = v->p->extent_bytes;

    i->done = ft_look(&c->done);
    i->contributed = ft_look(&c->contributed);
    i->wants_memory = ft_look(&c->want) > ready && (ft_look(&c->done_at) / extent_bytes + 1) * extent_bytes >= ready;
}

/* How far it is in one stream, and in which call of it. */
static void read_stream(const struct view *v, uint32_t rank, bool comes_here, struct ft_inspect *i)
{
    /* Counters first: what is said to be called below has then been called. */
    read_counters(v, rank, i);
    if (comes_here)
        read_call(v, rank, i);
    else
        i->called = called_before(v, rank);
    i->shown = shown(v, rank, i->called);
    i->progress = i->unit + i->done + i->called + i->shown + i->contributed;
}

/* Its incarnation is in the world's stream once it is attached, and in another one once it has said so. */
static bool has_come(const struct view *v, uint32_t stream, uint32_t rank, uint32_t state)
{
    return state == FT_RANK_ATTACHED && (stream == 0 || ft_look(&v->members[rank].next));
}

/* Of two calls the one whose wait was said last is shown. */
static void read_other(const struct ft_region *r, uint32_t stream, uint32_t rank, struct ft_inspect *i)
{
    struct view v = view_of(r, stream);
    struct ft_inspect there = { 0 };

    read_stream(&v, rank, true, &there);
    i->progress += there.progress;
    i->replayed += there.replayed;
    i->replay_to += there.replay_to;
    i->wants_memory |= there.in_call && there.wants_memory;
    if (!there.in_call || (i->in_call && i->awaits.stream != stream))
        return;
    i->in_call = true;
    i->in_store = i->in_doubt = false;
    i->stream = stream;
    i->first = there.first;
    i->sig = there.sig;
    i->site = there.site;
}

/* Others are yet to come into a stream that it has come into: no call of it has begun, but its own has not ended. */
static void read_join(const struct ft_region *r, uint32_t rank, struct ft_inspect *i)
{
    const struct ft_await *a = &i->awaits;
    struct view v = view_of(r, a->stream);

    if (a->kind != FT_AWAIT_JOINED || ft_look(&v.stays[a->rank].use) > a->unit)
        return;
    i->in_call = i->in_join = true;
    i->stream = a->stream;
    i->first = ft_look(&v.members[rank].left);
    i->sig = (struct ft_sig){ .root = -1 };
    i->site = 0;
}

/* Somebody has sent it a message that it has not looked at. */
static bool has_come_in(const struct ft_region *r, uint32_t rank)
{
    uint32_t first = ft_channel_of(r, 0, rank), end = first + r->header->params.nranks;

    for (uint32_t c = ft_streams_used_below(r, first, end); c < end; c = ft_streams_used_below(r, c + 1, end)) {
        const struct ft_counters *ends = ft_region_stream(r, c).counters;

        if (c - first != rank && ft_look(&ends[0].done) != ft_look(&ends[1].done))
            return true;
    }
    return false;
}

/* By the words of others: what it waits for is there. */
static bool is_there(const struct ft_region *r, uint32_t rank, const struct ft_await *a)
{
    struct ft_stream_parts parts = ft_region_stream(r, a->stream);

    if (a->kind == FT_AWAIT_MATCHED)
        return ft_acks_has(ft_look(&parts.acks[ft_acks_at(a->unit)]), a->unit);
    return a->rank == rank ? has_come_in(r, rank) : ft_look(&parts.counters[0].done) > a->unit;
}

/* A rank that sends, or notes what it is told of messages: there is no memory for that. */
static void read_send(const struct ft_region *r, struct ft_inspect *i)
{
    struct ft_stream_parts parts = ft_region_stream(r, i->awaits.stream);

    if (ft_look(&parts.head->ready) > i->awaits.unit)
        return;
    i->in_call = i->in_message = i->wants_memory = true;
    i->in_store = i->in_doubt = i->in_join = false;
    i->stream = 0;
    i->first = ft_look(&parts.counters[0].done);
    i->sig = (struct ft_sig){ .call = FT_CALL_SEND, .kind = FT_BYTE, .elem = 1,
                              .root = (int32_t)ft_region_rank_of(r, ft_channel_receiver(r, i->awaits.stream)) };
    i->site = 0;
}

/* A rank in a function that waits for messages. */
static void read_message(const struct ft_region *r, uint32_t rank, struct ft_inspect *i)
{
    const struct ft_await *a = &i->awaits;

    if (a->kind == FT_AWAIT_MEMORY && ft_channel_is(r, a->stream))
        read_send(r, i);
    if ((a->kind != FT_AWAIT_MESSAGE && a->kind != FT_AWAIT_MATCHED) || is_there(r, rank, a))
        return;
    i->in_call = i->in_message = true;
    i->in_store = i->in_doubt = i->in_join = false;
    i->stream = 0;
    i->first = a->unit;
    i->sig = (struct ft_sig){ .call = a->kind == FT_AWAIT_MESSAGE ? FT_CALL_RECV : FT_CALL_SEND, .kind = FT_BYTE, .elem = 1,
                              .root = a->rank == rank ? -1 : (int32_t)ft_region_rank_of(r, a->rank) };
    i->site = a->site;
}

static void read_words(const struct ft_region *r, uint32_t rank, struct ft_inspect_messages *m)
{
    const struct ft_message_words *w = &ft_region_rank(r, rank)->messages;
    uint64_t oldest = ft_peek(&w->oldest), source = ft_min(oldest >> 32, r->header->params.nranks - 1);

    *m = (struct ft_inspect_messages){
        .unexpected = ft_peek(&w->kept), .unexpected_bytes = ft_peek(&w->kept_bytes), .most_unexpected = ft_peek(&w->most_kept),
        .oldest_source = ft_region_rank_of(r, (uint32_t)source), .oldest_tag = (int32_t)(uint32_t)oldest, .receives = ft_peek(&w->receives),
        .requests = ft_peek(&w->requests), .sent = ft_peek(&w->sent), .sent_bytes = ft_peek(&w->sent_bytes), .received = ft_peek(&w->received),
        .received_bytes = ft_peek(&w->received_bytes),
    };
}

static void read_channels(const struct ft_region *r, uint32_t rank, struct ft_inspect *i)
{
    uint32_t n = r->header->params.nchannels ? r->header->params.nranks : 0;

    for (uint32_t q = 0; q < n; q++) {
        uint32_t to = ft_channel_of(r, rank, q), from = ft_channel_of(r, q, rank);

        if (ft_streams_is_used(r, to))
            i->progress += ft_look(&ft_region_stream(r, to).counters[0].done);
        if (q != rank && ft_streams_is_used(r, from)) {
            const struct ft_counters *ends = ft_region_stream(r, from).counters;
            uint64_t taken = ft_look(&ends[1].done), sent = ft_look(&ends[0].done);

            i->progress += taken;
            i->messages.unseen += sent > taken ? sent - taken : 0;
        }
    }
}

static void read_rank(const struct ft_region *r, const struct view *world, uint32_t rank, struct ft_inspect *i)
{
    const struct ft_rank_block *b = ft_region_rank(r, rank);

    memset(i, 0, sizeof *i);
    i->state = ft_look32(&b->state);
    i->incarnation = ft_look32(&b->incarnation);
    i->pid = ft_look32(&b->attached_pid);
    i->awaits = ft_await_read(&ft_region_doorbell(r, rank)->awaits);
    if (i->state != FT_RANK_ATTACHED && i->state != FT_RANK_ABSENT)
        i->unit = ft_look(&world->members[rank].left);
    read_words(r, rank, &i->messages);
    read_stream(world, rank, has_come(world, 0, rank, i->state), i);
    read_store(r, rank, i);
    read_doubt(r, rank, i);
    if (i->state != FT_RANK_ATTACHED)
        return;
    for (uint32_t s = ft_streams_next(r, 0, rank); s; s = ft_streams_next(r, s, rank))
        read_other(r, s, rank, i);
    read_join(r, rank, i);
    read_message(r, rank, i);
    read_channels(r, rank, i);
    i->replaying = i->replayed < i->replay_to;
}

void ft_inspect_read(const struct ft_region *r, struct ft_inspect *ranks)
{
    struct view world = view_of(r, 0);

    for (uint32_t rank = 0; rank < world.p->nranks; rank++)
        read_rank(r, &world, rank, &ranks[rank]);
}

/* ---- whom a rank waits for -------------------------------------------------------------------------- */

/* By how far it is in the stream. */
static bool is_behind(const struct ft_inspect *other, enum ft_await_kind kind, uint64_t unit)
{
    switch (kind) {
    case FT_AWAIT_CALLED:
        return other->called <= unit;
    case FT_AWAIT_ASKED:
        return other->called <= unit && !(other->asks_all && other->unit == unit);
    case FT_AWAIT_SHOWN:
        return other->shown <= unit;
    case FT_AWAIT_CONTRIBUTED:
        return other->contributed <= unit;
    case FT_AWAIT_DONE:
        return other->done <= unit;
    case FT_AWAIT_CONSUMED:
        return other->consumed <= unit;
    case FT_AWAIT_JOINED:
    case FT_AWAIT_MESSAGE:
    case FT_AWAIT_MATCHED:
    case FT_AWAIT_NOBODY:
    case FT_AWAIT_MEMORY:
    case FT_AWAIT_AGENT:
        break;
    }
    return false;
}

/* In another stream than the world's, which is not read of all ranks: who has left it has finished with all of it. */
static bool is_behind_there(const struct view *v, const struct ft_inspect *ranks, uint32_t other, const struct ft_await *a)
{
    struct ft_inspect there = { 0 };

    if (a->kind == FT_AWAIT_JOINED)
        return ft_look(&v->stays[other].use) <= a->unit;
    if (!ft_streams_has(&v->stays[other]))
        return false;
    read_stream(v, other, has_come(v, a->stream, other, ranks[other].state), &there);
    return is_behind(&there, a->kind, a->unit);
}

/* Somebody's call says what the unit is: that is all that who is in doubt waits for (core/bootstrap_place.c). */
static bool is_answered(uint32_t nranks, const struct ft_inspect *ranks, const struct ft_await *a)
{
    bool called = false;

    for (uint32_t q = 0; q < nranks && a->kind == FT_AWAIT_ASKED; q++)
        called |= ranks[q].called > a->unit;
    return called;
}

/* Any rank may be the one that sends. */
static uint32_t awaits_message(uint32_t nranks, uint32_t rank, const struct ft_await *a, bool *awaited)
{
    for (uint32_t q = 0; awaited && q < nranks; q++)
        awaited[q] = q != rank && (a->rank == rank || a->rank == q);
    return a->rank == rank ? nranks - 1 : 1;
}

uint32_t ft_inspect_awaits(const struct ft_region *r, const struct ft_inspect *ranks, uint32_t rank, bool *awaited)
{
    const struct ft_await *a = &ranks[rank].awaits;
    bool in_message = ranks[rank].in_message, of_another = !in_message && ft_channel_is(r, a->stream); /* thread, which has what it waited for */
    struct view v = view_of(r, in_message || of_another ? 0 : a->stream);
    uint32_t n = 0;

    if (awaited)
        memset(awaited, 0, v.p->nranks * sizeof *awaited);
    if (!ranks[rank].in_call || of_another || is_answered(v.p->nranks, ranks, a))
        return 0;
    if (in_message && a->kind == FT_AWAIT_MEMORY)
        return 0;
    if (in_message)
        return awaits_message(v.p->nranks, rank, a, awaited);
    for (uint32_t q = 0; q < v.p->nranks; q++) {
        bool is = q != rank && (a->all || q == a->rank) &&
                  (a->stream ? is_behind_there(&v, ranks, q, a) : is_behind(&ranks[q], a->kind, a->unit));

        n += is;
        if (awaited)
            awaited[q] = is;
    }
    return n;
}

bool ft_inspect_awaits_memory(const struct ft_region *r, const struct ft_inspect *ranks, uint32_t rank)
{
    return ranks[rank].in_call && !ranks[rank].in_store && ranks[rank].wants_memory && ft_inspect_awaits(r, ranks, rank, NULL) == 0;
}

bool ft_inspect_awaits_disk(const struct ft_inspect *ranks, uint32_t rank) { return ranks[rank].in_store && ranks[rank].store_pinned; }

int64_t ft_inspect_awaited(const struct ft_region *r, const struct ft_inspect *ranks)
{
    uint32_t waiting = 0;
    int64_t one = -1;

    for (uint32_t q = 0; q < r->header->params.nranks; q++) {
        if (ranks[q].state == FT_RANK_FINALIZED || ranks[q].state == FT_RANK_ENDED)
            continue;
        if (ft_inspect_awaits(r, ranks, q, NULL)) {
            waiting++;
        } else {
            if (one >= 0 || ft_inspect_awaits_memory(r, ranks, q) || ft_inspect_awaits_disk(ranks, q))
                return -1;
            one = q;
        }
    }
    return waiting ? one : -1;
}

/* "3 receives and 2 sends" */
static const char *requests(const struct ft_await *a, char *text, size_t size)
{
    int n = 0;

    *text = 0;
    if (a->receives)
        n = snprintf(text, size, "%u receive%s%s", a->receives, ft_plural(a->receives), a->sends ? " and " : "");
    if (a->sends)
        snprintf(text + n, size - (size_t)n, "%u send%s", a->sends, ft_plural(a->sends));
    return text;
}

const char *ft_inspect_print(const struct ft_inspect *i, char *text, size_t size)
{
    bool receives = i->sig.call == FT_CALL_RECV, several = i->awaits.receives || i->awaits.sends;
    char who[32] = "any rank", tag[32] = "", all[64];

    if (!i->in_message)
        return ft_sig_print(&i->sig, text, size);
    if (i->awaits.kind == FT_AWAIT_MEMORY) {
        snprintf(text, size, "message to rank %d that there is no memory for", i->sig.root);
        return text;
    }
    requests(&i->awaits, all, sizeof all);
    if (several && i->awaits.one) {
        snprintf(text, size, "one of %s", all);
        return text;
    }
    if (i->sig.root >= 0)
        snprintf(who, sizeof who, "rank %d", i->sig.root);
    if (receives && i->awaits.tag >= 0)
        snprintf(tag, sizeof tag, ", tag %d", i->awaits.tag);
    snprintf(text, size, receives ? "message from %s%s%s%s" : "message to %s to be taken%s%s%s", who, tag, several ? ", of " : "", all);
    return text;
}
