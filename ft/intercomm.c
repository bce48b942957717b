/* SPDX-License-Identifier: BSD-3-Clause */
/* How intercommunicators are made. The first rank of the group that goes first gives the context. */
#include "ft/intercomm.h"

#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"
#include "ft/comms.h"
#include "ft/messages.h"
#include "ft/order.h"
#include "ft/pass/pass.h"

static const struct ft_type word = { .elem = 8, .kind = FT_I64 };
static const struct ft_type number = { .elem = sizeof(int), .kind = FT_I32 };

static int no_memory(const struct ft *ft, struct ft_error *e)
{
    return ft_err_set(e, FT_ENOMEM, "rank %u has no memory for a communicator", ft->world.me);
}

bool ft_intercomm_goes_first(const struct ft_comm *c) { return c->local->ranks[0] < c->ranks[0]; }

int ft_intercomm_groups(struct ft_comm *new, int *local, uint32_t nlocal, uint32_t me, int *remote, uint32_t nremote, struct ft_error *e)
{
    struct ft_comm *own = malloc(sizeof *own);

    if (!own || !local || !remote) {
        free(own);
        ft_ranks_release(local);
        ft_ranks_release(remote);
        *new = (struct ft_comm){ 0 };
        return ft_err_set(e, FT_ENOMEM, "there is no memory for a communicator");
    }
    *own = (struct ft_comm){ .n = nlocal, .me = me, .ranks = local };
    *new = (struct ft_comm){ .n = nremote, .me = me, .ranks = remote, .local = own };
    return 0;
}

/* Errors are said by all ranks alike. */
static int open_inter(struct ft *ft, const struct ft_comm *parent, struct ft_comm *new, struct ft_error *e)
{
    int err = ft_comm_check_place(ft, new, e);

    if (!err)
        err = ft_comm_open_passing(ft, parent, new, e);
    if (!err)
        err = ft_comm_note(ft, new, e);
    if (err)
        ft_comm_close(new);
    return err;
}

/* ---- of two communicators ---- */

enum { SIZE, CONTEXT, SAYS };

/* Both leaders tell each other their groups. */
static int meet(struct ft *ft, const struct ft_comm *local, const struct ft_comm *peer, int remote, int tag, int64_t *says, int **ranks,
                uint64_t site, struct ft_error *e)
{
    bool first = (int)ft->world.me < peer->ranks[remote];
    int64_t mine[SAYS] = { local->n, first ? (int64_t)ft_context_of((int)ft->world.me, ft_context_next(ft)) : 0 };
    struct ft_comm via = *peer;
    struct ft_told told;
    int err;

    via.context |= FT_CONTEXT_MAKES;
    err = ft_send(ft, &via, mine, SAYS, word, remote, tag, FT_SEND_STANDARD, site, e);
    if (!err)
        err = ft_send(ft, &via, local->ranks, local->n, number, remote, tag, FT_SEND_STANDARD, site, e);
    if (!err)
        err = ft_recv(ft, &via, says, SAYS, word, remote, tag, &told, site, e);
    if (err)
        return err;
    if (first)
        says[CONTEXT] = mine[CONTEXT];
    ft_order_step(ft);
    *ranks = ft_ranks_new((uint32_t)says[SIZE]);
    return *ranks ? ft_recv(ft, &via, *ranks, (uint64_t)says[SIZE], number, remote, tag, &told, site, e) : no_memory(ft, e);
}

static bool share_a_rank(const struct ft_comm *new)
{
    for (uint32_t i = 0; i < new->n; i++)
        for (uint32_t k = 0; k < new->local->n; k++)
            if (new->ranks[i] == new->local->ranks[k])
                return true;
    return false;
}

int ft_intercomm_create(struct ft *ft, const struct ft_comm *local, uint32_t leader, const struct ft_comm *peer, int remote, int tag,
                        struct ft_comm *new, bool *shared, uint64_t site, struct ft_error *e)
{
    int64_t says[SAYS] = { 0 };
    int *ranks = NULL, err = 0;

