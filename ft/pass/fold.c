/* SPDX-License-Identifier: BSD-3-Clause */
/* A reduction: from the last rank to the first each folds its own elements with what it gets from the next one, and passes that on. n - 1
   messages one after the other. A tree would be faster; but this is the order in which streams fold, and whether a communicator
   has a stream depends on what others have left by then. No result depends on that. */
#include <stdlib.h>

#include "ft/base/util.h"
#include "ft/pass/pass.h"

/* own op acc to acc. */
static void combine(const struct ft_op *op, const void *own, void *acc, uint64_t n, uint32_t elem)
{
    if (op->reduction == FT_USER)
        op->user(op->ctx, own, acc, n / elem);
    else
        op->fold(own, acc, acc, n / elem);
}

static int fold_into(const struct ft_pass *p, const struct ft_op *op, const void *own, void *acc, uint64_t n, uint32_t elem, struct ft_error *e)
{
    int err = ft_pass_receive(p, p->c->me + 1, acc, n, e);

    if (err)
        return err;
    if (n)
        combine(op, own, acc, n, elem);
    return p->c->me > 0 ? ft_pass_send(p, p->c->me - 1, acc, n, e) : 0;
}

int ft_pass_fold(const struct ft_pass *p, const struct ft_op *op, const void *own, void *result, uint64_t n, uint32_t elem, struct ft_error *e)
{
    bool first = p->c->me == 0;
    void *acc;
    int err;

    if (p->c->n == 1 && own != result && n)
        memcpy(result, own, n);
    if (p->c->n == 1)
        return 0;
    if (p->c->me == p->c->n - 1)
        return ft_pass_send(p, p->c->me - 1, own, n, e);
    if (first && result != own)
        return fold_into(p, op, own, result, n, elem, e);
    acc = malloc(ft_max(n, 1u));
    if (!acc)
        return ft_pass_no_memory(p, n, e);
    err = fold_into(p, op, own, acc, n, elem, e);
    if (!err && first && n)
        memcpy(result, acc, n);
    free(acc);
    return err;
}
