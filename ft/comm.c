/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/comms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"
#include "ft/collective.h"
#include "ft/handle.h"
#include "ft/messages.h"
#include "ft/pass/pass.h"

/* A stream that this rank has come into, once or more often. It stays: what has been left has a position, too. */
struct ft_joined {
    struct ft_stream s;
    uint32_t *local;      /* of the use that it is in, or was in last */
    char name[64];
};

/* ---- who they are ---- */

/* Before the first of them stands how many refer to them. */
int *ft_ranks_new(uint32_t n)
{
    int *ranks = malloc((n + 1) * sizeof *ranks);

    if (!ranks)
        return NULL;
    *ranks = 1;
    return ranks + 1;
}

int *ft_ranks_hold(int *ranks)
{
    ranks[-1]++;
    return ranks;
}

void ft_ranks_release(int *ranks)
{
    if (ranks && --ranks[-1] == 0)
        free(ranks - 1);
}

static int *all_ranks(uint32_t n, int first)
{
    int *ranks = ft_ranks_new(n);

    for (uint32_t i = 0; ranks && i < n; i++)
        ranks[i] = first + (int)i;
    return ranks;
}

enum { NUMBER_BITS = 40, OF_WORLD = 1, OF_SELF, OF_OTHERS };
uint64_t ft_context_of(int first, uint64_t number) { return (uint64_t)first << NUMBER_BITS | number; }
uint64_t ft_context_next(struct ft *ft) { return OF_OTHERS + ft->nfirst++; }

static int open_comm(struct ft_comm *c, struct ft_stream *s, int first, uint64_t number, struct ft_error *e)
{
    *c = (struct ft_comm){ .stream = s, .n = s->size, .me = s->me, .ranks = all_ranks(s->size, first), .context = ft_context_of(first, number) };
    return c->ranks ? 0 : ft_err_set(e, FT_ENOMEM, "rank %u has no memory for a communicator", s->me);
}

int ft_comm_world(struct ft *ft, struct ft_comm *c, struct ft_error *e) { return open_comm(c, &ft->world, 0, OF_WORLD, e); }
int ft_comm_self(struct ft *ft, struct ft_comm *c, struct ft_error *e) { return open_comm(c, &ft->self, (int)ft->world.me, OF_SELF, e); }

void ft_comm_close(struct ft_comm *c)
{
    ft_ranks_release(c->ranks);
    if (c->local)
        ft_ranks_release(c->local->ranks);
    free(c->local);
    *c = (struct ft_comm){ 0 };
}

/* ---- what they agree on: sums of numbers that one of them gives, and the others nothing ---- */

static int agree(const struct ft_comm *c, enum ft_call call, int64_t *words, uint32_t each, uint64_t site, struct ft_error *e)
{
    static const struct ft_type type = { .elem = 8, .kind = FT_I64 };
    uint64_t n = (uint64_t)each * c->n;
    struct ft_sig sig = { .call = (uint8_t)call, .kind = FT_I64, .root = -1, .elem = 8, .count = n };
    struct ft_op sum = { FT_SUM, ft_reduce_find(FT_I64, FT_SUM), NULL, NULL };
    struct ft_coll coll = { .s = c->stream, .op = &sum, .send = ft_view_of(words, n, type), .recv = ft_view_of(words, n, type),
                            .bytes = 8 * n, .elem = 8, .root = -1 };

    return ft_collective_run(&coll, &sig, coll.bytes, site, e);
}

/* ---- who says the same color ---- */

static int in_order(const void *a, const void *b)
{
    const struct ft_chosen *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->rank < y->rank ? -1 : 1;
}

uint32_t ft_comm_choose(const int64_t *said, uint32_t n, int64_t color, struct ft_chosen *chosen)
{
    uint32_t found = 0;

    for (uint32_t r = 0; r < n && color >= 0; r++)
        if (said[FT_CHOICE * r + FT_CHOICE_COLOR] == color)
            chosen[found++] = (struct ft_chosen){ said[FT_CHOICE * r + FT_CHOICE_KEY], r };
    qsort(chosen, found, sizeof *chosen, in_order);
    return found;
}

/* ---- its stream ---- */

static struct ft_joined *joined_in(const struct ft *ft, uint32_t stream)
{
    for (uint32_t i = 0; i < ft->njoined; i++)
        if (ft->joined[i]->s.number == stream)
            return ft->joined[i];
    return NULL;
}

static uint32_t local_of(const struct ft *ft, int rank)
{
    int64_t local = ft_region_local(&ft->region, (uint32_t)rank);

    FT_INVARIANT(local >= 0, "it is of this node");
    return (uint32_t)local;
}

