/* SPDX-License-Identifier: BSD-3-Clause */
/* A timeline's promises (launcher/report/timeline.h, svg.h): bounded for any length and any number of ranks, true to what was seen, and whole
   whenever the agent is killed. FT_PICTURES=DIR keeps the pictures. */
#include "config.h"
#include "launcher/report/svg.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND 1000000000ull

static const uint64_t begin = 1000 * SECOND;
static char path[4096];

static struct ft_timeline *open_timeline(uint32_t nranks)
{
    const char *dir = getenv("FT_PICTURES");
    struct ft_timeline *t;
    struct ft_error e;

    snprintf(path, sizeof path, "%s/timeline-%d.svg", dir ? dir : "/tmp", getpid());
    cr_assert_eq(ft_timeline_open(&t, path, nranks, begin, &e), 0, "%s", e.text);
    return t;
}

static void close_timeline(struct ft_timeline *t)
{
    ft_timeline_close(t);
    if (!getenv("FT_PICTURES"))
        unlink(path);
}

/* Samples from `from` to `to` seconds after the begin; all ranks do the same. */
static void look(struct ft_timeline *t, double from, double to, enum ft_activity activity)
{
    enum ft_activity *ranks = calloc(t->nranks, sizeof *ranks);

    for (uint32_t r = 0; r < t->nranks; r++)
        ranks[r] = activity;
    for (uint64_t at = (uint64_t)(from * SECOND); at < (uint64_t)(to * SECOND); at += ft_timeline_every(t))
        ft_timeline_sample(t, begin + at, ranks);
    free(ranks);
}

static const struct ft_cell *cell(const struct ft_timeline *t, uint32_t rank, double seconds)
{
    uint64_t i = (uint64_t)(seconds * SECOND) / ft_timeline_width(t);

    cr_assert(i < t->ncells);
    return &ft_timeline_row(t, rank)[i];
}

static uint32_t all(const struct ft_cell *c)
{
    uint32_t sum = 0;

    for (int a = 0; a < FT_ACTIVITIES; a++)
        sum += c->seen[a];
    return sum;
}

Test(timeline, no_file_no_timeline)
{
    struct ft_timeline *t;
    struct ft_error e;

    cr_assert_eq(ft_timeline_open(&t, NULL, 4, begin, &e), 0);
    cr_expect_null(t);
    cr_expect_eq(ft_svg_write(t, NULL, 0, begin, &e), 0);
    cr_expect(ft_timeline_open(&t, "/", 4, begin, &e) < 0);
    cr_expect(strstr(e.text, "--timeline /: "), "%s", e.text);
}

Test(timeline, an_hour_is_seen_as_it_was)
{
    struct ft_timeline *t = open_timeline(2);

    look(t, 0, 600, FT_COMPUTING);
    look(t, 600, 3000, FT_IN_MPI);
    look(t, 3000, 3600, FT_REPLAYING);
    for (double s = 10; s < 3600; s += 10) {
        const struct ft_cell *c = cell(t, 1, s - 5);
        enum ft_activity a = s <= 600 ? FT_COMPUTING : s <= 3000 ? FT_IN_MPI : FT_REPLAYING;

        cr_expect(all(c) > 0 && c->seen[a] * 10 >= all(c) * 9, "at %g s: %u of %u", s - 5, c->seen[a], all(c));
    }
    cr_expect(ft_timeline_width(t) < 8 * SECOND);
    close_timeline(t);
}

Test(timeline, proportions_stay)
{
    struct ft_timeline *t = open_timeline(1);
    enum ft_activity one;

    for (uint64_t i = 0; i * 20000000 < 20000 * SECOND; i++) { /* five and a half hours: counts do not fit any more */
        one = i % 4 ? FT_COMPUTING : FT_IN_MPI;
        ft_timeline_sample(t, begin + i * 20000000, &one);
    }
    for (double s = 100; s < 19900; s += 100)
        cr_expect_float_eq((double)cell(t, 0, s)->seen[FT_IN_MPI] / all(cell(t, 0, s)), 0.25, 0.03, "at %g s", s);
    close_timeline(t);
}

Test(timeline, sums_that_do_not_fit)
{
    struct ft_cell a = {.seen = {60000, 20000}, .cuts = 65000}, b = a;

    ft_timeline_add(&a, &b);
    cr_expect_eq(a.seen[0], 60000);
    cr_expect_eq(a.seen[1], 20000);
    cr_expect_eq(a.cuts, 65535);
}

