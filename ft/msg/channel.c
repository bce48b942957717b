/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/msg/channel.h"

#include <string.h>

#include "ft/shm/streams.h"
#include "ft/shm/walk.h"
#include "ft/shm/wait.h"

/* Two copies overlap: the receiver's of one piece, and the sender's of the next. */
enum { PIECE = 128 << 10 };

uint64_t ft_msg_piece(const struct ft_msg_channel *c) { return ft_min(PIECE, c->log.extent_bytes / 4); }

void ft_msg_open(struct ft_msg_channel *c, const struct ft_region *region, uint32_t sender, uint32_t receiver, uint32_t rank,
                     const struct ft_patience *patience, int kick_fd, int spill_fd)
{
    uint32_t number = ft_channel_of(region, sender, receiver), me = rank == sender ? 0 : 1;
    struct ft_stream_parts parts = ft_region_stream(region, number);

    *c = (struct ft_msg_channel){ .region = region, .patience = patience, .number = number, .member = &parts.members[me], .mine = &parts.counters[me],
                              .theirs = &parts.counters[parts.n - 1 - me], .slots = (struct ft_message_slot *)(void *)parts.slots };
    ft_log_open(&c->log, region, number, c->mine, patience, kick_fd, spill_fd);
    c->log.asks_ahead = me == 0;
    c->logged = ft_peek(&c->mine->done);
    if (me == 0)
        ft_streams_use(region, number);
}

void ft_msg_resume(struct ft_msg_channel *c)
{
    ft_log_resume(&c->log);
    c->logged = ft_peek(&c->mine->done);
}

static struct ft_message_slot *slot_of(const struct ft_msg_channel *c, uint64_t unit) { return &c->slots[unit % FT_CHANNEL_SLOTS]; }

/* Quiet: who waits for it has been rung for the slot. */
static void advance(struct ft_msg_channel *c, uint64_t end)
{
    c->unit++;
    c->end = end;
    if (ft_peek(&c->mine->done) < c->unit)
        ft_publish(&c->mine->done, c->unit);
    if (ft_peek(&c->mine->done_at) < c->end)
        ft_publish(&c->mine->done_at, c->end);
    ft_publish(&c->member->left_at, c->end);
}

/* ---- sender ---- */

static bool read_log(void *arg, uint64_t position, void *to, uint64_t n)
{
    struct ft_msg_channel *c = arg;

    return ft_log_read(&c->log, position, 0, to, n, false) == 0;
}

static int unreadable(const struct ft_msg_channel *c, struct ft_error *e)
{
    return ft_err_set(e, FT_ESPACE, "rank %u cannot read the spilled log of %s: its file was cut off, or the disk fails (--log-spill)",
                      ft_region_rank_of(c->region, c->patience->self), "messages");
}

int ft_msg_walk(struct ft_msg_channel *c, uint64_t unit, uint64_t *position, struct ft_unit *u, struct ft_error *e)
{
    struct ft_walk w = { read_log, c, c->log.extent_bytes, unit, *position };
    struct ft_record rec;
    enum ft_walk_step step = ft_walk_look(&w, &rec);

    if (step != FT_WALK_RECORD)
        return unreadable(c, e);
    *u = (struct ft_unit){ .sig = rec.sig, .site = rec.site, .at = w.position };
    if (rec.sig.length <= sizeof u->bytes && ft_log_read(&c->log, u->at, ft_record_offset(rec.sig.length), u->bytes, rec.sig.length, false))
        return unreadable(c, e);
    *position = u->at + ft_record_bytes(rec.sig.length);
    return 0;
}

static int replay(struct ft_msg_channel *c, const struct ft_sig *sig, struct ft_unit *said, struct ft_error *e)
{
    uint64_t end = c->end;
    int err = ft_msg_walk(c, c->unit, &end, said, e);

    if (!err && !ft_sig_equal(&said->sig, sig))
        err = FT_EDIVERGED;
    if (!err)
        advance(c, end);
    return err;
}

