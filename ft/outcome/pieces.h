/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory in pieces, as writev and recvmsg have it. */
#ifndef FT_OUTCOME_PIECES_H
#define FT_OUTCOME_PIECES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

#include "ft/base/util.h"
#include "ft/outcome/record.h"

static inline size_t ft_pieces_total(const struct iovec *pieces, size_t n)
{
    size_t total = 0;

    for (size_t i = 0; i < n; i++)
        total += pieces[i].iov_len;
    return total;
}

/* Of the first `bytes`. */
static inline uint64_t ft_pieces_hash(const struct iovec *from, size_t bytes)
{
    uint64_t hash = 0;

    for (; bytes > 0; from++) {
        size_t some = ft_min(bytes, from->iov_len);

        hash = ft_what((int64_t)hash, (int64_t)ft_what_bytes(from->iov_base, some), 0);
        bytes -= some;
    }
    return hash;
}

/* Those that have bytes `at` to `at` + `bytes`. How many. */
static inline int ft_pieces_part(const struct iovec *from, size_t at, size_t bytes, struct iovec *to)
{
    int n = 0;

    for (; bytes > 0; from++) {
        size_t skip = ft_min(at, from->iov_len), some = ft_min(from->iov_len - skip, bytes);

        if (some > 0)
            to[n++] = (struct iovec){(char *)from->iov_base + skip, some};
        at -= skip;
        bytes -= some;
    }
    return n;
}

/* n bytes, to where `at` bytes are already; more than there is room for are left out. */
static inline void ft_pieces_fill(const struct iovec *to, size_t pieces, size_t at, const char *from, size_t n)
{
    for (size_t i = 0; i < pieces && n > 0; i++) {
        size_t skip = ft_min(at, to[i].iov_len), some = ft_min(to[i].iov_len - skip, n);

        if (some > 0)
            memcpy((char *)to[i].iov_base + skip, from, some);
        at -= skip;
        from += some;
        n -= some;
    }
}

#endif
