/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions by halves between the ends of the root edge (ft/core/exchange.h, HALVES): even units are combined by node 0, odd ones by node 1. */
#include "ft/core/exchange_traces.h"

static void make(uint64_t u)
{
    STEP(MAKE, u);
    ft_exchange_made(&x, u);
}

static void end_of_halves(uint32_t me, uint64_t units)
{
    ft_exchange_init(&x, peers, 2, me, DEPTH, 0);
    connect(1 - me, 0);
    begin(FT_UNIT_HALVES, 0, units);
    ft_exchange_own(&x, units);
    for (uint64_t u = 0; u < ft_min(units, DEPTH); u++)
        fold(u);
}

Test(halves, each_end_combines_every_second_unit)
{
    end_of_halves(0, 5);
    SENDS(1, PART, 1); /* ahead of the result of 0, which is not there yet */
    SENDS(1, PART, 3);
    SILENT(1);
    TAKES(1, PART, 0, 0, PART);
    make(0);
    result(0);
    fold(4);
    SENDS(1, RES, 0);
    SILENT(1);
    taken_result(1, 1, 2);
    TAKES(1, PART, 2, 2, PART);
    make(2);
    result(2);
    SENDS(1, RES, 2);
    TAKES(1, PART, 4, 2, PART);
    taken_result(1, 3, 4);
    make(4);
    result(4);
    SENDS(1, RES, 4);
    SILENT(1);
    cr_assert(ft_exchange_over(&x) && !ft_exchange_owes(&x));
}

Test(halves, a_result_is_given_while_the_one_before_is_waited_for)
{
    end_of_halves(0, 4);
    SENDS(1, PART, 1);
    SENDS(1, PART, 3);
    TAKES(1, PART, 0, 0, PART);
    make(0);
    result(0);
    SENDS(1, RES, 0);
    TAKES(1, PART, 2, 1, PART);
    make(2);
    STEP(NONE, 0); /* not committed before unit 1 */
    cr_assert_eq(x.mine, 1);
    SENDS(1, RES, 2);
    SILENT(1);
    taken_result(1, 1, 2);
    result(2);
    SILENT(1);

    end_of_halves(1, 4); /* the other end */
    SENDS(0, PART, 0);
    SENDS(0, PART, 2);
    taken_result(0, 0, 1);
    COMES(0, RES, 2, 1, WAIT);
    COMES(0, RES, 4, 1, WRONG); /* nobody is so far ahead */
    TAKES(0, PART, 1, 1, PART);
    make(1);
    result(1);
    taken_result(0, 2, 1); /* which has not committed unit 1 yet */
    SENDS(0, RES, 1);
}

Test(halves, children_get_results_that_are_committed)
{
    node(1, 0);
    connect(0, 0);
    connect(2, 0);
    begin(FT_UNIT_HALVES, 0, 2);
    ft_exchange_own(&x, 2);
    TAKES(2, PART, 0, 0, PART);
    TAKES(2, PART, 1, 0, PART);
    fold(0);
    fold(1);
    SENDS(0, PART, 0);
    TAKES(0, PART, 1, 0, PART);
    make(1);
    SILENT(2);
    SENDS(0, RES, 1);
    taken_result(0, 0, 1);
    result(1);
    SENDS(2, RES, 0);
    SENDS(2, RES, 1);
    SILENT(0);
}

Test(halves, what_is_made_stays_when_the_other_end_comes_again)
{
    end_of_halves(0, 4);
    TAKES(1, PART, 0, 0, PART);
    make(0);
    result(0);
    TAKES(1, PART, 2, 0, PART);
    make(2);
    connect(1, 0); /* replaced: it may contribute something else */
    SENDS(1, RES, 0);
    SENDS(1, PART, 1);
    SENDS(1, RES, 2);
    SENDS(1, PART, 3);
    TAKES(1, PART, 2, 1, DROP);
    connect(1, 3);
    taken_result(1, 1, 3);
    COMES(1, RES, 2, 3, WAIT); /* nor is it taken from there: it is here */
    result(2);
    TAKES(1, RES, 2, 3, DROP);
    SENDS(1, PART, 3);
}

/* Whoever sends it had the PART from our predecessor, and we are in a call of another stream meanwhile, or replay (found by `apart` with two
   streams: the link was closed). */
Test(halves, a_result_waits_for_the_call_that_it_is_of)
{
    ft_exchange_init(&x, peers, 2, 1, DEPTH, 0);
    connect(0, 0);
    COMES(0, RES, 0, 0, WAIT);
    COMES(0, RES, 2, 0, WRONG);
    begin(FT_UNIT_HALVES, 0, 2);
    ft_exchange_own(&x, 2);
    fold(0);
    SENDS(0, PART, 0);
    taken_result(0, 0, 0);
}

Test(halves, partials_keep_to_the_window)
{
    ft_exchange_init(&x, peers, 2, 1, 2, 0);
    connect(0, 0);
    begin(FT_UNIT_HALVES, 0, 9);
    ft_exchange_own(&x, 9);
    fold(0);
    fold(1);
    STEP(NONE, 0);
    SENDS(0, PART, 0);
    SILENT(0);
    COMES(0, PART, 0, 0, WRONG); /* it is the other end that combines this */
    COMES(0, PART, 3, 0, WRONG); /* a gap */
    TAKES(0, PART, 1, 0, PART);
    COMES(0, PART, 3, 0, WAIT);
    make(1);
    SENDS(0, RES, 1);
    SILENT(0);
}
