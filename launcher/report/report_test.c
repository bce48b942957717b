/* SPDX-License-Identifier: BSD-3-Clause */
/* What a report says of deaths, snapshots and the log (launcher/report/report.h, ftrun.1 THE REPORT). */
#include "config.h"
#include "launcher/report/report.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/report/summary.h"

enum { SECOND = 1000000000 };

static uint64_t at(double seconds) { return (uint64_t)(1000 * (double)SECOND + seconds * SECOND); }

static char path[] = "/tmp/ftmpi-report.XXXXXX";

static void open_report(struct ft_report *r)
{
    static char program[] = "program", no_utf8[] = "\xff";
    static char *argv[] = {program, no_utf8, NULL};
    struct ft_error e;
    int fd = mkstemp(path);

    cr_assert(fd >= 0);
    cr_assert_eq(ft_report_open(r, path, argv, 2, at(0), &e), 0);
    close(fd);
}

static json_t *written(struct ft_report *r)
{
    struct ft_error e;
    json_t *all;

    cr_assert_eq(ft_report_write(r, 0, at(100), &e), 0);
    all = json_load_file(path, 0, NULL);
    cr_assert(all);
    return all;
}

static void end(struct ft_report *r, json_t *all)
{
    json_decref(all);
    ft_report_close(r);
    unlink(path);
}

static void die(struct ft_report *r, uint32_t rank, double seen, double died)
{
    *ft_report_restart(r) = (struct ft_restart){.rank = rank, .signal = 9, .seen_ns = at(seen), .died_ns = at(died)};
}

static void expect(const json_t *object, const char *name, double value)
{
    const json_t *found = json_object_get(object, name);

    cr_expect(json_is_number(found) && json_number_value(found) > value - 1e-6 && json_number_value(found) < value + 1e-6,
              "%s is %g, not %g", name, json_number_value(found), value);
}

static const json_t *restart(const json_t *all, size_t i)
{
    const json_t *found = json_array_get(json_object_get(all, "restarts"), i);

    cr_assert(found);
    return found;
}

Test(report, spans_of_one_death)
{
    struct ft_report r;
    json_t *all;

    open_report(&r);
    ft_report_started(&r, 1, FT_BACK_START, at(0.5));
    die(&r, 1, 9.9, 10);
    ft_report_started(&r, 1, FT_BACK_START, at(10.25));
    ft_report_last(&r, 1)->live_ns = at(12);
    ft_report_last(&r, 1)->replayed = 7;
    all = written(&r);
    expect(restart(all, 0), "at_seconds", 10);
    expect(restart(all, 0), "detect_seconds_at_most", 0.1);
    expect(restart(all, 0), "respawn_seconds", 0.25);
    expect(restart(all, 0), "replay_seconds", 1.75);
    expect(restart(all, 0), "recover_seconds", 2);
    expect(restart(all, 0), "lost_seconds", 9.5);
    expect(restart(all, 0), "replayed_units", 7);
    cr_expect_str_eq(json_string_value(json_object_get(restart(all, 0), "way_back")), "start");
    end(&r, all);
}

Test(report, what_never_came_is_null)
{
    struct ft_report r;
    json_t *all;

    open_report(&r);
    ft_report_started(&r, 0, FT_BACK_START, at(0.5));
    die(&r, 0, 9.9, 10);
    all = written(&r);
    cr_expect(json_is_null(json_object_get(restart(all, 0), "way_back")));
    cr_expect(json_is_null(json_object_get(restart(all, 0), "respawn_seconds")));
    cr_expect(json_is_null(json_object_get(restart(all, 0), "recover_seconds")));
    end(&r, all);
}

