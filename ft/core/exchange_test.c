/* SPDX-License-Identifier: BSD-3-Clause */
/* What goes over the links between nodes (ft/core/exchange.h): each trace is a promise. Mostly of a node of three, 0 = 1 - 2: the root edge
   is between 0 and 1. */
#include "ft/core/exchange_traces.h"

static void middle(void)
{
    node(1, 0);
    connect(0, 0);
    connect(2, 0);
}

static void middle_has_folded(void)
{
    middle();
    begin(FT_UNIT_REDUCE, 0, 1);
    ft_exchange_own(&x, 1);
    TAKES(2, PART, 0, 0, PART);
    fold(0);
}

Test(exchange, both_halves_combine_and_children_get_the_result)
{
    middle();
    begin(FT_UNIT_REDUCE, 0, 1);
    STEP(NONE, 0);
    ft_exchange_own(&x, 1);
    STEP(NONE, 0);
    TAKES(2, PART, 0, 0, PART);
    fold(0);
    STEP(NONE, 0);
    cr_assert(ft_exchange_owes(&x));
    SENDS(0, PART, 0);
    SILENT(2);
    TAKES(0, PART, 0, 0, PART);
    result(0);
    SILENT(0);
    SENDS(2, RES, 0);
    cr_assert(ft_exchange_over(&x) && !ft_exchange_owes(&x));
}

Test(exchange, a_leaf_gives_partials_ahead_and_takes_results)
{
    node(2, 0);
    connect(1, 0);
    begin(FT_UNIT_REDUCE, 0, 9);
    ft_exchange_own(&x, 9);
    for (uint64_t u = 0; u < DEPTH; u++) {
        fold(u);
        SENDS(1, PART, u);
    }
    STEP(NONE, 0); /* no more than DEPTH in flight */
    SILENT(1);
    for (uint64_t u = 0; u < 9; u++) {
        taken_result(1, u, u + 1);
        if (u + DEPTH < 9) {
            fold(u + DEPTH);
            SENDS(1, PART, u + DEPTH);
        }
    }
    SILENT(1);
    cr_assert(ft_exchange_over(&x) && !ft_exchange_owes(&x));
}

Test(exchange, partials_ahead_are_taken_within_the_window)
{
    node(1, 0);
    connect(2, 0);
    begin(FT_UNIT_REDUCE, 0, 9);
    for (uint64_t u = 0; u < DEPTH; u++)
        TAKES(2, PART, u, 0, PART);
    COMES(2, PART, DEPTH, 0, WAIT);
}

Test(exchange, what_is_asked_for_below_is_answered_then_partials) /* the answer rule */
{
    node(1, 7);
    begin(FT_UNIT_REDUCE, 6, 9);
    ft_exchange_own(&x, 8);
    connect(2, 3);
    connect(0, 5);
    for (uint64_t u = 3; u < 7; u++)
        SENDS(2, RES, u);
    SILENT(2);
    TAKES(2, PART, 7, 7, PART);
    fold(7);
    SENDS(0, RES, 5);
    SENDS(0, RES, 6);
    SENDS(0, PART, 7);
    SILENT(0);
}

Test(exchange, a_partial_is_sent_again_after_a_reset) /* RULE 24 */
{
    node(2, 4);
    begin(FT_UNIT_REDUCE, 4, 5);
    ft_exchange_own(&x, 5);
    fold(4);
    for (int i = 0; i < 3; i++) {
        connect(1, 4);
        SENDS(1, PART, 4);
        SILENT(1);
        ft_exchange_broken(&x, at(1));
        SILENT(1);
        connect(1, 4);
        BEGINS(1, PART, 4); /* and in the middle of it */
        ft_exchange_broken(&x, at(1));
    }
}

Test(exchange, results_travel_upwards) /* RULE 24: a parent that was replaced learns from its child, and its own parent from it */
{
    node(1, 0);
    connect(0, 0);
    connect(2, 5);
    begin(FT_UNIT_REDUCE, 0, 1);
    SILENT(0);
    taken_result(2, 0, 5);
    SENDS(0, RES, 0);
    SILENT(2);
}

Test(exchange, not_after_a_partial_over_this_connection)
{
    middle_has_folded();
    SENDS(0, PART, 0);
    connect(2, 1); /* replaced, with the log from elsewhere */
    taken_result(2, 0, 1);
    SILENT(0);
    ft_exchange_broken(&x, at(0));
    connect(0, 0);
    SENDS(0, RES, 0);
}

