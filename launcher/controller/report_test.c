/* SPDX-License-Identifier: BSD-3-Clause */
/* What is entered into the report of a job on several hosts, and that a process which succeeds another one enters nothing twice. */
#include "config.h"
#include "launcher/controller/report.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/controller/report_state.h"
#include "launcher/options/test_line.h"

static struct ft_options o;
static struct ft_controller_report *c;

/* Rank 0 on a, 1 and 2 on b, a spare. All have started. */
static void begin(void)
{
    struct ft_wire_rank ranks[2] = {{.pid = 100}, {.pid = 101}};
    struct ft_wire_state state = {.nranks = 1, .ranks = ranks};
    struct ft_error e = {""};

    ft_options_defaults(&o);
    cr_assert_eq(parse_line(&o, "ftrun -H a,b:2,c --spares 1 true", &e), 0, "%s", e.text);
    cr_assert_eq(ft_map_make(&o, &e), 0, "%s", e.text);
    cr_assert_eq(ft_controller_report_new(&c, &o, &e), 0, "%s", e.text);
    for (uint32_t node = 0; node < 2; node++) {
        ft_controller_report_start(c, node, node);
        ft_controller_report_up(c, node);
        state.nranks = node + 1;
        ft_controller_report_state(c, node, &state);
    }
}

static void end(void)
{
    ft_controller_report_free(c);
    ft_options_free(&o);
}

TestSuite(controller_report, .init = begin, .fini = end);

Test(controller_report, a_lost_host)
{
    ft_controller_report_lost(c, 1, 2, false, true);
    cr_expect_eq(c->hosts.nlosses, 1);
    cr_expect_eq(c->hosts.losses[0].to, 2);
    cr_expect_eq(c->report.nrestarts, 2);
    cr_expect_eq(c->report.ranks[0].restarts, 0);
    cr_expect_eq(c->report.ranks[2].restarts, 1);
}

/* A controller that dies after it has entered a decision, and before that is noted, is succeeded by one that does it all again. */
Test(controller_report, what_is_said_twice_is_entered_once)
{
    ft_controller_report_lost(c, 1, 2, false, true);
    ft_controller_report_recover(c);
    ft_controller_report_lost(c, 1, 2, false, true);
    cr_expect_eq(c->hosts.nlosses, 1);
    cr_expect_eq(c->report.nrestarts, 2);
    ft_controller_report_start(c, 1, 2);
    ft_controller_report_lost(c, 1, -1, false, true);
    cr_expect_eq(c->hosts.nlosses, 2, "the next life is lost, too");
}

Test(controller_report, ranks_of_all_nodes_are_lost_once)
{
    ft_controller_report_lost(c, 1, 2, true, true);
    cr_expect_eq(c->report.nrestarts, 3);
    ft_controller_report_lost(c, 0, 2, true, true);
    cr_expect_eq(c->hosts.nlosses, 2);
    cr_expect_eq(c->report.nrestarts, 3);
}

Test(controller_report, an_entry_that_is_not_whole_is_undone)
{
    ft_controller_report_begin(c, 1, 1);
    c->hosts.nlosses++;
    c->nodes[1].lost_ns = 7;
    c->report.ranks[2].restarts = 9;
    ft_controller_report_recover(c);
    cr_expect_eq(c->hosts.nlosses, 0);
    cr_expect_eq(c->nodes[1].lost_ns, 0);
    cr_expect_eq(c->report.ranks[2].restarts, 0);
    ft_controller_report_recover(c); /* nothing is left to undo */
    cr_expect_eq(c->nodes[1].lost_ns, 0);
}