Test(report, lost_work_counts_from_where_the_successor_begins)
{
    struct ft_report r;
    json_t *all;

    open_report(&r);
    ft_report_started(&r, 0, FT_BACK_START, at(1));
    ft_report_cut(&r, 0, at(20), 500, 4000000);
    die(&r, 0, 30, 30);
    ft_report_started(&r, 0, FT_BACK_SNAPSHOT, at(31)); /* 10 s since the snapshot was taken */
    die(&r, 0, 33, 33);
    ft_report_started(&r, 0, FT_BACK_SNAPSHOT, at(34)); /* the same one: 2 s since it was woken */
    ft_report_cut(&r, 0, at(40), 900, 6000000);
    die(&r, 0, 45, 45);
    ft_report_started(&r, 0, FT_BACK_START, at(46));    /* 44 s since the program began */
    die(&r, 0, 50, 50);
    ft_report_started(&r, 0, FT_BACK_ALL, at(51));      /* 4 s since it began again */
    all = written(&r);
    for (size_t i = 0; i < 4; i++)
        expect(restart(all, i), "lost_seconds", (double[]){10, 2, 44, 4}[i]);
    cr_expect_str_eq(json_string_value(json_object_get(restart(all, 1), "way_back")), "snapshot");
    cr_expect_str_eq(json_string_value(json_object_get(restart(all, 3), "way_back")), "all");
    expect(json_object_get(all, "snapshots"), "taken", 2);
    expect(json_object_get(all, "snapshots"), "seconds", 0.01);
    expect(json_object_get(all, "snapshots"), "longest_seconds", 0.006);
    expect(json_object_get(all, "snapshots"), "threads", 1);
    expect(json_array_get(json_object_get(all, "per_rank"), 0), "last_snapshot_unit", 900);
    end(&r, all);
}

/* What threads of ranks lose to snapshots. The numbers are the ranks' own: they may be any. */
Test(report, threads_that_stand_still)
{
    struct ft_report r;
    json_t *all, *one;

    open_report(&r);
    ft_report_cut(&r, 0, at(1), 10, 4000000);
    ft_report_still(&r, 0, 3000000, 3000000, 5);
    ft_report_still(&r, 0, 2000000, 3000000, 4);
    ft_report_still(&r, 1, UINT64_MAX, UINT64_MAX, UINT64_MAX);
    ft_report_still(&r, 1, UINT64_MAX, UINT64_MAX, 1);
    r.ranks[0].refused = 7;
    all = written(&r);
    one = json_object_get(json_array_get(json_object_get(all, "per_rank"), 0), "snapshots");
    expect(one, "threads", 4);
    expect(one, "still_seconds", 0.005);
    expect(one, "longest_still_seconds", 0.003);
    expect(one, "refused_for_threads", 7);
    expect(json_object_get(all, "snapshots"), "threads", 4);
    expect(json_object_get(all, "snapshots"), "refused_for_threads", 7);
    cr_expect(r.ranks[1].still_ns == INT64_MAX && r.ranks[1].still_most_ns == INT64_MAX); /* what a node may say (wire.h) */
    end(&r, all);
}

/* Several hosts: who died with which, and what was put in its place. */
Test(report, hosts_that_are_lost)
{
    static const char *names[] = {"alpha", "beta", "spare"};
    uint32_t of_rank[] = {0, 2};
    struct ft_host_loss losses[] = {{.node = 1, .host = 1, .to = 2, .heard_ns = at(9), .lost_ns = at(12), .up_ns = at(12.5)},
                                    {.node = 0, .host = 0, .to = -1, .heard_ns = at(80), .lost_ns = at(83), .all = true}};
    struct ft_report_hosts hosts = {.n = 3, .names = names, .of_rank = of_rank, .losses = losses, .nlosses = 2};
    const json_t *first, *second;
    struct ft_report r;
    json_t *all;

    open_report(&r);
    r.hosts = &hosts;
    *ft_report_restart(&r) = (struct ft_restart){.rank = 1, .host = 1, .host_lost = true, .lost = true, .seen_ns = at(9), .died_ns = at(12)};
    all = written(&r);
    cr_expect_str_eq(json_string_value(json_array_get(json_object_get(all, "hosts"), 2)), "spare");
    first = json_array_get(json_object_get(all, "hosts_lost"), 0);
    second = json_array_get(json_object_get(all, "hosts_lost"), 1);
    cr_expect_str_eq(json_string_value(json_object_get(first, "host")), "beta");
    cr_expect_str_eq(json_string_value(json_object_get(first, "replaced_by")), "spare");
    expect(first, "at_seconds", 12);
    expect(first, "detect_seconds_at_most", 3);
    expect(first, "replace_seconds", 0.5);
    cr_expect(json_is_false(json_object_get(first, "all_ranks")));
    cr_expect(json_is_null(json_object_get(second, "replaced_by")) && json_is_null(json_object_get(second, "replace_seconds")));
    cr_expect(json_is_true(json_object_get(second, "all_ranks")));
    cr_expect_str_eq(json_string_value(json_object_get(restart(all, 0), "host")), "beta");
    cr_expect(json_is_true(json_object_get(restart(all, 0), "host_lost")) && json_is_null(json_object_get(restart(all, 0), "exit_code")));
    cr_expect_str_eq(json_string_value(json_object_get(json_array_get(json_object_get(all, "per_rank"), 1), "host")), "spare");
    end(&r, all);
}

