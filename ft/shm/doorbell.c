/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/doorbell.h"

#include "ft/shm/wait.h"

struct ft_doorbells ft_doorbells_of(const struct ft_region *r)
{
    const struct ft_header *h = r->header;

    return (struct ft_doorbells){ .asleep = (_Atomic uint8_t *)(r->base + h->asleep_at), .nasleep = (uint32_t)ft_align(h->params.nranks, 8),
                                  .of = ft_region_doorbell(r, 0) };
}

/* Sequentially consistent: after the word is published, before the kernel looks for a sleeper. Who notes the number later sees the word. */
static void ring(struct ft_doorbell *d)
{
    ft_point_store();
    atomic_fetch_add_explicit(&d->rings, 1, memory_order_seq_cst);
    ft_wake(&d->rings);
}

void ft_doorbells_ring(const struct ft_doorbells *d, const struct ft_announced *what)
{
    for (uint32_t r = 0; r < d->nasleep; r++) {
        uint8_t flag = atomic_load_explicit(&d->asleep[r], memory_order_acquire);
        struct ft_await a;

        if (flag == FT_AWAKE)
            continue;
        /* What is read here may be older than what it says now. Then it says that, and looks at the word, after it was published. */
        a = ft_await_read(&d->of[r].awaits);
        if (flag == FT_LOUD || ft_await_ends(&a, what))
            ring(&d->of[r]);
    }
}

void ft_doorbells_tell(const struct ft_region *r, const struct ft_announced *what)
{
    struct ft_doorbells d = ft_doorbells_of(r);

    /* As sleepers do, who do not make barriers for this process: one of the two sees the other. */
    atomic_thread_fence(memory_order_seq_cst);
    ft_doorbells_ring(&d, what);
}

void ft_doorbells_tell_rank(const struct ft_region *r, uint32_t rank)
{
    ft_doorbells_tell(r, &(struct ft_announced){ .kind = FT_AWAIT_AGENT, .rank = rank, .below = UINT64_MAX });
}
