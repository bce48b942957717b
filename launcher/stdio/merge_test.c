/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks of several nodes print: each byte once, whole lines, also when a node says it again or another one in its place. */
#include "config.h"
#include "launcher/stdio/merge.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/wire/wire.h"

static struct ft_merge *m;
static char out[2][4096], files[8][256];
static uint8_t spool[2][8192];   /* of two nodes */
static uint32_t tail[2];
static uint64_t memory[1024];

static void put(void *arg, int stream, const char *data, size_t len)
{
    (void)arg;
    strncat(out[stream != FT_RECORD_STDOUT], data, len);
}

static void end(void *arg, int stream)
{
    (void)arg;
    strcat(out[stream != FT_RECORD_STDOUT], "\n");
}

static int differing, told_stream;
static uint32_t told_rank;
static uint64_t told_line;

static void differs(void *arg, uint32_t rank, int stream, uint64_t line)
{
    (void)arg;
    differing++;
    told_rank = rank;
    told_stream = stream;
    told_line = line;
}

static void put_into_file(void *arg, uint32_t rank, int stream, uint64_t at, const char *data, size_t len)
{
    (void)arg;
    memcpy(files[2 * rank + (uint32_t)stream] + at, data, len);
}

/* Where out ends is where it is written to. */
static void no_ends(void *arg, uint64_t ends[FT_MERGE_ENDS])
{
    (void)arg;
    memset(ends, 0, FT_MERGE_ENDS * sizeof ends[0]);
}

static void publish_nothing(void *arg, const uint64_t ends[FT_MERGE_ENDS])
{
    (void)arg;
    (void)ends;
}

static void begin_with(const struct ft_merge_config *config)
{
    struct ft_merge_config c = *config;

    c.end = end;
    c.differs = differs;
    c.ends = no_ends;
    c.publish = publish_nothing;
    cr_assert(ft_merge_bytes(c.nnodes, c.world) <= sizeof memory);
    c.memory = memset(memory, 0, sizeof memory);
    m = ft_merge_new(&c);
    cr_assert(m);
    differing = 0;
    memset(out, 0, sizeof out);
    memset(files, 0, sizeof files);
    tail[0] = tail[1] = 0;
}

static void begin(bool tag)
{
    begin_with(&(struct ft_merge_config){.nnodes = 2, .world = 4, .tag = tag, .put = put});
}

/* A rank prints: its node's spool has one more record. */
#define AT(line, offset) ft_wire_position(line, offset)
static void print(uint32_t node, uint32_t rank, uint16_t stream, uint16_t flags, uint64_t position, const char *text)
{
    struct ft_wire_record r = {.rank = rank, .stream = stream, .flags = flags, .position = position, .length = (uint32_t)strlen(text)};

    ft_wire_record_head(spool[node] + tail[node], &r);
    memcpy(spool[node] + tail[node] + FT_WIRE_RECORD, text, r.length);
    tail[node] += FT_WIRE_RECORD + r.length;
}

/* The node says what it has from `place` on. */
static int say(uint32_t node, uint32_t place)
{
    struct ft_error e;

    return ft_merge_take(m, node, place, spool[node] + place, tail[node] - place, &e);
}

enum { BEGINS = FT_RECORD_BEGINS, MORE = FT_RECORD_MORE };

/* All start again: what a rank had begun to print was put, and what follows came much later, behind other ranks' lines (survive.sh). */
Test(merge, unfinished_lines_of_who_begins_again)
{
    begin(false);
    ft_merge_comes_again(m, 0, true);
    print(0, 1, 0, BEGINS, 0, "one\n");
    print(0, 1, 0, BEGINS | FT_RECORD_LAST, AT(1, 0), "tw");
    print(0, 1, 1, BEGINS | FT_RECORD_LAST, 0, "three\n");
    cr_expect_eq(say(0, 0), 0);
    cr_expect_eq(ft_merge_got(m, 0), tail[0]);
    cr_expect_str_eq(out[0], "one\n");
    cr_expect_str_eq(out[1], "three\n");
    ft_merge_replaced(m, 0);
    ft_merge_comes_again(m, 0, false);
    tail[0] = 0;
    print(0, 1, 0, BEGINS, 0, "one\n");
    print(0, 1, 0, BEGINS | FT_RECORD_LAST, AT(1, 0), "two");
    cr_expect_eq(say(0, 0), 0);
    cr_expect_str_eq(out[0], "one\ntwo");
    ft_merge_free(m);
}

