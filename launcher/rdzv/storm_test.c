/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts come, die and return at random, messages are lost or come twice, the store is away and loses its memory: in the end all who live have
   joined, and nobody was ever told what others were not (sim.c looks). A seed that fails is printed, and FT_SEED plays it again. */
#include "config.h"
#include "launcher/rdzv/sim.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ft/base/util.h"

static uint32_t living(const struct sim *s)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->nhosts; i++)
        n += s->hosts[i].round != NULL;
    return n;
}

static bool settled(const struct sim *s)
{
    uint32_t n = living(s);

    return sim_count(s, SIM_JOINED) == n && sim_placed(s) >= (n < s->config.min ? n : s->config.min) && sim_leader(s) != UINT32_MAX;
}

static void disturb(struct sim *s)
{
    uint32_t host = (uint32_t)sim_draw(s, s->nhosts);

    switch (sim_draw(s, 20)) {
    case 0:
        s->away = true;
        sim_run(s, sim_draw(s, 15000));
        s->away = false;
        break;
    case 1:
        sim_new_store(s);
        break;
    case 2:
        if (sim_leader(s) != UINT32_MAX)
            sim_kill(s, sim_leader(s));
        break;
    default:
        if (s->hosts[host].round && sim_draw(s, 2))
            sim_kill(s, host);
        else if (!s->hosts[host].round)
            sim_start(s, host);
        break;
    }
}

static void storm(uint64_t seed)
{
    struct sim_config c = {.seed = seed, .lease_ms = 10000, .timeout_ms = 600000, .last_call_ms = 3000, .delay_ms = 20};
    uint32_t nhosts;
    struct sim *s;

    nhosts = 3 + (uint32_t)(seed % 13);
    c.min = 1 + (uint32_t)(seed / 13 % (nhosts - 1));
    c.max = c.min + (uint32_t)(seed / 7 % (nhosts - c.min));
    c.lost = (unsigned)(seed % 5 * 30);
    c.twice = (unsigned)(seed % 3 * 100);
    s = sim_new(&c, nhosts);
    for (int i = 0; i < 60 && !s->broken[0]; i++) {
        disturb(s);
        sim_run(s, sim_draw(s, 4) ? sim_draw(s, 100) : sim_draw(s, 15000));
    }
    for (uint32_t i = 0; i < nhosts; i++)
        if (!s->hosts[i].round)
            sim_start(s, i);
    s->config.lost = s->config.twice = 0;
    cr_expect(sim_until(s, 300000, settled), "FT_SEED=%llu: %u of %u hosts have joined, %u have places (min %u, max %u)",
              (unsigned long long)seed, sim_count(s, SIM_JOINED), nhosts, sim_placed(s), c.min, c.max);
    cr_expect_str_empty(s->broken, "FT_SEED=%llu: %s", (unsigned long long)seed, s->broken);
    sim_free(s);
}

static bool is_full(void)
{
    const char *tier = getenv("FT_TIER");

    return tier && strcmp(tier, "full") == 0;
}

Test(storm, seeds, .timeout = 200)
{
    const char *one = getenv("FT_SEED");

    if (one) {
        storm(strtoull(one, NULL, 10));
        return;
    }
    for (uint64_t seed = 1; seed <= (is_full() ? 400 : 60); seed++)
        storm(seed);
}

static uint32_t wanted;

static bool all_joined(const struct sim *s) { return sim_count(s, SIM_JOINED) == wanted; }

/* What a round costs: all but one host come at once, then one more, which is a spare; then one dies. */
static void size(uint32_t n, uint64_t most)
{
    struct sim_config c = {.seed = 1, .min = n - 1, .max = n - 1, .lease_ms = 10000, .timeout_ms = 600000, .last_call_ms = 30000, .delay_ms = 5};
    struct sim *s = sim_new(&c, n);
    struct timespec began, ended;
    uint64_t messages, bytes, at;

    clock_gettime(CLOCK_MONOTONIC, &began);
    for (uint32_t i = 0; i + 1 < n; i++)
        sim_start(s, i);
    wanted = n - 1;
    cr_assert(sim_until(s, 60000, all_joined), "%u of %u have joined", sim_count(s, SIM_JOINED), wanted);
    printf("| %u | %llu | %.1f | %.1f | %llu |", n - 1, (unsigned long long)(s->now - 1000), (double)s->messages / (n - 1), (double)s->bytes / 1e6,
           (unsigned long long)s->refused);
    cr_expect_leq(s->messages, most * n);
    sim_start(s, n - 1);
    wanted = n;
    cr_assert(sim_until(s, 60000, all_joined));
    sim_run(s, 3000);
    messages = s->messages;
    bytes = s->bytes;
    at = s->now;
    sim_kill(s, sim_leader(s) == 1 ? 2 : 1);
    wanted = n - 1;
    cr_assert(sim_until(s, 60000, all_joined));
    while (sim_placed(s) < n - 1 && s->now - at < 60000)
        sim_run(s, 10);
    cr_expect_eq(sim_placed(s), n - 1);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    printf(" %llu | %.1f | %.1f |  (%.1f s)\n", (unsigned long long)(s->now - at), (double)(s->messages - messages) / n, (double)(s->bytes - bytes) / 1e6,
           (double)(ended.tv_sec - began.tv_sec) + (double)(ended.tv_nsec - began.tv_nsec) / 1e9);
    cr_assert_str_empty(s->broken, "%s", s->broken);
    sim_free(s);
}

Test(size, messages_grow_with_the_hosts_not_with_their_square, .timeout = 120)
{
    printf("| hosts | joined after, ms | messages of a host | MB in all | refused | a loss: ms | messages of a host | MB in all |\n");
    size(11, 60);
    size(101, 60);
    size(1001, 60);
    if (is_full())
        size(10001, 60);
}