    *shared = false;
    *new = (struct ft_comm){ 0 };
    if (local->me == leader)
        err = meet(ft, local, peer, remote, tag, says, &ranks, site, e);
    if (!err)
        err = ft_bcast(local->stream, says, SAYS, word, (int)leader, site, e);
    if (!err && !ranks)
        ranks = ft_ranks_new((uint32_t)says[SIZE]);
    if (!err)
        err = ranks ? ft_bcast(local->stream, ranks, (uint64_t)says[SIZE], number, (int)leader, site, e) : no_memory(ft, e);
    if (err) {
        ft_ranks_release(ranks);
        return err;
    }
    ft_order_step(ft);
    err = ft_intercomm_groups(new, ft_ranks_hold(local->ranks), local->n, local->me, ranks, (uint32_t)says[SIZE], e);
    if (err)
        return err;
    *shared = share_a_rank(new);
    if (*shared) {
        ft_comm_close(new);
        return 0;
    }
    new->context = (uint64_t)says[CONTEXT];
    return open_inter(ft, local, new, e);
}

/* ---- of one ---- */

/* `each` words of each rank: of this one's group, and of the other one. */
static int tell_all(const struct ft_comm *c, enum ft_call call, const int64_t *own, uint32_t each, int64_t *locals, int64_t *remotes, uint64_t site,
                    struct ft_error *e)
{
    const struct ft_passing *on = c->stream->passing;
    struct ft_sig sig = { .call = (uint8_t)call, .kind = FT_I64, .root = -1, .elem = 8, .count = each };
    struct ft_pass near = { on, &on->local, sig, site }, far = { on, &on->all, sig, site };
    struct ft_parts parts = { .n = c->local->n };
    struct ft_view mine = ft_view_of(own, each, word), all = ft_view_of(locals, each, word);
    uint64_t bytes = c->n * each * sizeof *remotes;
    int err;

    all.parts = &parts;
    err = ft_pass_allgather(&near, &mine, &all, e);
    if (!err && c->me == 0)
        err = ft_pass_send(&far, 0, locals, c->local->n * each * sizeof *locals, e);
    if (!err && c->me == 0)
        err = ft_pass_receive(&far, 0, remotes, bytes, e);
    return err ? err : ft_pass_bcast(&near, 0, remotes, bytes, e);
}

int ft_intercomm_dup(struct ft *ft, const struct ft_comm *c, struct ft_comm *new, uint64_t site, struct ft_error *e)
{
    struct ft_request *r;
    int err = ft_comm_idup(ft, c, new, &r, site, e);

    if (err || !r)
        return err;
    err = ft_wait_all(ft, &r, 1, site, e);
    if (err)
        return err;
    ft_request_end(ft, r);
    return ft_comm_idup_end(ft, new, e);
}

/* Words of both groups. */
struct words {
    int64_t *local, *remote;
};

static struct words words_of(const struct ft_comm *c, uint32_t each)
{
    int64_t *all = calloc((uint64_t)(c->local->n + c->n) * each, sizeof *all);

    return (struct words){ all, all ? all + c->local->n * each : NULL };
}