/* They were glued, and whoever read lines had neither. */
Test(merge, a_line_does_not_follow_on_a_part_of_another_ranks)
{
    begin_with(&(struct ft_merge_config){.nnodes = 2, .world = 4, .put = put, .file = put_into_file});
    print(0, 1, 0, BEGINS, 0, "name? ");
    print(0, 0, 0, BEGINS, 0, "a line\n");
    print(0, 1, 0, 0, AT(0, 6), "Bob\n");
    print(0, 1, 1, BEGINS, 0, "\r10%");
    print(0, 0, 1, BEGINS, 0, "\r10%");
    print(0, 0, 1, 0, AT(0, 4), "\r20%");
    print(0, 1, 1, 0, AT(0, 4), "\n");
    print(0, 0, 0, BEGINS, AT(1, 0), "x");
    print(0, 1, 0, BEGINS, AT(1, 0), "y");
    cr_expect_eq(say(0, 0), 0);
    cr_expect_str_eq(out[0], "name? \na line\nBob\nxy");
    cr_expect_str_eq(out[1], "\r10%\r10%\r20%\n");
    cr_expect_str_eq(files[2 * 1], "name? Bob\ny", "what is put between is nobody's");
    ft_merge_free(m);
}

Test(merge, said_again_after_a_break)
{
    begin(false);
    print(0, 1, 0, BEGINS, 0, "one\n");
    cr_expect_eq(say(0, 0), 0);
    cr_expect_eq(ft_merge_got(m, 0), tail[0]);
    print(0, 1, 0, BEGINS, AT(1, 0), "two\n");
    print(0, 0, FT_RECORD_AGENT, BEGINS, 0, "ftrun: a line\n");
    ft_merge_reconnected(m, 0);
    cr_expect_eq(say(0, 0), 0);
    cr_expect_eq(say(0, 0), 0);
    cr_expect_str_eq(out[0], "one\ntwo\n");
    cr_expect_str_eq(out[1], "ftrun: a line\n", "a line of an agent is not said twice");
    ft_merge_free(m);
}

Test(merge, printed_again_by_a_replacement)
{
    uint32_t at;

    begin(false);
    print(0, 1, 0, BEGINS, 0, "one\ntwo\n");
    print(0, 1, 1, BEGINS, 0, "err\n");
    cr_expect_eq(say(0, 0), 0);
    ft_merge_replaced(m, 0);
    cr_expect_eq(ft_merge_got(m, 0), 0);
    tail[0] = 0;
    print(0, 1, 0, BEGINS, 0, "one\n");
    print(0, 1, 0, BEGINS, AT(1, 0), "two\nthr");
    at = tail[0];
    print(0, 1, 0, 0, AT(2, 3), "ee\n");
    print(0, 1, 1, BEGINS, 0, "err\nor\n");
    cr_expect_eq(say(0, 0), 0);
    cr_expect_str_eq(out[0], "one\ntwo\nthree\n");
    cr_expect_str_eq(out[1], "err\nor\n");
    cr_expect_eq(say(0, at), 0);
    cr_expect_str_eq(out[0], "one\ntwo\nthree\n");
    ft_merge_free(m);
}

/* Dropped were as many bytes as had been put: of a line of another length the end was left over, or it was cut. Lines are counted, as on one host. */
Test(merge, printed_differently_by_a_replacement)
{
    static const char *const again[] = {"at 12:00\ntwo\nthree\n", "at 9:00:00.0\ntwo\nthree\n", "at 9\ntwo\nthree\n"};

    for (size_t i = 0; i < sizeof again / sizeof again[0]; i++) {
        begin(false);
        print(0, 1, 1, BEGINS, 0, "at 11:00\ntwo\n");
        print(0, 1, 0, BEGINS, 0, "the same\nname? ");
        cr_expect_eq(say(0, 0), 0);
        ft_merge_replaced(m, 0);
        tail[0] = 0;
        print(0, 1, 0, BEGINS, 0, "the same\n");
        print(0, 1, 0, BEGINS, AT(1, 0), "name? Bob\n");
        cr_expect_eq(say(0, 0), 0);
        cr_expect_eq(differing, 0);
        print(0, 1, 1, BEGINS, 0, again[i]);
        cr_expect_eq(say(0, 0), 0);
        cr_expect_str_eq(out[0], "the same\nname? Bob\n");
        cr_expect_str_eq(out[1], "at 11:00\ntwo\nthree\n");
        cr_expect(differing == 1 && told_rank == 1 && told_stream == 1 && told_line == 1);
        ft_merge_free(m);
    }
}

/* What was shown of a line, and a line that is cut for its length. */
Test(merge, parts_printed_differently_by_a_replacement)
{
    begin(false);
    print(0, 1, 0, BEGINS, 0, "name? ");
    print(0, 2, 0, BEGINS, 0, "cut");
    print(0, 2, 0, 0, AT(1, 0), "off\n");
    cr_expect_eq(say(0, 0), 0);
    ft_merge_replaced(m, 0);
    tail[0] = 0;
    print(0, 2, 0, BEGINS, 0, "cut");
    print(0, 2, 0, 0, AT(1, 0), "off\nend\n");
    cr_expect_eq(say(0, 0), 0);
    cr_expect_eq(differing, 0);
    print(0, 1, 0, BEGINS, 0, "word? it\n");
    cr_expect_eq(say(0, 0), 0);
    cr_expect(differing == 1 && told_rank == 1 && told_line == 1);
    cr_expect_str_eq(out[0], "name? cutoff\nend\nit\n");
    ft_merge_free(m);
}