Test(report, checkpoints_on_disk_are_null_without_a_directory)
{
    struct ft_durable_totals totals = {.resumed = 12, .last = 14, .written = 2, .failed = 1, .bytes = 1000, .ns = 30000000, .most_ns = 20000000};
    struct ft_report r;
    json_t *all;

    open_report(&r);
    all = written(&r);
    cr_expect(json_is_null(json_object_get(all, "durable")));
    json_decref(all);
    r.durable = &totals;
    all = written(&r);
    expect(json_object_get(all, "durable"), "resumed_version", 12);
    expect(json_object_get(all, "durable"), "last_version", 14);
    expect(json_object_get(all, "durable"), "written", 2);
    expect(json_object_get(all, "durable"), "failed", 1);
    expect(json_object_get(all, "durable"), "last_bytes", 1000);
    expect(json_object_get(all, "durable"), "seconds", 0.03);
    expect(json_object_get(all, "durable"), "longest_seconds", 0.02);
    end(&r, all);
}

Test(report, saying_it_twice_changes_nothing)
{
    struct ft_report r;
    json_t *all;

    open_report(&r);
    ft_report_started(&r, 0, FT_BACK_START, at(1));
    die(&r, 0, 30, 30);
    ft_report_last(&r, 0)->from_ns = at(1); /* killed after the first of the lines in ft_report_started ... */
    r.ranks[0].origin_ns = at(31);          /* ... or the second */
    ft_report_started(&r, 0, FT_BACK_START, at(31));
    ft_report_started(&r, 0, FT_BACK_START, at(31));
    all = written(&r);
    expect(restart(all, 0), "lost_seconds", 29);
    expect(restart(all, 0), "respawn_seconds", 1);
    end(&r, all);
}

Test(report, what_a_killed_writer_left_is_written_over)
{
    struct ft_report r;
    struct ft_error e;
    FILE *rest;

    open_report(&r);
    rest = fopen(r.file.beside, "w");
    cr_assert(rest);
    for (int i = 0; i < 200; i++)
        fputs("{\"restarts\": [ a longer text than what is written afterwards", rest);
    cr_assert_eq(fclose(rest), 0);
    cr_assert_eq(ft_report_write(&r, 0, at(100), &e), 0);
    cr_expect_neq(access(r.file.beside, F_OK), 0, "nothing stays beside it");
    end(&r, written(&r));
}

/* A report emptied its file when the job began. */
Test(report, the_older_file_is_whole_until_the_new_one_is)
{
    char link[] = "/tmp/ftmpi-report-link.XXXXXX", text[64] = "";
    static char program[] = "program";
    static char *argv[] = {program, NULL};
    struct ft_report r;
    struct ft_error e;
    struct stat st;
    FILE *older;
    int fd = mkstemp(path);

    cr_assert(fd >= 0 && write(fd, "older\n", 6) == 6 && !fchmod(fd, 0640));
    close(fd);
    close(mkstemp(link));
    unlink(link);
    cr_assert_eq(symlink(path, link), 0);
    cr_assert_eq(ft_report_open(&r, link, argv, 2, at(0), &e), 0);
    older = fopen(path, "r");
    cr_expect(fgets(text, sizeof text, older) && !strcmp(text, "older\n"), "%s", text);
    end(&r, written(&r));
    cr_expect(!lstat(link, &st) && S_ISLNK(st.st_mode), "the link stays a link");
    rewind(older);
    cr_expect(fgets(text, sizeof text, older) && !strcmp(text, "older\n"), "who has it open still has all of it");
    cr_expect(!fstat(fileno(older), &st) && (st.st_mode & 0777) == 0640);
    fclose(older);
    unlink(link);
}

