/* SPDX-License-Identifier: BSD-3-Clause */
/* Which events follow from what is so, however much of it has come since the last look: none is left out, and each is told in its turn. */
#include "config.h"

#include <criterion/criterion.h>
#include <event2/event.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/base/say.h"
#include "launcher/events/events.h"
#include "launcher/options/options.h"
#include "launcher/report/report.h"

enum { RANKS = 2, NODES = 2, TEXT = 4096 };

static const uint64_t ms = 1000000;
static char path[64], told[TEXT];
static char *command[] = {(char *)"prog", NULL};
static struct ft_options options = {.job_id = "abcdefgh"};
static const struct ft_say say = {.quiet = true};
static struct ft_report report;
static struct ft_events *events;
static struct event_base *base;
static struct ft_events_rank ranks[RANKS];
static struct ft_events_node nodes[NODES];
static struct ft_events_view view;
static const char *names[] = {"a", "b", "c"};
static uint32_t of_rank[RANKS] = {0, 1};
static struct ft_host_loss losses[4];
static struct ft_report_hosts hosts = {.n = 3, .names = names, .of_rank = of_rank, .losses = losses};

static void rank_of(const void *arg, uint32_t rank, struct ft_events_rank *is)
{
    (void)arg;
    *is = ranks[rank];
}

static void node_of(const void *arg, uint32_t node, struct ft_events_node *is)
{
    (void)arg;
    *is = nodes[node];
}

static void never(void *arg)
{
    (void)arg;
}

static void set_up(void)
{
    struct ft_error e;

    snprintf(path, sizeof path, "/tmp/ftmpi-events.%d", getpid());
    unlink(path);
    options.events = path;
    base = event_base_new();
    cr_assert_eq(ft_report_open(&report, NULL, command, RANKS, ms, &e), 0);
    report.job = options.job_id;
    view = (struct ft_events_view){.report = &report, .rank = rank_of};
}

static void begin(uint32_t nnodes)
{
    struct ft_error e;

    view.nnodes = nnodes;
    view.node = node_of;
    report.hosts = nnodes ? &hosts : NULL;
    cr_assert_eq(ft_events_new(&events, &options, &say, RANKS, nnodes, &e), 0, "%s", e.text);
    cr_assert_eq(ft_events_run(events, base, never, NULL), 0);
}

static void start(uint32_t rank, uint64_t at_ms)
{
    report.ranks[rank].origin_ns = at_ms * ms;
    ranks[rank].pid = 100 + (pid_t)rank;
}

/* Its process with this pid has died; it is what is known at first. */
static struct ft_restart *die(uint32_t rank, pid_t pid, uint64_t at_ms)
{
    struct ft_restart *r = ft_report_restart(&report);

    *r = (struct ft_restart){.rank = rank, .pid = pid, .signal = 9, .seen_ns = at_ms * ms - 1, .died_ns = at_ms * ms};
    report.ranks[rank].restarts++;
    return r;
}

static void come_back(struct ft_restart *r, pid_t pid, uint64_t started_ms, uint64_t live_ms)
{
    r->way = FT_BACK_START;
    r->started_ns = started_ms * ms;
    r->live_ns = live_ms * ms;
    r->from_ns = report.ranks[r->rank].origin_ns;
    ranks[r->rank].pid = pid;
}

static void retire(uint32_t rank, int code, uint64_t at_ms)
{
    report.ranks[rank].code = code;
    report.ranks[rank].ended_ns = at_ms * ms;
    ranks[rank].ended = true;
}

/* A line as "rank_died 1 100 9": the event, what it is about, a pid, and what has become of it. */
static void add_line(const json_t *l)
{
    static const char *const which[] = {"rank", "node", "pid", "host", "signal", "exit_code", "way_back", "replaced_by", "all_ranks",
                                        "last_version"};
    const json_t *v;

    strcat(told, json_string_value(json_object_get(l, "event")));
    for (size_t i = 0; i < sizeof which / sizeof which[0]; i++) {
        v = json_object_get(l, which[i]);
        if (json_is_integer(v))
            snprintf(told + strlen(told), TEXT - strlen(told), " %lld", (long long)json_integer_value(v));
        else if (json_is_string(v))
            snprintf(told + strlen(told), TEXT - strlen(told), " %s", json_string_value(v));
        else if (json_is_true(v))
            strcat(told, " true");
    }
    strcat(told, "\n");
}

/* All of it, when the job has ended. */
static const char *end(int code)
{
    char line[TEXT];
    FILE *file;

    ft_events_end(events, &view, code);
    ft_events_free(events);
    file = fopen(path, "r");
    cr_assert_not_null(file);
    *told = 0;
    for (int seq = 1; fgets(line, sizeof line, file); seq++) {
        json_t *l = json_loads(line, 0, NULL);

        cr_assert_not_null(l, "%s", line);
        cr_assert_eq(json_integer_value(json_object_get(l, "seq")), seq);
        cr_assert_str_eq(json_string_value(json_object_get(l, "job")), "abcdefgh");
        add_line(l);
        json_decref(l);
    }
    fclose(file);
    unlink(path);
    event_base_free(base);
    ft_report_close(&report);
    return strstr(told, "\n") + 1; /* without the first line, in which this host's name is */
}

