/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads as ranks, for ThreadSanitizer (which sees no races between processes): every order in
   ft/shm/word.h is used by real concurrent accesses here, with short and standard operations mixed, and ranks that
   forget everything at a random call and replay: as many ranks as share processors, and two with their own ways (pipelined, redundant). With fences, and
   with barriers that sleepers make, as ranks have them. Results are checked. Plain program: Criterion aborts
   under TSan. threads [SEED]: 1, or FT_SEED; FT_TIER=full: any. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ft/core/op.h"
#include "ft/ft.h"
#include "ft/shm/keeper.h"

enum { MOST = 3, CALLS = 400, COUNT = 3000, TURNS = 200 };

static unsigned ranks;
static struct ft_region region;
static struct ft_keeper *keeper;
static unsigned seed = 1;
static _Atomic int errors;

static void keeper_failed(void *arg, const char *line)
{
    (void)arg;
    fprintf(stderr, "threads: %s\n", line);
    abort();
}

static unsigned random_of(unsigned a, unsigned b)
{
    unsigned x = seed * 2654435761u ^ a * 2246822519u ^ b * 3266489917u;

    x ^= x >> 15;
    x *= 2246822519u;
    return x ^ x >> 13;
}

static void check(bool good, unsigned rank, unsigned call, const char *what)
{
    if (good || errors++)
        return;
    fprintf(stderr, "threads: seed %u: %u ranks: rank %u, call %u: wrong %s\n", seed, ranks, rank, call, what);
}

static int call(struct ft_stream *s, unsigned c, int64_t *a, int64_t *b, struct ft_error *e)
{
    static const struct ft_type type = { .elem = 8, .kind = FT_I64 };
    struct ft_op op = { FT_SUM, ft_reduce_find(FT_I64, FT_SUM), NULL, NULL };
    unsigned n = random_of(c, 1) % 4 ? random_of(c, 2) % 40 : random_of(c, 2) % COUNT, root = c % ranks;
    int err = 0;

    for (unsigned i = 0; i < n; i++)
        a[i] = (int64_t)c * 1000003 + s->rank * 1009 + i;
    switch (random_of(c, 3) % 5) {
    case 0:
        return ft_barrier(s, 0, e);
    case 1:
        err = ft_bcast(s, a, n, type, (int)root, 0, e);
        for (unsigned i = 0; i < n && !err; i++)
            check(a[i] == (int64_t)c * 1000003 + root * 1009 + i, s->rank, c, "bcast");
        return err;
    case 2:
        err = ft_reduce(s, a, b, n, type, &op, (int)root, 0, e);
        if (s->rank != root)
            return err;
        break;
    case 3:
        err = ft_allreduce(s, a, b, n, type, &op, 0, e);
        break;
    default:
        err = ft_allgather(s, a, NULL, b, n, type, 0, e);
        for (unsigned i = 0; i < n * ranks && !err; i++)
            check(b[i] == (int64_t)c * 1000003 + i / n * 1009 + i % n, s->rank, c, "allgather");
        return err;
    }
    for (unsigned i = 0; i < n && !err; i++)
        check(b[i] == ranks * ((int64_t)c * 1000003 + i) + 1009 * (ranks * (ranks - 1) / 2), s->rank, c, "reduction");
    return err;
}

static void *rank_main(void *arg)
{
    unsigned rank = (unsigned)(uintptr_t)arg, died = 0;
    struct ft_place place;
    struct ft_patience patience = { .yields = 20, .yield_ns = 100000, .sleeps = true, .doorbells = ft_doorbells_of(&region), .self = rank,
                                    .place = rank % 2 ? &place : NULL };
    int64_t *a = malloc(COUNT * 8), *b = malloc(COUNT * 8 * MOST);
    struct ft_stream s;
    struct ft_error e;

    ft_place_open(&place, rank, ranks);
    ft_wait_begin(&patience, region.header->params.unfenced);
again:
    ft_region_start_rank(&region, rank, died);
    ft_stream_open(&s, &region, rank, "WORLD", &patience, ft_keeper_kick_fd(keeper), ft_keeper_spill_fd(keeper));
    for (unsigned c = 0; c < CALLS; c++) {
        if (call(&s, c, a, b, &e) != 0) {
            fprintf(stderr, "threads: seed %u: rank %u, call %u: %s\n", seed, rank, c, e.text);
            errors++;
            break;
        }
        if (died < 3 && random_of(rank * 1000 + c, 4 + died) % 150 == 0) {
            died++;
            goto again;
        }
    }
    free(a);
    free(b);
    return NULL;
}

static int set_up(unsigned n, bool unfenced)
{
    static const struct ft_keeper_config config = { .spill_dir = "/tmp" };
    struct ft_params params;
    struct ft_error e;

    ranks = n;
    ft_params_default(&params, n, 2, 256u << 20);
    params.short_max = params.rooted_max = params.gather_max = 256;
    params.slot_bytes = params.slot_room = params.gather_bytes = 1024;
    params.slot_depth = 4;
    params.unfenced = unfenced;
    if (n == 2)
        ft_params_redundant(&params);
    if (ft_region_create(&region, &params, &e) == 0 && ft_keeper_open(&keeper, &region, &config, &e) == 0 &&
        ft_keeper_run(keeper, keeper_failed, NULL, &e) == 0)
        return 0;
    fprintf(stderr, "threads: %s\n", e.text);
    return -1;
}

static int run(unsigned n, bool unfenced)
{
    pthread_t thread[MOST];
    struct ft_error e;

    if (set_up(n, unfenced) < 0)
        return -1;
    for (unsigned i = 0; i < ranks; i++)
        pthread_create(&thread[i], NULL, rank_main, (void *)(uintptr_t)i);
    /* One keeper after the other, as when processes die. */
    for (unsigned i = 0; i < TURNS; i++) {
        ft_keeper_stop(keeper);
        if (ft_keeper_run(keeper, keeper_failed, NULL, &e) != 0) {
            fprintf(stderr, "threads: %s\n", e.text);
            return -1;
        }
    }
    for (unsigned i = 0; i < ranks; i++)
        pthread_join(thread[i], NULL);
    ft_keeper_stop(keeper);
    ft_keeper_close(keeper);
    ft_region_close(&region);
    return 0;
}

int main(int argc, char **argv)
{
    const char *tier = getenv("FT_TIER"), *chosen = argc > 1 ? argv[1] : getenv("FT_SEED");
    bool can = ft_wait_can_register();

    if (chosen)
        seed = (unsigned)atoi(chosen);
    else if (tier && strcmp(tier, "full") == 0)
        seed = (unsigned)time(NULL);
    if (run(3, false) < 0 || run(3, can) < 0 || run(2, can) < 0)
        return 2;
    printf("threads: seed %u: %d errors\n", seed, (int)errors);
    return errors != 0;
}