Test(exchange, partials_of_a_broken_link_are_forgotten_unless_folded)
{
    node(1, 0);
    begin(FT_UNIT_REDUCE, 0, 2);
    ft_exchange_own(&x, 2);
    connect(2, 0);
    TAKES(2, PART, 0, 0, PART);
    fold(0);
    TAKES(2, PART, 1, 0, PART);
    connect(2, 0);
    STEP(NONE, 0);
    TAKES(2, PART, 0, 0, DROP);
    TAKES(2, PART, 1, 0, PART);
    fold(1);
}

Test(exchange, the_other_half_is_not_taken_from_an_old_connection)
{
    node(0, 0);
    begin(FT_UNIT_REDUCE, 0, 1);
    ft_exchange_own(&x, 1);
    connect(1, 0);
    fold(0);
    SENDS(1, PART, 0);
    TAKES(1, PART, 0, 0, PART);
    ft_exchange_broken(&x, at(1));
    STEP(NONE, 0);
    connect(1, 0);
    SENDS(1, PART, 0);
    TAKES(1, PART, 0, 0, PART);
    result(0);
    SILENT(1);
}

Test(exchange, a_unit_is_not_committed_while_its_partial_is_being_sent) /* its memory is used again then: RULE 5 */
{
    node(0, 0);
    connect(1, 0);
    begin(FT_UNIT_REDUCE, 0, 1);
    ft_exchange_own(&x, 1);
    fold(0);
    BEGINS(1, PART, 0);
    TAKES(1, PART, 0, 0, PART);
    STEP(NONE, 0);
    ft_exchange_sent(&x, at(1));
    result(0);

    middle_has_folded();
    BEGINS(0, PART, 0);
    connect(2, 1);
    COMES(2, RES, 0, 1, WAIT);
    ft_exchange_sent(&x, at(0));
    COMES(2, RES, 0, 1, RES);
}

Test(exchange, a_partial_is_not_begun_while_its_result_comes_in) /* sim, seed 286: the next unit was folded into it while it was sent */
{
    middle_has_folded();
    connect(2, 1);
    COMES(2, RES, 0, 1, RES);
    SILENT(0);
    ft_exchange_taken(&x, at(2));
    ft_exchange_commit(&x, 0, BYTES);
    SENDS(0, RES, 0);
}

Test(exchange, asking_while_a_frame_is_under_way_changes_nothing) /* it ended the frame, which was sent again */
{
    node(0, 0);
    connect(1, 0);
    begin(FT_UNIT_REDUCE, 0, 1);
    ft_exchange_own(&x, 1);
    fold(0);
    BEGINS(1, PART, 0);
    SILENT(1);
    ft_exchange_sent(&x, at(1));
    SILENT(1);
}

Test(exchange, one_writer_of_a_record_at_a_time)
{
    node(1, 0);
    connect(0, 1);
    connect(2, 1);
    begin(FT_UNIT_GATHER, 0, 1);
    ft_exchange_own(&x, 1);
    COMES(0, RES, 0, 1, RES);
    COMES(2, RES, 0, 1, WAIT);
    STEP(NONE, 0);
    ft_exchange_broken(&x, at(0));
    COMES(2, RES, 0, 1, RES);
    ft_exchange_broken(&x, at(2));
    connect(0, 0);
    connect(2, 1);
    COMES(0, PART, 0, 0, PART);
    COMES(2, RES, 0, 1, WAIT);
    cr_assert(ft_exchange_owes(&x)); /* nobody leaves with half a slice in a record */
    ft_exchange_taken(&x, at(0));
    COMES(2, RES, 0, 1, RES);
}

Test(exchange, results_ahead_wait)
{
    node(1, 0);
    connect(0, 2);
    begin(FT_UNIT_REDUCE, 0, 1);
    COMES(0, RES, 1, 2, WAIT);
    taken_result(0, 0, 2);
    COMES(0, RES, 1, 2, WAIT); /* no operation is open for it */
    begin(FT_UNIT_REDUCE, 1, 2);
    taken_result(0, 1, 2);
}

Test(exchange, a_broadcast_flows_away_from_its_root)
{
    node(0, 0);
    connect(1, 0);
    begin(FT_UNIT_BCAST, 0, 2);
    STEP(NONE, 0);
    ft_exchange_own(&x, 1);
    result(0);
    SENDS(1, RES, 0);
    SILENT(1);

    middle();
    begin(FT_UNIT_BCAST, 0, 2);
    ft_exchange_own(&x, 2); /* no matter */
    STEP(NONE, 0);
    taken_result(0, 0, 1);
    SILENT(0);
    SENDS(2, RES, 0);
    taken_result(2, 1, 2); /* that one had it */
    SENDS(0, RES, 1);
    SILENT(2);
}