struct ft_message_slot *ft_msg_slot(const struct ft_msg_channel *c) { return slot_of(c, c->unit); }
bool ft_msg_is_published(const struct ft_msg_channel *c) { return ft_peek(&ft_msg_slot(c)->unit) == c->unit + 1; }

static bool is_small(const struct ft_sig *sig) { return sig->length <= FT_CHANNEL_INLINE; }

/* bytes: all of a small one, else not looked at. Nobody reads the slot meanwhile: its number is none that is waited for. */
static void show(struct ft_msg_channel *c, const struct ft_sig *sig, uint64_t site, const void *bytes)
{
    struct ft_message_slot *slot = ft_msg_slot(c);

    ft_note(&slot->unit, 0);
    atomic_thread_fence(memory_order_release);
    ft_fill(&slot->sig, sig, sizeof slot->sig);
    slot->site = site;
    if (is_small(sig) && sig->length)
        memcpy(slot->bytes, bytes, sig->length);
    ft_wait_announce(c->patience, FT_AWAIT_MESSAGE, c->number, &slot->unit, c->unit + 1);
}

static void write_head(struct ft_msg_channel *c, uint64_t at, const struct ft_sig *sig, uint64_t site)
{
    struct ft_record rec = { .unit = c->unit + 1, .site = site, .sig = *sig }, gap = ft_walk_gap(c->unit);

    if (at != c->end)
        ft_fill(ft_log_write(&c->log, c->end, 0), &gap, sizeof gap);
    ft_fill(ft_log_write(&c->log, at, sig->length), &rec, sizeof rec);
}

void ft_msg_publish(struct ft_msg_channel *c, const struct ft_sig *sig, uint64_t site, const void *bytes)
{
    ft_log_write(&c->log, ft_log_place(&c->log, c->end, sig->length), sig->length); /* there is memory for it before anybody hears of it */
    show(c, sig, site, bytes);
}

void ft_msg_log(struct ft_msg_channel *c)
{
    const struct ft_message_slot *slot = ft_msg_slot(c);
    uint64_t n = slot->sig.length, at = ft_log_place(&c->log, c->end, n);

    write_head(c, at, &slot->sig, slot->site);
    if (n)
        ft_fill(ft_log_write(&c->log, at, n) + ft_record_offset(n), slot->bytes, n);
    advance(c, at + ft_record_bytes(n));
}

/* Long ones are in the log when the slot says so. */
static void send_long(struct ft_msg_channel *c, const struct ft_sig *sig, uint64_t site, const struct ft_view *v, uint64_t from, bool published)
{
    uint64_t n = sig->length, at = ft_log_place(&c->log, c->end, n);

    if (!published) {
        write_head(c, at, sig, site);
        ft_view_fill(v, from, n, ft_log_write(&c->log, at, n) + ft_record_offset(n));
        show(c, sig, site, NULL);
    }
    advance(c, at + ft_record_bytes(n));
}

int ft_msg_send(struct ft_msg_channel *c, const struct ft_sig *sig, uint64_t site, const struct ft_view *v, uint64_t from,
                    struct ft_unit *said, struct ft_error *e)
{
    bool published = ft_msg_is_published(c);
    char bytes[FT_CHANNEL_INLINE];

    if (__builtin_expect(ft_msg_replays(c), 0))
        return replay(c, sig, said, e);
    if (published && !ft_sig_equal(&ft_msg_slot(c)->sig, sig)) { /* the receiver may have that */
        *said = (struct ft_unit){ .sig = ft_msg_slot(c)->sig, .site = ft_msg_slot(c)->site };
        return FT_EDIVERGED;
    }
    if (!is_small(sig)) {
        send_long(c, sig, site, v, from, published);
        return 0;
    }
    if (!published) {
        if (sig->length)
            ft_view_pack(v, from, sig->length, bytes);
        ft_msg_publish(c, sig, site, bytes);
    }
    ft_msg_log(c);
    return 0;
}

