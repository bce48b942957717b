/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/msg/check.h"

#include <stdlib.h>

/* By their hashes, which leave out the padding that some elements have inside. A piece has whole elements: both are powers of two. */
static uint64_t hash(const void *bytes, uint64_t n, struct ft_type type)
{
    struct ft_view v = ft_view_of(bytes, n, (struct ft_type){ .elem = 1, .kind = type.kind, .base = type.base });

    return ft_view_hash(&v);
}

int ft_msg_check(struct ft_msg_channel *c, const struct ft_sig *sig, const struct ft_view *v, uint64_t from, struct ft_unit *before,
                 struct ft_error *e)
{
    uint64_t n = sig->length;
    int sent = n ? ft_msg_sent(c, before, e) : 0, err;
    struct ft_view then;
    char *bytes;

    if (sent <= 0)
        return sent;
    if (!ft_sig_equal(&before->sig, sig))
        return 0;
    bytes = malloc(2 * n);
    if (!bytes)
        return FT_ENOMEM;
    then = ft_view_of(bytes, n, (struct ft_type){ .elem = 1, .kind = FT_BYTE });
    err = ft_msg_read(c, before, 0, n, &then, 0, e);
    ft_view_pack(v, from, n, bytes + n);
    if (!err && hash(bytes, n, v->type) != hash(bytes + n, n, v->type))
        err = FT_EDIVERGED;
    free(bytes);
    return err;
}