static void look(void)
{
    ft_events_look(events, &view);
    ft_events_look(events, &view); /* nothing is told twice */
}

static const char *expected(const char *format)
{
    static char text[TEXT];
    size_t n = 0;

    for (const char *f = format; *f; f++) /* "@": this host */
        n += (size_t)snprintf(text + n, sizeof text - n, *f == '@' ? "%s" : "%.1s", *f == '@' ? ft_say_host() : f);
    return text;
}

Test(events, as_it_happens, .init = set_up)
{
    struct ft_restart *r;

    begin(0);
    look();
    start(0, 2);
    start(1, 2);
    look();
    r = die(1, 101, 5);
    look();
    come_back(r, 111, 6, 0);
    look();
    r->live_ns = 7 * ms;
    look();
    retire(0, 0, 9);
    look();
    retire(1, 3, 9);
    cr_expect_str_eq(end(3), expected("rank_started 0 100 @\nrank_started 1 101 @\nrank_died 1 101 @ 9\nrank_restarted 1 111 @ start\n"
                                      "rank_back 1 111 @ start\nrank_ended 0 100 @ 0\nrank_ended 1 111 @ 3\njob_ended 3\n"));
}

Test(events, all_at_one_look, .init = set_up)
{
    begin(0);
    start(0, 2);
    start(1, 2);
    come_back(die(1, 101, 5), 111, 6, 7);
    come_back(die(1, 111, 8), 121, 9, 10);
    retire(1, 0, 12);
    retire(0, 0, 12);
    cr_expect_str_eq(end(0), expected("rank_started 1 101 @\nrank_died 1 101 @ 9\nrank_restarted 1 111 @ start\nrank_back 1 111 @ start\n"
                                      "rank_died 1 111 @ 9\nrank_started 0 100 @\nrank_ended 0 100 @ 0\nrank_restarted 1 121 @ start\n"
                                      "rank_back 1 121 @ start\nrank_ended 1 121 @ 0\njob_ended 0\n"));
}

/* One that is not followed by a restart has been told, and no end comes after it. One that a launcher process had only begun to
   enter is none. */
Test(events, the_last_death, .init = set_up)
{
    begin(0);
    start(0, 2);
    start(1, 2);
    look();
    ft_report_restart(&report);
    die(0, 100, 5);
    retire(0, 0, 5);
    view.signal = 15;
    view.all = 2;
    retire(1, 0, 6);
    look();
    cr_expect_str_eq(end(143), expected("rank_started 0 100 @\nrank_started 1 101 @\nall_ranks_restart\nall_ranks_restart\n"
                                        "rank_died 0 100 @ 9\n"
                                        "rank_ended 1 101 @ 0\njob_stopped 15\njob_ended 143\n"));
}

/* How it ended is of the life before, for as long as it is not known that it runs. */
Test(events, an_end_that_is_not_its_last, .init = set_up)
{
    struct ft_restart *r;

    begin(0);
    start(0, 2);
    look();
    r = die(0, 100, 5);
    come_back(r, 110, 6, 7);
    report.ranks[0].ended_ns = 5 * ms;
    report.ranks[0].signal = 9;
    ranks[0].ended = true;
    look();
    report.ranks[0].signal = 0;
    retire(0, 0, 8);
    cr_expect_str_eq(end(0), expected("rank_started 0 100 @\nrank_died 0 100 @ 9\nrank_restarted 0 110 @ start\nrank_back 0 110 @ start\n"
                                      "rank_ended 0 110 @ 0\njob_ended 0\n"));
}

Test(events, checkpoints, .init = set_up)
{
    struct ft_durable_totals totals = {.last = 4};

    begin(0);
    report.durable = &totals; /* resumed from */
    look();
    totals = (struct ft_durable_totals){.last = 5, .last_ns = 3 * ms, .written = 1};
    look();
    totals = (struct ft_durable_totals){.last = 8, .last_ns = 4 * ms, .written = 4};
    cr_expect_str_eq(end(0), "checkpoint_written 5\ncheckpoint_written 8\njob_ended 0\n");
}

Test(events, hosts_that_are_lost, .init = set_up)
{
    begin(NODES);
    nodes[0] = (struct ft_events_node){"a", 0, true, false};
    nodes[1] = (struct ft_events_node){"b", 0, true, true};
    look();
    nodes[0].up = true;
    look();
    losses[0] = (struct ft_host_loss){.node = 1, .host = 1, .to = 2, .all = true, .heard_ns = 3 * ms, .lost_ns = 4 * ms};
    hosts.nlosses = 1;
    nodes[1] = (struct ft_events_node){"c", 1, true, false};
    look();
    losses[0].up_ns = 6 * ms; /* and that one is lost as well, for good */
    losses[1] = (struct ft_host_loss){.node = 1, .host = 2, .to = -1, .heard_ns = 7 * ms, .lost_ns = 8 * ms};
    hosts.nlosses = 2;
    cr_expect_str_eq(end(1), "node_started 0 a\nnode_started 1 b\nnode_up 1 b\nnode_up 0 a\nnode_lost 1 b true\nnode_started 1 c\n"
                             "node_replaced 1 b c\nnode_lost 1 c\njob_ended 1\n");
}
