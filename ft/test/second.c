/* SPDX-License-Identifier: BSD-3-Clause */
/* A second stream of an explored job: some ranks come into it, make calls on it by turns with those on the world's, or at the same
   time, and leave it. */
#include <string.h>

#include "ft/test/both.h"
#include "ft/test/explore.h"

enum { ROUND = 4, MEETS = 1, PARTS = 3 /* of each ROUND calls, before these */ };

/* All, or with three ranks all but one, in turn. The owner is the first of them. */
static uint32_t choose(uint32_t call, uint32_t ranks[MAX_RANKS])
{
    uint32_t out = job.sc.ranks > 2 ? call / ROUND % (job.sc.ranks + 1) : job.sc.ranks, n = 0;

    for (uint32_t i = 0; i < job.sc.ranks; i++)
        if (i != out)
            ranks[n++] = i;
    return n;
}

static int64_t index_of(const struct second *s, uint32_t rank)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->local[i] == rank)
            return i;
    return -1;
}

/* The owner says which stream it is, or that none is free; the others contribute zeros. It is told, too: started again it might say
   something else. */
static int agree(struct actor *r, const uint32_t *local, uint32_t n, struct ft_use *use, struct ft_error *e)
{
    static const struct ft_type type = { .elem = 8, .kind = FT_I64 };
    struct ft_op op = { FT_SUM, ft_reduce_find(FT_I64, FT_SUM), NULL, NULL };
    struct ft_use mine = { 0 };
    int64_t says[4] = { 0 }, told[4];
    int err;

    if (r->index == local[0] && ft_streams_pick(&job.region, r->index, local, n, &mine)) {
        says[0] = mine.stream;
        says[1] = (int64_t)mine.use;
        says[2] = (int64_t)mine.unit;
        says[3] = (int64_t)mine.end;
    }
    err = ft_allreduce(&r->ft.world, says, told, 4, type, &op, 7, e);
    *use = (struct ft_use){ (uint32_t)told[0], (uint64_t)told[1], (uint64_t)told[2], (uint64_t)told[3] };
    return err;
}

/* In some runs the last of them has not left it yet when the next one is agreed. */
static bool is_late(const struct actor *r) { return job.seed % 2 && r->index == r->second.local[r->second.n - 1]; }

static void leave(struct actor *r)
{
    struct second *s = &r->second;

    if (!s->in)
        return;
    s->in = false;
    ft_stream_leave_use(&s->stream);
    s->left[s->use.stream] = s->stream;
}

void part(struct actor *r)
{
    if (!job.sc.two || r->call % ROUND != PARTS || !r->second.on)
        return;
    r->second.on = false;
    if (!is_late(r))
        leave(r);
}

void meet(struct actor *r, struct ft_error *e)
{
    struct second *s = &r->second;
    uint32_t n, local[MAX_RANKS];
    struct ft_use use;
    int64_t me;
    int err;

    if (!job.sc.two || r->call % ROUND != MEETS)
        return;
    n = choose(r->call, local);
    err = agree(r, local, n, &use, e);
    leave(r);
    s->on = use.use != 0;
    if (!err && s->on) {
        run.seen[USES] += use.use > 1;
        s->use = use;
        s->n = n;
        memcpy(s->local, local, sizeof local);
        me = index_of(s, r->index);
        s->in = me >= 0;
        if (s->in)
            ft_stream_join(&s->stream, &r->ft.world, &use, s->local, n, (uint32_t)me, "SECOND");
    }
    if (err)
        failed("rank %u incarnation %u call %u: %s", r->index, r->incarnation, r->call, e->text);
}

static bool is_second(const struct actor *r) { return r->second.on; }

/* ---- an allreduce on each of both streams, at the same time ---- */

bool is_both(const struct actor *r) { return is_second(r) && r->call % 2; }

static void expect_sum(struct actor *r, const char *what, const int32_t *recv, uint32_t count, const uint32_t *ranks, uint32_t n)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t sum = 0;

        for (uint32_t q = 0; q < n; q++)
            sum += (uint32_t)truth(r->call, ranks[q], i);
        if ((uint32_t)recv[i] != sum)
            failed("rank %u incarnation %u call %u: sum on %s: element %u is %d", r->index, r->incarnation, r->call, what, i, recv[i]);
    }
}

enum { APART = 2048 /* elements, between the buffers of both */ };

/* Who is not in the second one makes the world's call alone. Who is begins them in an order of its own. */
int make_both(struct actor *r, struct ft_error *e)
{
    const struct second *s = &r->second;
    bool member = index_of(s, r->index) >= 0, last = (r->call / 2 + r->index) % 2;
    uint32_t count = r->call % 8 == 1 ? job.sc.count * 4 : r->call % 8 == 5 ? job.sc.count : 5, all[MAX_RANKS];
    struct both both[2];
    struct ft_coll *c[2] = { &both[last || !member ? 0 : 1].c, &both[last ? 1 : 0].c };
    int err = 0;

    for (uint32_t i = 0; i < count; i++)
        r->send[i] = r->send[APART + i] = truth(r->call, r->index, i);
    for (uint32_t i = 0; i < job.sc.ranks; i++)
        all[i] = i;
    if (member && !last)
        err = both_begin(&both[1], &r->second.stream, r->send + APART, r->recv + APART, count, 9, e);
    if (!err)
        err = both_begin(&both[0], &r->ft.world, r->send, r->recv, count, 8, e);
    if (!err && member && last)
        err = both_begin(&both[1], &r->second.stream, r->send + APART, r->recv + APART, count, 9, e);
    if (!err)
        err = ft_coll_finish_all(c, member ? 2 : 1, e);
    if (err)
        return err;
    expect_sum(r, "the world's", r->recv, count, all, job.sc.ranks);
    if (member)
        expect_sum(r, "the second", r->recv + APART, count, s->local, s->n);
    return 0;
}

bool is_out(const struct actor *r) { return is_second(r) && !is_both(r) && index_of(&r->second, r->index) < 0; }

struct ft_stream *stream_of(struct actor *r)
{
    if (job.sc.what == PASSES)
        return r->letters.passing.stream;
    return is_second(r) ? &r->second.stream : &r->ft.world;
}

uint32_t crew_of(const struct actor *r, uint32_t ranks[MAX_RANKS], uint32_t *me)
{
    const struct second *s = &r->second;

    *me = is_second(r) ? (uint32_t)index_of(s, r->index) : r->index;
    for (uint32_t i = 0; i < job.sc.ranks; i++)
        ranks[i] = is_second(r) && i < s->n ? s->local[i] : i;
    return is_second(r) ? s->n : job.sc.ranks;
}

void second_position(const struct actor *r, struct ft_positions *p)
{
    const struct second *s = &r->second;

    for (uint32_t k = 1; k <= job.sc.ranks; k++) {
        const struct ft_stream *stream = s->in && s->use.stream == k ? &s->stream : &s->left[k];

        if (stream->use)
            ft_position_add(p, k, ft_stream_position(stream));
    }
}

void second_resume(struct actor *r)
{
    if (r->second.in)
        ft_stream_resume(&r->second.stream);
}

bool second_replays(const struct actor *r)
{
    return r->second.in && ft_stream_replays(&r->second.stream, r->second.stream.unit);
}
