/* SPDX-License-Identifier: BSD-3-Clause */
/* A communicator that some of another one's ranks make without the others: in messages of a context of its own. */
#include <stdlib.h>

#include "ft/comms.h"
#include "ft/messages.h"
#include "ft/order.h"

static const struct ft_type word = { .elem = 8, .kind = FT_I64 };

/* The first one hears which of the others have room, and tells them the stream. What an earlier incarnation of it has told the second one
   counts: the stream may be in a later use by now. */
static int lead_group(struct ft *ft, const struct ft_comm *via, const struct ft_comm *new, const uint32_t *ranks, int tag, int64_t *words,
                      struct ft_offer *o, uint64_t site, struct ft_error *e)
{
    int64_t room = ft_comm_has_room(ft), number = (int64_t)ft_context_next(ft);
    int err, told;
    struct ft_messages *m = ft_messages_of(ft, &err, e);

    for (uint32_t i = 1; i < new->n && !err; i++) {
        struct ft_told t;
        int64_t theirs = 0;

        ft_order_step(ft);
        err = ft_recv(ft, via, &theirs, 1, word, (int)ranks[i], tag, &t, site, e);
        room &= theirs;
    }
    if (err)
        return err;
    ft_order_step(ft);
    told = ft_messages_sent_before(m, (uint32_t)ft_messages_local(m, via, (int)ranks[1]), words, FT_OFFERS * sizeof *words, e);
    if (told < 0)
        return told;
    if (!told) {
        ft_comm_offer(ft, o, words);
        words[FT_OFFER_NUMBER] = number;
        words[FT_OFFER_ROOM] = room;
    }
    for (uint32_t i = 1; i < new->n && !err; i++)
        err = ft_send(ft, via, words, FT_OFFERS, word, (int)ranks[i], tag, FT_SEND_STANDARD, site, e);
    return err;
}

static int follow_group(struct ft *ft, const struct ft_comm *via, const uint32_t *ranks, int tag, int64_t *words, uint64_t site, struct ft_error *e)
{
    int64_t room = ft_comm_has_room(ft);
    struct ft_told t;
    int err = ft_send(ft, via, &room, 1, word, (int)ranks[0], tag, FT_SEND_STANDARD, site, e);

    return err ? err : ft_recv(ft, via, words, FT_OFFERS, word, (int)ranks[0], tag, &t, site, e);
}

static int make_group(struct ft *ft, const struct ft_comm *parent, const uint32_t *ranks, int tag, struct ft_comm *new, uint64_t site,
                      struct ft_error *e)
{
    struct ft_comm via = *parent;
    int64_t words[FT_OFFERS] = { 0 };
    struct ft_offer o = { 0 };
    int err = new->n > 1 ? ft_comm_check_place(ft, new, e) : 0;

    if (err)
        return err;
    via.context |= FT_CONTEXT_MAKES;
    if (new->n == 1)
        words[FT_OFFER_NUMBER] = (int64_t)ft_context_next(ft);
    else
        err = new->me == 0 ? lead_group(ft, &via, new, ranks, tag, words, &o, site, e) : follow_group(ft, &via, ranks, tag, words, site, e);
    ft_order_step(ft);
    if (!err)
        err = ft_comm_open(ft, parent, new, words, words[FT_OFFER_ROOM], e);
    ft_comm_end_offer(ft, &o);
    return err;
}

int ft_comm_create_group(struct ft *ft, const struct ft_comm *parent, const uint32_t *ranks, uint32_t n, int tag, struct ft_comm *new,
                         uint64_t site, struct ft_error *e)
{
    int err;

    *new = (struct ft_comm){ .n = n, .ranks = ft_ranks_new(n) };
    if (!new->ranks)
        return ft_err_set(e, FT_ENOMEM, "rank %u has no memory for a communicator", ft->world.me);
    for (uint32_t i = 0; i < n; i++) {
        new->ranks[i] = parent->ranks[ranks[i]];
        if (ranks[i] == parent->me)
            new->me = i;
    }
    err = make_group(ft, parent, ranks, tag, new, site, e);
    if (!err)
        err = ft_comm_note(ft, new, e);
    if (err)
        ft_comm_close(new);
    return err;
}
