/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces of the policy (launcher/policy/rank_policy.h): events, and the effects that each must have, in words. */
#ifndef LAUNCHER_POLICY_RANK_POLICY_TRACE_H
#define LAUNCHER_POLICY_RANK_POLICY_TRACE_H

#include "launcher/policy/rank_policy.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "ft/shm/layout.h"
#include "launcher/options/values.h"

static const char *const reasons[] = {
    [FT_END_VERDICT] = "verdict", [FT_END_DEATH] = "death", [FT_END_LAST_WORDS] = "last-words",
    [FT_END_NO_FINALIZE] = "no-finalize", [FT_END_NO_INIT] = "no-init", [FT_END_GIVEN_UP] = "given-up", [FT_END_KILLED_EARLY] = "killed-early",
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
        case FT_DO_FORSAKE:
            n += (size_t)snprintf(text + n, size - n, "%sforsake %u %s", comma, e->rank, e->number == 1 ? "newest" : "all");
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
    p = ft_policy_new(calloc(1, ft_policy_bytes(c.nranks)), &c);
    for (uint32_t r = 0; r < c.nranks; r++)
        STARTED("", r);
}

static void begin(uint32_t nranks)
{
    begin_with(defaults(nranks));
}

static void end(void)
{
    free(p);
}

#endif
