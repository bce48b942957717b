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

/* What is sent or received, side by side: in the program's memory, or, with gaps, in a copy. */
struct flat {
    struct ft_view v;
    uint64_t n;
    char *at, *copy;
};

static int open_view(struct flat *f, const struct ft_pass *p, const struct ft_view *v, bool sends, struct ft_error *e)
{
    *f = (struct flat){ .v = *v, .n = ft_view_bytes(v) };
    f->at = ft_view_direct(&f->v, 0);
    if (!ft_view_has_layout(&f->v) || !f->n)
        return 0;
    f->at = f->copy = malloc(f->n);
    if (!f->copy)
        return ft_pass_no_memory(p, f->n, e);
    if (sends)
        ft_view_pack(&f->v, 0, f->n, f->copy);
    return 0;
}

static int open_flat(struct flat *f, const struct ft_pass *p, const void *buffer, uint64_t count, struct ft_type type, bool sends, struct ft_error *e)
{
    struct ft_view v = ft_view_of(buffer, count, type);

    return open_view(f, p, &v, sends, e);
}

static int close_flat(struct flat *f, bool receives, int err)
{
    if (f->copy && receives && !err)
        ft_view_unpack(&f->v, 0, f->n, f->copy);
    free(f->copy);
    return err;
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

static int bcast(const struct sides *s, struct flat *f, int root, struct ft_error *e)
{
    int err = 0;

    if (root == FT_ROOT)
        return ft_pass_send(&s->far, 0, f->at, f->n, e);
    if (s->near.c->me == 0)
        err = ft_pass_receive(&s->far, (uint32_t)root, f->at, f->n, e);
    return err ? err : ft_pass_bcast(&s->near, 0, f->at, f->n, e);
}

int ft_intercomm_bcast(const struct ft_comm *c, void *data, uint64_t count, struct ft_type type, int root, uint64_t site, struct ft_error *e)
{
    struct sides s = sides_of(c, FT_CALL_BCAST, type, count, root, NULL, site);
    struct flat f;
    int err;

    if (root == FT_NOT_ROOT)
        return 0;
    err = open_flat(&f, &s.near, data, count, type, root == FT_ROOT, e);
    return close_flat(&f, root != FT_ROOT, err ? err : bcast(&s, &f, root, e));
}

/* On rank 0 to `result`. */
static int fold(const struct sides *s, const struct flat *send, void *result, const struct ft_op *op, struct ft_error *e)
{
    return ft_pass_fold(&s->near, op, send->at, result, send->n, s->near.sig.elem, e);
}

static int reduce_to(const struct sides *s, const struct flat *send, const struct ft_op *op, int root, struct ft_error *e)
{
    void *result;
    int err;

    if (s->near.c->me > 0)
        return fold(s, send, NULL, op, e);
    result = malloc(ft_max(send->n, 1u));
    if (!result)
        return ft_pass_no_memory(&s->near, send->n, e);
    err = fold(s, send, result, op, e);
    if (!err)
        err = ft_pass_send(&s->far, (uint32_t)root, result, send->n, e);
    free(result);
    return err;
}

int ft_intercomm_reduce(const struct ft_comm *c, const void *send, void *recv, uint64_t count, struct ft_type type, const struct ft_op *op,
                        int root, uint64_t site, struct ft_error *e)
{
    struct sides s = sides_of(c, FT_CALL_REDUCE, type, count, root, op, site);
    struct flat f;
    int err;

    if (root == FT_NOT_ROOT)
        return 0;
    err = open_flat(&f, &s.near, root == FT_ROOT ? recv : send, count, type, root != FT_ROOT, e);
    if (!err)
        err = root == FT_ROOT ? ft_pass_receive(&s.far, 0, f.at, f.n, e) : reduce_to(&s, &f, op, root, e);
    return close_flat(&f, root == FT_ROOT, err);
}

static int allreduce(const struct sides *s, const struct flat *send, const struct flat *recv, const struct ft_op *op, struct ft_error *e)
{
    int err = fold(s, send, recv->at, op, e);

    if (!err && s->near.c->me == 0)
        err = ft_pass_send(&s->far, 0, recv->at, recv->n, e);
    if (!err && s->near.c->me == 0)
        err = ft_pass_receive(&s->far, 0, recv->at, recv->n, e);
    return err ? err : ft_pass_bcast(&s->near, 0, recv->at, recv->n, e);
}

int ft_intercomm_allreduce(const struct ft_comm *c, const void *send, void *recv, uint64_t count, struct ft_type type, const struct ft_op *op,
                           uint64_t site, struct ft_error *e)
{
    struct sides s = sides_of(c, FT_CALL_ALLREDUCE, type, count, -1, op, site);
    struct flat given, got;
    int err = open_flat(&given, &s.near, send, count, type, true, e), also = open_flat(&got, &s.near, recv, count, type, false, e);

    err = err ? err : also;
    if (!err)
        err = allreduce(&s, &given, &got, op, e);
    close_flat(&given, false, err);
    return close_flat(&got, true, err);
}

/* One rank's part of the other group's. */
static int part(const struct sides *s, uint32_t from, const struct ft_view *v, struct ft_error *e)
{
    struct flat f;
    int err = open_view(&f, &s->near, v, false, e);

    if (!err && s->near.c->me == 0)
        err = ft_pass_receive(&s->far, from, f.at, f.n, e);
    if (!err)
        err = ft_pass_bcast(&s->near, 0, f.at, f.n, e);
    return close_flat(&f, true, err);
}

int ft_intercomm_allgather(const struct ft_comm *c, const void *send, uint64_t sends, struct ft_type sent, void *recv, uint64_t count,
                           const int *counts, const int *displs, struct ft_type type, uint64_t site, struct ft_error *e)
{
    struct ft_type byte = { .elem = 1, .kind = FT_BYTE };
    struct sides s = sides_of(c, displs ? FT_CALL_ALLGATHERV : FT_CALL_ALLGATHER, byte, sends * sent.elem, -1, NULL, site);
    struct ft_parts parts = { .n = c->n, .counts = counts, .displs = displs };
    struct ft_view all = ft_view_of(recv, count, type);
    struct flat f;
    int err = open_flat(&f, &s.near, send, sends, sent, true, e);

    if (!err)
        err = ft_pass_send(&s.far, 0, f.at, f.n, e);
    close_flat(&f, false, err);
    all.parts = &parts;
    for (uint32_t r = 0; r < c->n && !err; r++) {
        struct ft_view one = ft_view_part(&all, r);

        err = part(&s, r, &one, e);
    }
    return err;
}
