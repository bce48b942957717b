/* SPDX-License-Identifier: BSD-3-Clause */
/* The policy's promises (launcher/policy.h): each test is a trace of events and the effects each must have. */
#include "config.h"
#include "launcher/policy.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ft/shm/layout.h"
#include "launcher/values.h"

static const char *const reasons[] = {
    [FT_END_VERDICT] = "verdict", [FT_END_DEATH] = "death", [FT_END_LAST_WORDS] = "last-words",
    [FT_END_NO_FINALIZE] = "no-finalize", [FT_END_GIVEN_UP] = "given-up", [FT_END_KILLED_EARLY] = "killed-early",
    [FT_END_MAX_RESTARTS] = "max-restarts", [FT_END_SIGNALLED] = "signalled", [FT_END_NO_RABIT] = "no-rabit",
    [FT_END_SAID] = "said", [FT_END_HUNG] = "hung", [FT_END_ELSEWHERE] = "elsewhere",
    [FT_END_FENCED] = "fenced", [FT_END_STRANDED] = "stranded",
};

/* "retire 1, end 139 given-up, signal 15" */
static const char *trace(const struct ft_effects *fx, char *text, size_t size)
{
    size_t n = 0;

    text[0] = 0;
    for (int i = 0; i < fx->n; i++) {
        const struct ft_effect *e = &fx->e[i];
        const char *comma = i ? ", " : "";

        switch (e->kind) {
        case FT_DO_RESTART:
            n += (size_t)snprintf(text + n, size - n, "%srestart %u #%d", comma, e->rank, (int)e->number);
            break;
        case FT_DO_RETIRE:
            n += (size_t)snprintf(text + n, size - n, "%sretire %u", comma, e->rank);
            break;
        case FT_DO_END:
            n += (size_t)snprintf(text + n, size - n, "%send %d %s", comma, e->code, reasons[e->reason]);
            break;
        case FT_DO_SIGNAL:
            n += (size_t)snprintf(text + n, size - n, "%ssignal %d", comma, (int)e->number);
            break;
        case FT_DO_KILL:
            n += (size_t)snprintf(text + n, size - n, "%skill %u", comma, e->rank);
            break;
        case FT_DO_TELL_ALL:
            n += (size_t)snprintf(text + n, size - n, "%stell %u", comma, e->rank);
            break;
        case FT_DO_GATHER:
            n += (size_t)snprintf(text + n, size - n, "%sgather", comma);
            break;
        case FT_DO_STAY:
            n += (size_t)snprintf(text + n, size - n, "%sstay", comma);
            break;
        case FT_DO_FINISH:
            n += (size_t)snprintf(text + n, size - n, "%sfinish %d", comma, e->code);
            break;
        }
    }
    return text;
}

static struct ft_policy *p;

static void step(const char *expected, struct ft_event ev)
{
    struct ft_effects fx;
    char text[256];

    ft_policy_step(p, &ev, &fx);
    ft_policy_settle(p);
    cr_expect_str_eq(trace(&fx, text, sizeof text), expected, "got \"%s\", wanted \"%s\"", text, expected);
}

/* The agent is killed in the middle of a step, or right after it, and another one asks what to do. */
static void interrupted(const char *expected, struct ft_event ev)
{
    struct ft_effects fx;

    ft_policy_step(p, &ev, &fx);
    for (int i = 0; i < 2; i++) { /* and that one is killed, too */
        char text[256];

        ft_policy_recover(p, &fx);
        cr_expect_str_eq(trace(&fx, text, sizeof text), expected, "got \"%s\", wanted \"%s\"", text, expected);
    }
    ft_policy_settle(p);
}

static void resumed(const char *expected)
{
    struct ft_effects fx;
    char text[256];

    ft_policy_recover(p, &fx);
    cr_expect_str_eq(trace(&fx, text, sizeof text), expected, "got \"%s\", wanted \"%s\"", text, expected);
}

