/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_idup: its first rank says the context to all others, each of which waits for that and nothing else. So nobody waits for a rank
   that has not called it yet, but for the first one. It has no stream: to come into one is to wait for all. */
#include "ft/comms.h"
#include "ft/message.h"
#include "ft/pass/pass.h"

static const struct ft_type word = { .elem = 8, .kind = FT_U64 };

/* In the order of calls: messages of one rank keep theirs. */
static int start(struct ft *ft, const struct ft_comm *parent, struct ft_comm *new, struct ft_request **r, uint64_t site, struct ft_error *e)
{
    struct ft_comm via = *parent;
    int err = 0;

    via.context |= FT_CONTEXT_IDUP;
    if (new->me > 0)
        return ft_recv_start(ft, &via, &new->context, 1, word, 0, 0, site, r, e);
    new->context = ft_context_of(new->ranks[0], ft_context_next(ft));
    for (uint32_t i = 1; i < new->n && !err; i++)
        err = ft_send(ft, &via, &new->context, 1, word, (int)i, 0, FT_SEND_STANDARD, site, e);
    return err;
}

int ft_comm_idup(struct ft *ft, const struct ft_comm *parent, struct ft_comm *new, struct ft_request **r, uint64_t site, struct ft_error *e)
{
    int64_t words[FT_OFFERS] = { 0 };
    int err;

    *r = NULL;
    *new = (struct ft_comm){ .n = parent->n, .me = parent->me, .ranks = ft_ranks_hold(parent->ranks) };
    if (new->n == 1)
        words[FT_OFFER_NUMBER] = (int64_t)ft_context_next(ft);
    err = ft_comm_open(ft, parent, new, words, false, e);
    if (err) {
        ft_comm_close(new);
        return err;
    }
    if (new->n > 1)
        err = start(ft, parent, new, r, site, e);
    if (err)
        ft_comm_free(new);
    else if (!*r)
        ft_comm_idup_end(new);
    return err;
}

void ft_comm_idup_end(struct ft_comm *new)
{
    struct ft_passing *passing = new->stream->passing;

    if (passing)
        passing->all.context = new->context | FT_CONTEXT_HIDDEN;
}
