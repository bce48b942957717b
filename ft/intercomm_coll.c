/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives of intercommunicators: what a group has to give goes to one of its ranks, or from each, to rank 0 of the other group, or to the root, and from there to
   the others. */
#include <stdlib.h>

#include "ft/base/util.h"
#include "ft/intercomm.h"
#include "ft/pass/pass.h"

/* Among this rank's own group, and with the other one. */
struct sides {
    struct ft_pass near, far;
};

static struct sides sides_of(const struct ft_comm *c, enum ft_call call, struct ft_type type, uint64_t count, int root, const struct ft_op *op,
                             uint64_t site)
{
    const struct ft_passing *on = c->stream->passing;
    struct ft_sig sig = { .call = (uint8_t)call, .reduction = op ? op->reduction : FT_NONE, .kind = (uint8_t)type.kind,
                          .root = root == FT_ROOT ? (int)c->me : root, .elem = type.elem, .count = count };

    return (struct sides){ .near = { on, &on->local, sig, site }, .far = { on, &on->all, sig, site } };
}

int ft_intercomm_barrier(const struct ft_comm *c, uint64_t site, struct ft_error *e)
{
    struct sides s = sides_of(c, FT_CALL_BARRIER, (struct ft_type){ .elem = 1, .kind = FT_BYTE }, 0, -1, NULL, site);
    int err = ft_pass_barrier(&s.near, e);

    if (!err && c->me == 0)
        err = ft_pass_send(&s.far, 0, NULL, 0, e);
    if (!err && c->me == 0)
        err = ft_pass_receive(&s.far, 0, NULL, 0, e);
    return err ? err : ft_pass_bcast(&s.near, 0, NULL, 0, e);
}

int ft_intercomm_bcast(const struct ft_comm *c, void *data, uint64_t count, struct ft_type type, int root, uint64_t site, struct ft_error *e)
{
    struct sides s = sides_of(c, FT_CALL_BCAST, type, count, root, NULL, site);
    uint64_t n = count * type.elem;
    int err = 0;

    if (root == FT_NOT_ROOT)
        return 0;
    if (root == FT_ROOT)
        return ft_pass_send(&s.far, 0, data, n, e);
    if (c->me == 0)
        err = ft_pass_receive(&s.far, (uint32_t)root, data, n, e);
    return err ? err : ft_pass_bcast(&s.near, 0, data, n, e);
}

/* On rank 0 to `result`. */
static int fold(const struct sides *s, const void *send, void *result, uint64_t n, const struct ft_op *op, struct ft_error *e)
{
    return ft_pass_fold(&s->near, op, send, result, n, s->near.sig.elem, e);
}

int ft_intercomm_reduce(const struct ft_comm *c, const void *send, void *recv, uint64_t count, struct ft_type type, const struct ft_op *op,
                        int root, uint64_t site, struct ft_error *e)
{
    struct sides s = sides_of(c, FT_CALL_REDUCE, type, count, root, op, site);
    uint64_t n = count * type.elem;
    void *result;
    int err;

    if (root == FT_NOT_ROOT)
        return 0;
    if (root == FT_ROOT)
        return ft_pass_receive(&s.far, 0, recv, n, e);
    if (c->me > 0)
        return fold(&s, send, NULL, n, op, e);
    result = malloc(ft_max(n, 1u));
    if (!result)
        return ft_pass_no_memory(&s.near, n, e);
    err = fold(&s, send, result, n, op, e);
    if (!err)
        err = ft_pass_send(&s.far, (uint32_t)root, result, n, e);
    free(result);
    return err;
}

int ft_intercomm_allreduce(const struct ft_comm *c, const void *send, void *recv, uint64_t count, struct ft_type type, const struct ft_op *op,
                           uint64_t site, struct ft_error *e)
{
    struct sides s = sides_of(c, FT_CALL_ALLREDUCE, type, count, -1, op, site);
    uint64_t n = count * type.elem;
    int err = fold(&s, send, recv, n, op, e);

    if (!err && c->me == 0)
        err = ft_pass_send(&s.far, 0, recv, n, e);
    if (!err && c->me == 0)
        err = ft_pass_receive(&s.far, 0, recv, n, e);
    return err ? err : ft_pass_bcast(&s.near, 0, recv, n, e);
}

int ft_intercomm_allgather(const struct ft_comm *c, const void *send, uint64_t bytes, void *recv, uint64_t count, const int *counts,
                           const int *displs, struct ft_type type, uint64_t site, struct ft_error *e)
{
    struct ft_type byte = { .elem = 1, .kind = FT_BYTE };
    struct sides s = sides_of(c, displs ? FT_CALL_ALLGATHERV : FT_CALL_ALLGATHER, byte, bytes, -1, NULL, site);
    int err = ft_pass_send(&s.far, 0, send, bytes, e);

    for (uint32_t r = 0; r < c->n && !err; r++) {
        uint64_t n = (displs ? (uint64_t)counts[r] : count) * type.elem;
        char *part = (char *)recv + (displs ? (int64_t)displs[r] : (int64_t)(r * count)) * (int64_t)type.elem;

        if (c->me == 0)
            err = ft_pass_receive(&s.far, r, part, n, e);
        if (!err)
            err = ft_pass_bcast(&s.near, 0, part, n, e);
    }
    return err;
}
