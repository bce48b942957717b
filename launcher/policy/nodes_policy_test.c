/* SPDX-License-Identifier: BSD-3-Clause */
/* What the controller does about its nodes. The expected trace is the test. */
#include "config.h"
#include "launcher/policy/nodes_policy.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ft_nodes *p;
static void *memory;
static uint64_t now;

static const char *const reasons[] = {"lost", "cannot-start", "renew", "stranded", "nowhere", "given-up", "no-restarts", "connected", "lost-too", "max-restarts"};
static const char *const jobs[] = {"run", "end", "finish"};

static const char *trace(struct ft_nodes_effects fx)
{
    static char text[2048];
    size_t n = 0;

    text[0] = 0;
    for (uint32_t i = 0; i < fx.n; i++) {
        const struct ft_nodes_effect *e = &fx.e[i];

        n += (size_t)snprintf(text + n, sizeof text - n, "%s", i ? " " : "");
        switch (e->kind) {
        case FT_ND_START:
            n += (size_t)snprintf(text + n, sizeof text - n, "start(%u.%u@%u)", e->node, e->incarnation, e->host);
            break;
        case FT_ND_DROP:
            n += (size_t)snprintf(text + n, sizeof text - n, "drop(%u)", e->node);
            break;
        case FT_ND_JOB:
            n += (size_t)snprintf(text + n, sizeof text - n, "%s(%d)", jobs[e->phase], e->code);
            break;
        case FT_ND_END_ONE:
            n += (size_t)snprintf(text + n, sizeof text - n, "end-one(%u)", e->node);
            break;
        case FT_ND_TABLE:
            n += (size_t)snprintf(text + n, sizeof text - n, "table");
            break;
        case FT_ND_RENEW:
            n += (size_t)snprintf(text + n, sizeof text - n, "renew(%u)", e->epoch);
            break;
        case FT_ND_TELL:
            n += (size_t)snprintf(text + n, sizeof text - n, "%s(%u@%u->%u,%llu)", reasons[e->reason], e->node, e->host, e->to,
                                  (unsigned long long)e->number);
            break;
        case FT_ND_FINISH:
            n += (size_t)snprintf(text + n, sizeof text - n, "finish(%d)", e->code);
            break;
        }
    }
    return text;
}

static struct ft_nodes_config config(uint32_t nnodes, uint32_t nhosts)
{
    static const uint32_t ranks[] = {2, 2, 2, 2}, host[] = {0, 1, 2, 3}, slots[] = {2, 2, 2, 2, 2, 2};

    return (struct ft_nodes_config){.nnodes = nnodes, .ranks = ranks, .host = host, .nhosts = nhosts, .slots = slots,
                                    .max_restarts = UINT64_MAX, .lease_ms = 3000, .start_ms = 60000, .tries = FT_START_TRIES};
}

static struct ft_nodes *new(const struct ft_nodes_config *c)
{
    memory = calloc(1, ft_nodes_bytes(c));
    return ft_nodes_new(memory, c);
}

static void expect(const char *expected, struct ft_nodes_event ev)
{
    const char *got;

    ev.now_ms = now;
    got = trace(ft_nodes_step(p, &ev));
    cr_expect_str_eq(got, expected, "at %llu: %s, and not %s", (unsigned long long)now, got, expected);
}

/* The process is killed when `settled` effects of the last step are deeds, and another one goes on. */
static void expect_recovered(const char *expected, uint32_t settled)
{
    const char *got;

    while (settled--)
        ft_nodes_settle(p);
    got = trace(ft_nodes_recover(p, now));
    cr_expect_str_eq(got, expected, "recovered: %s, and not %s", got, expected);
}

static struct ft_nodes_event state_of(uint32_t node, enum ft_node_phase phase, int code, bool whole)
{
    return (struct ft_nodes_event){.kind = FT_NV_STATE, .node = node, .phase = phase, .code = code, .whole = whole};
}

#define TIME() ((struct ft_nodes_event){.kind = FT_NV_TIME})
#define OF(what, n) ((struct ft_nodes_event){.kind = what, .node = n})

#define HOST(what, h) ((struct ft_nodes_event){.kind = what, .host = h, .slots = 2})

