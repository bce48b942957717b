/* SPDX-License-Identifier: BSD-3-Clause */
/* The policy's promises (launcher/policy/rank_policy.h) where more than one rank's death counts: all ranks start again, since a log is gone; and one node
   of several, whose job begins, goes on and ends elsewhere. Each test is a trace. */
#include "config.h"
#include "launcher/policy/rank_policy_trace.h"

TestSuite(policy_all, .fini = end);

/* Rank 2 of three is killed and finds its part of the log gone. */
static void strand(void)
{
    KILLED("restart 2 #1", 2, SIGKILL, .progress = 10);
    STEP("tell 2, gather", .kind = FT_EV_STRANDED, .rank = 2);
    cr_expect(ft_policy_gathers(p));
}

static void renewed(uint32_t nranks)
{
    STEP("", .kind = FT_EV_RENEWED);
    cr_expect_not(ft_policy_gathers(p));
    for (uint32_t r = 0; r < nranks; r++) {
        cr_expect(ft_policy_wants(p, r));
        STARTED("", r);
    }
}

Test(policy_all, a_stranded_rank_takes_all_others_with_it)
{
    struct ft_policy_config c = defaults(3);

    c.max_restarts = 2; /* what is killed for another's sake is not counted */
    begin_with(c);
    strand();
    KILLED("restart 0 #1", 0, SIGKILL, .progress = 10, .quick = true);
    STEP("", .kind = FT_EV_STRANDED, .rank = 0); /* it is known */
    KILLED("restart 1 #1", 1, SIGKILL, .progress = 10);
    renewed(3);
    cr_expect_eq(ft_policy_restarts(p), 1);
    KILLED("restart 0 #2", 0, SIGKILL, .progress = 5);
    STARTED("", 0);
    KILLED("retire 1, end 137 max-restarts, signal 15", 1, SIGKILL, .progress = 5);
}

Test(policy_all, ranks_that_have_left_start_again_with_the_others)
{
    begin(3);
    EXITED("retire 0", 0, .state = FT_RANK_FINALIZED);
    strand();
    cr_expect(ft_policy_wants(p, 0));
    cr_expect_eq(ft_policy_restarts_of(p, 0), 1);
    EXITED("restart 1 #1", 1, .state = FT_RANK_FINALIZED); /* it was faster than the kill */
    renewed(3);
    EXITED("retire 0", 0, .state = FT_RANK_FINALIZED);
    EXITED("retire 1", 1, .state = FT_RANK_FINALIZED);
    EXITED("retire 2, finish 0", 2, .state = FT_RANK_FINALIZED);
}

Test(policy_all, all_that_start_again_without_getting_further_are_given_up)
{
    begin(2);
    for (int i = 1; i < FT_OWN_DEATHS; i++) {
        char expected[40];

        snprintf(expected, sizeof expected, "%srestart 1 #%d", i > 1 ? "forsake 1 newest, " : "", i);
        KILLED(expected, 1, SIGSEGV, .progress = 10 - (uint64_t)i); /* the log is new: what counts is the furthest ever */
        STEP("tell 1, gather", .kind = FT_EV_STRANDED, .rank = 1);
        snprintf(expected, sizeof expected, "restart 0 #%d", i);
        KILLED(expected, 0, SIGKILL, .progress = 10);
        renewed(2);
    }
    KILLED("retire 1, end 139 given-up, signal 15", 1, SIGSEGV, .progress = 9);
}

Test(policy_all, what_ranks_do_by_themselves_counts_also_when_all_start_again)
{
    begin(3);
    strand();
    KILLED("restart 0 #1", 0, SIGSEGV, .progress = 10);
    cr_expect_eq(ft_policy_restarts(p), 2);
    EXITED("restart 1 #1", 1, .lost = true, .signal = SIGSEGV);
    cr_expect_eq(ft_policy_restarts(p), 2); /* nobody knows */
    renewed(3);
    KILLED("forsake 0 newest, restart 0 #2", 0, SIGSEGV, .progress = 10);
    STARTED("", 0);
    KILLED("retire 0, end 139 given-up, signal 15", 0, SIGSEGV, .progress = 10);
}

Test(policy_all, a_verdict_stands_although_all_were_to_start_again)
{
    begin(3);
    strand();
    EXITED("retire 0, end 7 last-words, signal 15", 0, .signal = SIGKILL, .state = FT_RANK_ENDED, .job_code = 7);
    STEP("", .kind = FT_EV_RENEWED);
    cr_expect_not(ft_policy_wants(p, 2));
    KILLED("retire 1, finish 7", 1, SIGKILL);

    end();
    begin(3);
    strand();
    EXITED("retire 0, end 3 verdict, signal 15", 0, .code = 3, .state = FT_RANK_FINALIZED);
    KILLED("retire 1, finish 3", 1, SIGKILL);

    end();
    begin(3);
    strand();
    EXITED("retire 0, end 1 no-finalize, signal 15", 0, .state = FT_RANK_ATTACHED);
}

Test(policy_all, a_signal_or_a_failure_ends_also_a_job_that_starts_again)
{
    begin(3);
    strand();
    STEP("", .kind = FT_EV_HUNG, .rank = 0);
    STEP("", .kind = FT_EV_GRACE);
    STEP("end 143 signalled, signal 15", .kind = FT_EV_SIGNAL, .signal = SIGTERM);
    KILLED("retire 0", 0, SIGKILL);
    KILLED("retire 1, finish 143", 1, SIGKILL);

    end();
    begin(3);
    strand();
    KILLED("restart 0 #1", 0, SIGKILL);
    KILLED("restart 1 #1", 1, SIGKILL);
    STEP("end 110 said, finish 110", .kind = FT_EV_FAILED, .code = 110); /* nobody is left */
    STEP("", .kind = FT_EV_RENEWED);
}