Test(exchange, who_is_silent_acknowledges)
{
    node(2, 0);
    connect(1, 0);
    begin(FT_UNIT_BCAST, 0, 1000);
    for (uint64_t u = 0; u < 255; u++) {
        taken_result(1, u, u + 1);
        SILENT(1);
    }
    taken_result(1, 255, 256);
    SENDS(1, ACK, 0);
    SILENT(1);
    TAKES(1, RES, 256, 257, RES);
    ft_exchange_commit(&x, 256, 4 << 20);
    SENDS(1, ACK, 0);
    cr_assert_eq(x.peer[at(1)].count, 257);

    node(1, 9);
    connect(0, 5);
    connect(2, 3);
    cr_assert_eq(x.peer[at(2)].count, 3);
    TAKES(2, ACK, 0, 7, DROP);
    cr_assert_eq(x.peer[at(2)].count, 7);
    cr_assert_eq(x.peer[at(0)].count, 5);
    ft_exchange_broken(&x, at(0)); /* what it has said stands */
    cr_assert_eq(x.peer[at(0)].count, 5);
    connect(0, 0); /* unless it has lost all */
    cr_assert_eq(x.peer[at(0)].count, 0);
}

/* Node 4 of 8, of the right half [4, 8): balanced: parent 5, chain: root edge to 3, child 5. */
static void fourth_of_eight(void)
{
    ft_exchange_init(&x, peers, 8, 4, DEPTH, 0);
    connect(3, 0);
    connect(5, 0);
}

Test(exchange, peers_of_the_other_tree_get_nothing)
{
    fourth_of_eight();
    begin(FT_UNIT_REDUCE, 0, 2);
    ft_exchange_own(&x, 2);
    fold(0);
    SENDS(5, PART, 0);
    SILENT(3);
    taken_result(5, 0, 1);
    SILENT(3);
    cr_assert(!ft_exchange_owes(&x));
    ft_exchange_broken(&x, at(3)); /* but who connects and lacks something is answered, whatever the tree */
    connect(3, 0);
    SENDS(3, RES, 0);
    fold(1);
    SENDS(5, PART, 1);
    taken_result(5, 1, 2);
    SILENT(3);
    ft_exchange_begin(&x, FT_TREE_CHAIN, FT_UNIT_REDUCE, 0, 2, 3, 3);
    SILENT(3);
    TAKES(5, PART, 2, 2, PART);
    fold(2);
    SENDS(3, PART, 2); /* it is not bothered with unit 1 */
    TAKES(3, PART, 2, 2, PART);
    result(2);
    SENDS(5, RES, 2);
    cr_assert(!ft_exchange_owes(&x));
}

Test(exchange, nor_after_they_have_given_results_themselves) /* sim: they were given all of them again */
{
    fourth_of_eight();
    ft_exchange_begin(&x, FT_TREE_CHAIN, FT_UNIT_BCAST, 0, 0, 1, 0);
    taken_result(3, 0, 1);
    SENDS(5, RES, 0);
    for (uint64_t u = 1; u < 4; u++) {
        begin(FT_UNIT_REDUCE, u, u + 1);
        ft_exchange_own(&x, u + 1);
        fold(u);
        SENDS(5, PART, u);
        taken_result(5, u, u + 1);
        SILENT(3);
    }
}

Test(exchange, what_is_not_in_order_is_wrong)
{
    node(1, 5);
    connect(2, 5);
    begin(FT_UNIT_REDUCE, 5, 9);
    COMES(2, PART, 6, 5, WRONG); /* a gap */
    COMES(2, RES, 5, 5, WRONG);  /* not committed there */
    COMES(2, PART, 5, 4, WRONG); /* fewer than before */
    TAKES(2, PART, 5, 5, PART);
    COMES(2, PART, 5, 5, WRONG); /* twice */
    COMES(0, PART, 5, 5, WRONG); /* before its HELLO */
    COMES(2, NONE, 6, 5, WRONG);
    begin(FT_UNIT_BCAST, 5, 9);
    COMES(2, PART, 6, 5, WRONG);
    node(2, 0);
    connect(1, 0);
    begin(FT_UNIT_REDUCE, 0, 1);
    COMES(1, PART, 0, 0, WRONG); /* from a parent */
}