int ft_msg_sent(struct ft_msg_channel *c, struct ft_unit *u, struct ft_error *e)
{
    const struct ft_message_slot *slot = ft_msg_slot(c);
    uint64_t position = c->end;
    int err;

    if (!ft_msg_replays(c) && !ft_msg_is_published(c))
        return 0;
    if (!ft_msg_replays(c) && is_small(&slot->sig)) {
        *u = (struct ft_unit){ .sig = slot->sig, .site = slot->site };
        memcpy(u->bytes, slot->bytes, sizeof u->bytes);
        return 1;
    }
    err = ft_msg_walk(c, c->unit, &position, u, e);
    return err ? err : 1;
}

uint64_t ft_msg_ahead(struct ft_msg_channel *c)
{
    if (c->end > c->taken_at + FT_CHANNEL_AHEAD / 2)
        c->taken_at = ft_look(&c->theirs->done_at);
    return c->end > c->taken_at ? c->end - c->taken_at : 0;
}

/* ---- receiver ---- */

/* The line as it is, unless it is another message's by now. */
static bool read_slot(const struct ft_message_slot *slot, uint64_t unit, struct ft_unit *u)
{
    u->sig = slot->sig;
    u->site = slot->site;
    ft_point_look(); /* the rest may be another one's */
    memcpy(u->bytes, slot->bytes, sizeof u->bytes);
    atomic_thread_fence(memory_order_acquire);
    return ft_peek(&slot->unit) == unit + 1;
}

bool ft_msg_look(struct ft_msg_channel *c, struct ft_unit *u)
{
    const struct ft_message_slot *slot = slot_of(c, c->unit);
    uint64_t there = ft_look(&slot->unit), position = c->end;
    struct ft_error e;

    if (there && there <= c->unit)
        return false;
    if (there == c->unit + 1 && read_slot(slot, c->unit, u)) {
        u->at = ft_log_place(&c->log, c->end, u->sig.length);
        return true;
    }
    return ft_look(&c->theirs->done) > c->unit && ft_msg_walk(c, c->unit, &position, u, &e) == 0;
}

/* A step at a time. */
static int read_by_layout(struct ft_msg_channel *c, const struct ft_unit *u, uint64_t from, uint64_t n, const struct ft_view *v, uint64_t to)
{
    char step[FT_VIEW_STEP];

    for (uint64_t at = 0, k; at < n; at += k) {
        k = ft_min(n - at, sizeof step);
        if (ft_log_read(&c->log, u->at, ft_record_offset(u->sig.length) + from + at, step, k, false))
            return FT_ESPACE;
        ft_view_unpack(v, to + at, k, step);
    }
    return 0;
}

int ft_msg_read(struct ft_msg_channel *c, const struct ft_unit *u, uint64_t from, uint64_t n, const struct ft_view *v, uint64_t to,
                    struct ft_error *e)
{
    int err;

    if (!n)
        return 0;
    if (u->sig.length <= sizeof u->bytes) {
        ft_view_unpack(v, to, n, u->bytes + from);
        return 0;
    }
    err = ft_view_has_layout(v) ? read_by_layout(c, u, from, n, v, to)
                                : ft_log_read(&c->log, u->at, ft_record_offset(u->sig.length) + from, ft_view_direct(v, to), n, false);
    return err ? unreadable(c, e) : 0;
}

void ft_msg_pass(struct ft_msg_channel *c, const struct ft_unit *u)
{
    c->unit++;
    c->end = u->at + ft_record_bytes(u->sig.length);
    if (ft_peek(&c->mine->done) < c->unit)
        ft_publish(&c->mine->done, c->unit);
}

void ft_msg_need(struct ft_msg_channel *c, uint64_t needs)
{
    ft_publish(&c->member->left_at, needs);
    if (ft_peek(&c->mine->done_at) < needs)
        ft_publish(&c->mine->done_at, needs);
}
