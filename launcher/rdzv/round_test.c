/* SPDX-License-Identifier: BSD-3-Clause */
/* Rendezvous as torchelastic states it: a test for each statement that is a round's (8, the store of a round, is values_test.c's; 11, the
   URL, settings_test.c's), and for what ftmpi promises besides. Many hosts in one process (sim.h). */
#include "config.h"
#include "launcher/rdzv/sim.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { LEASE = 10000, CALL = 30000, TIMEOUT = 600000 };

static struct sim *s;

static struct sim *new_sim(uint32_t min, uint32_t max, uint32_t nhosts)
{
    struct sim_config c = {.seed = 1, .min = min, .max = max, .lease_ms = LEASE, .timeout_ms = TIMEOUT, .last_call_ms = CALL, .delay_ms = 5};

    return sim_new(&c, nhosts);
}

static void begin(uint32_t min, uint32_t max, uint32_t nhosts) { s = new_sim(min, max, nhosts); }

static void finish(void)
{
    cr_assert_str_empty(s->broken, "%s", s->broken);
    sim_free(s);
}

static void start(uint32_t from, uint32_t to)
{
    while (from < to)
        sim_start(s, from++);
}

static uint32_t wanted;

static bool all_joined(const struct sim *sim) { return sim_count(sim, SIM_JOINED) == wanted; }
static bool all_placed(const struct sim *sim) { return sim_placed(sim) == wanted; }
static bool has_leader(const struct sim *sim) { return sim_leader(sim) != UINT32_MAX; }

static void join_all(uint32_t n)
{
    wanted = n;
    cr_assert(sim_until(s, 2 * CALL, all_joined), "%u of %u have joined", sim_count(s, SIM_JOINED), n);
}