Test(exchange, below_the_base_there_is_no_answer) /* RULE 26 */
{
    node(1, 9);
    ft_exchange_release(&x, 4);
    connect(2, 4);
    ft_exchange_connected(&x, at(0));
    SENDS(0, HELLO, 0);
    cr_assert(!ft_exchange_hello(&x, at(0), 3));
    SILENT(0);
}

Test(exchange, nobody_leaves_before_its_neighbours_have_all)
{
    middle();
    begin(FT_UNIT_REDUCE, 0, 1);
    ft_exchange_leave(&x);
    ft_exchange_own(&x, 1);
    TAKES(2, PART, 0, 0, PART);
    fold(0);
    SENDS(0, PART, 0);
    TAKES(0, PART, 0, 0, PART);
    result(0);
    SENDS(2, RES, 0);
    SENDS(2, BYE, 0);
    SENDS(0, BYE, 0);
    SILENT(0);
    cr_assert(!ft_exchange_settled(&x));
    TAKES(0, BYE, 0, 1, DROP);
    cr_assert(!ft_exchange_settled(&x));
    ft_exchange_broken(&x, at(2));
    connect(2, 0);
    cr_assert(!ft_exchange_settled(&x));
    SENDS(2, RES, 0);
    SENDS(2, BYE, 0);
    cr_assert(!ft_exchange_settled(&x));
    ft_exchange_gone(&x, at(2)); /* its agent says so */
    cr_assert(ft_exchange_settled(&x));
}

Test(exchange, who_has_left_had_the_last_unit) /* a replaced node waited for it for ever */
{
    node(0, 3);
    ft_exchange_leave(&x);
    begin(FT_UNIT_REDUCE, 3, 4);
    STEP(NONE, 0);
    ft_exchange_gone(&x, at(1));
    result(3);
    cr_assert(ft_exchange_settled(&x));
    node(0, 2);
    begin(FT_UNIT_REDUCE, 2, 3); /* not other ones */
    ft_exchange_gone(&x, at(1));
    STEP(NONE, 0);
}

/* No tree of ours has it: node 8 of 12 with everybody else as its child, but for the other half, which is node 0. */
static void hub(void)
{
    ft_exchange_init(&x, peers, 12, 8, DEPTH, 0);
    x.n = 0;
    for (uint32_t k = 0; k < 12; k++) {
        uint8_t role = k == 0 ? FT_ROLE_EDGE : FT_ROLE_DOWN;

        if (k != 8)
            peers[x.n++] = (struct ft_peer){ .node = k, .role = { role, role } };
    }
    for (uint32_t k = 0; k < 12; k++)
        if (k != 8)
            connect(k, 0);
}

Test(exchange, a_hub_has_as_many_peers_as_there_are_nodes)
{
    hub();
    cr_assert_eq(x.n, 11);
    begin(FT_UNIT_REDUCE, 0, 1);
    ft_exchange_leave(&x);
    ft_exchange_own(&x, 1);
    for (uint32_t k = 1; k < 12; k++)
        if (k != 8) {
            STEP(NONE, 0);
            TAKES(k, PART, 0, 0, PART);
        }
    ft_exchange_broken(&x, at(11)); /* the last one's is asked for again */
    STEP(NONE, 0);
    connect(11, 0);
    TAKES(11, PART, 0, 0, PART);
    fold(0);
    SENDS(0, PART, 0);
    STEP(NONE, 0);
    TAKES(0, PART, 0, 0, PART);
    result(0);
    SENDS(0, BYE, 0);
    for (uint32_t k = 1; k < 12; k++)
        if (k != 8) {
            SENDS(k, RES, 0);
            SENDS(k, BYE, 0);
        }
    for (uint32_t k = 0; k < 12; k++)
        if (k != 8) {
            cr_assert(!ft_exchange_settled(&x));
            TAKES(k, BYE, 0, 1, DROP);
        }
    cr_assert(ft_exchange_settled(&x));
}

Test(exchange, a_node_alone_needs_nobody)
{
    ft_exchange_init(&x, peers, 1, 0, DEPTH, 0);
    begin(FT_UNIT_REDUCE, 0, 1);
    ft_exchange_own(&x, 1);
    fold(0);
    result(0);
    ft_exchange_leave(&x);
    cr_assert(ft_exchange_settled(&x));
}