#define FAILED(n) ((struct ft_nodes_event){.kind = FT_NV_NOT_STARTED, .node = n, .code = 1})

/* Everybody is heard of every half second. */
static void pass(uint64_t ms, const char *living)
{
    for (uint64_t t = 0; t < ms; t += 500) {
        now += 500;
        for (const char *c = living; *c; c++)
            expect("", OF(FT_NV_HEARD, (uint32_t)(*c - '0')));
    }
}

/* The job runs on nodes 0..n-1. */
static void begin(struct ft_nodes_config c, bool whole)
{
    now = 1000;
    p = new(&c);
    cr_assert(p);
    expect(c.nnodes == 1 ? "start(0.0@0)" : c.nnodes == 2 ? "start(0.0@0) start(1.0@1)" : "start(0.0@0) start(1.0@1) start(2.0@2)", TIME());
    for (uint32_t i = 0; i < c.nnodes; i++) {
        expect("table", OF(FT_NV_HELLO, i));
        expect("", state_of(i, FT_NODE_RUNNING, 0, whole));
    }
}

static void done(void)
{
    ft_nodes_free(p);
    free(memory);
}

Test(nodes_policy, all_done)
{
    begin(config(2, 2), true);
    expect("", state_of(0, FT_NODE_DONE, 0, true));
    expect("finish(0)", state_of(1, FT_NODE_DONE, 0, true));
    expect("drop(0)", state_of(0, FT_NODE_LEFT, 0, true));
    expect("drop(1) finish(0)", state_of(1, FT_NODE_LEFT, 0, true));
    expect("", OF(FT_NV_CLOSED, 1));
    cr_expect_eq(ft_nodes_due(p), UINT64_MAX);
    done();
}

Test(nodes_policy, a_verdict_ends_all)
{
    begin(config(2, 2), true);
    expect("end(3)", state_of(1, FT_NODE_ENDED, 3, true));
    expect("", state_of(0, FT_NODE_ENDED, 5, true)); /* the first stands */
    expect("drop(1)", state_of(1, FT_NODE_LEFT, 3, true));
    expect("drop(0) finish(3)", state_of(0, FT_NODE_LEFT, 5, true));
    done();
}

Test(nodes_policy, a_silent_host_is_replaced_by_a_spare_when_its_lease_is_over)
{
    begin(config(3, 4), true);
    pass(2500, "02");
    now = 1000 + 2999;
    expect("", TIME());
    now++;
    expect("drop(1) lost(1@1->3,1) start(1.1@3) table", TIME());
    cr_expect_not(ft_nodes_is_up(p, 1));
    expect("table", OF(FT_NV_HELLO, 1));
    cr_expect(ft_nodes_is_up(p, 1));
    cr_expect_eq(ft_nodes_replaced(p), 1);
    done();
}

Test(nodes_policy, a_broken_connection_is_no_loss_before_the_lease)
{
    begin(config(2, 3), true);
    expect("", OF(FT_NV_CLOSED, 1));
    pass(2500, "0");
    expect("", OF(FT_NV_HELLO, 1)); /* it is there again */
    pass(2500, "0");
    expect("", OF(FT_NV_CLOSED, 1));
    pass(500, "");
    expect("drop(1) lost(1@1->1,0) start(1.1@1) table", OF(FT_NV_HEARD, 0)); /* its host answers, perhaps */
    done();
}

Test(nodes_policy, without_a_log_from_the_start_all_begin_again)
{
    begin(config(2, 2), false);
    pass(2500, "0");
    now += 500;
    expect("drop(1) renew(1@1->1,1) drop(1) end(0)", OF(FT_NV_HEARD, 0));
    expect("", state_of(0, FT_NODE_ENDED, 0, false));
    expect("drop(0) renew(0) start(0.1@0) start(1.1@1) table run(0)", state_of(0, FT_NODE_LEFT, 0, false));
    cr_expect_eq(ft_nodes_epoch(p), 1);
    expect("table", OF(FT_NV_HELLO, 0));
    expect("table", OF(FT_NV_HELLO, 1));
    expect("", state_of(0, FT_NODE_DONE, 0, true));
    expect("finish(0)", state_of(1, FT_NODE_DONE, 0, true));
    done();
}

