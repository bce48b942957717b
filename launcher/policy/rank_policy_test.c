/* SPDX-License-Identifier: BSD-3-Clause */
/* The policy's promises (launcher/policy/rank_policy.h) on ranks that die, leave, hang, are told to stop: each test is a trace. */
#include "config.h"
#include "launcher/policy/rank_policy_trace.h"

TestSuite(policy, .fini = end);

Test(policy, all_leave_with_zero)
{
    begin(3);
    EXITED("retire 1", 1, .state = FT_RANK_FINALIZED);
    EXITED("retire 0", 0, .state = FT_RANK_FINALIZED);
    EXITED("retire 2, finish 0", 2, .state = FT_RANK_ABSENT); /* not an MPI program: fine */
    EXITED("", 2, .code = 3);                                 /* nothing counts any more */
}

Test(policy, a_killed_rank_comes_back_and_the_others_are_not_told)
{
    begin(2);
    KILLED("restart 1 #1", 1, SIGKILL, .progress = 10);
    STARTED("", 1);
    KILLED("restart 1 #2", 1, SIGKILL, .progress = 10);
    STARTED("", 1);
    KILLED("restart 0 #1", 0, SIGTERM, .progress = 10);
    EXITED("retire 1", 1, .state = FT_RANK_FINALIZED);
    STARTED("", 0);
    EXITED("retire 0, finish 0", 0, .state = FT_RANK_FINALIZED);
    cr_expect_eq(ft_policy_restarts(p), 3);
}

Test(policy, codes_129_to_159_are_deaths_and_others_verdicts)
{
    begin(2);
    EXITED("forsake 0 newest, restart 0 #1", 0, .code = 129);
    STARTED("", 0);
    EXITED("forsake 0 newest, restart 0 #2", 0, .code = 159, .progress = 1);
    STARTED("", 0);
    EXITED("retire 1, end 128 verdict, signal 15", 1, .code = 128);
    KILLED("retire 0, finish 128", 0, SIGTERM);
}

Test(policy, code_160_is_a_verdict)
{
    begin(1);
    EXITED("retire 0, end 160 verdict, finish 160", 0, .code = 160);
}

Test(policy, death_after_finalize_is_restarted)
{
    begin(1);
    EXITED("restart 0 #1", 0, .signal = SIGKILL, .state = FT_RANK_FINALIZED);
    STARTED("", 0);
    EXITED("retire 0, finish 0", 0, .state = FT_RANK_FINALIZED);
}

Test(policy, abort_ends_the_job_even_if_the_rank_was_killed_after_it)
{
    begin(2);
    EXITED("retire 0, end 7 last-words, signal 15", 0, .signal = SIGKILL, .state = FT_RANK_ENDED, .job_code = 7);
    EXITED("retire 1, finish 7", 1, .state = FT_RANK_ENDED, .job_code = 9); /* only the first one's words */
}

Test(policy, zero_without_finalize_is_an_error)
{
    begin(2);
    EXITED("retire 0, end 1 no-finalize, signal 15", 0, .state = FT_RANK_ATTACHED);
}

Test(policy, three_own_deaths_at_one_unit_are_enough)
{
    begin(2);
    KILLED("restart 1 #1", 1, SIGSEGV, .progress = 5);
    STARTED("", 1);
    KILLED("forsake 1 newest, restart 1 #2", 1, SIGSEGV, .progress = 5);
    STARTED("", 1);
    KILLED("retire 1, end 139 given-up, signal 15", 1, SIGSEGV, .progress = 5);
    KILLED("retire 0, finish 139", 0, SIGTERM);
}

