/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/msg/channel.h"

#include <string.h>

#include "ft/shm/streams.h"
#include "ft/shm/walk.h"
#include "ft/shm/wait.h"

enum { AHEAD_BYTES = 1024 /* of the log, fetched for the next unit */ };

uint64_t ft_msg_piece(const struct ft_msg_channel *c) { return ft_min(FT_CHANNEL_PIECE, c->log.extent_bytes / 4); }

static bool is_long(const struct ft_msg_channel *c, uint64_t n) { return n > ft_min(FT_CHANNEL_CELL, c->log.extent_bytes / 8); }

void ft_msg_open(struct ft_msg_channel *c, const struct ft_region *region, uint32_t sender, uint32_t receiver, uint32_t rank,
                     const struct ft_patience *patience, int kick_fd, int spill_fd)
{
    uint32_t number = ft_channel_of(region, sender, receiver), me = rank == sender ? 0 : 1;
    struct ft_stream_parts parts = ft_region_stream(region, number);

    *c = (struct ft_msg_channel){ .region = region, .patience = patience, .number = number, .member = &parts.members[me], .mine = &parts.counters[me],
                              .theirs = &parts.counters[parts.n - 1 - me], .slots = (struct ft_message_slot *)(void *)parts.slots,
                              .cells = parts.cells };
    ft_log_open(&c->log, region, number, c->mine, patience, kick_fd, spill_fd);
    c->log.asks_ahead = me == 0;
    c->logged = ft_peek(&c->mine->done);
    if (me == 0)
        ft_streams_use(region, number);
}

void ft_msg_go_to(struct ft_msg_channel *c, uint64_t unit, uint64_t end)
{
    c->unit = unit;
    c->end = end;
}

void ft_msg_resume(struct ft_msg_channel *c)
{
    ft_log_resume(&c->log);
    c->logged = ft_peek(&c->mine->done);
}

static struct ft_message_slot *slot_of(const struct ft_msg_channel *c, uint64_t unit) { return &c->slots[unit % FT_CHANNEL_SLOTS]; }

/* Where the bytes of a unit are in its slot. */
static char *bytes_of(const struct ft_msg_channel *c, uint64_t unit, uint64_t n)
{
    return n <= FT_CHANNEL_INLINE ? slot_of(c, unit)->bytes : c->cells + unit % FT_CHANNEL_SLOTS * FT_CHANNEL_CELL;
}

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

/* The line as it is, unless it is another message's by now: then that unit is in the log. end: where the record before it ends. */
static bool see(const struct ft_msg_channel *c, uint64_t unit, uint64_t end, struct ft_unit *u)
{
    const struct ft_message_slot *slot = slot_of(c, unit);

    if (ft_look(&slot->unit) != unit + 1)
        return false;
    u->sig = slot->sig;
    u->site = slot->site;
    u->unit = unit;
    u->at = ft_log_place(&c->log, end, u->sig.length);
    ft_point_look(); /* the rest may be another one's */
    memcpy(u->bytes, slot->bytes, sizeof u->bytes);
    atomic_thread_fence(memory_order_acquire);
    return ft_peek(&slot->unit) == unit + 1;
}

