/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/doubt.h"

#include "ft/shm/trail.h"
#include "ft/shm/transfer.h"
#include "ft/shm/versions.h"
#include "ft/shm/wait.h"
#include "ft/shm/walk.h"

/* ---- the log ---- */

static bool logged(const struct ft_region *r, int spill_fd, uint64_t unit, struct ft_record *rec)
{
    struct ft_reader t;
    struct ft_walk walk = {.read = ft_reader_walks, .arg = &t, .extent_bytes = r->header->params.extent_bytes};
    uint64_t end;

    ft_reader_open(&t, r, 0, spill_fd);
    end = ft_reader_end(&t);
    if (!ft_walk_seek(&walk, unit, ft_look(&t.log.head->floor), ft_div_up(end, walk.extent_bytes)))
        return false;
    for (; walk.position + FT_LINE <= end && ft_walk_look(&walk, rec) == FT_WALK_RECORD; ft_walk_on(&walk, rec))
        if (walk.unit == unit)
            return walk.position + FT_LINE <= end;
    return false;
}

/* ---- the ranks ---- */

static bool called(const struct ft_region *r, uint32_t rank, uint64_t unit, struct ft_sig *sig, uint64_t *site)
{
    const struct ft_params *p = &r->header->params;
    const struct ft_trail *trails = ft_region_stream(r, 0).trails;

    return ft_trail_read(&trails[(uint64_t)rank * p->trail + (unit & (p->trail - 1))], unit, sig, site);
}

static bool all_ask(const struct ft_region *r, uint64_t unit, uint64_t *operation)
{
    uint32_t n = r->header->params.nranks;
    uint64_t first = 0;
    bool differ = false;

    for (uint32_t i = 0; i < n; i++) {
        const struct ft_version_words *w = ft_versions_of(r, i);
        uint64_t before = ft_look(&w->doubt), theirs = ft_peek(&w->doubt_key);

        atomic_thread_fence(memory_order_acquire);
        if (before != unit + 1 || ft_look(&w->doubt) != before)
            return false;
        first = i ? first : theirs;
        differ = differ || theirs != first;
    }
    *operation = differ ? 0 : first;
    return true;
}

enum ft_known ft_doubt_known(const struct ft_region *r, int spill_fd, uint64_t unit, uint64_t *what)
{
    struct ft_record rec;
    uint64_t site;

    /* Where it is called is as good as the call only of who keeps the cache; what is done again is done wherever. */
    for (uint32_t rank = 0; rank < r->header->params.nranks; rank++)
        if (called(r, rank, unit, &rec.sig, &site)) {
            *what = ft_doubt_call(&rec.sig, rank || rec.sig.cached == FT_CACHED_REPEATED ? 0 : site);
            return FT_KNOWN_CALL;
        }
    *what = ft_doubt_told(r, unit);
    if (*what & 1)
        return FT_KNOWN_CALL;
    if (logged(r, spill_fd, unit, &rec)) {
        *what = ft_doubt_call(&rec.sig, rec.sig.cached == FT_CACHED_REPEATED ? 0 : rec.site);
        return FT_KNOWN_CALL;
    }
    return all_ask(r, unit, what) ? FT_KNOWN_DOUBT : FT_KNOWN_NOT;
}

bool ft_doubt_asked(const struct ft_region *r, uint64_t *unit)
{
    const struct ft_version_words *w = ft_versions_of(r, 0);
    uint64_t doubt = ft_look(&w->doubt);

    /* The doubt stays when all had it, for those who look later; the call is over. */
    *unit = doubt - 1;
    return doubt && ft_look(&w->asking.unit) == doubt;
}

/* ---- what is told ---- */

void ft_doubt_tell(const struct ft_region *r, uint64_t unit, uint64_t what)
{
    struct ft_version_head *h = ft_versions_head(r);

    ft_note(&h->told_unit, 0);
    atomic_thread_fence(memory_order_release);
    ft_note(&h->told, what);
    ft_publish(&h->told_unit, unit + 1);
    ft_doorbells_tell(r, &(struct ft_announced){.kind = FT_AWAIT_ASKED, .below = unit + 1});
}

uint64_t ft_doubt_told(const struct ft_region *r, uint64_t unit)
{
    const struct ft_version_head *h = ft_versions_head(r);
    uint64_t what = ft_look(&h->told_unit) == unit + 1 ? ft_peek(&h->told) : 0;

    atomic_thread_fence(memory_order_acquire);
    return ft_look(&h->told_unit) == unit + 1 ? what : 0;
}