/* A fault that is in the memory of just before came again until the program was given up. */
Test(policy, who_dies_twice_goes_back_to_zero_and_what_only_copies_die_of_is_started_by_exec)
{
    begin(2);
    KILLED("restart 1 #1", 1, SIGKILL, .progress = 5);
    STARTED("", 1);
    KILLED("restart 1 #2", 1, SIGBUS, .progress = 5, .from = FT_FROM_SNAPSHOT);
    STARTED("", 1);
    KILLED("forsake 1 newest, restart 1 #3", 1, SIGBUS, .progress = 5, .from = FT_FROM_SNAPSHOT);
    STARTED("", 1);
    interrupted("forsake 1 all, restart 1 #4", (struct ft_event){.kind = FT_EV_EXITED, .rank = 1, .signal = SIGBUS, .state = FT_RANK_ATTACHED,
                                                                 .progress = 5, .from = FT_FROM_ZERO});
    STARTED("", 1);
    KILLED("retire 1, end 135 given-up, signal 15", 1, SIGBUS, .progress = 5);
}

/* It did so again from its newest one, and was given up. */
Test(policy, who_dies_by_its_own_hand_goes_back_to_zero_at_once)
{
    begin(1);
    KILLED("forsake 0 newest, restart 0 #1", 0, SIGKILL, .progress = 5, .by_itself = true);
    STARTED("", 0);
    KILLED("forsake 0 newest, restart 0 #2", 0, SIGABRT, .progress = 6, .by_itself = true, .from = FT_FROM_ZERO);
    STARTED("", 0);
    EXITED("forsake 0 newest, restart 0 #3", 0, .code = 134, .progress = 7, .from = FT_FROM_SNAPSHOT);
    STARTED("", 0);
    EXITED("restart 0 #4", 0, .code = 137, .progress = 8, .from = FT_FROM_SNAPSHOT); /* a shell tells that somebody has killed what it ran */
    STARTED("", 0);
    KILLED("restart 0 #5", 0, SIGSEGV, .progress = 8, .from = FT_FROM_SNAPSHOT); /* it may have been chance */
    STARTED("", 0);
    EXITED("forsake 0 newest, restart 0 #6", 0, .by_itself = true, .lost = true); /* of what is not known: of what it sent itself */
}

Test(policy, what_the_program_itself_has_died_of_is_not_its_copies_fault)
{
    begin(1);
    KILLED("restart 0 #1", 0, SIGSEGV, .progress = 5);
    STARTED("", 0);
    KILLED("forsake 0 newest, restart 0 #2", 0, SIGSEGV, .progress = 5, .from = FT_FROM_SNAPSHOT);
    STARTED("", 0);
    KILLED("retire 0, end 139 given-up, finish 139", 0, SIGSEGV, .progress = 5, .from = FT_FROM_SNAPSHOT);
}

Test(policy, kills_by_others_say_nothing_of_a_copy_and_progress_clears_it)
{
    begin(1);
    KILLED("restart 0 #1", 0, SIGSEGV, .progress = 5, .from = FT_FROM_SNAPSHOT);
    STARTED("", 0);
    KILLED("restart 0 #2", 0, SIGKILL, .progress = 5, .from = FT_FROM_SNAPSHOT);
    STARTED("", 0);
    KILLED("restart 0 #3", 0, SIGSEGV, .progress = 6, .from = FT_FROM_SNAPSHOT);
    STARTED("", 0);
    KILLED("forsake 0 newest, restart 0 #4", 0, SIGSEGV, .progress = 6, .from = FT_FROM_SNAPSHOT);
    STARTED("", 0);
    KILLED("forsake 0 all, restart 0 #5", 0, SIGSEGV, .progress = 6, .from = FT_FROM_SNAPSHOT); /* zero, or one that was made since */
}

Test(policy, zero_without_init_is_an_error_if_others_have_called_it)
{
    begin(2);
    EXITED("retire 1", 1, .state = FT_RANK_ABSENT);
    STEP("end 1 no-init, signal 15", .kind = FT_EV_ABSENT, .rank = 1);
    STEP("", .kind = FT_EV_ABSENT, .rank = 1);
    KILLED("retire 0, finish 1", 0, SIGTERM);
}

Test(policy, progress_starts_the_count_again)
{
    begin(1);
    for (int i = 1; i < 20; i++) {
        char expected[40];

        snprintf(expected, sizeof expected, "restart 0 #%d", i);
        KILLED(expected, 0, SIGSEGV, .progress = (uint64_t)i);
        STARTED("", 0);
    }
}