enum { HIGH, GIVES, MERGES };
int ft_intercomm_merge(struct ft *ft, const struct ft_comm *c, bool high, struct ft_comm *new, uint64_t site, struct ft_error *e)
{
    int64_t own[MERGES] = { high, c->me == 0 ? (int64_t)ft_context_of((int)ft->world.me, ft_context_next(ft)) : 0 };
    struct words w = words_of(c, MERGES);
    const struct ft_comm *l = c->local;
    bool first;
    int err;

    *new = (struct ft_comm){ .n = l->n + c->n, .ranks = ft_ranks_new(l->n + c->n) };
    err = w.local && new->ranks ? tell_all(c, FT_CALL_COMM_CREATE, own, MERGES, w.local, w.remote, site, e) : no_memory(ft, e);
    ft_order_step(ft);
    if (!err) {
        first = w.local[HIGH] == w.remote[HIGH] ? ft_intercomm_goes_first(c) : !w.local[HIGH];
        memcpy(new->ranks + (first ? 0 : c->n), l->ranks, l->n * sizeof *l->ranks);
        memcpy(new->ranks + (first ? l->n : 0), c->ranks, c->n * sizeof *c->ranks);
        new->me = first ? c->me : c->n + c->me;
        new->context = (uint64_t)(first ? w.local : w.remote)[GIVES];
        err = ft_comm_open_passing(ft, c, new, e);
        err = err ? err : ft_comm_note(ft, new, e);
    }
    free(w.local);
    if (err)
        ft_comm_close(new);
    return err;
}

/* Those of `color`, as ranks of MPI_COMM_WORLD; *me: which of them is rank `own`; *first: the first of them, as a rank of the group. NULL: no
   memory. */
static int *choose(const struct ft_comm *group, const int64_t *said, int64_t color, uint32_t own, uint32_t *n, uint32_t *me, uint32_t *first)
{
    struct ft_chosen *chosen = malloc(group->n * sizeof *chosen);
    int *ranks = NULL;

    *n = chosen ? ft_comm_choose(said, group->n, color, chosen) : 0;
    if (chosen)
        ranks = ft_ranks_new(*n);
    for (uint32_t i = 0; ranks && i < *n; i++) {
        ranks[i] = group->ranks[chosen[i].rank];
        if (chosen[i].rank == own)
            *me = i;
        *first = chosen[0].rank;
    }
    free(chosen);
    return ranks;
}

/* The first rank of the group that goes first gives the context of each color. */
static int split(struct ft *ft, const struct ft_comm *c, int64_t color, int64_t key, struct words *says, struct words *gives,
                 struct ft_comm *new, uint64_t site, struct ft_error *e)
{
    uint32_t nlocal, nremote, me = 0, first[2] = { 0, 0 };
    int64_t own[FT_CHOICE] = { color, key }, context = 0;
    bool leads = ft_intercomm_goes_first(c);
    int err = tell_all(c, FT_CALL_COMM_SPLIT, own, FT_CHOICE, says->local, says->remote, site, e);
    int *local, *remote;

    if (err)
        return err;
    ft_order_step(ft);
    local = choose(c->local, says->local, color, c->me, &nlocal, &me, &first[0]);
    remote = choose(c, says->remote, color, UINT32_MAX, &nremote, &me, &first[1]);
    if (leads && nlocal && nremote && me == 0)
        context = (int64_t)ft_context_of((int)ft->world.me, ft_context_next(ft));
    err = tell_all(c, FT_CALL_COMM_SPLIT, &context, 1, gives->local, gives->remote, site, e);
    ft_order_step(ft);
    if (err || !local || !remote || !nlocal || !nremote) {
        if (!err && (!local || !remote))
            err = no_memory(ft, e);
        ft_ranks_release(local);
        ft_ranks_release(remote);
        return err;
    }
    err = ft_intercomm_groups(new, local, nlocal, me, remote, nremote, e);
    if (err)
        return err;
    new->context = (uint64_t)(leads ? gives->local[first[0]] : gives->remote[first[1]]);
    return open_inter(ft, c, new, e);
}

int ft_intercomm_split(struct ft *ft, const struct ft_comm *c, int64_t color, int64_t key, struct ft_comm *new, uint64_t site, struct ft_error *e)
{
    struct words says = words_of(c, FT_CHOICE), gives = words_of(c, 1);
    int err;

    *new = (struct ft_comm){ 0 };
    err = says.local && gives.local ? split(ft, c, color, key, &says, &gives, new, site, e) : no_memory(ft, e);
    free(says.local);
    free(gives.local);
    return err;
}