/* "a b c": who is in which place, as host `of` was told. */
static const char *places(uint32_t of)
{
    static char text[512];
    const struct ft_rdzv_list *list = s->hosts[of].list;

    text[0] = 0;
    for (uint32_t i = 0; list && i < list->n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s%s", i ? " " : "", list->members[i].name, list->members[i].lost ? "!" : "");
    return text;
}

Test(statement_1, a_join_waits_for_min)
{
    begin(3, 5, 5);
    start(0, 2);
    sim_run(s, TIMEOUT / 2);
    cr_assert_eq(sim_count(s, SIM_WAITS), 2);
    finish();
}

Test(statement_1, max_completes_at_once)
{
    begin(2, 4, 4);
    start(0, 4);
    wanted = 4;
    cr_assert(sim_until(s, 300, all_joined));
    cr_assert_str_eq(places(2), "host0 host1 host2 host3");
    finish();
}

Test(statement_1, between_them_a_last_call_runs_on)
{
    begin(2, 4, 4);
    start(0, 2);
    sim_run(s, CALL - 1000);
    cr_assert_eq(sim_count(s, SIM_JOINED), 0);
    sim_start(s, 2);                /* does not begin it anew */
    sim_run(s, 2000);
    cr_assert_eq(sim_placed(s), 3);
    finish();
}

Test(statement_1, the_last_call_ends_if_there_are_fewer_again)
{
    begin(2, 4, 4);
    start(0, 2);
    sim_run(s, CALL - 5000);
    sim_tell(s, 1, FT_RV_LEAVE, NULL);
    sim_run(s, CALL);
    cr_assert_eq(sim_count(s, SIM_JOINED), 0);
    sim_start(s, 1);
    sim_run(s, CALL - 1000);
    cr_assert_eq(sim_count(s, SIM_JOINED), 0);
    sim_run(s, 2000);
    cr_assert_eq(sim_count(s, SIM_JOINED), 2);
    finish();
}

Test(statement_2, fewer_than_min_after_the_timeout_is_final)
{
    begin(3, 3, 3);
    start(0, 2);
    sim_run(s, TIMEOUT - 1000);
    cr_assert_eq(sim_count(s, SIM_FAILED), 0);
    sim_run(s, 2000);
    cr_assert_eq(sim_count(s, SIM_FAILED), 2);
    cr_assert_eq(s->hosts[0].why, FT_RW_TOO_FEW);
    cr_assert_eq(s->hosts[0].state.come, 2);
    sim_start(s, 2);                /* too late for the others */
    sim_run(s, TIMEOUT + 2000);
    cr_assert_eq(sim_count(s, SIM_FAILED), 3);
    finish();
}

Test(statement_2, a_store_that_never_answers)
{
    begin(1, 1, 1);
    s->away = true;
    start(0, 1);
    sim_run(s, TIMEOUT + 2000);
    cr_assert_eq(s->hosts[0].life, SIM_FAILED);
    cr_assert_eq(s->hosts[0].why, FT_RW_STORE);
    finish();
}

/* What STATE was, each time that it changed. */
static void on_change(void *arg, const struct ft_kvs_entry *kv)
{
    char *seen = arg, text[FT_RDZV_LINE];
    struct ft_rdzv_state state;

    snprintf(text, sizeof text, "%.*s", (int)kv->n, kv->value ? (const char *)kv->value : "");
    if (ft_rdzv_read_state(text, &state) && strstr(seen, ft_rdzv_phase_name(state.phase)) == NULL)
        snprintf(seen + strlen(seen), 256 - strlen(seen), " %s", ft_rdzv_phase_name(state.phase));
}

Test(statement_3, setup_joinable_frozen_final_closed)
{
    char seen[256] = "setup";
    uint64_t oldest, first;

    begin(2, 2, 2);
    first = ft_kvs_revision(s->kvs);
    start(0, 2);
    join_all(2);
    sim_tell(s, 0, FT_RV_CLOSE, NULL);
    sim_run(s, 1000);
    ft_kvs_changes(s->kvs, first, "/r/state", NULL, on_change, seen, &oldest);
    cr_assert_str_eq(seen, "setup joinable frozen final closed");
    finish();
}

/* In the order in which it was written: who has confirmed when STATE is final. */
struct confirmations {
    unsigned n, at_final;
};

static void on_confirmed(void *arg, const struct ft_kvs_entry *kv)
{
    struct confirmations *c = arg;
    char text[FT_RDZV_LINE];
    struct ft_rdzv_state state;
    struct ft_rdzv_member m;

    snprintf(text, sizeof text, "%.*s", (int)kv->n, kv->value ? (const char *)kv->value : "");
    if (strcmp(kv->key, "/r/state") == 0 && ft_rdzv_read_state(text, &state) && state.phase == FT_RDZV_FINAL && c->at_final == UINT32_MAX)
        c->at_final = c->n;
    if (strncmp(kv->key, "/m/", 3) == 0 && ft_rdzv_read_member(text, &m))
        c->n += m.confirmed != 0;
}

Test(statement_3, every_member_confirms_before_it_is_final)
{
    struct confirmations c = {0, UINT32_MAX};
    uint64_t oldest, first;

    begin(4, 4, 4);
    s->config.delay_ms = 300;       /* the leader looks many times before all have */
    first = ft_kvs_revision(s->kvs);
    start(0, 4);
    join_all(4);
    ft_kvs_changes(s->kvs, first, "/", "0", on_confirmed, &c, &oldest);
    cr_assert_eq(c.at_final, 4);
    finish();
}

Test(statement_3, leases_are_renewed_at_half)
{
    uint64_t steps;

    begin(2, 2, 2);
    start(0, 2);
    join_all(2);
    sim_run(s, 100);
    steps = s->messages;
    sim_run(s, LEASE * 10);
    cr_assert_eq(sim_placed(s), 2);
    cr_assert_leq(s->messages - steps, 2 * 2 * (20 + 11) + 2 * 12 + 8); /* question and answer: twice a lease, and a look at all, of two; and the leader's at the LIST */
    finish();
}

Test(statement_4, two_groups_cannot_form)
{
    begin(2, 2, 6);
    start(0, 6);
    join_all(6);
    cr_assert_eq(sim_placed(s), 2);
    for (int i = 1; i < 6; i++)
        cr_assert_eq(s->hosts[i].list->stamp, s->hosts[0].list->stamp);
    finish();
}

Test(statement_4, one_member_has_a_name)
{
    struct sim_host *a, *b;

    begin(1, 4, 2);
    a = &s->hosts[0];
    b = &s->hosts[1];
    strcpy(b->name, a->name);
    start(0, 2);
    sim_run(s, 4 * LEASE);
    cr_assert_eq(sim_count(s, SIM_FAILED), 1);
    cr_assert_eq(sim_placed(s), 1);
    cr_assert_eq((a->life == SIM_FAILED ? a : b)->why, FT_RW_NAME);
    finish();
}

Test(statement_5, all_agree)
{
    begin(3, 8, 12);
    for (uint32_t i = 12; i-- > 0;)
        sim_start(s, i);
    join_all(12);
    cr_assert_eq(sim_placed(s), 8);
    for (uint32_t i = 0; i < 12; i++) {
        cr_assert_eq(s->hosts[i].state.version, s->hosts[0].state.version);
        cr_assert_eq(s->hosts[i].list->n, 8);
        for (uint32_t k = 0; k < 8; k++)
            cr_assert_str_eq(s->hosts[i].list->members[k].name, s->hosts[0].list->members[k].name);
    }
    finish();
}

Test(statement_5, places_are_in_the_order_of_names_as_people_read_them)
{
    begin(12, 12, 12);
    for (uint32_t i = 12; i-- > 0;) {
        sim_start(s, i);
        sim_run(s, 20);
    }
    join_all(12);
    cr_assert_str_eq(places(11), "host0 host1 host2 host3 host4 host5 host6 host7 host8 host9 host10 host11");
    finish();
}

Test(statement_6, who_comes_after_final_is_counted)
{
    begin(2, 2, 5);
    start(0, 2);
    join_all(2);
    start(2, 5);
    sim_run(s, 4000);
    cr_assert_eq(s->hosts[0].state.spares, 3);
    cr_assert_eq(s->hosts[4].place, -1);
    cr_assert_geq(s->hosts[1].changes, 1);
    finish();
}

Test(statement_6, the_members_may_form_a_new_round)
{
    uint32_t leader;

    begin(2, 4, 4);
    start(0, 2);
    join_all(2);
    start(2, 4);
    sim_run(s, 3000);
    cr_assert_eq(sim_placed(s), 2);
    leader = sim_leader(s);
    sim_tell(s, leader, FT_RV_RENEW, NULL);
    wanted = 4;
    cr_assert(sim_until(s, 2000, all_placed));
    cr_assert_eq(s->hosts[0].voids, 1);
    cr_assert_eq(ft_rdzv_version_number(s->hosts[0].state.version), 2);
    finish();
}

Test(statement_6, a_round_whose_members_are_all_gone_is_void)
{
    begin(2, 2, 6);
    start(0, 4);
    join_all(4);
    for (uint32_t i = 0; i < 4; i++)
        if (s->hosts[i].place >= 0)
            sim_kill(s, i);
    wanted = 2;
    cr_assert(sim_until(s, 4 * LEASE, all_placed));
    cr_assert_eq(ft_rdzv_version_number(s->hosts[2].state.version), 2);
    finish();
}

Test(statement_7, death_before_final_is_a_new_round_for_the_others)
{
    for (uint64_t at = 1; at < 120; at += 3) {
        uint32_t dead;

        begin(2, 4, 4);
        start(0, 4);
        sim_run(s, at);
        dead = (uint32_t)(at % 4);
        if (s->hosts[dead].life == SIM_WAITS) {
            sim_kill(s, dead);
            wanted = 3;
            cr_assert(sim_until(s, CALL + 3 * LEASE, all_placed), "killed after %llu ms", (unsigned long long)at);
        }
        finish();
    }
}

Test(statement_9, closing_is_idempotent_and_afterwards_a_join_ends_with_closed)
{
    begin(2, 2, 4);
    start(0, 3);
    join_all(3);
    sim_tell(s, 0, FT_RV_CLOSE, NULL);
    sim_tell(s, 1, FT_RV_CLOSE, NULL);
    sim_run(s, 1000);
    cr_assert_eq(sim_count(s, SIM_CLOSED), 3);
    sim_start(s, 3);
    sim_run(s, 1000);
    cr_assert_eq(s->hosts[3].life, SIM_CLOSED);
    finish();
}

/* Finding: who came in the job's last moment was told no more than that it was closed, and a pod of a finished job failed. */
Test(statement_9, who_comes_is_told_the_code)
{
    begin(2, 2, 3);
    start(0, 2);
    join_all(2);
    sim_tell(s, 1, FT_RV_CLOSE, "7");
    sim_run(s, 1000);
    sim_start(s, 2);
    sim_run(s, 1000);
    for (uint32_t i = 0; i < 3; i++)
        cr_assert(s->hosts[i].life == SIM_CLOSED && s->hosts[i].state.code == 7 && s->hosts[i].state.ended, "host %u", i);
    finish();
}

Test(statement_9, closed_while_hosts_wait)
{
    begin(3, 3, 3);
    start(0, 2);
    sim_run(s, 1000);
    sim_tell(s, 1, FT_RV_CLOSE, NULL);
    sim_run(s, 1000);
    cr_assert_eq(sim_count(s, SIM_CLOSED), 2);
    finish();
}

Test(statement_10, extras_wait_and_move_up)
{
    uint32_t lost = 0;

    begin(3, 3, 5);
    start(0, 3);
    join_all(3);
    sim_start(s, 3);
    sim_run(s, 100);
    sim_start(s, 4);
    sim_run(s, 3000);
    while (s->hosts[lost].term)
        lost++;
    sim_tell(s, lost, FT_RV_LEAVE, NULL);
    wanted = 3;
    cr_assert(sim_until(s, 200, all_placed));
    cr_assert_eq(s->hosts[3].place, lost); /* who came first, in the place of who has left */
    cr_assert_eq(s->hosts[4].place, -1);
    sim_run(s, 2000);
    cr_assert_eq(s->hosts[4].state.spares, 1);
    finish();
}

/* ---- what ftmpi promises besides ---- */

Test(places, a_lost_host_that_returns_is_a_spare_and_takes_the_lost_place)
{
    uint32_t lost = 0;

    begin(3, 3, 4);
    start(0, 3);
    join_all(3);
    while (s->hosts[lost].term)
        lost++;
    sim_kill(s, lost);
    sim_run(s, LEASE + 1000);
    cr_assert_eq(sim_placed(s), 2);
    cr_assert(s->hosts[(lost + 1) % 3].list->members[lost].lost);
    sim_start(s, lost);
    wanted = 3;
    cr_assert(sim_until(s, 1000, all_placed));
    cr_assert_eq(s->hosts[lost].place, lost);
    finish();
}

Test(places, who_returns_before_its_lease_has_ended_is_another_process)
{
    begin(3, 3, 4);
    start(0, 4);
    join_all(4);
    sim_kill(s, 1);
    sim_run(s, 500);
    sim_start(s, 1);
    wanted = 3;
    cr_assert(sim_until(s, 2 * LEASE, all_placed));
    sim_run(s, 2 * LEASE);
    cr_assert_eq(sim_placed(s), 3);
    cr_assert_eq(sim_count(s, SIM_JOINED), 4);
    finish();
}

/* A leader that died after its controller was told of: the next one led the round with a second controller, and ranks ran twice. */
Test(leader, the_term_goes_up_and_a_round_has_one_controller)
{
    uint32_t first;
    uint64_t term;

    begin(3, 3, 3);
    start(0, 3);
    join_all(3);
    first = sim_leader(s);
    term = s->hosts[first].term;
    for (uint32_t i = 0; i < 3; i++)
        sim_tell(s, i, FT_RV_PUBLISH, i == 0 ? "192.0.2.1:1" : i == 1 ? "192.0.2.2:1" : "192.0.2.3:1");
    sim_run(s, 200);
    for (uint32_t i = 0; i < 3; i++) {
        cr_assert_eq(s->hosts[i].controller_term, term);
        cr_assert_eq(s->hosts[i].controller[8], (char)('1' + first));
    }
    sim_kill(s, first);
    cr_assert(sim_until(s, 2 * LEASE, has_leader));
    sim_run(s, 1000);
    cr_assert_gt(s->hosts[sim_leader(s)].term, term);
    cr_assert_eq(s->hosts[sim_leader(s)].controller_term, term);
    sim_start(s, first);
    sim_run(s, 2 * LEASE);
    cr_assert_eq(s->hosts[first].controller_term, term, "who comes later is told");
    finish();
}

Test(leader, a_spare_is_it_only_if_no_member_is)
{
    begin(3, 3, 9);
    start(0, 9);
    join_all(9);
    for (int i = 0; i < 2; i++) {
        uint32_t leader = sim_leader(s);

        cr_assert_geq(s->hosts[leader].place, 0);
        sim_kill(s, leader);
        cr_assert(sim_until(s, 2 * LEASE, has_leader));
        cr_assert_geq(s->hosts[sim_leader(s)].place, 0);
    }
    finish();
}

Test(store, it_is_away_for_longer_than_a_lease)
{
    begin(3, 3, 4);
    start(0, 4);
    join_all(4);
    s->away = true;
    sim_run(s, 3 * LEASE);
    s->away = false;
    sim_run(s, LEASE);
    cr_assert_eq(sim_count(s, SIM_JOINED), 4);
    cr_assert_eq(sim_placed(s), 3);
    finish();
}

Test(store, it_loses_its_memory)
{
    const char *before_it;

    begin(3, 3, 5);
    start(0, 5);
    join_all(5);
    before_it = strdup(places(0));
    sim_new_store(s);
    sim_run(s, 3 * LEASE);
    cr_assert_eq(sim_count(s, SIM_JOINED), 5);
    cr_assert_eq(sim_placed(s), 3);
    cr_assert_str_eq(places(0), before_it); /* the same round, and the same places */
    cr_assert_eq(ft_rdzv_version_number(s->hosts[0].state.version), 1);
    free((char *)before_it);
    finish();
}

/* Finding: newcomers had begun the job a second time before the first hosts looked. Their controller stayed the one that all were told. */
Test(store, it_loses_its_memory_and_newcomers_begin_a_round_of_their_own)
{
    begin(2, 2, 4);
    start(0, 2);
    join_all(2);
    sim_tell(s, 0, FT_RV_PUBLISH, "first:1");
    sim_tell(s, 1, FT_RV_PUBLISH, "first:1");
    sim_run(s, 1000);
    for (uint32_t i = 0; i < 2; i++)
        sim_freeze(s, i);
    sim_new_store(s);
    for (uint32_t i = 2; i < 4; i++)
        sim_start(s, i);
    sim_run(s, 1000);
    for (uint32_t i = 2; i < 4; i++)
        sim_tell(s, i, FT_RV_PUBLISH, "second:1");
    sim_run(s, 1000);
    cr_assert_eq(s->hosts[2].place, 0);
    cr_assert_str_eq(s->hosts[2].controller, "second:1");
    for (uint32_t i = 0; i < 2; i++)
        sim_thaw(s, i);
    sim_run(s, 5 * LEASE);
    for (uint32_t i = 0; i < 4; i++) {
        cr_assert_eq(s->hosts[i].place, i < 2 ? (int64_t)i : -1);
        cr_assert_str_eq(s->hosts[i].controller, "first:1", "host %u", i);
    }
    finish();
}

Test(store, it_loses_its_memory_and_a_newcomer_leads_first)
{
    begin(2, 2, 4);
    start(0, 2);
    join_all(2);
    sim_freeze(s, 0);
    sim_freeze(s, 1);
    sim_new_store(s);
    sim_start(s, 2);
    sim_run(s, 1000);
    cr_assert_eq(sim_leader(s) != UINT32_MAX && s->hosts[2].term, 1);
    sim_thaw(s, 0);
    sim_thaw(s, 1);
    sim_run(s, 5 * LEASE);
    cr_assert_eq(s->hosts[0].place, 0);
    cr_assert_eq(s->hosts[1].place, 1);
    cr_assert_eq(s->hosts[2].place, -1);
    cr_assert_eq(s->hosts[0].voids + s->hosts[1].voids, 0);
    cr_assert_eq(s->hosts[2].life, SIM_JOINED);
    finish();
}

Test(strangers, what_they_write_has_no_effect)
{
    static const char *const keys[] = {"/r/state", "/r/leader", "/r/controller", "/list", "/m/host1", "/m/host9", "/m/evil"};

    begin(2, 2, 4);
    sim_stranger(s, "/r/leader", "stranger");
    sim_stranger(s, "/m/host0", "stranger");
    sim_stranger(s, "/r/state", "stranger");
    start(0, 2);
    join_all(2);
    sim_start(s, 2);
    join_all(3);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        sim_stranger(s, keys[i], "stranger");
        sim_run(s, 3 * LEASE);
        cr_assert_eq(sim_placed(s), 2, "%s", keys[i]);
        cr_assert_eq(sim_count(s, SIM_JOINED), 3, "%s", keys[i]);
        cr_assert_neq(sim_leader(s), UINT32_MAX, "%s", keys[i]);
    }
    cr_assert_gt(s->hosts[0].strangers, 0);
    sim_stranger(s, "/m/host1", "stranger"); /* with a spare there, which does not take the place of who lives */
    sim_run(s, 3 * LEASE);
    cr_assert_str_eq(places(0), "host0 host1");
    for (int i = 0; i < 12; i++) {  /* another leader finds what they have left */
        sim_stranger(s, "/r/leader", "stranger");
        sim_stranger(s, i % 2 ? "/m/host0" : "/m/host1", "stranger");
        sim_run(s, 3 * LEASE);
        cr_assert_str_eq(places(0), "host0 host1");
    }
    sim_start(s, 3);                /* the LIST can be read again */
    sim_run(s, 3 * LEASE);
    cr_assert_eq(s->hosts[3].life, SIM_JOINED);
    finish();
}