/* As `ftrun status --json` and a job that was killed have it. */
Test(report, what_is_not_over_is_told)
{
    struct ft_report r;
    json_t *all, *rank;

    open_report(&r);
    r.ranks[0] = (struct ft_rank_total){.pid = 7};
    r.ranks[1] = (struct ft_rank_total){.pid = 8, .signal = 15, .ended_ns = at(9)};
    all = ft_report_all(&r, FT_UNFINISHED, at(10));
    cr_expect(json_is_false(json_object_get(all, "finished")) && json_is_null(json_object_get(all, "exit_code")));
    rank = json_array_get(json_object_get(all, "per_rank"), 0);
    cr_expect(json_is_null(json_object_get(rank, "exit_code")) && json_is_null(json_object_get(rank, "signal")));
    rank = json_array_get(json_object_get(all, "per_rank"), 1);
    cr_expect(json_is_null(json_object_get(rank, "exit_code")));
    expect(rank, "signal", 15);
    end(&r, all);
}

Test(report, the_log_held)
{
    struct ft_report r;
    json_t *all;

    open_report(&r);
    ft_report_log(&r, 1000, 0, 0);
    ft_report_log(&r, 5000, 4500, 100);
    ft_report_log(&r, 5100, 5200, 100); /* looked at one after the other */
    all = written(&r);
    expect(all, "log_bytes", 5100);
    expect(all, "released_bytes", 5100);
    expect(all, "spilled_bytes", 100);
    expect(all, "peak_log_bytes", 1000);
    end(&r, all);
}

/* All ranks start again, and two launcher processes are killed meanwhile. */
Test(report, sums_go_on_when_the_log_is_new)
{
    struct ft_report r;
    json_t *all;

    open_report(&r);
    ft_report_log(&r, 5000, 1000, 100);
    ft_report_log(&r, 0, 0, 0); /* of the new one, before it has been said to be new */
    ft_report_renew(&r);
    ft_report_log(&r, 0, 0, 0);
    ft_report_renew(&r);
    ft_report_log(&r, 3000, 500, 10);
    all = written(&r);
    expect(all, "log_bytes", 8000);
    expect(all, "released_bytes", 5500);
    expect(all, "spilled_bytes", 110);
    expect(all, "peak_log_bytes", 5000);
    end(&r, all);
}

/* Two ranks that die together are down for as long as the slower one. */
Test(report, a_line_sums_up_what_was_survived)
{
    struct ft_report r;
    char line[256];

    open_report(&r);
    cr_expect(!ft_report_summary(&r, line, sizeof line));
    die(&r, 0, 1, 2);
    ft_report_started(&r, 0, FT_BACK_SNAPSHOT, at(2.5));
    ft_report_last(&r, 0)->live_ns = at(3);
    ft_report_last(&r, 0)->replayed = 1;
    cr_expect(ft_report_summary(&r, line, sizeof line));
    cr_expect_str_eq(line, "1 death of a rank survived: 1 from a snapshot; 1 unit replayed, 1.000 s until they were back");
    die(&r, 1, 1, 2.5);
    ft_report_started(&r, 1, FT_BACK_START, at(2.6));
    ft_report_last(&r, 1)->live_ns = at(5);
    ft_report_last(&r, 1)->replayed = 42;
    die(&r, 1, 6, 7);
    ft_report_started(&r, 1, FT_BACK_SNAPSHOT, at(7));
    cr_expect(ft_report_summary(&r, line, sizeof line));
    cr_expect_str_eq(line, "3 deaths of ranks survived: 2 from a snapshot, 1 from the start; 43 units replayed, 3.000 s until they were back");
    /* The snapshot could not be followed: another way, and no death more. Noted twice, as after a takeover. */
    ft_report_astray(&r, 1, at(7.5));
    ft_report_astray(&r, 1, at(7.5));
    ft_report_started(&r, 1, FT_BACK_START, at(8));
    cr_expect_eq(r.nrestarts, 3);
    cr_expect(ft_report_summary(&r, line, sizeof line));
    cr_expect_str_eq(line, "3 deaths of ranks survived: 1 from a snapshot, 2 from the start; 1 try of a snapshot in vain; 43 units replayed, 3.000 s until they were back");
    end(&r, written(&r));
}