Test(policy, kills_by_others_do_not_count_nor_clear)
{
    begin(1);
    KILLED("restart 0 #1", 0, SIGABRT, .progress = 5);
    STARTED("", 0);
    KILLED("restart 0 #2", 0, SIGKILL, .progress = 5);
    STARTED("", 0);
    EXITED("restart 0 #3", 0, .code = 137, .progress = 5); /* a shell's word for SIGKILL */
    STARTED("", 0);
    EXITED("restart 0 #4", 0, .code = 143, .progress = 5);
    STARTED("", 0);
    KILLED("forsake 0 newest, restart 0 #5", 0, SIGABRT, .progress = 5);
    STARTED("", 0);
    EXITED("retire 0, end 134 given-up, finish 134", 0, .code = 134, .progress = 5);
}

Test(policy, the_memory_killer_counts_as_the_ranks_own_doing)
{
    begin(1);
    KILLED("restart 0 #1", 0, SIGKILL, .progress = 5, .oom = true);
    STARTED("", 0);
    KILLED("forsake 0 newest, restart 0 #2", 0, SIGKILL, .progress = 5, .oom = true);
    STARTED("", 0);
    KILLED("retire 0, end 137 given-up, finish 137", 0, SIGKILL, .progress = 5, .oom = true);
}

Test(policy, a_rank_that_kills_itself_has_nobody_else_to_blame)
{
    begin(1);
    KILLED("forsake 0 newest, restart 0 #1", 0, SIGKILL, .progress = 5, .by_itself = true, .quick = true);
    STARTED("", 0);
    KILLED("forsake 0 newest, restart 0 #2", 0, SIGTERM, .progress = 5, .by_itself = true, .quick = true);
    STARTED("", 0);
    KILLED("retire 0, end 137 given-up, finish 137", 0, SIGKILL, .progress = 5, .by_itself = true, .quick = true);
}

Test(policy, what_cannot_follow_a_snapshot_is_no_death)
{
    struct ft_policy_config c = defaults(2);

    c.max_restarts = 1;
    begin_with(c);
    KILLED("restart 0 #1", 0, SIGKILL, .progress = 5);
    for (int i = 0; i < 2 * FT_QUICK_KILLS; i++) {
        STARTED("", 0);
        KILLED("restart 0 #1", 0, SIGKILL, .progress = 5, .astray = true, .from = FT_FROM_SNAPSHOT, .quick = true);
    }
    cr_expect_eq(ft_policy_restarts(p), 1);
    cr_expect_eq(ft_policy_restarts_of(p, 0), 1);
    STARTED("", 0);
    KILLED("retire 0, end 137 max-restarts, signal 15", 0, SIGKILL, .progress = 5);
}

Test(policy, what_ftrun_kills_or_puts_back_to_check_it_is_counted_nowhere)
{
    struct ft_policy_config c = defaults(1);

    c.max_restarts = 1;
    begin_with(c);
    for (int i = 0; i < 2 * FT_QUICK_KILLS; i++) {
        KILLED("restart 0 #0", 0, SIGKILL, .progress = 5, .check = true, .quick = true);
        STARTED("", 0);
    }
    KILLED("restart 0 #0", 0, 0, .progress = 6, .check = true); /* it has left with 0 */
    cr_expect_eq(ft_policy_restarts(p), 0);
    STARTED("", 0);
    KILLED("restart 0 #1", 0, SIGKILL, .progress = 6);
    STARTED("", 0);
    KILLED("retire 0, end 137 max-restarts, finish 137", 0, SIGKILL, .progress = 7);
}

Test(policy, a_rank_killed_as_soon_as_it_starts_is_given_up_in_the_end)
{
    begin(1);
    for (int i = 1; i < FT_QUICK_KILLS; i++) {
        struct ft_effects fx;

        ft_policy_step(p, &(struct ft_event){.kind = FT_EV_EXITED, .signal = SIGKILL, .quick = true}, &fx);
        ft_policy_settle(p);
        cr_assert_eq(fx.e[0].kind, FT_DO_RESTART);
        STARTED("", 0);
    }
    KILLED("retire 0, end 137 killed-early, finish 137", 0, SIGKILL, .quick = true);
}

