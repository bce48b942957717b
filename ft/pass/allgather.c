/* SPDX-License-Identifier: BSD-3-Clause */
/* An allgather round a ring: each rank passes on to the next one what it got last, at first its own part. n - 1 messages one after
   the other, and no byte goes to a rank twice. */
#include "ft/pass/pass.h"

int ft_pass_allgather(const struct ft_pass *p, const struct ft_view *own, const struct ft_view *all, struct ft_error *e)
{
    uint32_t n = p->c->n, me = p->c->me;
    struct ft_view mine = ft_view_part(all, me);
    int err = 0;

    ft_view_move(&mine, own, 0, ft_view_part_bytes(all, me), false);
    for (uint32_t i = 1; i < n && !err; i++) {
        uint32_t gives = (me + n - i + 1) % n, gets = (me + n - i) % n;
        struct ft_view from = ft_view_part(all, gives), to = ft_view_part(all, gets);

        err = ft_pass_send(p, (me + 1) % n, ft_view_direct(&from, 0), ft_view_part_bytes(all, gives), e);
        if (!err)
            err = ft_pass_receive(p, (me + n - 1) % n, ft_view_direct(&to, 0), ft_view_part_bytes(all, gets), e);
    }
    return err;
}
