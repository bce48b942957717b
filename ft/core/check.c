/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/core/check.h"

#include "ft/base/hash.h"
#include "ft/base/site.h"

static int differs(const struct ft_stream *s, struct ft_error *e)
{
    char call[128], site[96];

    return ft_err_set(e, FT_EDIVERGED, "rank %u (host %.64s) was restarted and, at unit %llu of %s, in %s at %s, contributed other "
                      "data than before its restart: the program is not deterministic (--check-replay)", s->me, s->host,
                      (unsigned long long)s->unit, s->name, ft_sig_print(&s->sig, call, sizeof call),
                      ft_site_print(s->site, site, sizeof site));
}

int ft_check_contribution(const struct ft_coll *c, struct ft_error *e)
{
    const struct ft_stream *s = c->s;
    uint64_t hash, before;

    if (!ft_view_bytes(&c->send) || s->unit >= s->params->check_units)
        return 0;
    hash = ft_view_hash(&c->send);
    before = ft_peek(&s->checks[s->unit]);
    if (before)
        return before == hash ? 0 : differs(s, e);
    /* Before the contribution, whose publication orders it. */
    ft_note(&s->checks[s->unit], hash);
    return 0;
}
