/* SPDX-License-Identifier: BSD-3-Clause */
/* A second stream between the nodes of an explored job: all ranks come into it, make calls on it
   alone and on both streams at the same time, leave it, and come in again. */
#include <string.h>

#include "ft/test/apart.h"
#include "ft/test/both.h"

enum { ROUND = 4, MEETS = 1, BOTH = 2, PARTS = 3 /* of each ROUND calls, before these or these */ };

static const uint32_t all[MAX_LOCAL] = { 0, 1 };

/* What representatives say of the use is the same, and is told to everybody: a maximum, and that of
   its negative. */
enum { BUSY, USE, UNIT, END, NSAYS = END + 1 };

static int agree(struct actor *a, struct ft_use *use, struct ft_error *e)
{
    static const struct ft_type type = { .elem = 8, .kind = FT_I64 };
    struct ft_op op = { FT_MAX, ft_reduce_find(FT_I64, FT_MAX), NULL, NULL };
    int64_t says[2 * NSAYS], told[2 * NSAYS];
    struct ft_use mine = { 0 };
    int err;

    for (uint32_t i = 0; i < 2 * NSAYS; i++)
        says[i] = INT64_MIN;
    if (represents(a)) {
        says[BUSY] = !ft_streams_pick(&a->node->region, a->local, all, a->node->n, &mine);
        says[USE] = (int64_t)mine.use;
        says[UNIT] = (int64_t)mine.unit;
        says[END] = (int64_t)mine.end;
        for (uint32_t i = 0; i < NSAYS; i++)
            says[NSAYS + i] = -says[i];
    }
    err = ft_allreduce(&a->stream[0], says, told, 2 * NSAYS, type, &op, 9, e);
    if (err)
        return err;
    for (uint32_t i = USE; i < NSAYS && !told[BUSY]; i++)
        if (told[i] != -told[NSAYS + i])
            failed("rank %u call %u: nodes do not agree where the second stream is", a->rank, a->call);
    *use = (struct ft_use){ 1, told[BUSY] ? 0 : (uint64_t)told[USE], (uint64_t)told[UNIT], (uint64_t)told[END] };
    return 0;
}

/* In some runs the last of a node has not left it yet when the next one is agreed. */
static bool is_late(const struct actor *a) { return job.sc.count % 2 && a->local == a->node->n - 1; }

static void leave(struct actor *a)
{
    if (a->stream[1].use && !a->stream[1].left)
        ft_stream_leave_use(&a->stream[1]);
}

static int come_in(struct actor *a, struct ft_error *e)
{
    struct ft_use use;
    int err = agree(a, &use, e);

    if (err)
        return err;
    leave(a);
    a->in = use.use != 0;
    run.seen[USES] += use.use > 1;
    if (a->in)
        ft_stream_join(&a->stream[1], &a->stream[0], &use, all, a->node->n, a->local, "SECOND");
    return 0;
}

void meet(struct actor *a, struct ft_error *e)
{
    if (!job.sc.two)
        return;
    if (a->call % ROUND == PARTS && a->in) {
        a->in = false;
        if (!is_late(a))
            leave(a);
    }
    if (a->call % ROUND == MEETS && come_in(a, e))
        failed("rank %u incarnation %u call %u: %s", a->rank, a->incarnation, a->call, e->text);
}

bool is_second(const struct actor *a) { return a->in && a->call % ROUND == MEETS; }
bool is_both(const struct actor *a) { return a->in && a->call % ROUND == BOTH; }

/* ---- an allreduce on each of both streams, at the same time ---- */

/* Each rank begins them in an order of its own. */
int make_both(struct actor *a, struct ft_error *e)
{
    uint32_t last = (a->call / ROUND + a->rank) % 2, count = a->call % 8 == BOTH ? job.sc.count : 5;
    struct both both[2];
    struct ft_coll *c[2] = { &both[last].c, &both[!last].c };
    int err;

    for (uint32_t i = 0; i < 2 * count; i++)
        a->send[i] = contribution(a->call, a->rank, i);
    err = both_begin(&both[!last], &a->stream[!last], a->send + !last * count, a->recv + !last * count, count, 10 + !last, e);
    if (!err)
        err = both_begin(&both[last], &a->stream[last], a->send + last * count, a->recv + last * count, count, 10 + last, e);
    if (!err)
        err = ft_coll_finish_all(c, 2, e);
    for (uint32_t i = 0; i < 2 * count && !err; i++) {
        uint32_t sum = 0;

        for (uint32_t r = 0; r < job.world; r++)
            sum += (uint32_t)contribution(a->call, r, i);
        expect(a, i, (int32_t)sum);
    }
    return err;
}
