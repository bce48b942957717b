/* SPDX-License-Identifier: BSD-3-Clause */
/* One doorbell, several words (docs/internals/waiting.md, "The doorbell"): rank 0 sleeps for either of two words, of two other ranks that
   sleep until it has answered in a stream of their own. Whoever sleeps until its time is up, although what it waits for came long before,
   and without having been rung, has lost a ring; and nobody is rung more often than it is answered. With fences, and with barriers that
   sleepers make. Threads, for ThreadSanitizer, which sees no races between processes. doorbell [SEED]: 1, or FT_SEED; FT_TIER=full: any. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ft/shm/wait.h"

enum { RANKS = 3, ROUNDS = 20000, LOST_NS = 60000000 };

struct line {
    _Alignas(FT_LINE) _Atomic uint64_t word, published_ns;
};

static struct {
    struct line word[RANKS];    /* of each rank: its round */
    struct line answer[RANKS];  /* of rank 0, to each */
    _Alignas(FT_LINE) _Atomic uint8_t asleep[8];
    struct ft_doorbell doorbell[8];
} shared;

static bool unfenced;
static unsigned seed = 1;
static _Atomic unsigned slept;

/* At once: who has lost one ring loses many, and each takes its time. */
static void wrong(uint32_t rank, uint64_t round, const char *what)
{
    fprintf(stderr, "doorbell: seed %u, %s: rank %u, round %llu: %s\n", seed, unfenced ? "barriers by sleepers" : "fences", rank,
            (unsigned long long)round, what);
    _exit(1);
}

static struct ft_patience begin(uint32_t rank)
{
    struct ft_patience p = { .sleeps = true, .self = rank, .doorbells = { .asleep = shared.asleep, .nasleep = 8, .of = shared.doorbell } };

    ft_wait_begin(&p, unfenced);
    return p;
}

static void linger(unsigned *chance)
{
    for (int i = rand_r(chance) % 4096; i > 0; i--)
        atomic_signal_fence(memory_order_seq_cst);
}

static void publish(const struct ft_patience *p, enum ft_await_kind kind, uint32_t stream, struct line *line, uint64_t below)
{
    atomic_store(&line->published_ns, ft_clock_ns());
    ft_wait_announce(p, kind, stream, &line->word, below);
}

/* A turn of a wait for any of n words to become another than was seen. It is as if it had waited for long already, so that it may sleep
   for as long as any, 128 ms. */
static void turn(struct ft_wait *w, const struct ft_patience *p, const struct line *lines, const uint64_t *seen, uint32_t n)
{
    w->since_ns = 1;
    if (!ft_wait_turn_within(w, p, UINT64_MAX))
        return;
    slept++;
    for (uint32_t i = 0; i < n; i++)
        if (ft_look(&lines[i].word) != seen[i] && atomic_load(&shared.doorbell[p->self].rings) == w->heard &&
            ft_clock_ns() - atomic_load(&lines[i].published_ns) > LOST_NS)
            wrong(p->self, seen[i] + 1, "what it sleeps for has come, and nobody has rung");
}

/* Answers whoever comes, in the order in which they come. */
static void *answer_main(void *arg)
{
    const struct line *asked = &shared.word[1];
    struct ft_await a = { .kind = FT_AWAIT_SHOWN, .anything = true };
    struct ft_patience p = begin(0);
    uint64_t seen[2] = { 0, 0 };

    (void)arg;
    while (seen[0] + seen[1] < 2 * ROUNDS) {
        struct ft_wait w = ft_wait_for(&p, &a);

        while (ft_look(&asked[0].word) == seen[0] && ft_look(&asked[1].word) == seen[1])
            turn(&w, &p, asked, seen, 2);
        ft_wait_over(&w, &p);
        for (uint32_t i = 0; i < 2; i++)
            if (ft_look(&asked[i].word) != seen[i]) {
                if (ft_look(&asked[i].word) != ++seen[i])
                    wrong(0, seen[i], "a round is left out");
                publish(&p, FT_AWAIT_DONE, i + 1, &shared.answer[i + 1], seen[i]);
            }
    }
    return NULL;
}

static void *ask_main(void *arg)
{
    uint32_t rank = (uint32_t)(uintptr_t)arg;
    const struct line *answer = &shared.answer[rank];
    struct ft_patience p = begin(rank);
    unsigned chance = seed * RANKS + rank;

    for (uint64_t round = 1, seen = 0; round <= ROUNDS; round++, seen++) {
        struct ft_wait w;

        linger(&chance);
        publish(&p, rank == 1 ? FT_AWAIT_SHOWN : FT_AWAIT_CONTRIBUTED, 0, &shared.word[rank], round);
        w = ft_wait_for(&p, &(struct ft_await){ .kind = FT_AWAIT_DONE, .stream = rank, .unit = round - 1 });
        while (ft_look(&answer->word) < round)
            turn(&w, &p, answer, &seen, 1);
        ft_wait_over(&w, &p);
    }
    if (atomic_load(&shared.doorbell[rank].rings) > ROUNDS)
        wrong(rank, ROUNDS, "it was rung for what it did not wait for");
    return NULL;
}

static void run(bool by_sleepers)
{
    pthread_t thread[RANKS];

    memset(&shared, 0, sizeof shared);
    unfenced = by_sleepers;
    for (uint32_t r = 0; r < RANKS; r++)
        pthread_create(&thread[r], NULL, r ? ask_main : answer_main, (void *)(uintptr_t)r);
    for (uint32_t r = 0; r < RANKS; r++)
        pthread_join(thread[r], NULL);
}

int main(int argc, char **argv)
{
    const char *tier = getenv("FT_TIER"), *chosen = argc > 1 ? argv[1] : getenv("FT_SEED");

    if (chosen)
        seed = (unsigned)atoi(chosen);
    else if (tier && strcmp(tier, "full") == 0)
        seed = (unsigned)time(NULL);
    run(false);
    if (ft_wait_can_register())
        run(true);
    if (slept == 0)
        wrong(0, 0, "nobody ever slept, so that nothing was tried");
    printf("doorbell: seed %u: %u sleeps, none too long\n", seed, (unsigned)slept);
    return 0;
}
