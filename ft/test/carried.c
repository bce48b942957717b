/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of an explored job that makes checkpoints (versions.c), at each of which some are under way. Two of them are of any source, and one goes to the rank itself. Each is received once, with all its bytes. */
#include <string.h>

#include "ft/test/letters.h"

enum { BEFORE = 2 /* calls before the load: without messages, or in jobs that have all in place with some */, EACH = 4, OWN = 3 };

static const struct ft_type byte = { .elem = 1, .kind = FT_BYTE };

static int tag_at(uint32_t call, int i) { return (int)call * EACH + i; }

static uint64_t length_of(int tag)
{
    uint64_t sizes[EACH] = { 8, 17, job.sc.count * 20, 40 };

    return sizes[tag % EACH];
}

static unsigned char content(uint32_t from, int tag, uint64_t i) { return (unsigned char)(truth((uint32_t)tag, from, (uint32_t)(i / 4)) >> i % 4 * 8); }

static bool send_one(struct actor *r, uint32_t to, int i)
{
    unsigned char bytes[MOST_LETTER_BYTES];
    int tag = tag_at(r->call, i);
    struct ft_error e;

    for (uint64_t k = 0; k < length_of(tag); k++)
        bytes[k] = content(r->index, tag, k);
    return is_good(r, ft_send(&r->ft, &r->letters.comm, bytes, length_of(tag), byte, (int)to, tag, FT_SEND_STANDARD, LETTER_SITE, &e), &e);
}

static bool receive_one(struct actor *r, uint32_t call, int i, uint32_t from, bool open)
{
    unsigned char bytes[MOST_LETTER_BYTES];
    int tag = tag_at(call, i);
    struct ft_told told;
    struct ft_error e;

    if (!is_good(r, ft_recv(&r->ft, &r->letters.comm, bytes, sizeof bytes, byte, open ? FT_ANY_SOURCE : (int)from, tag, &told, LETTER_SITE, &e), &e))
        return false;
    if (told.source != (int)from || told.tag != tag || told.bytes != length_of(tag) || told.truncated)
        failed("rank %u incarnation %u call %u is told of %llu bytes from rank %d with tag %d", r->index, r->incarnation, r->call,
               (unsigned long long)told.bytes, told.source, told.tag);
    for (uint64_t k = 0; k < told.bytes && !run.failure[0]; k++)
        if (bytes[k] != content(from, tag, k))
            failed("rank %u incarnation %u call %u: byte %llu from rank %u with tag %d is %u", r->index, r->incarnation, r->call, (unsigned long long)k, from,
                   tag, bytes[k]);
    return !run.failure[0];
}

/* Two calls send, and two receive what these have sent, in another order and one of them a round later: so there are checkpoints up to which a rank that has
   loaded the one before does not look at what comes. That one is sent after the call's collective operation, for which all have come, so a checkpoint
   may be next. */
enum { ROUND = 4, LATE = 1 };

static bool sends(const struct actor *r) { return r->call >= BEFORE && (r->call - BEFORE) % ROUND < ROUND / 2; }

static bool begin_early(struct actor *r)
{
    if (!job.sc.in_place)
        return true;
    return r->call == 0 ? send_one(r, next_of(r), 0) && send_one(r, next_of(r), 2)
                        : receive_one(r, 0, 2, previous_of(r), false) && receive_one(r, 0, 0, previous_of(r), true);
}

bool begin_carried(struct actor *r)
{
    uint32_t from = previous_of(r), call = r->call - ROUND / 2;

    if (r->call < BEFORE)
        return begin_early(r);
    if (!sends(r))
        return receive_one(r, call, 2, from, false) && receive_one(r, call, 0, from, true) && (call < BEFORE + ROUND || receive_one(r, call - ROUND, LATE, from, true)) &&
               receive_one(r, call, OWN, r->index, false);
    return send_one(r, next_of(r), 0) && send_one(r, next_of(r), 2) && send_one(r, r->index, OWN);
}

bool end_carried(struct actor *r) { return !sends(r) || send_one(r, next_of(r), LATE); }
