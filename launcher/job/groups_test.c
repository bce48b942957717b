/* SPDX-License-Identifier: BSD-3-Clause */
/* Which deaths by SIGKILL are taken for the kernel's, by how many it has counted in the rank's own group. */
#include "config.h"
#include "launcher/job/groups.h"

#include <criterion/criterion.h>
#include <event2/event.h>

enum { OWN, OTHER, NGROUPS };

static struct event_base *base;
static struct ft_groups *groups;
static uint64_t kills[NGROUPS];
static int where[NGROUPS]; /* the group of process 1000 + rank; -1: it cannot be seen */

/* Instead of memory.c's. */
void ft_memgroup_of(struct ft_memgroup *g, pid_t pid, bool *known)
{
    int at = pid ? where[pid - 1000] : OWN;

    *known = at >= 0;
    *g = (struct ft_memgroup){.version = 1 + (at == OTHER)};
}

bool ft_memgroup_is(const struct ft_memgroup *a, const struct ft_memgroup *b) { return a->version == b->version; }
uint64_t ft_memgroup_kills(const struct ft_memgroup *g) { return kills[g->version - 1]; }

static void set_up(void)
{
    kills[OWN] = kills[OTHER] = 5;
    where[0] = where[1] = OWN;
    base = event_base_new();
    groups = ft_groups_new(base, NGROUPS);
    cr_assert(base && groups);
}

static void tear_down(void)
{
    ft_groups_free(groups);
    event_base_free(base);
}

TestSuite(groups, .init = set_up, .fini = tear_down, .timeout = 60);

static bool took(uint32_t rank) { return ft_groups_took(groups, rank, 1000 + (pid_t)rank); }

static int fire(const struct event_base *b, const struct event *timer, void *arg)
{
    (void)b;
    (void)arg;
    event_active((struct event *)(uintptr_t)timer, EV_TIMEOUT, 1);
    return 0;
}

/* Its timer comes. */
static void time_passes(void)
{
    event_base_foreach_event(base, fire, NULL);
    event_base_loop(base, EVLOOP_NONBLOCK | EVLOOP_ONCE);
}

Test(groups, as_many_deaths_as_the_kernel_has_counted)
{
    cr_expect_not(took(0));
    kills[OWN] += 2;
    cr_expect(took(0));
    cr_expect(took(1));
    cr_expect_not(took(0));
    time_passes();
    time_passes();
    cr_expect_not(took(0));
    kills[OWN]++;
    cr_expect(took(0));
}

/* Another program of the group lost a process; later somebody kills a rank of ours. */
Test(groups, a_kill_of_long_ago_explains_no_death)
{
    kills[OWN]++;
    time_passes();
    time_passes();
    cr_expect_not(took(0));
}

Test(groups, a_process_may_take_some_time_to_die)
{
    kills[OWN]++;
    time_passes();
    cr_expect(took(0));
}

/* A rank that was put into a group of its own before its program began. */
Test(groups, only_what_is_killed_in_its_own_group_counts)
{
    ft_groups_note(groups, 1, 1001, false);
    where[1] = OTHER;
    ft_groups_note(groups, 1, 1001, false); /* it has been looked at */
    cr_expect(ft_groups_of(groups, 1) == 0);
    ft_groups_note(groups, 1, 1001, true);
    cr_expect(ft_groups_count(groups) == 2 && ft_groups_of(groups, 1) == 1 && ft_groups_of(groups, 0) == 0);
    kills[OWN]++;
    cr_expect_not(took(1));
    where[1] = -1; /* a zombie cannot be seen in version 1 */
    kills[OTHER]++;
    cr_expect(took(1));
    cr_expect(took(0));
    cr_expect_not(took(0));
}

/* It is moved while it runs. */
Test(groups, it_is_looked_at_again)
{
    ft_groups_note(groups, 1, 1001, true);
    where[1] = OTHER;
    time_passes();
    ft_groups_note(groups, 1, 1001, true);
    cr_expect(ft_groups_of(groups, 1) == 1);
    cr_expect(ft_memgroup_is(ft_groups_get(groups, 1), &(struct ft_memgroup){.version = 2}));
}

Test(groups, no_memory_for_it_is_no_failure)
{
    cr_expect_not(ft_groups_took(NULL, 0, 1000));
    cr_expect(ft_groups_count(NULL) == 0);
    ft_groups_note(NULL, 0, 1000, true);
    ft_groups_free(NULL);
}