static struct ft_nodes_event connected(uint32_t node)
{
    struct ft_nodes_event ev = state_of(node, FT_NODE_RUNNING, 0, true);

    ev.connected = true;
    return ev;
}

/* What they have told others over those would be told again by who begins again. */
Test(nodes_policy, a_lost_host_whose_ranks_had_connections_ends_the_job)
{
    begin(config(2, 3), true);
    expect("", connected(1));
    expect("", state_of(1, FT_NODE_RUNNING, 0, true)); /* it is not forgotten */
    pass(2500, "0");
    now += 500;
    expect("drop(1) connected(1@1->1,1) end(1)", OF(FT_NV_HEARD, 0));
    expect("drop(0) finish(1)", state_of(0, FT_NODE_LEFT, 1, true));
    done();
}

Test(nodes_policy, or_all_begin_again_where_that_was_chosen)
{
    struct ft_nodes_config c = config(2, 3);

    c.start_over = true;
    begin(c, true);
    expect("", connected(1));
    pass(2500, "0");
    now += 500;
    expect("drop(1) renew(1@1->2,3) drop(1) end(0)", OF(FT_NV_HEARD, 0));
    expect("drop(0) renew(0) start(0.1@0) start(1.1@2) table run(0)", state_of(0, FT_NODE_LEFT, 0, true));
    expect("table", OF(FT_NV_HELLO, 0));
    expect("table", OF(FT_NV_HELLO, 1));
    expect("", state_of(0, FT_NODE_RUNNING, 0, true));
    expect("", state_of(1, FT_NODE_RUNNING, 0, true));
    pass(2500, "0");
    now += 500;
    expect("drop(1) lost(1@2->2,1) start(1.2@2) table", OF(FT_NV_HEARD, 0)); /* it had none since then */
    done();
}

/* The ranks at the other ends may have ended the job before. */
Test(nodes_policy, a_host_that_is_lost_at_the_end_is_told_if_it_had_connections)
{
    begin(config(2, 2), true);
    expect("", connected(1));
    expect("end(3)", state_of(0, FT_NODE_ENDED, 3, true));
    pass(2500, "0");
    now += 500;
    expect("lost-too(1@1->1,0) drop(1)", OF(FT_NV_HEARD, 0));
    expect("drop(0) finish(3)", state_of(0, FT_NODE_LEFT, 3, true));
    done();
}

Test(nodes_policy, two_at_once)
{
    begin(config(3, 3), true);
    expect("", OF(FT_NV_CLOSED, 1));
    expect("", OF(FT_NV_CLOSED, 2));
    pass(2500, "0");
    now += 500;
    expect("drop(1) lost(1@1->1,0) start(1.1@1) table drop(2) lost(2@2->2,0) start(2.1@2) table", OF(FT_NV_HEARD, 0));
    done();
}

/* When all are lost nothing happens but time: that is no sleep. (A controller that had lost all its nodes waited for ever.) */
Test(nodes_policy, all_at_once)
{
    begin(config(2, 2), true);
    for (uint64_t end = now + 3000; now < end; expect(now < end ? "" : "drop(0) lost(0@0->0,1) start(0.1@0) table drop(1) renew(1@1->1,1) drop(1) "
                                                                       "drop(0) end(0) renew(0) start(0.2@0) start(1.1@1) table run(0)", TIME()))
        now = ft_nodes_due(p);
    done();
}

/* The last one was started on its dead host, and then believed to be on the spare one. */
Test(nodes_policy, all_at_once_with_spares)
{
    begin(config(2, 4), true);
    for (uint64_t end = now + 3000; now < end; expect(now < end ? "" : "drop(0) lost(0@0->2,1) start(0.1@2) table drop(1) renew(1@1->3,1) drop(1) "
                                                                       "drop(0) end(0) renew(0) start(0.2@2) start(1.1@3) table run(0)", TIME()))
        now = ft_nodes_due(p);
    cr_expect_eq(ft_nodes_host(p, 0), 2);
    cr_expect_eq(ft_nodes_host(p, 1), 3);
    done();
}