static bool on_one_node(const struct ft *ft, const struct ft_comm *new)
{
    bool here = !new->local || on_one_node(ft, new->local);

    for (uint32_t i = 0; i < new->n; i++)
        here = here && ft_region_local(&ft->region, (uint32_t)new->ranks[i]) >= 0;
    return here;
}

bool ft_comm_has_room(const struct ft *ft) { return ft->njoined < FT_MOST_STREAMS - 1; }

static bool is_offered(const struct ft *ft, uint32_t stream)
{
    const struct ft_offer *o = ft->offers;

    while (o && o->stream != stream)
        o = o->next;
    return o;
}

static bool pick(const struct ft *ft, struct ft_use *use)
{
    uint32_t me = ft->world.rank, after = 0;

    while (ft_streams_pick_after(&ft->region, me, &me, 1, after, use)) {
        after = use->stream;
        if (!is_offered(ft, after))
            return true;
    }
    return false;
}

void ft_comm_end_offer(struct ft *ft, struct ft_offer *o)
{
    struct ft_offer **link = &ft->offers;

    while (*link && *link != o)
        link = &(*link)->next;
    if (*link)
        *link = o->next;
}

void ft_comm_offer(struct ft *ft, struct ft_offer *o, int64_t *words)
{
    struct ft_use use = { 0 };

    if (!pick(ft, &use))
        use = (struct ft_use){ 0 };
    words[FT_OFFER_STREAM] = use.stream;
    words[FT_OFFER_USE] = (int64_t)use.use;
    words[FT_OFFER_UNIT] = (int64_t)use.unit;
    words[FT_OFFER_END] = (int64_t)use.end;
    *o = (struct ft_offer){ use.stream, ft->offers };
    ft->offers = o;
}

/* In a replay what it gives does not count, and its streams may be in a later use. One that is made of one without a stream has none: there
   is no log that would say again which. */
static void give(struct ft *ft, const struct ft_comm *parent, const struct ft_comm *new, struct ft_offer *o, int64_t *words)
{
    bool first = new->n > 0 && new->me == 0;

    if (first && new->n > 1 && on_one_node(ft, new) && !parent->stream->passing && !ft_stream_replays(parent->stream, parent->stream->unit))
        ft_comm_offer(ft, o, words);
    words[FT_OFFER_NUMBER] = first ? (int64_t)ft_context_next(ft) : 0;
    words[FT_OFFER_ROOM] = ft_comm_has_room(ft);
}

int ft_comm_check_place(const struct ft *ft, const struct ft_comm *new, struct ft_error *e)
{
    if (ft->region.header->params.keeps_log)
        return ft_err_set(e, FT_EINVAL, "with --survive host ftmpi has no communicators of several ranks yet but MPI_COMM_WORLD: a host that replaces "
                          "another one would not know what they have come to");
    if (!on_one_node(ft, new))
        return ft_err_set(e, FT_EINVAL, "rank %d and others of it are on several hosts, and ftmpi has no communicator of these yet but MPI_COMM_WORLD",
                          new->ranks[0]);
    return 0;
}

static bool all_have_room(const struct ft_comm *new, const struct ft_chosen *members, const int64_t *offers)
{
    bool room = true;

    for (uint32_t i = 0; i < new->n; i++)
        room = room && offers[FT_OFFERS * members[i].rank + FT_OFFER_ROOM];
    return room;
}

static void single(struct ft_stream *s, struct ft *ft)
{
    *s = ft->self;
    s->name = "a communicator of one rank";
}

static struct ft_joined *new_joined(struct ft *ft)
{
    struct ft_joined *j = calloc(1, sizeof *j);

    if (j)
        ft->joined[ft->njoined++] = j;
    return j;
}

static int join(struct ft *ft, const struct ft_comm *parent, const struct ft_comm *new, const struct ft_use *use, struct ft_stream **out,
                struct ft_error *e)
{
    struct ft_joined *j = joined_in(ft, use->stream);
    uint32_t *local = malloc(new->n * sizeof *local);

    if (!j && local)
        j = new_joined(ft);
    if (!j || !local) {
        free(local);
        return ft_err_set(e, FT_ENOMEM, "rank %u has no memory for a communicator", ft->world.me);
    }
    for (uint32_t i = 0; i < new->n; i++)
        local[i] = local_of(ft, new->ranks[i]);
    free(j->local);
    j->local = local;
    snprintf(j->name, sizeof j->name, "a communicator made of %.40s", parent->stream->name);
    ft->comms = true;
    ft_stream_join(&j->s, &ft->world, use, local, new->n, new->me, j->name);
    j->s.ft = ft;
    j->s.host = ft->world.host;
    *out = &j->s;
    return 0;
}