#define STEP(expected, ...) step(expected, (struct ft_event){__VA_ARGS__})
#define STARTED(expected, r) STEP(expected, .kind = FT_EV_STARTED, .rank = r)
#define EXITED(expected, r, ...) STEP(expected, .kind = FT_EV_EXITED, .rank = r, __VA_ARGS__)
#define KILLED(expected, r, sig, ...) EXITED(expected, r, .signal = sig, .state = FT_RANK_ATTACHED, __VA_ARGS__)

static struct ft_policy_config defaults(uint32_t nranks)
{
    struct ft_policy_config c = {.nranks = nranks, .max_restarts = UINT64_MAX};

    ft_values_restart_on("signal,129-159", &c.restart_on);
    return c;
}

static void begin_with(struct ft_policy_config c)
{
    p = ft_policy_new(&c);
    for (uint32_t r = 0; r < c.nranks; r++)
        STARTED("", r);
}

static void begin(uint32_t nranks)
{
    begin_with(defaults(nranks));
}

static void end(void)
{
    ft_policy_free(p);
}

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
    EXITED("restart 0 #1", 0, .code = 129);
    STARTED("", 0);
    EXITED("restart 0 #2", 0, .code = 159, .progress = 1);
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
    KILLED("restart 1 #2", 1, SIGSEGV, .progress = 5);
    STARTED("", 1);
    KILLED("retire 1, end 139 given-up, signal 15", 1, SIGSEGV, .progress = 5);
    KILLED("retire 0, finish 139", 0, SIGTERM);
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
    KILLED("restart 0 #5", 0, SIGABRT, .progress = 5);
    STARTED("", 0);
    EXITED("retire 0, end 134 given-up, finish 134", 0, .code = 134, .progress = 5);
}

Test(policy, the_memory_killer_counts_as_the_ranks_own_doing)
{
    begin(1);
    KILLED("restart 0 #1", 0, SIGKILL, .progress = 5, .oom = true);
    STARTED("", 0);
    KILLED("restart 0 #2", 0, SIGKILL, .progress = 5, .oom = true);
    STARTED("", 0);
    KILLED("retire 0, end 137 given-up, finish 137", 0, SIGKILL, .progress = 5, .oom = true);
}