/* It was started where it had just been lost. */
Test(nodes_policy, a_host_that_is_lost_while_all_are_ended_is_not_begun_again_with)
{
    begin(config(3, 5), false);
    pass(2500, "02");
    now += 500;
    expect("drop(1) renew(1@1->3,1) drop(1) end(0)", OF(FT_NV_HEARD, 0));
    expect("drop(0)", state_of(0, FT_NODE_LEFT, 0, false));
    for (uint64_t end = now + 2500; now < end; expect(now < end ? "" : "drop(2) renew(0) start(0.1@0) start(1.1@3) start(2.1@4) table run(0)", TIME()))
        now = ft_nodes_due(p);
    cr_expect_eq(ft_nodes_host(p, 2), 4);
    done();
}

Test(nodes_policy, cannot_be_started)
{
    struct ft_nodes_config c = config(2, 2);

    now = 1000;
    p = new(&c);
    expect("start(0.0@0) start(1.0@1)", TIME());
    expect("table", OF(FT_NV_HELLO, 0));
    expect("drop(1)", FAILED(1));
    pass(500, "");
    expect("start(1.1@1)", OF(FT_NV_HEARD, 0));
    expect("drop(1)", FAILED(1));
    pass(500, "0");
    now += 500;
    expect("start(1.2@1)", OF(FT_NV_HEARD, 0));
    expect("drop(1) cannot-start(1@1->1,3) drop(1) end(1)", FAILED(1));
    expect("drop(0) finish(1)", state_of(0, FT_NODE_LEFT, 0, true));
    done();
}

/* A pod whose name is not known yet, or whose sshd does not listen. */
Test(nodes_policy, hosts_that_come_late_are_tried_for_longer)
{
    struct ft_nodes_config c = config(2, 2);

    c.tries = FT_START_TRIES_LATE;
    now = 1000;
    p = new(&c);
    expect("start(0.0@0) start(1.0@1)", TIME());
    expect("table", OF(FT_NV_HELLO, 0));
    for (unsigned k = 1; k < FT_START_TRIES_LATE; k++) {
        char started[32];

        snprintf(started, sizeof started, "start(1.%u@1)", k);
        expect("drop(1)", FAILED(1));
        pass(500 * (uint64_t)(k - 1), "0");
        now += 500;
        expect(started, OF(FT_NV_HEARD, 0));
    }
    expect("drop(1) cannot-start(1@1->1,10) drop(1) end(1)", FAILED(1));
    done();
}

Test(nodes_policy, a_spare_takes_the_place_of_who_cannot_be_started)
{
    struct ft_nodes_config c = config(2, 3);
    struct ft_nodes_event hopeless = {.kind = FT_NV_NOT_STARTED, .node = 1, .fatal = true, .code = 127};

    now = 1000;
    p = new(&c);
    expect("start(0.0@0) start(1.0@1)", TIME());
    expect("drop(1) cannot-start(1@1->2,1) start(1.1@2) table", hopeless);
    expect("drop(1) cannot-start(1@2->2,1) drop(0) drop(1) end(127) finish(127)", hopeless);
    done();
}

/* It was tried three times, for two seconds, while everybody stood still. */
Test(nodes_policy, a_lost_host_that_does_not_answer_is_tried_once_if_there_is_a_spare)
{
    begin(config(2, 3), true);
    expect("", OF(FT_NV_CLOSED, 1));
    pass(2500, "0");
    now += 500;
    expect("drop(1) lost(1@1->1,0) start(1.1@1) table", OF(FT_NV_HEARD, 0));
    expect("drop(1) cannot-start(1@1->2,1) start(1.2@2) table", FAILED(1));
    expect("table", OF(FT_NV_HELLO, 1));
    done();
}