Test(timeline, what_nobody_saw_is_empty)
{
    struct ft_timeline *t = open_timeline(1);

    look(t, 0, 10, FT_COMPUTING);
    look(t, 20, 30, FT_COMPUTING); /* stopped with Ctrl-Z meanwhile */
    look(t, 30.5, 40, FT_COMPUTING); /* half a second for a takeover is taken for what followed */
    cr_expect(all(cell(t, 0, 9.5)));
    cr_expect_eq(all(cell(t, 0, 15)), 0);
    cr_expect(all(cell(t, 0, 20.1)));
    cr_expect(all(cell(t, 0, 30.3)));
    close_timeline(t);
}

Test(timeline, snapshots_are_never_lost)
{
    struct ft_timeline *t = open_timeline(3);
    uint32_t sum = 0;

    for (int i = 0; i < 500; i++) {
        look(t, i, i + 1, FT_COMPUTING);
        ft_timeline_cut(t, 2, begin + (uint64_t)(i + 2) * SECOND); /* also ahead of what was looked at */
    }
    for (uint32_t i = 0; i < t->ncells; i++)
        sum += ft_timeline_row(t, 2)[i].cuts;
    cr_expect_eq(sum, 500);
    cr_expect_eq(cell(t, 1, 100)->cuts, 0);
    close_timeline(t);
}

Test(timeline, an_agent_killed_while_it_merges_has_changed_nothing)
{
    struct ft_timeline *t = open_timeline(2);
    uint32_t before;

    look(t, 0, 2, FT_COMPUTING);
    before = all(cell(t, 1, 1));
    memset(t->cells[(t->level + 1) % 2], 0x55, 2 * t->ncells * sizeof(struct ft_cell)); /* half done */
    cr_expect_eq(all(cell(t, 1, 1)), before);
    look(t, 2, 3, FT_IN_MPI); /* merged by the successor */
    for (double s = 0.1; s < 3; s += 0.1) {
        cr_expect_eq(cell(t, 1, s)->seen[FT_DEAD], 0);
        cr_expect(cell(t, 1, s)->seen[s < 1.95 ? FT_COMPUTING : FT_IN_MPI] > 0 || (s > 1.9 && s < 2.1));
        cr_expect_eq(cell(t, 1, s)->cuts, 0);
    }
    close_timeline(t);
}

/* A job with everything in it: ranks that die and replay, snapshots. */
static void busy(struct ft_timeline *t, struct ft_report *r, double seconds)
{
    enum ft_activity *ranks = calloc(t->nranks, sizeof *ranks);
    uint32_t next = 1;

    for (uint64_t at = 0; at < (uint64_t)(seconds * SECOND); at += ft_timeline_every(t)) {
        double now = (double)at / SECOND;

        for (uint32_t i = 0; i < t->nranks; i++) {
            uint32_t phase = (uint32_t)(at / (seconds * SECOND / 50)) + i;

            next = next * 1103515245 + 12345;
            ranks[i] = now < seconds / 50 ? FT_STARTING : phase % 17 == 3 ? FT_REPLAYING : next >> 24 < 60 + 20 * (phase % 5) ? FT_IN_MPI : FT_COMPUTING;
            if (next >> 16 == 77 && now > seconds / 40)
                *ft_report_restart(r) = (struct ft_restart){.rank = i, .signal = 9, .died_ns = begin + at, .started_ns = begin + at + 1};
            if (next >> 16 == 7777)
                ft_report_cut(r, i, begin + at, 1, 1);
        }
        ft_timeline_sample(t, begin + at, ranks);
    }
    free(ranks);
}

static off_t draw(uint32_t nranks, double seconds)
{
    char program[] = "a <program> & \"more\"", bad[] = "\xc3(", beyond[] = "\xef\xbf\xbf\x01" "end", longer[300];
    char *argv[] = {program, bad, beyond, longer, NULL};
    struct ft_timeline *t = open_timeline(nranks);
    struct ft_report r;
    struct ft_error e;
    struct stat st;

    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    cr_assert_eq(ft_report_open(&r, NULL, argv, nranks, begin, &e), 0);
    r.timeline = t;
    busy(t, &r, seconds);
    cr_assert_eq(ft_svg_write(t, &r, 3, begin + (uint64_t)(seconds * SECOND), &e), 0, "%s", e.text);
    cr_assert_eq(ft_svg_write(t, &r, 3, begin + (uint64_t)(seconds * SECOND), &e), 0, "%s", e.text); /* by a successor, over it */
    cr_assert_eq(stat(path, &st), 0);
    ft_report_close(&r);
    close_timeline(t);
    return st.st_size;
}