Test(policy, a_rank_killed_as_soon_as_it_starts_is_given_up_in_the_end)
{
    begin(1);
    for (int i = 1; i < FT_QUICK_KILLS; i++) {
        struct ft_effects fx;

        ft_policy_step(p, &(struct ft_event){.kind = FT_EV_EXITED, .signal = SIGKILL, .quick = true}, &fx);
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
    EXITED("restart 0 #1", 0, .code = 3);
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
    p = ft_policy_new(&(struct ft_policy_config){.nranks = 3});
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
    ft_policy_free(p);
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

Test(policy, a_stranded_rank_takes_all_others_with_it)
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

Test(policy, ranks_that_have_left_start_again_with_the_others)
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

Test(policy, all_that_start_again_without_getting_further_are_given_up)
{
    begin(2);
    for (int i = 1; i < FT_OWN_DEATHS; i++) {
        char expected[40];

        snprintf(expected, sizeof expected, "restart 1 #%d", i);
        KILLED(expected, 1, SIGSEGV, .progress = 10 - (uint64_t)i); /* the log is new: what counts is the furthest ever */
        STEP("tell 1, gather", .kind = FT_EV_STRANDED, .rank = 1);
        snprintf(expected, sizeof expected, "restart 0 #%d", i);
        KILLED(expected, 0, SIGKILL, .progress = 10);
        renewed(2);
    }
    KILLED("retire 1, end 139 given-up, signal 15", 1, SIGSEGV, .progress = 9);
}

Test(policy, what_ranks_do_by_themselves_counts_also_when_all_start_again)
{
    begin(3);
    strand();
    KILLED("restart 0 #1", 0, SIGSEGV, .progress = 10);
    cr_expect_eq(ft_policy_restarts(p), 2);
    EXITED("restart 1 #1", 1, .lost = true, .signal = SIGSEGV);
    cr_expect_eq(ft_policy_restarts(p), 2); /* nobody knows */
    renewed(3);
    KILLED("restart 0 #2", 0, SIGSEGV, .progress = 10);
    STARTED("", 0);
    KILLED("retire 0, end 139 given-up, signal 15", 0, SIGSEGV, .progress = 10);
}

Test(policy, a_verdict_stands_although_all_were_to_start_again)
{
    begin(3);
    strand();
    EXITED("retire 0, end 7 last-words, signal 15", 0, .signal = SIGKILL, .state = FT_RANK_ENDED, .job_code = 7);
    STEP("", .kind = FT_EV_RENEWED);
    cr_expect_not(ft_policy_wants(p, 2));
    KILLED("retire 1, finish 7", 1, SIGKILL);

    ft_policy_free(p);
    begin(3);
    strand();
    EXITED("retire 0, end 3 verdict, signal 15", 0, .code = 3, .state = FT_RANK_FINALIZED);
    KILLED("retire 1, finish 3", 1, SIGKILL);

    ft_policy_free(p);
    begin(3);
    strand();
    EXITED("retire 0, end 1 no-finalize, signal 15", 0, .state = FT_RANK_ATTACHED);
}

Test(policy, a_signal_or_a_failure_ends_also_a_job_that_starts_again)
{
    begin(3);
    strand();
    STEP("", .kind = FT_EV_HUNG, .rank = 0);
    STEP("", .kind = FT_EV_GRACE);
    STEP("end 143 signalled, signal 15", .kind = FT_EV_SIGNAL, .signal = SIGTERM);
    KILLED("retire 0", 0, SIGKILL);
    KILLED("retire 1, finish 143", 1, SIGKILL);

    ft_policy_free(p);
    begin(3);
    strand();
    KILLED("restart 0 #1", 0, SIGKILL);
    KILLED("restart 1 #1", 1, SIGKILL);
    STEP("end 110 said, finish 110", .kind = FT_EV_FAILED, .code = 110); /* nobody is left */
    STEP("", .kind = FT_EV_RENEWED);
}

Test(policy, only_a_rank_that_waits_for_its_restart_can_be_stranded)
{
    begin(2);
    STEP("", .kind = FT_EV_STRANDED, .rank = 1);
    STEP("end 143 signalled, signal 15", .kind = FT_EV_SIGNAL, .signal = SIGTERM);
    STEP("", .kind = FT_EV_STRANDED, .rank = 1);
    cr_expect_not(ft_policy_gathers(p));
}

Test(policy, a_restart_of_all_that_was_interrupted_goes_on)
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

Test(policy, a_node_that_is_done_stays_until_all_are)
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

Test(policy, a_node_that_is_done_ends_with_the_others)
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

Test(policy, the_jobs_end_on_another_node_is_ours)
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

Test(policy, a_verdict_here_stands_when_the_controller_says_it_back)
{
    begin_node(2);
    EXITED("retire 1, end 3 verdict, signal 15", 1, .code = 3);
    STEP("", .kind = FT_EV_ENDED, .code = 3);
    KILLED("retire 0, finish 3", 0, SIGTERM);
}

Test(policy, a_node_that_is_cut_off_kills_at_once)
{
    begin_node(2);
    interrupted("end 1 fenced, signal 9", (struct ft_event){.kind = FT_EV_FENCED});
    resumed("signal 9");
    STEP("", .kind = FT_EV_FENCED);
    STEP("", .kind = FT_EV_ENDED, .code = 5); /* too late: others have our place */
    KILLED("retire 0", 0, SIGKILL);
    KILLED("retire 1, finish 1", 1, SIGKILL);
    begin_node(2);
    STEP("end 5 elsewhere, signal 15", .kind = FT_EV_ENDED, .code = 5);
    STEP("signal 9", .kind = FT_EV_FENCED);
}

Test(policy, a_stranded_rank_of_a_node_is_for_another_node_to_replace)
{
    begin_node(2);
    KILLED("restart 1 #1", 1, SIGKILL, .progress = 10);
    STEP("end 1 stranded, signal 15", .kind = FT_EV_STRANDED, .rank = 1);
    cr_expect_not(ft_policy_gathers(p));
    KILLED("retire 0, finish 1", 0, SIGTERM);
}