Test(policy, max_restarts_is_for_the_job)
{
    struct ft_policy_config c = defaults(2);

    c.max_restarts = 2;
    begin_with(c);
    KILLED("restart 0 #1", 0, SIGKILL);
    STARTED("", 0);
    KILLED("restart 1 #1", 1, SIGKILL);
    STARTED("", 1);
    KILLED("retire 0, end 137 max-restarts, signal 15", 0, SIGKILL);
}

Test(policy, no_restarts_at_all)
{
    struct ft_policy_config c = defaults(1);

    c.max_restarts = 0;
    begin_with(c);
    KILLED("retire 0, end 137 death, finish 137", 0, SIGKILL);
}

Test(policy, restart_on_decides)
{
    struct ft_policy_config c = defaults(2);

    ft_values_restart_on("3", &c.restart_on);
    begin_with(c);
    EXITED("forsake 0 newest, restart 0 #1", 0, .code = 3);
    STARTED("", 0);
    KILLED("retire 0, end 139 death, signal 15", 0, SIGSEGV);
}

Test(policy, a_signal_to_ftrun_is_passed_on_then_term_then_kill)
{
    begin(2);
    STEP("end 130 signalled, signal 2", .kind = FT_EV_SIGNAL, .signal = SIGINT);
    KILLED("retire 0", 0, SIGINT); /* not restarted */
    STEP("signal 15", .kind = FT_EV_GRACE);
    STEP("signal 9", .kind = FT_EV_GRACE);
    STEP("", .kind = FT_EV_GRACE);
    KILLED("retire 1, finish 130", 1, SIGKILL);
}

Test(policy, a_second_signal_kills_at_once)
{
    begin(1);
    STEP("end 143 signalled, signal 15", .kind = FT_EV_SIGNAL, .signal = SIGTERM);
    STEP("signal 9", .kind = FT_EV_SIGNAL, .signal = SIGTERM);
    STEP("", .kind = FT_EV_SIGNAL, .signal = SIGTERM);
    EXITED("retire 0, finish 143", 0, .state = FT_RANK_FINALIZED);
}

Test(policy, a_restart_that_waits_is_off_when_the_job_ends)
{
    begin(2);
    KILLED("restart 0 #1", 0, SIGKILL);
    EXITED("retire 1, end 4 verdict, finish 4", 1, .code = 4);
    STARTED("", 0);
}

Test(policy, what_the_agent_cannot_do_ends_the_job)
{
    p = ft_policy_new(calloc(1, ft_policy_bytes(3)), &(struct ft_policy_config){.nranks = 3});
    STARTED("", 0);
    STEP("end 126 said, signal 15", .kind = FT_EV_FAILED, .code = 126);
    STEP("", .kind = FT_EV_FAILED, .code = 126);
    KILLED("retire 0, finish 126", 0, SIGTERM);
}

Test(policy, rabit_must_have_been_used_by_somebody)
{
    struct ft_policy_config c = defaults(2);

    c.need_rabit = true;
    begin_with(c);
    EXITED("retire 0", 0, .rabit_used = false);
    EXITED("retire 1, end 1 no-rabit, finish 1", 1, .rabit_used = false);
    end();
    begin_with(c);
    EXITED("retire 0", 0, .rabit_used = true);
    EXITED("retire 1, finish 0", 1, .rabit_used = false);
}

Test(policy, a_step_that_was_interrupted_is_done_once)
{
    begin(2);
    interrupted("restart 1 #1", (struct ft_event){.kind = FT_EV_EXITED, .rank = 1, .signal = SIGKILL, .state = FT_RANK_ATTACHED});
    cr_expect_eq(ft_policy_restarts(p), 1);
    cr_expect(ft_policy_wants(p, 1));
    interrupted("", (struct ft_event){.kind = FT_EV_STARTED, .rank = 1});
    cr_expect_not(ft_policy_wants(p, 1));
    interrupted("retire 0", (struct ft_event){.kind = FT_EV_EXITED, .rank = 0, .state = FT_RANK_FINALIZED});
    interrupted("retire 1, finish 0", (struct ft_event){.kind = FT_EV_EXITED, .rank = 1, .state = FT_RANK_FINALIZED});
}

