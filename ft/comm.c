/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/comm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"
#include "ft/collective.h"
#include "ft/handle.h"
#include "ft/messages.h"

/* A stream that this rank has come into, once or more often. It stays: what has been left has a position, too. */
struct ft_joined {
    struct ft_stream s;
    uint32_t *local;      /* of the use that it is in, or was in last */
    char name[64];
};

/* ---- who they are ---- */

/* Before the first of them stands how many refer to them. */
static int *new_ranks(uint32_t n)
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
    int *ranks = new_ranks(n);

    for (uint32_t i = 0; ranks && i < n; i++)
        ranks[i] = first + (int)i;
    return ranks;
}

/* Of one that has a stream: that, and the number of its use; of others, which have one rank, as many as the rank has made. */
#define ALONE (1ull << 63)
static uint64_t context_of(uint32_t stream, uint64_t use) { return use << 22 | stream; }

static int open_comm(struct ft_comm *c, struct ft_stream *s, int first, struct ft_error *e)
{
    *c = (struct ft_comm){ .stream = s, .n = s->size, .me = s->me, .ranks = all_ranks(s->size, first), .context = s->size > 1 ? context_of(0, 1) : ALONE };
    return c->ranks ? 0 : ft_err_set(e, FT_ENOMEM, "rank %u has no memory for a communicator", s->me);
}

int ft_comm_world(struct ft *ft, struct ft_comm *c, struct ft_error *e) { return open_comm(c, &ft->world, 0, e); }
int ft_comm_self(struct ft *ft, struct ft_comm *c, struct ft_error *e) { return open_comm(c, &ft->self, (int)ft->world.me, e); }

