/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/pass/pass.h"

#include <stdlib.h>

#include "ft/base/util.h"
#include "ft/order.h"

static const struct ft_type bytes_of = { .elem = 1, .kind = FT_BYTE };

/* ---- a call as a tag: call, reduction, kind, root + 1 ---- */

enum { REDUCTION_BITS = 4, KIND_BITS = 5, CALL_BITS = 5, ROOT_BITS = 17 };
_Static_assert(FT_NREDUCTIONS <= 1 << REDUCTION_BITS && FT_NKINDS <= 1 << KIND_BITS && (int)FT_NCALLS <= 1 << CALL_BITS,
               "there is room for each");

static int tag_of(const struct ft_sig *sig)
{
    uint32_t root = (uint32_t)(sig->root + 1) & ((1u << ROOT_BITS) - 1);

    return (int)(((root << CALL_BITS | sig->call) << REDUCTION_BITS | sig->reduction) << KIND_BITS | sig->kind);
}

/* elem: what this rank takes an element for, if the kind does not say. */
static struct ft_sig call_of(int tag, uint64_t bytes, uint32_t elem)
{
    uint32_t t = (uint32_t)tag;
    struct ft_sig sig = { .kind = t & ((1 << KIND_BITS) - 1), .reduction = t >> KIND_BITS & ((1 << REDUCTION_BITS) - 1) };

    t >>= KIND_BITS + REDUCTION_BITS;
    sig.call = t & ((1 << CALL_BITS) - 1);
    sig.root = (int)(t >> CALL_BITS) - 1;
    sig.elem = sig.kind == FT_OPAQUE || sig.kind >= FT_NKINDS ? elem : (uint32_t)ft_kind_size(sig.kind);
    sig.count = bytes / ft_max(sig.elem, 1u);
    return sig;
}

/* Both as the message shows them: of an allgatherv, one part. */
static int mismatch(const struct ft_pass *p, uint32_t from, uint64_t n, const struct ft_told *told, struct ft_error *e)
{
    char my_call[128], my_text[96], their_call[128], their_text[96];
    struct ft_sig mine = p->sig, theirs = call_of(told->tag, told->sent, p->sig.elem);

    mine.count = n / ft_max(mine.elem, 1u);
    return ft_err_set(e, FT_EMISMATCH, "mismatched collectives on %s: rank %u calls %s at %s, rank %u calls %s at %s", p->on->name, p->c->me,
                      ft_sig_print(&mine, my_call, sizeof my_call), ft_site_print(p->site, my_text, sizeof my_text), from,
                      ft_sig_print(&theirs, their_call, sizeof their_call), ft_site_print(told->site, their_text, sizeof their_text));
}

/* What it has waited for may have come while other threads called: it goes on in its turn. */
int ft_pass_send(const struct ft_pass *p, uint32_t to, const void *bytes, uint64_t n, struct ft_error *e)
{
    ft_order_step(p->on->ft);
    return ft_send(p->on->ft, p->c, bytes, n, bytes_of, (int)to, tag_of(&p->sig), FT_SEND_STANDARD, p->site, e);
}

int ft_pass_receive(const struct ft_pass *p, uint32_t from, void *bytes, uint64_t n, struct ft_error *e)
{
    struct ft_told told;
    int err;

    ft_order_step(p->on->ft);
    err = ft_recv(p->on->ft, p->c, bytes, n, bytes_of, (int)from, FT_ANY_TAG, &told, p->site, e);

    if (!err && (told.tag != tag_of(&p->sig) || told.sent != n))
        err = mismatch(p, from, n, &told, e);
    return err;
}

int ft_pass_no_memory(const struct ft_pass *p, uint64_t n, struct ft_error *e)
{
    return ft_err_set(e, FT_ENOMEM, "rank %u of %s has no memory for %llu byte%s", p->c->me, p->on->name, (unsigned long long)n, ft_plural(n));
}

/* ---- a stream's operations ---- */

static char *at(const struct ft_view *v) { return ft_view_direct(v, 0); }

/* Rank 0 has the result, and the root may be another one. */
static int reduce(const struct ft_pass *p, const struct ft_coll *c, struct ft_error *e)
{
    bool forwards = p->c->me == 0 && c->root != 0;
    char *result = forwards ? malloc(ft_max(c->bytes, 1u)) : at(&c->recv);
    int err;

    if (forwards && !result)
        return ft_pass_no_memory(p, c->bytes, e);
    err = ft_pass_fold(p, c->op, at(&c->send), result, c->bytes, c->elem, e);
    if (!err && forwards)
        err = ft_pass_send(p, (uint32_t)c->root, result, c->bytes, e);
    else if (!err && p->c->me == (uint32_t)c->root && c->root != 0)
        err = ft_pass_receive(p, 0, at(&c->recv), c->bytes, e);
    if (forwards)
        free(result);
    return err;
}

static int allreduce(const struct ft_pass *p, const struct ft_coll *c, struct ft_error *e)
{
    int err = ft_pass_fold(p, c->op, at(&c->send), at(&c->recv), c->bytes, c->elem, e);

    return err ? err : ft_pass_bcast(p, 0, at(&c->recv), c->bytes, e);
}

int ft_pass_run(const struct ft_coll *c, const struct ft_sig *sig, uint64_t site, struct ft_error *e)
{
    struct ft_pass p = { .on = c->s->passing, .c = &c->s->passing->all, .sig = *sig, .site = site };

    if (ft_sig_agrees(sig))
        return allreduce(&p, c, e);
    switch (sig->call) {
    case FT_CALL_BARRIER: return ft_pass_barrier(&p, e);
    case FT_CALL_BCAST: return ft_pass_bcast(&p, (uint32_t)c->root, at(ft_view_exists(&c->send) ? &c->send : &c->recv), c->bytes, e);
    case FT_CALL_REDUCE: return reduce(&p, c, e);
    case FT_CALL_ALLREDUCE: return allreduce(&p, c, e);
    case FT_CALL_ALLGATHER:
    case FT_CALL_ALLGATHERV: return ft_pass_allgather(&p, &c->send, &c->recv, e);
    }
    FT_INVARIANT(false, "there is an algorithm for it");
    return FT_EINVAL;
}
