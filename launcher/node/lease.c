/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/node/lease.h"

#include <signal.h>
#include <stdio.h>

#include "ft/base/util.h"
#include "launcher/agent/sweep.h"
#include "launcher/base/say.h"
#include "launcher/base/timer.h"
#include "launcher/node/job.h"
#include "launcher/node/uplink.h"
#include "launcher/ranks/ranks.h"

enum { MEET_MS = 2000 /* at least, for the first connection; else two leases */ };

uint64_t ft_node_lease_ns(const struct ft_node *n)
{
    return n->job->options->lease_ms * 1000000;
}

/* What a person looks for where ssh's stderr goes: the controller does not hear it from us. */
static void say_here(const struct ft_node *n, const char *what)
{
    ft_say(&(struct ft_say){0}, "node %u (host %s): %s", n->d->node, ft_say_host(), what);
}

static void end_ranks(struct ft_node *n)
{
    ft_job_post(n->job, &(struct ft_event){.kind = FT_EV_FENCED});
    ft_sweep_hurry(n->agent);
}

void ft_node_fence(struct ft_node *n, const char *why)
{
    if (n->shared->fenced)
        return;
    ft_ranks_signal(n->job, SIGKILL); /* before anything else */
    n->shared->fenced = true;
    say_here(n, why);
    end_ranks(n);
}

/* Fenced, and killed before it had seen to the end of its ranks, it left a successor that started them again, for ever (node.py, killed_as_it_fences). */
void ft_node_lease_resume(struct ft_node *n)
{
    if (n->shared->fenced)
        end_ranks(n);
    else
        ft_node_lease_check(n);
}

void ft_node_lease_heard(struct ft_node *n, uint64_t when)
{
    atomic_store(&n->shared->heard_ns, ft_max(when, atomic_load(&n->shared->heard_ns)));
}

/* Only as many as are remembered: a controller that is slow to answer gets no more. */
void ft_node_lease_beat(struct ft_node *n)
{
    if (n->shared->fenced || !ft_uplink_is_up(n->uplink) || n->sent - n->answered == FT_NODE_BEATS)
        return;
    n->sent_ns[n->sent++ % FT_NODE_BEATS] = ft_timer_boot_ns();
    ft_uplink_say(n->uplink, ft_wire_put_beat());
}

int ft_node_lease_answered(struct ft_node *n, struct ft_error *e)
{
    if (n->answered == n->sent)
        return ft_err_set(e, FT_EDAMAGED, "an answer to a BEAT that was not sent");
    ft_node_lease_heard(n, n->sent_ns[n->answered++ % FT_NODE_BEATS]);
    return 0;
}

static uint64_t patience_ns(const struct ft_node *n)
{
    if (atomic_load(&n->shared->met))
        return ft_node_lease_ns(n) / 3 * 2;
    return ft_max(2 * ft_node_lease_ns(n), MEET_MS * UINT64_C(1000000));
}

static bool is_silent(const struct ft_node *n, uint64_t more_ns)
{
    uint64_t silent = ft_timer_boot_ns() - atomic_load(&n->shared->heard_ns);

    return silent > more_ns + patience_ns(n);
}

/* A pulse later than the agent itself. Once the ranks are told to die it may take its time. */
bool ft_node_lease_is_late(void *arg)
{
    const struct ft_node *n = arg;

    return !n->shared->fenced && is_silent(n, ft_node_lease_ns(n) / FT_NODE_PULSES);
}

void ft_node_lease_check(struct ft_node *n)
{
    char why[FT_ERROR_TEXT + 100];

    if (n->shared->fenced || !is_silent(n, 0))
        return;
    if (atomic_load(&n->shared->met))
        snprintf(why, sizeof why, "ftrun has not been heard from for %g s (two thirds of --lease); the ranks here are killed",
                 (double)(ft_node_lease_ns(n) / 3 * 2) / 1e9);
    else
        snprintf(why, sizeof why, "the ftrun that started it cannot be reached%s%s", *ft_uplink_trouble(n->uplink) ? ": " : "",
                 ft_uplink_trouble(n->uplink));
    ft_node_fence(n, why);
}