int ft_msg_walk(struct ft_msg_channel *c, uint64_t unit, uint64_t *position, struct ft_unit *u, struct ft_error *e)
{
    struct ft_walk w = { read_log, c, c->log.extent_bytes, unit, *position };
    struct ft_record rec;

    if (see(c, unit, *position, u)) {
        *position = u->at + ft_record_bytes(u->sig.length);
        return 0;
    }
    if (ft_walk_look(&w, &rec) != FT_WALK_RECORD)
        return unreadable(c, e);
    *u = (struct ft_unit){ .sig = rec.sig, .site = rec.site, .unit = unit, .at = w.position };
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
bool ft_msg_is_published(const struct ft_msg_channel *c) { return ft_peek(&slot_of(c, c->unit)->unit) == c->unit + 1; }

/* The head of the next record, and the gap before it. Where its bytes belong; *end: where it ends. Waits for memory. */
static char *write_head(struct ft_msg_channel *c, const struct ft_sig *sig, uint64_t site, uint64_t *end)
{
    uint64_t n = sig->length, at = ft_log_place(&c->log, c->end, n);
    struct ft_record rec = { .unit = c->unit + 1, .site = site, .sig = *sig }, gap = ft_walk_gap(c->unit);
    char *to = ft_log_write(&c->log, at, n);

    if (at != c->end)
        ft_fill(ft_log_write(&c->log, c->end, 0), &gap, sizeof gap);
    ft_fill(to, &rec, sizeof rec);
    *end = at + ft_record_bytes(n);
    return to + ft_record_offset(n);
}

/* There is memory for it in the log before anybody hears of it. */
void ft_msg_publish(struct ft_msg_channel *c, const struct ft_sig *sig, uint64_t site, const struct ft_view *v, uint64_t from)
{
    uint64_t n = sig->length, end;
    struct ft_message_slot *slot = slot_of(c, c->unit);

    if (is_long(c, n))
        ft_view_fill_past(v, from, n, write_head(c, sig, site, &end), true);
    else
        ft_log_write(&c->log, ft_log_place(&c->log, c->end, n), n);
    ft_publish(&slot->unit, 0); /* whoever sees that finds what was there in the log */
    atomic_thread_fence(memory_order_release);
    ft_fill(&slot->sig, sig, sizeof slot->sig);
    slot->site = site;
    if (n && !is_long(c, n))
        ft_view_fill_lines(v, from, n, bytes_of(c, c->unit, n));
    ft_wait_announce(c->patience, FT_AWAIT_MESSAGE, c->number, &slot->unit, c->unit + 1);
}

/* The lines that the next one is written to, if it is like this one. */
static void fetch_ahead(const struct ft_msg_channel *c, char *next, uint64_t n)
{
    if (n <= AHEAD_BYTES && c->end + n <= c->log.warm_to)
        ft_prefetch_write(next, n);
}

void ft_msg_log(struct ft_msg_channel *c)
{
    const struct ft_message_slot *slot = ft_msg_slot(c);
    uint64_t n = slot->sig.length, end;
    char *to = write_head(c, &slot->sig, slot->site, &end); /* of a long one the same once more */

    if (n && !is_long(c, n))
        ft_fill(to, bytes_of(c, c->unit, n), n);
    advance(c, end);
    fetch_ahead(c, to - ft_record_offset(n) + ft_record_bytes(n), ft_record_bytes(n));
}

int ft_msg_send(struct ft_msg_channel *c, const struct ft_sig *sig, uint64_t site, const struct ft_view *v, uint64_t from,
                    struct ft_unit *said, struct ft_error *e)
{
    const struct ft_message_slot *slot = ft_msg_slot(c);

    if (__builtin_expect(ft_msg_replays(c), 0))
        return replay(c, sig, said, e);
    if (!ft_msg_is_published(c)) {
        ft_msg_publish(c, sig, site, v, from);
    } else if (!ft_sig_equal(&slot->sig, sig)) { /* the receiver may have that */
        *said = (struct ft_unit){ .sig = slot->sig, .site = slot->site };
        return FT_EDIVERGED;
    }
    ft_msg_log(c);
    return 0;
}

int ft_msg_sent(struct ft_msg_channel *c, struct ft_unit *u, struct ft_error *e)
{
    uint64_t position = c->end;
    int err;

    if (!ft_msg_replays(c) && !ft_msg_is_published(c))
        return 0;
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

bool ft_msg_look(struct ft_msg_channel *c, struct ft_unit *u)
{
    uint64_t there = ft_look(&slot_of(c, c->unit)->unit), position = c->end;
    struct ft_error e;

    if (there && there <= c->unit)
        return false;
    return (there == c->unit + 1 || ft_look(&c->theirs->done) > c->unit) && ft_msg_walk(c, c->unit, &position, u, &e) == 0;
}

static void copy_out(const struct ft_view *v, uint64_t to, uint64_t n, const char *from)
{
    if (ft_view_has_layout(v))
        ft_view_unpack(v, to, n, from);
    else
        ft_copy_lines(ft_view_direct(v, to), from, n);
}

/* Out of its cell, unless another one is there by now: then it is in the log. */
static bool read_cell(const struct ft_msg_channel *c, const struct ft_unit *u, uint64_t from, uint64_t n, const struct ft_view *v, uint64_t to)
{
    const struct ft_message_slot *slot = slot_of(c, u->unit);
    const char *cell = bytes_of(c, u->unit, u->sig.length) + from;

    if (ft_look(&slot->unit) != u->unit + 1)
        return false;
    copy_out(v, to, n / 2, cell);
    ft_point_look(); /* the rest may be another one's */
    copy_out(v, to + n / 2, n - n / 2, cell + n / 2);
    atomic_thread_fence(memory_order_acquire);
    return ft_peek(&slot->unit) == u->unit + 1;
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
    if (!is_long(c, u->sig.length) && read_cell(c, u, from, n, v, to))
        return 0;
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