/* Finding: a host with another secret wrote over "closed", and the name could begin anew. */
Test(strangers, a_closed_job_of_another_secret_stays_closed)
{
    uint64_t before;

    begin(1, 1, 1);
    sim_stranger(s, "/r/state", "stranger closed");
    before = ft_kvs_revision(s->kvs);
    sim_start(s, 0);
    sim_run(s, 4 * LEASE);
    cr_assert_eq(s->hosts[0].life, SIM_FAILED);
    cr_assert_eq(s->hosts[0].why, FT_RW_SECRET);
    cr_assert_eq(ft_kvs_revision(s->kvs), before, "something was written");
    finish();
}

/* Between two leaders of a job that lives a host with another secret writes nothing; what a dead one has left is written over in the end. */
Test(strangers, a_round_of_another_secret_is_dead_after_three_leases_without_a_leader)
{
    uint64_t before;

    begin(1, 1, 1);
    sim_stranger(s, "/r/state", "stranger final");
    before = ft_kvs_revision(s->kvs);
    sim_start(s, 0);
    sim_run(s, 2 * LEASE);
    cr_assert_eq(s->hosts[0].life, SIM_WAITS);
    cr_assert_eq(ft_kvs_revision(s->kvs), before, "something was written");
    sim_run(s, 2 * LEASE);
    cr_assert_eq(s->hosts[0].life, SIM_JOINED);
    finish();
}