/* ---- one without a stream ---- */

struct passes {
    struct ft_stream s;
    struct ft_passing passing;
    char name[64];
};

void ft_comm_has_context(struct ft_comm *new)
{
    struct ft_passing *passing = new->stream->passing;

    if (new->local)
        new->local->context = new->context;
    if (passing)
        passing->all.context = passing->local.context = new->context | FT_CONTEXT_HIDDEN;
}

int ft_comm_open_passing(struct ft *ft, const struct ft_comm *parent, struct ft_comm *new, struct ft_error *e)
{
    struct passes *p;

    if (!ft->region.header->params.nchannels)
        return ft_err_set(e, FT_EINVAL, "rank %d and others would have a communicator without a stream, and this job has no messages that could do "
                          "for it; free those that are not needed", new->ranks[0]);
    p = malloc(sizeof *p);
    if (!p)
        return ft_err_set(e, FT_ENOMEM, "rank %u has no memory for a communicator", ft->world.me);
    single(&p->s, ft);
    snprintf(p->name, sizeof p->name, "a communicator made of %.40s", parent->stream->name);
    p->s.name = p->name;
    p->s.size = new->n;
    p->s.me = new->me;
    p->s.passing = &p->passing;
    p->passing = (struct ft_passing){ .ft = ft, .name = p->name, .all = *new };
    ft_ranks_hold(new->ranks);
    if (new->local) {
        p->passing.local = *new->local;
        ft_ranks_hold(new->local->ranks);
    }
    new->stream = &p->s;
    ft->comms = true;
    ft_comm_has_context(new);
    return 0;
}

/* ---- all of it ---- */

static int open_single(struct ft *ft, struct ft_comm *new, struct ft_error *e)
{
    new->stream = malloc(sizeof *new->stream);
    if (!new->stream)
        return ft_err_set(e, FT_ENOMEM, "rank %u has no memory for a communicator", ft->world.me);
    single(new->stream, ft);
    return 0;
}

int ft_comm_open(struct ft *ft, const struct ft_comm *parent, struct ft_comm *new, const int64_t *words, bool room, struct ft_error *e)
{
    struct ft_use use = { (uint32_t)words[FT_OFFER_STREAM], (uint64_t)words[FT_OFFER_USE], (uint64_t)words[FT_OFFER_UNIT], (uint64_t)words[FT_OFFER_END] };
    int err;

    new->context = ft_context_of(new->ranks[0], (uint64_t)words[FT_OFFER_NUMBER]);
    if (new->n == 1)
        return open_single(ft, new, e);
    err = ft_comm_check_place(ft, new, e);
    if (err)
        return err;
    return use.stream && room ? join(ft, parent, new, &use, &new->stream, e) : ft_comm_open_passing(ft, parent, new, e);
}

static int make(struct ft *ft, const struct ft_comm *parent, enum ft_call call, int64_t *said, int64_t *offers, struct ft_chosen *members,
                struct ft_comm *new, uint64_t site, struct ft_error *e)
{
    bool known = parent->n == 1 || call == FT_CALL_COMM_DUP;
    struct ft_offer o = { 0 };
    int err = known ? 0 : agree(parent, call, said, FT_CHOICE, site, e);

    if (err)
        return err;
    new->n = ft_comm_choose(said, parent->n, said[FT_CHOICE * parent->me + FT_CHOICE_COLOR], members);
    new->ranks = ft_ranks_new(new->n);
    if (!new->ranks)
        return ft_err_set(e, FT_ENOMEM, "rank %u has no memory for a communicator", ft->world.me);
    for (uint32_t i = 0; i < new->n; i++) {
        new->ranks[i] = parent->ranks[members[i].rank];
        if (members[i].rank == parent->me)
            new->me = i;
    }
    if (!known)
        ft_order_step(ft);
    give(ft, parent, new, &o, &offers[FT_OFFERS * parent->me]);
    if (parent->n > 1)
        err = agree(parent, call, offers, FT_OFFERS, site, e);
    ft_order_step(ft);
    if (!err && new->n)
        err = ft_comm_open(ft, parent, new, &offers[FT_OFFERS * members[0].rank], all_have_room(new, members, offers), e);
    ft_comm_end_offer(ft, &o);
    return err;
}