Test(nodes_policy, a_host_is_waited_for)
{
    struct ft_nodes_config c = config(2, 2);

    c.wait_ms = 3000;
    begin(c, true);
    expect("", OF(FT_NV_CLOSED, 1));
    pass(2500, "0");
    now += 500;
    expect("drop(1) lost(1@1->1,0) start(1.1@1) table", OF(FT_NV_HEARD, 0));
    expect("drop(1) cannot-start(1@1->1,1)", (struct ft_nodes_event){.kind = FT_NV_NOT_STARTED, .node = 1, .fatal = true, .code = 127});
    pass(500, "0");
    now += 500;
    expect("start(1.2@1)", OF(FT_NV_HEARD, 0));
    expect("drop(1)", FAILED(1));
    pass(500, "0");
    now += 500;
    expect("start(1.3@1)", OF(FT_NV_HEARD, 0));
    pass(1500, "0");
    expect("drop(1) nowhere(1@1->1,0) drop(1) end(1)", FAILED(1));
    done();
}

Test(nodes_policy, no_answer_is_no_start)
{
    struct ft_nodes_config c = config(1, 1);

    c.start_ms = 2000;
    now = 1000;
    p = new(&c);
    expect("start(0.0@0)", TIME());
    cr_expect_eq(ft_nodes_due(p), 3000);
    now = 3000;
    expect("drop(0)", TIME());
    cr_expect_eq(ft_nodes_due(p), 3500);
    now = 3500;
    expect("start(0.1@0)", TIME());
    done();
}

Test(nodes_policy, signals)
{
    begin(config(2, 2), true);
    expect("", (struct ft_nodes_event){.kind = FT_NV_SIGNAL, .code = 130});
    expect("", state_of(0, FT_NODE_ENDED, 130, true));
    expect("", (struct ft_nodes_event){.kind = FT_NV_SIGNAL, .code = 130});
    expect("end(130)", state_of(1, FT_NODE_ENDED, 130, true));
    expect("drop(0)", state_of(0, FT_NODE_LEFT, 0, true));
    now += 2000; /* ranks that take their time, on a node that lives */
    expect("", OF(FT_NV_HEARD, 1));
    now += 3000;
    expect("", TIME()); /* ftrun slept */
    now += 900;
    expect("", TIME());
    now += 900;
    expect("", TIME());
    now += 900;
    expect("", TIME());
    now += 300;
    expect("drop(1) finish(130)", TIME());
    done();
}

Test(nodes_policy, a_signal_before_anybody_has_come)
{
    struct ft_nodes_config c = config(2, 2);

    now = 1000;
    p = new(&c);
    expect("start(0.0@0) start(1.0@1)", TIME());
    expect("drop(0) drop(1) end(143) finish(143)", (struct ft_nodes_event){.kind = FT_NV_SIGNAL, .code = 143});
    done();
}

Test(nodes_policy, a_controller_that_slept_declares_nobody_lost)
{
    begin(config(2, 2), true);
    now += 60000;
    expect("", TIME());
    now += 500;
    expect("", OF(FT_NV_HEARD, 0));
    expect("", OF(FT_NV_HEARD, 1));
    done();
}

Test(nodes_policy, stranded)
{
    begin(config(2, 2), true);
    expect("stranded(1@1->1,0) end-one(1)", state_of(1, FT_NODE_STRANDED, 0, false));
    expect("", state_of(1, FT_NODE_STRANDED, 0, false));
    expect("", OF(FT_NV_CLOSED, 1));
    expect("end-one(1)", OF(FT_NV_HELLO, 1)); /* once it was not said again, and a node that had not heard it stayed for ever */
    expect("drop(1) lost(1@1->1,0) start(1.1@1) table", state_of(1, FT_NODE_LEFT, 0, false));
    expect("table", OF(FT_NV_HELLO, 1));
    expect("renew(0@0->0,2) end(0)", state_of(0, FT_NODE_STRANDED, 0, true)); /* what there is of logs does not go together */
    expect("drop(0)", state_of(0, FT_NODE_LEFT, 0, true));
    expect("drop(1) renew(0) start(0.1@0) start(1.2@1) table run(0)", state_of(1, FT_NODE_LEFT, 0, true));
    done();
    begin(config(2, 2), false);
    expect("renew(1@1->1,2) end(0)", state_of(1, FT_NODE_STRANDED, 0, false));
    done();
}

