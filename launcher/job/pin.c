/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/job/pin.h"

#include "ft/shm/doorbell.h"

static uint64_t mask_of(enum ft_pin pin)
{
    return ft_pin_bit(pin, 0) | ft_pin_bit(pin, 1);
}

static void set(const struct ft_region *r, enum ft_pin pin, uint64_t bit)
{
    struct ft_version_head *h = ft_versions_head(r);

    ft_announce(&h->pinned, (ft_peek(&h->pinned) & ~mask_of(pin)) | bit);
    for (uint32_t rank = 0; rank < r->header->params.nranks; rank++)
        ft_doorbells_tell_rank(r, rank);
}

void ft_pin_drop(const struct ft_region *r, enum ft_pin pin)
{
    if (ft_peek(&ft_versions_head(r)->pinned) & mask_of(pin))
        set(r, pin, 0);
}

/* A rank that takes a slot says first that its version is no more, and then looks for our pin. */
static bool stays(const struct ft_region *r, enum ft_pin pin, const struct ft_version *v)
{
    set(r, pin, ft_pin_bit(pin, v->slot));
    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t rank = 0; rank < r->header->params.nranks; rank++)
        if (ft_ask(&ft_versions_of(r, rank)->slot[v->slot].version) != v->version)
            return false;
    return true;
}

bool ft_pin_newest(const struct ft_region *r, enum ft_pin pin, uint64_t than, struct ft_version *v)
{
    do
        if (!ft_versions_newest(r, 0, v) || v->version <= than) {
            ft_pin_drop(r, pin);
            return false;
        }
    while (!stays(r, pin, v));
    return true;
}

/* All ranks have it in that slot, from one unit, and that is committed. */
static bool is_there(const struct ft_region *r, uint32_t slot, uint64_t version, struct ft_version *v)
{
    struct ft_version theirs;

    if (!ft_versions_kept(r, ft_versions_of(r, 0), slot, version, v))
        return false;
    for (uint32_t rank = 1; rank < r->header->params.nranks; rank++)
        if (!ft_versions_kept(r, ft_versions_of(r, rank), slot, version, &theirs) || theirs.unit != v->unit)
            return false;
    return ft_region_committed(r, v->unit);
}

bool ft_pin_version(const struct ft_region *r, enum ft_pin pin, uint64_t version, struct ft_version *v)
{
    uint64_t before = ft_peek(&ft_versions_head(r)->pinned) & mask_of(pin);

    for (uint32_t slot = 0; slot < 2; slot++) {
        if (!is_there(r, slot, version, v))
            continue;
        if (stays(r, pin, v))
            return true;
        set(r, pin, before);
    }
    return false;
}