/* A job that is resumed begins where another one was. */
Test(merge, lines_from_somewhere)
{
    begin(false);
    print(0, 1, 0, BEGINS, AT(100, 0), "a\n");
    cr_expect_eq(say(0, 0), 0);
    ft_merge_replaced(m, 0);
    tail[0] = 0;
    print(0, 1, 0, BEGINS, AT(99, 0), "what nobody knows\na\nb\n");
    cr_expect_eq(say(0, 0), 0);
    cr_expect_str_eq(out[0], "a\nb\n");
    cr_expect_eq(differing, 0);
    ft_merge_free(m);
}

Test(merge, a_long_line_is_put_whole)
{
    uint32_t before;

    begin(false);
    print(0, 0, 0, BEGINS, 0, "first\n");
    cr_expect_eq(say(0, 0), 0);
    before = tail[0];
    print(0, 0, 0, BEGINS | MORE, AT(1, 0), "the begin");
    cr_expect_eq(say(0, before), 0);
    cr_expect_eq(ft_merge_got(m, 0), before, "a line that is not whole has not been taken over");
    print(1, 2, 0, BEGINS, 0, "another's\n");
    cr_expect_eq(say(1, 0), 0);
    ft_merge_reconnected(m, 0);
    print(0, 0, 0, 0, AT(1, 9), "ning\n");
    cr_expect_eq(say(0, before), 0);
    cr_expect_str_eq(out[0], "first\nanother's\nthe beginning\n");
    cr_expect_eq(ft_merge_got(m, 0), tail[0]);
    ft_merge_free(m);
}

Test(merge, tags)
{
    begin(true);
    print(0, 3, 0, BEGINS, 0, "a\nb\n");
    print(0, 3, 0, BEGINS, AT(2, 0), "prompt> ");
    print(0, 3, 0, FT_RECORD_LAST, AT(2, 8), "answer");
    cr_expect_eq(say(0, 0), 0);
    cr_expect_str_eq(out[0], "[1,3]<stdout>:a\n[1,3]<stdout>:b\n[1,3]<stdout>:prompt> answer\n");
    ft_merge_free(m);
}

Test(merge, each_rank_has_files_of_its_own)
{
    for (int instead = 0; instead < 2; instead++) {
        begin_with(&(struct ft_merge_config){.nnodes = 2, .world = 4, .tag = true, .put = put, .file = put_into_file, .instead = instead});
        print(0, 0, 0, BEGINS, 0, "a\n");
        print(0, 1, 0, BEGINS, 0, "b\n");
        print(0, 0, FT_RECORD_AGENT, BEGINS, 0, "ftrun: a line\n");
        print(0, 1, 1, BEGINS, 0, "e\n");
        print(0, 0, 0, BEGINS, AT(1, 0), "c\n");
        cr_expect_eq(say(0, 0), 0);
        ft_merge_replaced(m, 0);
        tail[0] = 0;
        print(0, 0, 0, BEGINS, 0, "a\nc\nd\n");
        cr_expect_eq(say(0, 0), 0);
        cr_expect_str_eq(files[0], "[1,0]<stdout>:a\n[1,0]<stdout>:c\n[1,0]<stdout>:d\n");
        cr_expect_str_eq(files[2], "[1,1]<stdout>:b\n");
        cr_expect_str_eq(files[3], "[1,1]<stderr>:e\n");
        cr_expect_str_eq(out[0], instead ? "" : "[1,0]<stdout>:a\n[1,1]<stdout>:b\n[1,0]<stdout>:c\n[1,0]<stdout>:d\n");
        cr_expect_str_eq(out[1], instead ? "ftrun: a line\n" : "ftrun: a line\n[1,1]<stderr>:e\n");
        ft_merge_free(m);
    }
}

Test(merge, what_no_node_says_is_refused)
{
    begin(false);
    print(0, 4, 0, BEGINS, 0, "x\n"); /* there are ranks 0 to 3 */
    cr_expect_eq(say(0, 0), FT_EDAMAGED);
    tail[0] = 0;
    print(0, 0, 0, BEGINS, 0, "x\n");
    cr_expect_eq(ft_merge_take(m, 0, 100, spool[0], tail[0], &(struct ft_error){{0}}), FT_EDAMAGED, "there is a gap");
    cr_expect_eq(ft_merge_take(m, 0, 0, spool[0], tail[0] - 1, &(struct ft_error){{0}}), FT_EDAMAGED, "a record is cut");
    print(0, 0, 0, BEGINS | MORE, AT(1, 0), "y");
    print(0, 1, 0, BEGINS, 0, "z\n");
    cr_expect_eq(say(0, 0), FT_EDAMAGED, "a line is left unfinished");
    cr_expect_str_eq(out[0], "x\n");
    ft_merge_free(m);
}