Test(nodes_policy, limits_of_restarts)
{
    struct ft_nodes_config c = config(2, 2);
    struct ft_nodes_event ev = state_of(0, FT_NODE_RUNNING, 0, true);

    c.max_restarts = 3;
    begin(c, true);
    ev.restarts = 2;
    expect("", ev);
    ev.node = 1;
    ev.restarts = 1;
    expect("", ev);
    ev.restarts = 2;
    expect("max-restarts(1@1->1,3) end(1)", ev);
    done();
    c.max_restarts = 0;
    begin(c, true);
    pass(2500, "0");
    now += 500;
    expect("drop(1) no-restarts(1@1->1,1) end(1)", OF(FT_NV_HEARD, 0));
    done();
}

Test(nodes_policy, lost_again_and_again_without_progress)
{
    char want[64];

    begin(config(2, 2), true);
    for (unsigned i = 1; i < FT_NODE_LOSSES; i++) {
        snprintf(want, sizeof want, "drop(1) lost(1@1->1,0) start(1.%u@1) table", i);
        expect(want, state_of(1, FT_NODE_LEFT, 0, true));
        expect("table", OF(FT_NV_HELLO, 1));
    }
    expect("drop(1) given-up(1@1->1,5) end(1)", state_of(1, FT_NODE_LEFT, 0, true));
    done();
}

/* A rank that dies of its own at one place, and can only begin again with all others, began again for ever. */
Test(nodes_policy, stranded_again_and_again_without_progress)
{
    char want[100];

    begin(config(2, 2), false);
    for (unsigned i = 1; i < FT_NODE_LOSSES; i++) {
        expect("renew(1@1->1,2) end(0)", state_of(1, FT_NODE_STRANDED, 0, false));
        expect("drop(0)", state_of(0, FT_NODE_LEFT, 0, false));
        snprintf(want, sizeof want, "drop(1) renew(%u) start(0.%u@0) start(1.%u@1) table run(0)", i - 1, i, i);
        expect(want, state_of(1, FT_NODE_LEFT, 0, false));
        expect("table", OF(FT_NV_HELLO, 0));
        expect("table", OF(FT_NV_HELLO, 1));
    }
    expect("given-up(1@1->1,5) end(1)", state_of(1, FT_NODE_STRANDED, 0, false));
    done();
}

/* ---- the controller is killed ---- */

Test(nodes_policy, a_successor_goes_on_with_nodes_that_are_up)
{
    begin(config(2, 2), true);
    pass(2000, "01");
    expect_recovered("run(0)", 0);
    pass(2500, "0");
    expect("", OF(FT_NV_HELLO, 1)); /* it has connected again within its lease, counted from then on */
    pass(2500, "01");
    expect("", state_of(0, FT_NODE_DONE, 0, true));
    expect("finish(0)", state_of(1, FT_NODE_DONE, 0, true));
    done();
}

Test(nodes_policy, a_successor_starts_again_what_was_being_started)
{
    struct ft_nodes_config c = config(2, 2);

    now = 1000;
    p = new(&c);
    expect_recovered("start(0.0@0) start(1.0@1)", 0); /* nothing was */
    expect("table", OF(FT_NV_HELLO, 0));
    expect_recovered("run(0) start(1.1@1)", 0); /* what the first one has started may come, and is refused */
    expect("table", OF(FT_NV_HELLO, 1));
    done();
}

Test(nodes_policy, a_successor_tells_what_was_not)
{
    struct ft_nodes_config c = config(2, 3);

    begin(c, true);
    pass(2500, "0");
    now += 500;
    expect("drop(1) lost(1@1->2,1) start(1.1@2) table", OF(FT_NV_HEARD, 0));
    expect_recovered("lost(1@1->2,1) run(0) start(1.2@2)", 1);
    expect_recovered("run(0) start(1.3@2)", 1);
    cr_expect_eq(ft_nodes_host(p, 1), 2);
    cr_expect_eq(ft_nodes_replaced(p), 1);
    done();
}

