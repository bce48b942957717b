/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/base/sig.h"

#include <stdio.h>
#include <string.h>

#include "ft/base/hash.h"
#include "ft/base/util.h"

_Static_assert(sizeof(struct ft_sig) == 32, "a signature is four words");

bool ft_sig_equal(const struct ft_sig *a, const struct ft_sig *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

FT_HOT uint64_t ft_sig_chain(uint64_t before, const struct ft_sig *sig)
{
    uint64_t w[4];

    memcpy(w, sig, sizeof w);
    return ft_hash_mix(ft_hash_mix(w[0] ^ before, w[1]), ft_hash_mix(w[2], w[3] ^ 0xa0761d6478bd642full)) ^ (before >> 1);
}

static const char *call_text(unsigned call)
{
    switch (call) {
#define X(name, text) case name: return text;
    FT_CALLS(X)
#undef X
    }
    return "an unknown call";
}

const char *ft_sig_print(const struct ft_sig *sig, char *text, size_t size)
{
    const char *name = call_text(sig->call);
    const char *kind = sig->kind < FT_NKINDS ? ft_kind_text(sig->kind) : "?";
    const char *reduction = sig->reduction < FT_NREDUCTIONS ? ft_reduction_text(sig->reduction) : "?"; /* it may be another node's */
    const char *tail = sig->cached == FT_CACHED_DECLARED ? strchr(name, '_') : NULL;
    char call[40], what[96], root[24] = "", key[24] = "";

    /* "MPIX_Allreduce_cached" */
    snprintf(call, sizeof call, tail ? "MPIX%s_cached" : "%s", tail ? tail : name);

    if (sig->call == FT_CALL_BARRIER || sig->call == FT_CALL_FINALIZE || sig->call == FT_CALL_NONE ||
        (ft_sig_agrees(sig) && !sig->count)) {
        snprintf(text, size, "%s", call);
        return text;
    }
    if (sig->kind == FT_OPAQUE)
        snprintf(what, sizeof what, "%llu x %u-byte type", (unsigned long long)sig->count, sig->elem);
    else
        snprintf(what, sizeof what, "%llu x %s", (unsigned long long)sig->count, kind);
    if (sig->root >= 0)
        snprintf(root, sizeof root, ", root %d", sig->root);
    if (sig->cached == FT_CACHED_DECLARED && sig->shape)
        snprintf(key, sizeof key, ", key #%08x", (unsigned)(sig->shape >> 32));
    if (sig->reduction != FT_NONE)
        snprintf(text, size, "%s(%s, %s%s%s)", call, reduction, what, root, key);
    else
        snprintf(text, size, "%s(%s%s%s)", call, what, root, key);
    return text;
}