Test(strangers, what_they_delete_comes_again)
{
    static const char *const keys[] = {"/r/state", "/r/leader", "/r/controller", "/list"};

    begin(2, 2, 3);
    start(0, 3);
    join_all(3);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        sim_stranger(s, keys[i], NULL);
        sim_run(s, 3 * LEASE);
        cr_assert_eq(sim_placed(s), 2, "%s", keys[i]);
        cr_assert_eq(ft_rdzv_version_number(s->hosts[0].state.version), 1, "%s", keys[i]);
    }
    finish();
}

Test(settings, others_than_the_leaders_are_told)
{
    begin(2, 2, 2);
    sim_start(s, 0);
    sim_run(s, 100);
    s->config.max = 3;
    sim_start(s, 1);
    join_all(2);
    cr_assert_eq(s->hosts[1].others, 1);
    cr_assert_eq(s->hosts[0].others, 0);
    finish();
}

/* --join: a host that has no program does not lead, and the others do not wait for it to. */
Test(followers, never_lead)
{
    struct sim_config c = {.seed = 1, .min = 3, .max = 3, .followers = 2, .lease_ms = LEASE, .timeout_ms = TIMEOUT,
                           .last_call_ms = CALL, .delay_ms = 5};

    s = sim_new(&c, 4);
    start(0, 2);
    sim_run(s, 3 * LEASE);
    cr_expect_eq(sim_leader(s), UINT32_MAX, "%u leads", sim_leader(s));
    start(2, 4);
    join_all(4);
    cr_expect_geq(sim_leader(s), 2);
    sim_kill(s, sim_leader(s));
    cr_expect(sim_until(s, 5 * LEASE, has_leader));
    cr_expect(sim_leader(s) == 2 || sim_leader(s) == 3);
    finish();
}

/* The host that has the store leads, also when it comes last; without it another one does, later. */
Test(followers, leave_leading_to_the_host_of_the_store)
{
    struct sim_config c = {.seed = 1, .min = 3, .max = 3, .yields_ms = 1500, .lease_ms = LEASE, .timeout_ms = TIMEOUT,
                           .last_call_ms = CALL, .delay_ms = 5};

    s = sim_new(&c, 3);
    start(0, 2);
    sim_run(s, 100);
    start(2, 3);
    join_all(3);
    cr_expect_eq(sim_leader(s), 2, "%u leads", sim_leader(s));
    finish();
    s = sim_new(&c, 4);
    start(0, 3);
    join_all(3);
    cr_expect_neq(sim_leader(s), UINT32_MAX);
    finish();
}