Test(nodes_policy, a_successor_ends_what_was_ending)
{
    begin(config(2, 2), true);
    expect("end(3)", state_of(1, FT_NODE_ENDED, 3, true));
    expect_recovered("end(3)", 0);
    cr_expect(ft_nodes_is_ending(p));
    expect("drop(0)", state_of(0, FT_NODE_LEFT, 0, true));
    expect_recovered("end(3)", 1);
    expect("drop(1) finish(3)", state_of(1, FT_NODE_LEFT, 0, true));
    expect_recovered("end(3) finish(3)", 0);
    done();
    begin(config(2, 2), false);
    expect("renew(1@1->1,2) end(0)", state_of(1, FT_NODE_STRANDED, 0, false));
    expect_recovered("renew(1@1->1,2) end(0)", 0);
    expect("drop(0)", state_of(0, FT_NODE_LEFT, 0, false));
    expect("drop(1) renew(0) start(0.1@0) start(1.1@1) table run(0)", state_of(1, FT_NODE_LEFT, 0, false));
    done();
}

Test(nodes_policy, a_successor_knows_of_connections_restarts_and_signals)
{
    struct ft_nodes_event ev = state_of(1, FT_NODE_RUNNING, 0, true);

    begin(config(2, 2), true);
    ev.restarts = 4;
    ev.connected = true;
    expect("", ev);
    expect_recovered("run(0)", 0);
    cr_expect_eq(ft_nodes_restarts(p), 4);
    pass(2500, "0");
    now += 500;
    expect("drop(1) connected(1@1->1,0) end(1)", OF(FT_NV_HEARD, 0));
    done();
    begin(config(2, 2), true);
    expect("", (struct ft_nodes_event){.kind = FT_NV_SIGNAL, .code = 143});
    expect_recovered("run(143)", 0);
    cr_expect(ft_nodes_is_ending(p));
    expect("", state_of(0, FT_NODE_ENDED, 143, true));
    expect("end(143)", state_of(1, FT_NODE_ENDED, 143, true));
    done();
}

/* ---- hosts that come and go (--rdzv) ---- */

static struct ft_nodes_config config_of_comers(uint32_t nnodes, uint32_t nhosts, uint32_t nlater)
{
    struct ft_nodes_config c = config(nnodes, nhosts);

    c.nlater = nlater;
    c.wait_ms = 10000;
    return c;
}

Test(nodes_policy, host_that_has_not_come_is_no_spare)
{
    begin(config_of_comers(2, 3, 1), true);
    pass(2500, "0");
    now += 500;
    expect("drop(1) lost(1@1->1,1) start(1.1@1) table", OF(FT_NV_HEARD, 0));
    done();
}

Test(nodes_policy, host_that_has_come_is_a_spare)
{
    begin(config_of_comers(2, 3, 1), true);
    expect("", HOST(FT_NV_HOST, 2));
    pass(2500, "0");
    now += 500;
    expect("drop(1) lost(1@1->2,1) start(1.1@2) table", OF(FT_NV_HEARD, 0));
    done();
}

Test(nodes_policy, host_that_returns_is_a_spare_again)
{
    begin(config_of_comers(2, 3, 1), true);
    expect("", HOST(FT_NV_HOST, 2));
    pass(2500, "0");
    now += 500;
    expect("drop(1) lost(1@1->2,1) start(1.1@2) table", OF(FT_NV_HEARD, 0));
    expect("table", OF(FT_NV_HELLO, 1));
    expect("", HOST(FT_NV_HOST_AWAY, 1));
    expect("", HOST(FT_NV_HOST, 1));
    pass(2500, "0");
    now += 500;
    expect("drop(1) lost(1@2->1,1) start(1.2@1) table", OF(FT_NV_HEARD, 0));
    done();
}

/* It has come again before it was known that it was gone: not a dead host. */
Test(nodes_policy, host_that_returns_soon_keeps_its_place)
{
    begin(config_of_comers(2, 3, 1), true);
    expect("", HOST(FT_NV_HOST, 2));
    pass(1000, "0");
    expect("", HOST(FT_NV_HOST, 1));
    pass(1500, "0");
    now += 500;
    expect("drop(1) lost(1@1->1,1) start(1.1@1) table", OF(FT_NV_HEARD, 0));
    done();
}

Test(nodes_policy, host_that_leaves_is_ended_and_replaced)
{
    begin(config_of_comers(2, 3, 1), true);
    expect("", HOST(FT_NV_HOST, 2));
    expect("end-one(1)", HOST(FT_NV_HOST_AWAY, 1));
    expect("drop(1) lost(1@1->2,2) start(1.1@2) table", state_of(1, FT_NODE_LEFT, 0, true));
    done();
}

