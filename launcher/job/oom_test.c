/* SPDX-License-Identifier: BSD-3-Clause */
/* Which deaths by SIGKILL are taken for the kernel's, by how many it has counted. */
#include "config.h"
#include "launcher/job/oom.h"

#include <criterion/criterion.h>
#include <event2/event.h>

#include "launcher/base/limits.h"

static struct event_base *base;
static struct ft_oom *oom;
static uint64_t kills;

uint64_t ft_limits_oom_kills(void) { return kills; }

static void set_up(void)
{
    kills = 5;
    base = event_base_new();
    oom = ft_oom_new(base);
    cr_assert(base && oom);
}

static void tear_down(void)
{
    ft_oom_free(oom);
    event_base_free(base);
}

TestSuite(oom, .init = set_up, .fini = tear_down, .timeout = 60);

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

Test(oom, as_many_deaths_as_the_kernel_has_counted)
{
    cr_expect_not(ft_oom_took_it(oom));
    kills += 2;
    cr_expect(ft_oom_took_it(oom));
    cr_expect(ft_oom_took_it(oom));
    cr_expect_not(ft_oom_took_it(oom));
    time_passes();
    time_passes();
    cr_expect_not(ft_oom_took_it(oom));
    kills++;
    cr_expect(ft_oom_took_it(oom));
}

/* Another job of the host lost a process; an hour later somebody kills a rank of ours. */
Test(oom, a_kill_of_long_ago_explains_no_death)
{
    kills++;
    time_passes();
    time_passes();
    cr_expect_not(ft_oom_took_it(oom));
}

Test(oom, a_process_may_take_some_time_to_die)
{
    kills++;
    time_passes();
    cr_expect(ft_oom_took_it(oom));
}

Test(oom, no_memory_for_it_is_no_failure)
{
    cr_expect_not(ft_oom_took_it(NULL));
    ft_oom_free(NULL);
}
