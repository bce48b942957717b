/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/wire/greeting.h"

#include <endian.h>
#include <string.h>
#include <xxhash.h>

enum { EDITION = 2 };
enum { GREETING = 0x47, ANSWER = 0x41, PIECE = 0x50 };  /* what it is, so that none is taken for another */

/* Goes through a message from its beginning. */
struct cursor {
    uint8_t *at;
};

static void put32(struct cursor *c, uint32_t v)
{
    v = htole32(v);
    memcpy(c->at, &v, sizeof v);
    c->at += sizeof v;
}

static void put64(struct cursor *c, uint64_t v)
{
    v = htole64(v);
    memcpy(c->at, &v, sizeof v);
    c->at += sizeof v;
}

static uint32_t get32(const uint8_t **at)
{
    uint32_t v;

    memcpy(&v, *at, sizeof v);
    *at += sizeof v;
    return le32toh(v);
}

static uint64_t get64(const uint8_t **at)
{
    uint64_t v;

    memcpy(&v, *at, sizeof v);
    *at += sizeof v;
    return le64toh(v);
}

/* First of each message. */
static uint32_t mark(unsigned what) { return (uint32_t)EDITION << 16 | what; }

void ft_greeting_put(const struct ft_greeting *g, uint8_t to[FT_GREETING_BYTES])
{
    struct cursor c = {to};

    memset(to, 0, FT_GREETING_BYTES);
    put32(&c, mark(GREETING));
    put32(&c, g->want);
    put32(&c, g->from);
    put32(&c, g->from_incarnation);
    put32(&c, g->to);
    put32(&c, g->to_incarnation);
    put64(&c, g->position);
    put32(&c, g->stream);
}

bool ft_greeting_get(const uint8_t from[FT_GREETING_BYTES], struct ft_greeting *g)
{
    bool marked = get32(&from) == mark(GREETING);
    uint32_t want = get32(&from);

    if (!marked || want == 0 || want >= FT_WANTS)
        return false;
    g->want = (enum ft_greeting_want)want;
    g->from = get32(&from);
    g->from_incarnation = get32(&from);
    g->to = get32(&from);
    g->to_incarnation = get32(&from);
    g->position = get64(&from);
    g->stream = get32(&from);
    return get32(&from) == 0 && get64(&from) == 0;
}

void ft_answer_put(const struct ft_answer *a, uint8_t to[FT_ANSWER_BYTES])
{
    struct cursor c = {to};

    memset(to, 0, FT_ANSWER_BYTES);
    put32(&c, mark(ANSWER));
    put32(&c, a->verdict);
    put32(&c, a->node);
    put32(&c, a->incarnation);
    put64(&c, a->extent_bytes);
    put64(&c, a->position);
}

bool ft_answer_get(const uint8_t from[FT_ANSWER_BYTES], struct ft_answer *a)
{
    bool marked = get32(&from) == mark(ANSWER);
    uint32_t verdict = get32(&from);

    if (!marked || verdict == 0 || verdict >= FT_VERDICTS)
        return false;
    a->verdict = (enum ft_verdict)verdict;
    a->node = get32(&from);
    a->incarnation = get32(&from);
    a->extent_bytes = get64(&from);
    a->position = get64(&from);
    return get64(&from) == 0;
}

void ft_piece_put(const struct ft_piece *p, uint8_t to[FT_PIECE_HEAD])
{
    struct cursor c = {to};

    memset(to, 0, FT_PIECE_HEAD);
    put32(&c, mark(PIECE));
    put32(&c, p->length);
    put64(&c, p->position);
    put64(&c, p->hash);
}

bool ft_piece_get(const uint8_t from[FT_PIECE_HEAD], struct ft_piece *p)
{
    bool marked = get32(&from) == mark(PIECE);

    p->length = get32(&from);
    p->position = get64(&from);
    p->hash = get64(&from);
    return marked && p->length <= FT_PIECE_MOST && get64(&from) == 0;
}

uint64_t ft_piece_hash(uint64_t position, const void *bytes, uint32_t length)
{
    return XXH3_64bits_withSeed(bytes, length, position);
}

const char *ft_verdict_text(enum ft_verdict v)
{
    switch (v) {
    case FT_VERDICT_YES: return "yes";
    case FT_VERDICT_NODE: return "it is not the node that the table says";
    case FT_VERDICT_STALE: return "one of the two nodes has been replaced";
    case FT_VERDICT_LEFT: return "its representative has left MPI_Finalize";
    case FT_VERDICT_RELEASED: return "the beginning of its log is released";
    case FT_VERDICT_DOUBT: return "all its ranks are in doubt";
    case FT_VERDICT_UNKNOWN: return "its ranks have not called it";
    case FT_VERDICTS: break;
    }
    return "?";
}
