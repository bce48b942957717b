/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/copies.h"

#include <limits.h>
#include <stdlib.h>

#include "ft/base/util.h"

/* A buffer's copy, if that has a layout: its parts lie side by side. */
struct copy {
    char *memory;
    int *displs;
    struct ft_parts parts;
};

/* Of uneven parts. False: no memory, or so many elements that an int does not count them. */
static bool place_parts(struct copy *k, const struct ft_parts *parts)
{
    int64_t at = 0;

    k->displs = malloc(parts->n * sizeof *k->displs);
    for (uint32_t r = 0; k->displs && r < parts->n && at <= INT_MAX; at += parts->counts[r++])
        k->displs[r] = (int)at;
    k->parts = (struct ft_parts){ parts->n, parts->counts, k->displs };
    return k->displs && at <= INT_MAX;
}

static int make(struct copy *k, struct ft_view *v, const struct ft_coll *c, struct ft_error *e)
{
    uint64_t bytes = ft_view_bytes(v);
    const struct ft_parts *parts = v->parts;
    struct ft_type type = v->type;

    *k = (struct copy){ 0 };
    if (!ft_view_has_layout(v))
        return 0;
    type.layout = NULL;
    k->memory = malloc(bytes ? bytes : 1);
    if (!k->memory || (ft_view_is_uneven(v) && !place_parts(k, parts)))
        return ft_err_set(e, FT_ENOMEM, "rank %u has no memory for a copy of %llu byte%s with gaps", c->s->me, (unsigned long long)bytes,
                          ft_plural(bytes));
    *v = ft_view_of(k->memory, v->count, type);
    v->parts = k->displs ? &k->parts : parts;
    return 0;
}

static void give_back(const struct copy *k, const struct ft_view *v)
{
    uint64_t at = 0;

    for (uint32_t i = 0; k->memory && i < ft_view_pieces(v); i++) {
        struct ft_view piece = ft_view_piece(v, i);
        uint64_t n = ft_view_bytes(&piece);

        if (n)
            ft_view_unpack(&piece, 0, n, k->memory + at);
        at += n;
    }
}

static void drop(struct copy *k)
{
    free(k->memory);
    free(k->displs);
}

int ft_copies_use(struct ft_coll *c, const struct ft_sig *sig, uint64_t total, uint64_t site, ft_copies_run *run, struct ft_error *e)
{
    struct ft_view send = c->send, recv = c->recv;
    struct copy given, received = { 0 };
    int err = make(&given, &c->send, c, e);

    if (!err)
        err = make(&received, &c->recv, c, e);
    if (!err && given.memory && ft_view_bytes(&send))
        ft_view_pack(&send, 0, ft_view_bytes(&send), given.memory);
    if (!err)
        err = run(c, sig, total, site, e);
    if (!err)
        give_back(&received, &recv);
    drop(&given);
    drop(&received);
    return err;
}
