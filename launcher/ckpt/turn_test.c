/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose turn it is to be written to --ckpt-dir (turn.h), with the thread that writes and a directory. */
#include "config.h"
#include "launcher/ckpt/turn.h"

#include <criterion/criterion.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ft/shm/models.h"
#include "ft/shm/wait.h"
#include "launcher/base/say.h"
#include "launcher/options/options.h"

enum { LONG_MS = 60000 };

static char dir[] = "/tmp/ft-turn.XXXXXX";
static char *argv[] = {(char[]){"program"}, NULL};
static struct ft_context context = {.argv = argv, .nranks = 1};
static struct ft_options options = {.job_id = "turn", .contexts = &context, .ncontexts = 1, .nranks = 1, .ckpt_versions = 1};
static struct ft_say say;
static struct ft_ckpt_series series;
static struct ft_ckpt_turn turn;
static struct ft_ckpt_turn_config config = {.series = &series};
static int looks, writes;

static void keep_silent(void *arg, const char *line, size_t len) { (void)arg, (void)line, (void)len; }
static void look(void *arg) { (void)arg, looks++; }
static void written(void *arg) { (void)arg, writes++; }
static void taken(void *arg) { (void)arg; }

static void open_turn(void)
{
    struct ft_error e;

    say.put = keep_silent;
    cr_assert(mkdtemp(dir));
    options.ckpt_dir = dir;
    cr_assert_eq(ft_ckpt_series_open(&series, &options, &say, 1, &e), 0, "%s", e.text);
    config.base = event_base_new();
    config.models = ft_models_create(&e);
    config.look = look;
    config.written = written;
    config.taken = taken;
    cr_assert_eq(ft_ckpt_turn_open(&turn, &config), 0);
}

static void name_file(char path[64], uint64_t version)
{
    char name[FT_CKPT_NAME];

    ft_ckpt_dir_name(name, version);
    snprintf(path, 64, "%s/%s", dir, name);
}

static void remove_file(uint64_t version)
{
    char path[64];

    name_file(path, version);
    cr_assert_eq(unlink(path), 0);
}

static void close_turn(void)
{
    char path[64];

    ft_ckpt_turn_close(&turn);
    ft_ckpt_turn_close(&turn);
    ft_ckpt_series_close(&series);
    close(config.models);
    event_base_free(config.base);
    for (uint64_t v = 1; v < 20; v++) {
        name_file(path, v);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/" FT_CKPT_SPARE, dir);
    unlink(path);
    cr_expect_eq(rmdir(dir), 0, "nothing else is there");
}

TestSuite(turn, .init = open_turn, .fini = close_turn, .timeout = 60);

static void await_written(void)
{
    int before = writes;

    while (writes == before)
        event_base_loop(config.base, EVLOOP_ONCE);
}

/* The models are empty: their hash is 0. */
static void begin_write(uint64_t version, uint64_t hash)
{
    struct ft_ckpt_header h;
    struct ft_error e;

    cr_assert_eq(ft_ckpt_header_new(&h, 1, &e), 0);
    h.sections[0].hash = hash;
    ft_ckpt_series_begin(&series, &h, version);
    ft_ckpt_turn_write(&turn, &h, 0);
}

static void write_version(uint64_t version)
{
    begin_write(version, 0);
    await_written();
    cr_assert_eq(series.totals.last, version);
}

static void end_job(void)
{
    turn.final = true;
    cr_assert_eq(ft_ckpt_turn_next(&turn, 9), FT_TURN_NONE, "it is looked what is there");
    await_written();
}

Test(turn, one_of_so_many_is_written)
{
    options.ckpt_versions = 3;
    write_version(4);
    cr_expect_eq(ft_ckpt_turn_next(&turn, 4), FT_TURN_KEEP);
    cr_expect_eq(ft_ckpt_turn_next(&turn, 6), FT_TURN_KEEP);
    cr_expect_eq(ft_ckpt_turn_next(&turn, 7), FT_TURN_WRITE);
}

Test(turn, none_while_one_is_being_written)
{
    begin_write(1, 0);
    cr_expect_not(ft_ckpt_turn_is_free(&turn));
    cr_expect_eq(ft_ckpt_turn_next(&turn, 2), FT_TURN_NONE);
    await_written();
    cr_expect(ft_ckpt_turn_is_free(&turn));
    cr_expect_eq(ft_ckpt_turn_next(&turn, 2), FT_TURN_WRITE);
}

Test(turn, none_before_the_pause_is_over_and_then_its_owner_is_called)
{
    options.ckpt_ms = LONG_MS;
    write_version(1);
    cr_expect_eq(ft_ckpt_turn_next(&turn, 2), FT_TURN_NONE);
    cr_expect(event_pending(turn.later, EV_TIMEOUT, NULL));
    series.begun_ns = ft_clock_ns() - (LONG_MS - 1) * 1000000ull;
    ft_ckpt_turn_next(&turn, 2);
    while (!looks)
        event_base_loop(config.base, EVLOOP_ONCE);
    cr_expect_eq(ft_ckpt_turn_next(&turn, 2), FT_TURN_WRITE);
}

Test(turn, the_last_one_does_not_wait_for_the_pause)
{
    options.ckpt_ms = LONG_MS;
    write_version(8);
    end_job();
    cr_expect_eq(ft_ckpt_turn_next(&turn, 9), FT_TURN_LAST);
    cr_expect_eq(series.totals.last, 8);
    write_version(9);
    ft_ckpt_turn_end(&turn);
    cr_expect_eq(ft_ckpt_turn_next(&turn, 10), FT_TURN_NONE);
}

/* It was taken for written. */
Test(turn, what_was_removed_is_written_again_at_the_end)
{
    write_version(9);
    remove_file(9);
    end_job();
    cr_expect_eq(series.totals.last, 0);
    cr_expect_eq(ft_ckpt_turn_next(&turn, 9), FT_TURN_LAST);
}

/* The thread finds other bytes than the ranks had handed over. */
Test(turn, a_failure_is_tried_again_but_not_at_the_end)
{
    begin_write(1, 1);
    await_written();
    cr_expect_eq(series.totals.failed, 1);
    cr_expect_not(turn.over);
    end_job();
    begin_write(9, 1);
    await_written();
    cr_expect_eq(series.totals.failed, 2);
    cr_expect(turn.over);
}