void ft_comm_close(struct ft_comm *c)
{
    ft_ranks_release(c->ranks);
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

/* Who says the same color, in their order: members[] are ranks of the parent. */
struct member {
    int64_t key;
    uint32_t rank;
};

static int in_order(const void *a, const void *b)
{
    const struct member *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->rank < y->rank ? -1 : 1;
}

enum { COLOR, KEY, SAYS };
static uint32_t choose(const struct ft_comm *parent, const int64_t *said, struct member *members)
{
    int64_t color = said[SAYS * parent->me + COLOR];
    uint32_t n = 0;

    for (uint32_t r = 0; r < parent->n && color >= 0; r++)
        if (said[SAYS * r + COLOR] == color)
            members[n++] = (struct member){ said[SAYS * r + KEY], r };
    qsort(members, n, sizeof *members, in_order);
    return n;
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
    bool here = true;

    for (uint32_t i = 0; i < new->n; i++)
        here = here && ft_region_local(&ft->region, (uint32_t)new->ranks[i]) >= 0;
    return here;
}

/* Of a communicator that a thread is making, the first rank of which is this one. */
struct ft_offer {
    uint32_t stream;
    struct ft_offer *next;
};

static bool is_offered(const struct ft *ft, uint32_t stream)
{
    const struct ft_offer *o = ft->offers;

    while (o && o->stream != stream)
        o = o->next;
    return o;
}

static void put_offer(struct ft *ft, struct ft_offer *o, uint32_t stream)
{
    *o = (struct ft_offer){ stream, ft->offers };
    ft->offers = o;
}

static void end_offer(struct ft *ft, struct ft_offer *o)
{
    struct ft_offer **link = &ft->offers;

    while (*link && *link != o)
        link = &(*link)->next;
    if (*link)
        *link = o->next;
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

/* So many of this rank's own it has left itself, and waits for others to leave. */
static bool awaits_leaving(const struct ft *ft)
{
    for (uint32_t i = 0; i < ft->njoined; i++)
        if (ft->joined[i]->s.left && ft_streams_is_of(&ft->region, ft->joined[i]->s.number, ft->world.rank))
            return true;
    return false;
}

/* The first rank of a new one says which stream it is, or stream 0: none. All are free that everybody has left, which those do
   who free a communicator in whatever order they like: for them it waits, as MPI_Comm_free might. */
static struct ft_use offer(struct ft *ft, struct ft_offer *o)
{
    struct ft_use use = { 0 };
    struct ft_wait w = { 0 };

    while (!pick(ft, &use) && awaits_leaving(ft))
        ft_wait_turn(&w, &ft->patience);
    ft_wait_over(&w, &ft->patience);
    put_offer(ft, o, use.stream);
    return use;
}

enum { STREAM, USE, UNIT, END, ROOM, OFFERS };
static bool has_room(const struct ft *ft) { return ft->njoined < FT_MOST_STREAMS - 1; }

static void put_use(const struct ft_use *use, int64_t *words)
{
    words[STREAM] = use->stream;
    words[USE] = (int64_t)use->use;
    words[UNIT] = (int64_t)use->unit;
    words[END] = (int64_t)use->end;
}

static void give(struct ft *ft, const struct ft_comm *parent, const struct ft_comm *new, struct ft_offer *o, int64_t *words)
{
    struct ft_use use = { 0 };
    bool live = !ft_stream_replays(parent->stream, parent->stream->unit); /* else what it gives does not count, and its streams may be in a
                                                                             later use */

    if (live && new->n > 1 && new->me == 0 && on_one_node(ft, new))
        use = offer(ft, o);
    put_use(&use, words);
    words[ROOM] = has_room(ft);
}

/* What all of the new one can see alike. */
static int check_place(const struct ft *ft, const struct ft_comm *new, struct ft_error *e)
{
    if (ft->region.header->params.keeps_log)
        return ft_err_set(e, FT_EINVAL, "with --survive host ftmpi has no communicators of several ranks yet but MPI_COMM_WORLD: a host that replaces "
                          "another one would not know what they have come to");
    if (!on_one_node(ft, new))
        return ft_err_set(e, FT_EINVAL, "rank %d and others of it are on several hosts, and ftmpi has no communicator of these yet but MPI_COMM_WORLD",
                          new->ranks[0]);
    return 0;
}

static int no_stream(const struct ft_comm *new, struct ft_error *e)
{
    return ft_err_set(e, FT_EINVAL, "rank %d is the first of as many communicators as it can be; free those that are not needed", new->ranks[0]);
}

static int no_room(int rank, struct ft_error *e)
{
    return ft_err_set(e, FT_EINVAL, "rank %d has been in so many communicators that it cannot be in another one", rank);
}

static int check(const struct ft *ft, const struct ft_comm *new, const struct member *members, const int64_t *offers, struct ft_error *e)
{
    int err = check_place(ft, new, e);

    if (err)
        return err;
    for (uint32_t i = 0; i < new->n; i++)
        if (!offers[OFFERS * members[i].rank + ROOM])
            return no_room(new->ranks[i], e);
    return offers[OFFERS * members[0].rank + STREAM] ? 0 : no_stream(new, e);
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
    ft_stream_join(&j->s, &ft->world, use, local, new->n, new->me, j->name);
    j->s.ft = ft;
    j->s.host = ft->world.host;
    *out = &j->s;
    return 0;
}

/* ---- all of it ---- */

static int open_single(struct ft *ft, struct ft_comm *new, struct ft_error *e)
{
    new->stream = malloc(sizeof *new->stream);
    if (!new->stream)
        return ft_err_set(e, FT_ENOMEM, "rank %u has no memory for a communicator", ft->world.me);
    single(new->stream, ft);
    new->context = ALONE | ++ft->nsingles;
    return 0;
}

static int open_offered(struct ft *ft, const struct ft_comm *parent, struct ft_comm *new, const int64_t *words, struct ft_error *e)
{
    struct ft_use use = { (uint32_t)words[STREAM], (uint64_t)words[USE], (uint64_t)words[UNIT], (uint64_t)words[END] };

    new->context = context_of(use.stream, use.use);
    return join(ft, parent, new, &use, &new->stream, e);
}

static int open_stream(struct ft *ft, const struct ft_comm *parent, struct ft_comm *new, const struct member *members, const int64_t *offers,
                       struct ft_error *e)
{
    int err;

    if (new->n == 1)
        return open_single(ft, new, e);
    err = check(ft, new, members, offers, e);
    return err ? err : open_offered(ft, parent, new, &offers[OFFERS * members[0].rank], e);
}

static int make(struct ft *ft, const struct ft_comm *parent, enum ft_call call, int64_t *said, int64_t *offers, struct member *members,
                struct ft_comm *new, uint64_t site, struct ft_error *e)
{
    bool known = parent->n == 1 || call == FT_CALL_COMM_DUP;
    struct ft_offer o = { 0 };
    int err = known ? 0 : agree(parent, call, said, SAYS, site, e);

    if (err)
        return err;
    new->n = choose(parent, said, members);
    new->ranks = new_ranks(new->n);
    if (!new->ranks)
        return ft_err_set(e, FT_ENOMEM, "rank %u has no memory for a communicator", ft->world.me);
    for (uint32_t i = 0; i < new->n; i++) {
        new->ranks[i] = parent->ranks[members[i].rank];
        if (members[i].rank == parent->me)
            new->me = i;
    }
    give(ft, parent, new, &o, &offers[OFFERS * parent->me]);
    if (parent->n > 1)
        err = agree(parent, call, offers, OFFERS, site, e);
    ft_order_step(ft);
    if (!err && new->n)
        err = open_stream(ft, parent, new, members, offers, e);
    end_offer(ft, &o);
    return err;
}

static int note_made(struct ft *ft, struct ft_comm *new, struct ft_error *e)
{
    new->ft = ft;
    if (ft_made_add(&ft->made, new->context) == 0)
        return 0;
    return ft_err_set(e, FT_ENOMEM, "rank %u has no memory for a communicator", ft->world.me);
}

int ft_comm_split(struct ft *ft, const struct ft_comm *parent, enum ft_call call, int64_t color, int64_t key, struct ft_comm *new,
                  uint64_t site, struct ft_error *e)
{
    int64_t *words = calloc(parent->n, (SAYS + OFFERS) * sizeof *words);
    struct member *members = malloc(parent->n * sizeof *members);
    int err;

    *new = (struct ft_comm){ 0 };
    if (words && members) {
        words[SAYS * parent->me + COLOR] = color;
        words[SAYS * parent->me + KEY] = key;
        for (uint32_t r = 0; r < parent->n && call == FT_CALL_COMM_DUP; r++)
            words[SAYS * r + COLOR] = color; /* of all alike, and in the order of ranks */
        err = make(ft, parent, call, words, words + SAYS * parent->n, members, new, site, e);
    } else {
        err = ft_err_set(e, FT_ENOMEM, "rank %u has no memory for a communicator", ft->world.me);
    }
    free(words);
    free(members);
    if (!err && new->n)
        err = note_made(ft, new, e);
    if (err || !new->n)
        ft_comm_close(new);
    return err;
}

/* ---- by some of the parent's: in messages of a context of its own ---- */

#define GROUPS (1ull << 62)
static const struct ft_type word = { .elem = 8, .kind = FT_I64 };

/* The first one hears which of the others have room, and tells them the stream. What an earlier incarnation of it has told the second one
   counts: the stream may be in a later use by now. */
static int lead_group(struct ft *ft, const struct ft_comm *via, const struct ft_comm *new, const uint32_t *ranks, int tag, int64_t *words,
                      struct ft_offer *o, uint64_t site, struct ft_error *e)
{
    int err, told;
    struct ft_messages *m = ft_messages_of(ft, &err, e);
    struct ft_use use;

    words[ROOM] = has_room(ft) ? -1 : new->ranks[0];
    for (uint32_t i = 1; i < new->n && !err; i++) {
        struct ft_told t;
        int64_t room = 0;

        err = ft_recv(ft, via, &room, 1, word, (int)ranks[i], tag, &t, site, e);
        if (!room && words[ROOM] < 0)
            words[ROOM] = new->ranks[i];
    }
    if (err)
        return err;
    told = ft_messages_sent_before(m, (uint32_t)ft_messages_local(m, via, (int)ranks[1]), words, OFFERS * sizeof *words, e);
    if (told < 0)
        return told;
    if (!told) {
        use = offer(ft, o);
        put_use(&use, words);
    }
    for (uint32_t i = 1; i < new->n && !err; i++)
        err = ft_send(ft, via, words, OFFERS, word, (int)ranks[i], tag, FT_SEND_STANDARD, site, e);
    return err;
}

static int follow_group(struct ft *ft, const struct ft_comm *via, const uint32_t *ranks, int tag, int64_t *words, uint64_t site, struct ft_error *e)
{
    int64_t room = has_room(ft);
    struct ft_told t;
    int err = ft_send(ft, via, &room, 1, word, (int)ranks[0], tag, FT_SEND_STANDARD, site, e);

    return err ? err : ft_recv(ft, via, words, OFFERS, word, (int)ranks[0], tag, &t, site, e);
}

static int make_group(struct ft *ft, const struct ft_comm *parent, const uint32_t *ranks, int tag, struct ft_comm *new, uint64_t site,
                      struct ft_error *e)
{
    struct ft_comm via = *parent;
    int64_t words[OFFERS];
    struct ft_offer o = { 0 };
    int err;

    if (new->n == 1)
        return open_single(ft, new, e);
    err = check_place(ft, new, e);
    if (err)
        return err;
    via.context |= GROUPS;
    err = new->me == 0 ? lead_group(ft, &via, new, ranks, tag, words, &o, site, e) : follow_group(ft, &via, ranks, tag, words, site, e);
    ft_order_step(ft);
    if (!err && words[ROOM] >= 0)
        err = no_room((int)words[ROOM], e);
    else if (!err)
        err = words[STREAM] ? open_offered(ft, parent, new, words, e) : no_stream(new, e);
    end_offer(ft, &o);
    return err;
}

int ft_comm_create_group(struct ft *ft, const struct ft_comm *parent, const uint32_t *ranks, uint32_t n, int tag, struct ft_comm *new,
                         uint64_t site, struct ft_error *e)
{
    int err;

    *new = (struct ft_comm){ .n = n, .ranks = new_ranks(n) };
    if (!new->ranks)
        return ft_err_set(e, FT_ENOMEM, "rank %u has no memory for a communicator", ft->world.me);
    for (uint32_t i = 0; i < n; i++) {
        new->ranks[i] = parent->ranks[ranks[i]];
        if (ranks[i] == parent->me)
            new->me = i;
    }
    err = make_group(ft, parent, ranks, tag, new, site, e);
    if (!err)
        err = note_made(ft, new, e);
    if (err)
        ft_comm_close(new);
    return err;
}

void ft_comm_free(struct ft_comm *c)
{
    ft_made_remove(&c->ft->made, c->context);
    if (c->stream->region)
        ft_stream_leave_use(c->stream);
    else
        free(c->stream);
    ft_comm_close(c);
}

bool ft_comm_any(const struct ft *ft) { return ft->njoined > 0; }

/* ---- for checkpoints ---- */

const struct ft_stream *ft_comms_stream(const struct ft *ft, uint32_t i) { return &ft->joined[i]->s; }

enum { WORLD, SELF, MADE };

static uint64_t context_of_world(const struct ft *ft) { return ft->world.size > 1 ? context_of(0, 1) : ALONE; }

bool ft_comms_context(const struct ft *ft, uint64_t number, uint64_t *context)
{
    *context = number == WORLD ? context_of_world(ft) : number == SELF ? ALONE : ft_made_context(&ft->made, number - MADE + 1);
    return *context;
}

uint64_t ft_comms_number(const struct ft *ft, uint64_t context)
{
    uint64_t number = ft_made_number(&ft->made, context);

    if (context == context_of_world(ft))
        return WORLD;
    if (context == ALONE)
        return SELF;
    return number ? number + MADE - 1 : UINT64_MAX;
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
