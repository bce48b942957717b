/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_idup: its first rank says the context to all others, each of which waits for that and nothing else. So nobody waits for a rank
   that has not called it yet, but for the first one. It has no stream: to come into one is to wait for all. */
#include "ft/comms.h"
#include "ft/message.h"

static const struct ft_type word = { .elem = 8, .kind = FT_U64 };

static int tell(struct ft *ft, const struct ft_comm *to, uint32_t from, const uint64_t *context, uint64_t site, struct ft_error *e)
{
    struct ft_comm via = *to;
    int err = 0;

    via.context |= FT_CONTEXT_IDUP;
    for (uint32_t i = from; i < via.n && !err; i++)
        err = ft_send(ft, &via, context, 1, word, (int)i, 0, FT_SEND_STANDARD, site, e);
    return err;
}

/* In the order of calls: messages of one rank keep theirs. */
static int start(struct ft *ft, const struct ft_comm *parent, struct ft_comm *new, struct ft_request **r, uint64_t site, struct ft_error *e)
{
    bool with_first = !parent->local || ft_intercomm_goes_first(parent);
    struct ft_comm via = parent->local && with_first ? *parent->local : *parent;
    int err;

    if (new->me > 0 || !with_first) {
        via.context |= FT_CONTEXT_IDUP;
        return ft_recv_start(ft, &via, &new->context, 1, word, 0, 0, site, r, e);
    }
    new->context = ft_context_of((int)ft->world.me, ft_context_next(ft));
    err = tell(ft, &via, 1, &new->context, site, e);
    return err || !parent->local ? err : tell(ft, parent, 0, &new->context, site, e);
}

static int open_like(struct ft *ft, const struct ft_comm *parent, struct ft_comm *new, struct ft_error *e)
{
    int64_t words[FT_OFFERS] = { 0 };
    int err;

    if (parent->local) {
        err = ft_intercomm_groups(new, ft_ranks_hold(parent->local->ranks), parent->local->n, parent->me, ft_ranks_hold(parent->ranks), parent->n, e);
        return err ? err : ft_comm_open_passing(ft, parent, new, e);
    }
    *new = (struct ft_comm){ .n = parent->n, .me = parent->me, .ranks = ft_ranks_hold(parent->ranks) };
    if (new->n == 1)
        words[FT_OFFER_NUMBER] = (int64_t)ft_context_next(ft);
    return ft_comm_open(ft, parent, new, words, false, e);
}

int ft_comm_idup(struct ft *ft, const struct ft_comm *parent, struct ft_comm *new, struct ft_request **r, uint64_t site, struct ft_error *e)
{
    int err;

    *r = NULL;
    *new = (struct ft_comm){ 0 };
    err = open_like(ft, parent, new, e);
    if (err) {
        ft_comm_close(new);
        return err;
    }
    if (parent->n > 1 || parent->local)
        err = start(ft, parent, new, r, site, e);
    if (!err && !*r)
        err = ft_comm_idup_end(ft, new, e);
    if (err)
        ft_comm_free(new);
    return err;
}

int ft_comm_idup_end(struct ft *ft, struct ft_comm *new, struct ft_error *e)
{
    if (new->ft)
        return 0;
    ft_comm_has_context(new);
    return ft_comm_note(ft, new, e);
}