int ft_comm_note(struct ft *ft, struct ft_comm *new, struct ft_error *e)
{
    new->ft = ft;
    if (ft_made_add(&ft->made, new->context) == 0)
        return 0;
    return ft_err_set(e, FT_ENOMEM, "rank %u has no memory for a communicator", ft->world.me);
}

int ft_comm_split(struct ft *ft, const struct ft_comm *parent, enum ft_call call, int64_t color, int64_t key, struct ft_comm *new,
                  uint64_t site, struct ft_error *e)
{
    int64_t *words = calloc(parent->n, (FT_CHOICE + FT_OFFERS) * sizeof *words);
    struct ft_chosen *members = malloc(parent->n * sizeof *members);
    int err;

    *new = (struct ft_comm){ 0 };
    if (words && members) {
        words[FT_CHOICE * parent->me + FT_CHOICE_COLOR] = color;
        words[FT_CHOICE * parent->me + FT_CHOICE_KEY] = key;
        for (uint32_t r = 0; r < parent->n && call == FT_CALL_COMM_DUP; r++)
            words[FT_CHOICE * r + FT_CHOICE_COLOR] = color; /* of all alike, and in the order of ranks */
        err = make(ft, parent, call, words, words + FT_CHOICE * parent->n, members, new, site, e);
    } else {
        err = ft_err_set(e, FT_ENOMEM, "rank %u has no memory for a communicator", ft->world.me);
    }
    free(words);
    free(members);
    if (!err && new->n)
        err = ft_comm_note(ft, new, e);
    if (err || !new->n)
        ft_comm_close(new);
    return err;
}

void ft_comm_free(struct ft_comm *c)
{
    if (c->ft)
        ft_made_remove(&c->ft->made, c->context);
    if (c->stream->region) {
        ft_stream_leave_use(c->stream);
    } else {
        if (c->stream->passing) {
            ft_ranks_release(c->stream->passing->all.ranks);
            ft_ranks_release(c->stream->passing->local.ranks);
        }
        free(c->stream);
    }
    ft_comm_close(c);
}

bool ft_comm_any(const struct ft *ft) { return ft->comms; }

/* ---- for checkpoints ---- */

const struct ft_stream *ft_comms_stream(const struct ft *ft, uint32_t i) { return &ft->joined[i]->s; }

/* Its number, and what its messages are for. */
enum { WORLD, SELF, MADE };

bool ft_comms_context(const struct ft *ft, uint64_t number, uint64_t *context)
{
    uint64_t use = number & FT_CONTEXT_USES;

    number &= ~FT_CONTEXT_USES;
    *context = number == WORLD  ? ft_context_of(0, OF_WORLD)
               : number == SELF ? ft_context_of((int)ft->world.me, OF_SELF)
                                : ft_made_context(&ft->made, number - MADE + 1);
    *context |= *context ? use : 0;
    return *context;
}

uint64_t ft_comms_number(const struct ft *ft, uint64_t context)
{
    uint64_t use = context & FT_CONTEXT_USES, number;

    context &= ~FT_CONTEXT_USES;
    number = ft_made_number(&ft->made, context);
    if (context == ft_context_of(0, OF_WORLD))
        return WORLD | use;
    if (context == ft_context_of((int)ft->world.me, OF_SELF))
        return SELF | use;
    return number ? (number + MADE - 1) | use : UINT64_MAX;
}

int ft_comms_left(struct ft *ft, const struct ft_use *was, struct ft_error *e)
{
    struct ft_joined *j = joined_in(ft, was->stream);

    if (!j)
        j = new_joined(ft);
    if (!j)
        return ft_err_set(e, FT_ENOMEM, "rank %u has no memory for a communicator", ft->world.me);
    ft_stream_was_in(&j->s, &ft->world, was);
    return 0;
}

/* ---- for snapshots ---- */

void ft_comms_positions(const struct ft *ft, struct ft_positions *p)
{
    for (uint32_t i = 0; i < ft->njoined; i++)
        ft_position_add(p, ft->joined[i]->s.number, ft_stream_position(&ft->joined[i]->s));
}

void ft_comms_resume(struct ft *ft)
{
    for (uint32_t i = 0; i < ft->njoined; i++)
        if (!ft->joined[i]->s.left)
            ft_stream_resume(&ft->joined[i]->s);
}

void ft_comms_close(struct ft *ft)
{
    for (uint32_t i = 0; i < ft->njoined; i++) {
        free(ft->joined[i]->local);
        free(ft->joined[i]);
    }
    ft->njoined = 0;
    ft_made_close(&ft->made);
}