/* Finding: its ranks took a moment to end, and it said meanwhile that it was ending: that ended the job, with code 1 and without a line. */
Test(nodes_policy, host_that_leaves_ends_its_node_and_not_the_job)
{
    begin(config_of_comers(2, 3, 1), true);
    expect("end-one(1)", HOST(FT_NV_HOST_AWAY, 1));
    expect("", HOST(FT_NV_HOST, 1));
    expect("", state_of(1, FT_NODE_ENDED, 1, true));
    expect("drop(1) lost(1@1->1,0) start(1.1@1) table", state_of(1, FT_NODE_LEFT, 1, true));
    done();
}

Test(nodes_policy, host_that_leaves_while_it_starts)
{
    struct ft_nodes_config c = config_of_comers(2, 3, 1);

    now = 1000;
    p = new(&c);
    expect("start(0.0@0) start(1.0@1)", TIME());
    expect("", HOST(FT_NV_HOST, 2));
    expect("drop(1) cannot-start(1@1->2,1) start(1.1@2) table", HOST(FT_NV_HOST_AWAY, 1));
    done();
}

/* And a successor knows which hosts are there. */
Test(nodes_policy, who_waits_takes_the_next_host_that_comes)
{
    begin(config_of_comers(2, 3, 1), true);
    expect("end-one(1)", HOST(FT_NV_HOST_AWAY, 1));
    expect("drop(1) lost(1@1->1,2) start(1.1@1) table", state_of(1, FT_NODE_LEFT, 0, true));
    expect("drop(1) cannot-start(1@1->1,1)", (struct ft_nodes_event){.kind = FT_NV_NOT_STARTED, .node = 1, .fatal = true, .code = 1});
    expect("start(1.2@1)", HOST(FT_NV_HOST, 2));
    expect_recovered("run(0) start(1.3@1)", 1);
    expect("drop(1) cannot-start(1@1->2,1) start(1.4@2) table", (struct ft_nodes_event){.kind = FT_NV_NOT_STARTED, .node = 1, .fatal = true, .code = 1});
    done();
}

Test(nodes_policy, no_host_comes)
{
    begin(config_of_comers(2, 3, 1), true);
    expect("end-one(1)", HOST(FT_NV_HOST_AWAY, 1));
    expect("drop(1) lost(1@1->1,2) start(1.1@1) table", state_of(1, FT_NODE_LEFT, 0, true));
    expect("drop(1) cannot-start(1@1->1,1)", (struct ft_nodes_event){.kind = FT_NV_NOT_STARTED, .node = 1, .fatal = true, .code = 1});
    for (uint32_t incarnation = 2; incarnation < 11; incarnation++) {
        char started[32];

        snprintf(started, sizeof started, "start(1.%u@1)", incarnation);
        pass(500, "0");
        now += 500;
        expect(started, OF(FT_NV_HEARD, 0));
        expect("drop(1)", (struct ft_nodes_event){.kind = FT_NV_NOT_STARTED, .node = 1, .fatal = true, .code = 1});
    }
    pass(500, "0");
    now += 500;
    expect("start(1.11@1)", OF(FT_NV_HEARD, 0));
    expect("drop(1) nowhere(1@1->1,0) drop(1) end(1)", (struct ft_nodes_event){.kind = FT_NV_NOT_STARTED, .node = 1, .fatal = true, .code = 1});
    done();
}

/* The program is not there, say: waiting for another host helps nobody. */
Test(nodes_policy, host_that_is_there_and_refuses_is_the_end)
{
    struct ft_nodes_config c = config_of_comers(2, 3, 1);

    now = 1000;
    p = new(&c);
    expect("start(0.0@0) start(1.0@1)", TIME());
    expect("", HOST(FT_NV_HOST, 1));
    expect("drop(1) cannot-start(1@1->1,1) drop(0) drop(1) end(127) finish(127)",
           (struct ft_nodes_event){.kind = FT_NV_NOT_STARTED, .node = 1, .fatal = true, .code = 127});
    done();
}