Test(policy, an_end_that_was_interrupted_goes_on)
{
    begin(2);
    resumed("");
    interrupted("retire 1, end 7 verdict, signal 15", (struct ft_event){.kind = FT_EV_EXITED, .rank = 1, .code = 7});
    resumed("signal 15");
    STEP("signal 9", .kind = FT_EV_GRACE);
    resumed("signal 9");
    KILLED("retire 0, finish 7", 0, SIGKILL);
    resumed("finish 7");
}

Test(policy, what_was_lost_with_the_launcher_is_made_again_whatever_the_limits_say)
{
    struct ft_policy_config c = defaults(2);

    c.max_restarts = 0;
    begin_with(c);
    EXITED("restart 1 #1", 1, .state = FT_RANK_FINALIZED, .lost = true);
    STARTED("", 1);
    ft_policy_step(p, &(struct ft_event){.kind = FT_EV_EXITED, .rank = 0, .state = FT_RANK_FINALIZED}, &(struct ft_effects){0});
    ft_policy_lose(p, 1); /* not the one that is being taken */
    ft_policy_lose(p, 0);
    resumed("restart 0 #1");
    ft_policy_settle(p);
    STARTED("", 0);
    EXITED("retire 1", 1, .state = FT_RANK_FINALIZED);
    EXITED("retire 0, finish 0", 0, .state = FT_RANK_FINALIZED);
}

Test(policy, a_rank_that_hangs_is_killed_and_comes_back)
{
    begin(2);
    STEP("kill 1", .kind = FT_EV_HUNG, .rank = 1, .progress = 5);
    KILLED("restart 1 #1", 1, SIGKILL, .progress = 5);
    STEP("", .kind = FT_EV_HUNG, .rank = 1, .progress = 5); /* it is not there */
    STARTED("", 1);
    EXITED("retire 0", 0, .state = FT_RANK_FINALIZED);
    EXITED("retire 1, finish 0", 1, .state = FT_RANK_FINALIZED);
}

Test(policy, three_hangs_at_the_same_unit_are_given_up)
{
    begin(2);
    STEP("kill 1", .kind = FT_EV_HUNG, .rank = 1, .progress = 5);
    KILLED("restart 1 #1", 1, SIGKILL, .progress = 5);
    STARTED("", 1);
    STEP("kill 1", .kind = FT_EV_HUNG, .rank = 1, .progress = 5);
    KILLED("restart 1 #2", 1, SIGKILL, .progress = 5);
    STARTED("", 1);
    STEP("end 137 hung, signal 15", .kind = FT_EV_HUNG, .rank = 1, .progress = 5);
    STEP("", .kind = FT_EV_HUNG, .rank = 1, .progress = 5);
    KILLED("retire 0", 0, SIGTERM, .progress = 5);
    STEP("signal 9", .kind = FT_EV_GRACE);
    KILLED("retire 1, finish 137", 1, SIGKILL, .progress = 5);
}

Test(policy, hangs_with_progress_between_them_are_not_counted_together)
{
    char restart[32];

    begin(2);
    for (uint64_t unit = 1; unit < 10; unit++) {
        STEP("kill 1", .kind = FT_EV_HUNG, .rank = 1, .progress = unit);
        snprintf(restart, sizeof restart, "restart 1 #%d", (int)unit);
        KILLED(restart, 1, SIGKILL, .progress = unit);
        STARTED("", 1);
    }
}

Test(policy, a_hung_rank_is_not_restarted_against_the_users_will)
{
    struct ft_policy_config c = defaults(2);

    c.max_restarts = 0;
    begin_with(c);
    STEP("kill 1", .kind = FT_EV_HUNG, .rank = 1, .progress = 5);
    KILLED("retire 1, end 137 death, signal 15", 1, SIGKILL, .progress = 5);
}
