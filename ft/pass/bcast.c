/* SPDX-License-Identifier: BSD-3-Clause */
/* A broadcast down a binomial tree: each rank has its message from one other, and passes it on to up to log2(n), the farthest
   first. */
#include "ft/pass/pass.h"

int ft_pass_bcast(const struct ft_pass *p, uint32_t root, void *data, uint64_t n, struct ft_error *e)
{
    uint32_t ranks = p->c->n, me = (p->c->me + ranks - root) % ranks, distance = 1;  /* counted from the root */
    int err = 0;

    while (distance < ranks && !(me & distance))
        distance <<= 1;
    if (me > 0)
        err = ft_pass_receive(p, (me - distance + root) % ranks, data, n, e);
    for (distance >>= 1; distance > 0 && !err; distance >>= 1)
        if (me + distance < ranks)
            err = ft_pass_send(p, (me + distance + root) % ranks, data, n, e);
    return err;
}
