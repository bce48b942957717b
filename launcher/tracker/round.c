/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/tracker/round.h"

#include <stdatomic.h>
#include <string.h>

#include "ft/base/hash.h"
#include "launcher/base/shared.h"

struct worker {
    uint64_t task;             /* hash of its name */
    _Atomic bool left;
};

struct ft_round {
    uint32_t world;
    _Atomic bool runs, any;
    struct worker workers[];
};

static size_t bytes_of(uint32_t world) { return sizeof(struct ft_round) + world * sizeof(struct worker); }
static uint64_t name_of(const char *task) { return ft_hash(0, task, strlen(task)); }

struct ft_round *ft_round_new(uint32_t world)
{
    struct ft_round *r = ft_shared_new(bytes_of(world));

    if (r)
        r->world = world;
    return r;
}

bool ft_round_runs(const struct ft_round *r) { return atomic_load(&r->runs); }

void ft_round_enter(struct ft_round *r, uint32_t rank, const char *task)
{
    r->workers[rank].task = name_of(task);
    atomic_store(&r->workers[rank].left, false);
}

bool ft_round_any(const struct ft_round *r) { return atomic_load(&r->any); }

void ft_round_begin(struct ft_round *r)
{
    atomic_store(&r->any, true);
    atomic_store(&r->runs, true);
}

void ft_round_leave(struct ft_round *r, uint32_t rank)
{
    bool all = true;

    atomic_store(&r->workers[rank].left, true);
    for (uint32_t i = 0; i < r->world; i++)
        all &= atomic_load(&r->workers[i].left);
    if (all)
        atomic_store(&r->runs, false);
}

uint32_t ft_round_left(const struct ft_round *r, const char *task)
{
    uint64_t name = name_of(task);
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->world; i++)
        n += r->workers[i].task == name && atomic_load(&r->workers[i].left);
    return n;
}

void ft_round_renew(struct ft_round *r)
{
    atomic_store(&r->runs, false);
    for (uint32_t i = 0; i < r->world; i++)
        atomic_store(&r->workers[i].left, false);
}

void ft_round_free(struct ft_round *r)
{
    if (r)
        ft_shared_free(r, bytes_of(r->world));
}
