/* SPDX-License-Identifier: BSD-3-Clause */
/* Starters of nodes: how many at a time, and what becomes of those that cannot be started. */
#include "config.h"
#include "launcher/start/remote.h"

#include <criterion/criterion.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "launcher/base/signals.h"

enum { NODES = FT_TREE_WIDTH + 8 };

static struct event_base *base;
static struct ft_remote *remote;
static struct ft_signals signals;
static struct ft_options options;
static struct ft_host host = {.name = "somewhere"};
static unsigned failed, ended;
static char last[FT_SAID_BYTES];

static void on_ended(void *arg, uint32_t node, int status, const char *said, const struct ft_host *from)
{
    (void)arg;
    (void)from;
    (void)node;
    *(status == -1 ? &failed : &ended) += 1;
    snprintf(last, sizeof last, "%s", said);
}

static void on_line(void *arg, uint32_t node, const char *line)
{
    (void)arg;
    (void)node;
    (void)line;
}

/* command: what starts a node, in the place of ssh. */
static void begin(const char *command)
{
    struct ft_remote_config config = {.options = &options, .signals = &signals, .nnodes = NODES, .ended = on_ended, .line = on_line, .own = -1};
    struct ft_error e;

    options.launcher = command;
    options.launch_tree = FT_TREE_AUTO;
    options.start_ms = 60000;
    base = event_base_new();
    cr_assert(base && ft_signals_take(&signals) == 0);
    cr_assert((remote = ft_remote_new(base, &config, &e)));
}

static void start(uint32_t node)
{
    ft_remote_start(remote, node, &host, strdup("{}"));
}

static void await(const unsigned *count, unsigned n)
{
    for (int i = 0; i < 2000 && *count < n; i++) {
        event_base_loop(base, EVLOOP_NONBLOCK);
        ft_remote_reap(remote);
        usleep(5000);
    }
    cr_assert_eq(*count, n);
}

static void done(void)
{
    ft_remote_free(remote);
    event_base_free(base);
}

Test(remote, its_last_line_is_known_when_it_ends)
{
    begin("exec:/bin/sh");
    start(0);
    await(&ended, 1);
    cr_expect(strstr(last, "somewhere"), "%s", last); /* sh has no such script */
    cr_expect_not(ft_remote_busy(remote));
    done();
}

/* Those that could not be started once counted as starting for ever: after 32 of them nothing was started any more. */
Test(remote, what_could_not_be_started_makes_room)
{
    struct rlimit before, none = {0};

    begin("exec:/bin/sh");
    getrlimit(RLIMIT_NOFILE, &before);
    none.rlim_max = before.rlim_max;
    setrlimit(RLIMIT_NOFILE, &none); /* no pipe */
    for (uint32_t i = 0; i < NODES; i++)
        start(i);
    event_base_loop(base, EVLOOP_NONBLOCK);
    event_base_loop(base, EVLOOP_NONBLOCK); /* first they are tried, then it is told */
    setrlimit(RLIMIT_NOFILE, &before);
    cr_expect_eq(failed, NODES);
    start(0);
    await(&ended, 1);
    done();
}