static int count(const char *text, const char *word)
{
    int n = 0;

    for (; (text = strstr(text, word)); text++)
        n++;
    return n;
}

Test(timeline, deaths_and_snapshots_are_marked)
{
    char *argv[] = {path, NULL}, text[20000] = "";
    struct ft_timeline *t = open_timeline(3);
    struct ft_report r;
    struct ft_error e;
    FILE *file;

    cr_assert_eq(ft_report_open(&r, NULL, argv, 3, begin, &e), 0);
    r.timeline = t;
    look(t, 0, 10, FT_COMPUTING);
    ft_report_cut(&r, 2, begin + 3 * SECOND, 7, 1);
    ft_report_cut(&r, 2, begin + 5 * SECOND, 9, 1);
    *ft_report_restart(&r) = (struct ft_restart){.rank = 2, .signal = 11, .died_ns = begin + 6 * SECOND};
    ft_report_started(&r, 2, FT_BACK_SNAPSHOT, begin + 7 * SECOND);
    r.restarts[0].live_ns = begin + 8 * SECOND;
    r.restarts[0].replayed = 5;
    *ft_report_restart(&r) = (struct ft_restart){.rank = 0, .lost = true, .died_ns = begin + 9 * SECOND};
    r.ranks[1] = (struct ft_rank_total){.code = 3, .ended_ns = begin + 9 * SECOND};
    cr_assert_eq(ft_svg_write(t, &r, 3, begin + 10 * SECOND, &e), 0, "%s", e.text);
    file = fopen(path, "r");
    cr_assert(file && fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    cr_expect_eq(count(text, "<use href=\"#k\""), 4, "three deaths and the legend");
    cr_expect(strstr(text, "6.00 s: rank 2 died of signal 11 SIGSEGV; its snapshot went on, 2.00 s later it was where it had been, after a "
                     "replay of 5 units"), "%s", text);
    cr_expect(strstr(text, "9.00 s: rank 0 was lost with a process of ftrun"));
    cr_expect(strstr(text, "9.00 s: rank 1 left with code 3"));
    cr_expect(strstr(text, "2 restarts · 2 snapshots · exit code 3"));
    cr_expect_eq(count(text, "<path class=\"t\" d=\"M"), 2, "rank 2's and the legend's");
    ft_report_close(&r);
    close_timeline(t);
}

Test(timeline, cells_from_elsewhere_leave_no_gap)
{
    struct ft_timeline *t = open_timeline(2), *other = ft_timeline_new(1, begin + SECOND / 3);
    uint32_t cuts = 0;

    cr_assert(other);
    look(other, 0.4, 9, FT_REPLAYING);
    ft_timeline_cut(other, 0, begin + 5 * SECOND);
    for (uint32_t i = 0; i < 9 * SECOND / ft_timeline_width(other); i++) {
        uint64_t from = begin + SECOND / 3 + i * ft_timeline_width(other);

        ft_timeline_put(t, 1, from, from + ft_timeline_width(other), &ft_timeline_row(other, 0)[i]);
    }
    for (double s = 0.5; s < 8.9; s += 0.01)
        cr_expect(cell(t, 1, s)->seen[FT_REPLAYING] && !all(cell(t, 0, s)), "at %g s", s);
    for (uint32_t i = 0; i < t->ncells; i++)
        cuts += ft_timeline_row(t, 1)[i].cuts;
    cr_expect_eq(cuts, 1);
    ft_timeline_close(other);
    close_timeline(t);
}

Test(timeline, pictures_are_bounded)
{
    struct { uint32_t nranks; double seconds; off_t most; } cases[] = {
        {1, 0.001, 10000}, {4, 60, 200000}, {100, 30, 2000000}, {512, 20, 3000000}, {4096, 3, 3000000}, {2, 40000, 100000},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        off_t size = draw(cases[i].nranks, cases[i].seconds);

        cr_expect(size > 2000 && size < cases[i].most, "%u ranks, %g s: %ld bytes", cases[i].nranks, cases[i].seconds, (long)size);
        if (getenv("FT_PICTURES")) {
            char kept[sizeof path + 32];

            snprintf(kept, sizeof kept, "%.*s.%u.svg", (int)strlen(path), path, cases[i].nranks);
            rename(path, kept);
        }
    }
}