Test(policy_all, only_a_rank_that_waits_for_its_restart_can_be_stranded)
{
    begin(2);
    STEP("", .kind = FT_EV_STRANDED, .rank = 1);
    STEP("end 143 signalled, signal 15", .kind = FT_EV_SIGNAL, .signal = SIGTERM);
    STEP("", .kind = FT_EV_STRANDED, .rank = 1);
    cr_expect_not(ft_policy_gathers(p));
}

Test(policy_all, a_restart_of_all_that_was_interrupted_goes_on)
{
    begin(3);
    EXITED("retire 0", 0, .state = FT_RANK_FINALIZED);
    KILLED("restart 2 #1", 2, SIGKILL, .progress = 10);
    interrupted("tell 2, gather", (struct ft_event){.kind = FT_EV_STRANDED, .rank = 2});
    resumed("gather");
    cr_expect_eq(ft_policy_restarts_of(p, 0), 1);
    interrupted("restart 1 #1", (struct ft_event){.kind = FT_EV_EXITED, .rank = 1, .signal = SIGKILL, .progress = 10});
    resumed("gather");
    interrupted("", (struct ft_event){.kind = FT_EV_RENEWED});
    resumed("");
    for (uint32_t r = 0; r < 3; r++)
        STARTED("", r);
    for (uint32_t r = 0; r < 2; r++)
        EXITED(r ? "retire 1" : "retire 0", r, .state = FT_RANK_FINALIZED);
    EXITED("retire 2, finish 0", 2, .state = FT_RANK_FINALIZED);
}

/* One node of several. */
static void begin_node(uint32_t nranks)
{
    struct ft_policy_config c = defaults(nranks);

    c.node = true;
    begin_with(c);
}

static void leave_all(void)
{
    EXITED("retire 0", 0, .state = FT_RANK_FINALIZED);
    interrupted("retire 1, stay", (struct ft_event){.kind = FT_EV_EXITED, .rank = 1, .state = FT_RANK_FINALIZED});
    resumed("stay");
    cr_expect(ft_policy_stays(p));
}

Test(policy_all, a_node_that_is_done_stays_until_all_are)
{
    int code;

    begin_node(2);
    STEP("", .kind = FT_EV_ALL_DONE); /* not that we know of */
    leave_all();
    cr_expect_not(ft_policy_ends(p, &code));
    STEP("finish 0", .kind = FT_EV_ALL_DONE);
    cr_expect(ft_policy_ends(p, &code) && code == 0);
    STEP("", .kind = FT_EV_ENDED, .code = 3);
}

Test(policy_all, a_node_that_is_done_ends_with_the_others)
{
    begin_node(2);
    leave_all();
    STEP("end 7 elsewhere, finish 7", .kind = FT_EV_ENDED, .code = 7);
    begin_node(2);
    leave_all();
    STEP("end 1 said, finish 1", .kind = FT_EV_FAILED, .code = 1);
    begin_node(2);
    leave_all();
    STEP("end 1 fenced, finish 1", .kind = FT_EV_FENCED);
}

Test(policy_all, the_jobs_end_on_another_node_is_ours)
{
    begin_node(3);
    KILLED("restart 2 #1", 2, SIGKILL, .progress = 10);
    STEP("end 5 elsewhere, signal 15", .kind = FT_EV_ENDED, .code = 5);
    STEP("", .kind = FT_EV_ENDED, .code = 5); /* said again after a reconnect */
    cr_expect_not(ft_policy_wants(p, 2));
    STEP("signal 9", .kind = FT_EV_GRACE);
    KILLED("retire 0", 0, SIGKILL);
    KILLED("retire 1, finish 5", 1, SIGKILL);
}

Test(policy_all, a_verdict_here_stands_when_the_controller_says_it_back)
{
    begin_node(2);
    EXITED("retire 1, end 3 verdict, signal 15", 1, .code = 3);
    STEP("", .kind = FT_EV_ENDED, .code = 3);
    KILLED("retire 0, finish 3", 0, SIGTERM);
}

Test(policy_all, a_node_that_is_cut_off_kills_at_once)
{
    begin_node(2);
    interrupted("end 1 fenced, signal 9", (struct ft_event){.kind = FT_EV_FENCED});
    resumed("signal 9");
    STEP("", .kind = FT_EV_FENCED);
    STEP("", .kind = FT_EV_ENDED, .code = 5); /* too late: others have our place */
    KILLED("retire 0", 0, SIGKILL);
    KILLED("retire 1, finish 1", 1, SIGKILL);
    STEP("", .kind = FT_EV_FENCED); /* by a successor, again */
    begin_node(2);
    STEP("end 5 elsewhere, signal 15", .kind = FT_EV_ENDED, .code = 5);
    STEP("signal 9", .kind = FT_EV_FENCED);
}

Test(policy_all, a_stranded_rank_of_a_node_is_for_another_node_to_replace)
{
    begin_node(2);
    KILLED("restart 1 #1", 1, SIGKILL, .progress = 10);
    STEP("end 1 stranded, signal 15", .kind = FT_EV_STRANDED, .rank = 1);
    cr_expect_not(ft_policy_gathers(p));
    KILLED("retire 0, finish 1", 0, SIGTERM);
}
