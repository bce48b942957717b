/* SPDX-License-Identifier: BSD-3-Clause */
/* A barrier, or any call without data: empty messages up a binomial tree to rank 0, and down again. 2 log2(n) messages one after the
   other. */
#include "ft/pass/pass.h"

int ft_pass_barrier(const struct ft_pass *p, struct ft_error *e)
{
    uint32_t me = p->c->me, n = p->c->n, distance = 1;
    int err = 0;

    for (; distance < n && !(me & distance) && !err; distance <<= 1)
        if (me + distance < n)
            err = ft_pass_receive(p, me + distance, NULL, 0, e);
    if (!err && me > 0)
        err = ft_pass_send(p, me - distance, NULL, 0, e);
    return err ? err : ft_pass_bcast(p, 0, NULL, 0, e);
}
