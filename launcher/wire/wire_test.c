/* SPDX-License-Identifier: BSD-3-Clause */
/* What nodes and the controller say to each other (launcher/wire/wire.h): comes out as it went in, and nothing that is not so gets in. */
#include "config.h"
#include "launcher/wire/calls.h"
#include "launcher/wire/models.h"
#include "launcher/wire/store.h"
#include "launcher/report/wire.h"
#include "launcher/wire/wire.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ft_error e;

/* The frame must be whole only when its last byte is there. */
static struct ft_wire_frame opened(const struct ft_wire_bytes *b, enum ft_wire_type type)
{
    struct ft_wire_frame f = {0};

    cr_assert(b->data, "there is memory");
    for (size_t len = 0; len < b->len; len++)
        cr_assert_eq(ft_wire_next(b->data, len, &f, &e), 0);
    cr_assert_eq(ft_wire_next(b->data, b->len, &f, &e), (int)b->len);
    cr_assert_eq(f.type, type);
    return f;
}

/* A frame with this text in the place of a payload. */
static struct ft_wire_frame said(enum ft_wire_type type, const char *text)
{
    return (struct ft_wire_frame){type, (uint32_t)strlen(text), (const uint8_t *)text};
}

Test(wire, a_hello_comes_out_as_it_went_in)
{
    struct ft_wire_hello in = {.node = 3, .incarnation = 2, .version = "0.5", .host = "h\"ost", .pid = 77, .naddresses = 2,
                               .addresses = {{"10.0.0.1"}, {"fe80::1%eth0"}}, .port = 65535}, out;
    struct ft_wire_bytes b = ft_wire_put_hello(&in);
    struct ft_wire_frame f = opened(&b, FT_WIRE_HELLO);

    cr_assert_eq(ft_wire_get_hello(&f, &out, &e), 0);
    cr_expect(!memcmp(&in, &out, sizeof in));
    free(b.data);
}

Test(wire, a_state_comes_out_as_it_went_in)
{
    struct ft_wire_rank ranks[4096];
    struct ft_wire_state in = {.phase = FT_NODE_ENDED, .code = 139, .committed = UINT64_C(1) << 40, .whole = true, .signals = 3,
                               .input = 1000, .version = 12, .loaded = true, .through = true, .called = true, .absent = 7, .nranks = 4096, .ranks = ranks}, out;
    struct ft_wire_bytes b;
    struct ft_wire_frame f;

    for (uint32_t i = 0; i < in.nranks; i++)
        ranks[i] = (struct ft_wire_rank){i % FT_NODE_RANK_STATES, UINT32_MAX - i, i, 100000 + i};
    b = ft_wire_put_state(&in);
    f = opened(&b, FT_WIRE_STATE);
    cr_assert_eq(ft_wire_get_state(&f, &out, &e), 0);
    cr_assert_eq(out.nranks, in.nranks);
    cr_expect(!memcmp(out.ranks, ranks, sizeof ranks));
    cr_expect(out.phase == in.phase && out.code == in.code && out.committed == in.committed && out.whole && out.signals == 3 && out.input == 1000 && out.version == 12 && out.loaded);
    cr_expect(out.through && out.called && out.absent == 7);
    ft_wire_state_free(&out);
    free(b.data);
}

Test(wire, a_table_comes_out_as_it_went_in)
{
    struct ft_wire_node nodes[2] = {
        {.up = true, .done = true, .incarnation = 5, .host = "one", .naddresses = 1, .addresses = {{"127.0.0.1"}}, .port = 1},
        {.host = "two"}};
    struct ft_wire_table in = {.nnodes = 2, .nodes = nodes}, out;
    struct ft_wire_bytes b = ft_wire_put_table(&in);
    struct ft_wire_frame f = opened(&b, FT_WIRE_TABLE);

    cr_assert_eq(ft_wire_get_table(&f, &out, &e), 0);
    cr_assert_eq(out.nnodes, 2);
    cr_expect(!memcmp(out.nodes, nodes, sizeof nodes));
    ft_wire_table_free(&out);
    free(b.data);
}

Test(wire, small_frames_come_out_as_they_went_in)
{
    struct ft_wire_job job;
    struct ft_wire_bytes b = ft_wire_put_job(&(struct ft_wire_job){FT_JOB_END, 255, true});
    struct ft_wire_frame f = opened(&b, FT_WIRE_JOB);
    uint64_t place;
    const uint8_t *data;
    uint32_t len;
    int signal;
    bool last;

    cr_assert_eq(ft_wire_get_job(&f, &job, &e), 0);
    cr_expect(job.phase == FT_JOB_END && job.code == 255 && job.stay);
    free(b.data);
    b = ft_wire_put_beat();
    cr_expect_eq(opened(&b, FT_WIRE_BEAT).length, 0);
    free(b.data);
    b = ft_wire_put_got(UINT64_C(0x123456789abcdef));
    f = opened(&b, FT_WIRE_GOT);
    cr_assert_eq(ft_wire_get_got(&f, &place, &e), 0);
    cr_expect_eq(place, UINT64_C(0x123456789abcdef));
    free(b.data);
    b = ft_wire_put_signal(9, 64);
    f = opened(&b, FT_WIRE_SIGNAL);
    cr_assert_eq(ft_wire_get_signal(&f, &place, &signal, &e), 0);
    cr_expect(place == 9 && signal == 64);
    free(b.data);
    b = ft_wire_put_input(7, true, "words", 5);
    f = opened(&b, FT_WIRE_INPUT_BYTES);
    cr_assert_eq(ft_wire_get_input(&f, &place, &last, &data, &len, &e), 0);
    cr_expect(place == 7 && last && len == 5 && !memcmp(data, "words", 5));
    free(b.data);
}

static size_t put_record(uint8_t *to, const struct ft_wire_record *r)
{
    ft_wire_record_head(to, r);
    memcpy(to + FT_WIRE_RECORD, r->data, r->length);
    return FT_WIRE_RECORD + r->length;
}

Test(wire, records_come_out_as_they_went_in)
{
    struct ft_wire_record in[2] = {
        {.rank = 70000, .stream = FT_RECORD_STDERR, .flags = FT_RECORD_FLAGS, .position = UINT64_C(1) << 50, .length = 3, .data = (const uint8_t *)"ab\n"},
        {.stream = FT_RECORD_AGENT, .flags = FT_RECORD_BEGINS, .length = 1, .data = (const uint8_t *)"\n"}};
    uint8_t out[200];
    size_t len = FT_WIRE_OUT_HEAD;
    struct ft_wire_bytes b;
    struct ft_wire_record r;
    struct ft_wire_frame f;
    const uint8_t *data;
    uint64_t place;
    uint32_t bytes;

    for (int i = 0; i < 2; i++)
        len += put_record(out + len, &in[i]);
    ft_wire_out_head(out, 99, (uint32_t)len - FT_WIRE_OUT_HEAD);
    b = (struct ft_wire_bytes){out, len};
    f = opened(&b, FT_WIRE_OUT);
    cr_assert_eq(ft_wire_get_out(&f, &place, &data, &bytes, &e), 0);
    cr_expect_eq(place, 99);
    for (int i = 0; i < 2; i++) {
        int n = ft_wire_record(data, bytes, &r, &e);

        cr_assert_gt(n, 0);
        cr_expect(r.rank == in[i].rank && r.stream == in[i].stream && r.flags == in[i].flags && r.position == in[i].position);
        cr_expect(r.length == in[i].length && !memcmp(r.data, in[i].data, r.length));
        data += n;
        bytes -= (uint32_t)n;
    }
    cr_expect_eq(bytes, 0);
    for (size_t cut = FT_WIRE_OUT_HEAD + 1; cut < len; cut++) {
        if (cut == FT_WIRE_OUT_HEAD + FT_WIRE_RECORD + 3)
            continue; /* after the first record: whole */
        f.length = (uint32_t)(cut - FT_WIRE_HEAD);
        cr_expect_eq(ft_wire_get_out(&f, &place, &data, &bytes, &e), FT_EDAMAGED, "cut at %zu", cut);
    }
}

Test(wire, a_report_comes_out_as_it_went_in)
{
    struct ft_wire_restart restarts[2] = {
        {7, {.rank = 3, .pid = 77, .signal = 9, .seen_ns = 1, .died_ns = 2, .started_ns = 3, .live_ns = 4, .way = FT_BACK_ALL,
             .from_ns = 5, .replayed = 6, .astray = 3}},
        {8, {.code = 255, .lost = true, .died_ns = INT64_MAX}}};
    struct ft_wire_life ranks[3] = {{.total = {.pid = 1, .ended_ns = 2, .restarts = 3, .units = 4, .origin_ns = 5, .cut_unit = 6, .cuts = 7, .cuts_cost_ns = 8,
                                               .cuts_most_ns = 9, .still_ns = 17, .still_most_ns = 18, .threads = 19, .refused = 20, .checkpoint_ns = 10, .checks = {13, 14, 15, true, 16}}, .live_ns = 11, .replayed = 12}};
    struct ft_wire_report in = {.now_ns = 1, .log_bytes = 2, .released_bytes = 3, .peak_log_bytes = 4, .spilled_bytes = 5, .peak_memory_bytes = 6,
                                .nrestarts = 2, .nranks = 3, .restarts = restarts, .ranks = ranks}, out;
    struct ft_wire_bytes b = ft_wire_put_report(&in);
    struct ft_wire_frame f = opened(&b, FT_WIRE_REPORT);

    cr_assert_eq(ft_wire_get_report(&f, &out, &e), 0);
    cr_expect(out.now_ns == 1 && out.log_bytes == 2 && out.released_bytes == 3 && out.peak_log_bytes == 4 && out.spilled_bytes == 5 &&
              out.peak_memory_bytes == 6 && out.nrestarts == 2 && out.nranks == 3);
    for (int i = 0; i < 2; i++)
        cr_expect(out.restarts[i].index == restarts[i].index && !memcmp(&out.restarts[i].restart, &restarts[i].restart, sizeof restarts[i].restart));
    cr_expect(!memcmp(out.ranks, ranks, sizeof ranks));
    ft_wire_report_free(&out);
    for (uint32_t cut = 0; cut < f.length; cut += 8) {
        struct ft_wire_frame shorter = {f.type, cut, f.payload};

        cr_expect_eq(ft_wire_get_report(&shorter, &out, &e), FT_EDAMAGED, "cut at %u", cut);
    }
    b.data[FT_WIRE_HEAD + 8 * (8 + 3) + 1] = 1; /* signal 265 */
    cr_expect_eq(ft_wire_get_report(&f, &out, &e), FT_EDAMAGED);
    free(b.data);
}

static const struct ft_cell *row(const void *arg, uint32_t rank)
{
    return (const struct ft_cell *)arg + (size_t)3 * rank;
}

Test(wire, cells_come_out_as_they_went_in)
{
    struct ft_cell cells[12] = {{.seen = {1}}};
    struct ft_wire_cells in = {.now_ns = 5, .begin_ns = 6, .width_ns = 7, .first = 1, .nranks = 3, .ncells = 3}, out;
    struct ft_wire_bytes b;
    struct ft_wire_frame f;

    for (int i = 0; i < 12; i++)
        cells[i] = (struct ft_cell){.seen = {[FT_DEAD] = (uint16_t)(60000 + i)}, .cuts = (uint16_t)i};
    b = ft_wire_put_cells(&in, row, cells);
    f = opened(&b, FT_WIRE_CELLS);
    cr_assert_eq(ft_wire_get_cells(&f, &out, &e), 0);
    cr_expect(out.now_ns == 5 && out.begin_ns == 6 && out.width_ns == 7 && out.first == 1 && out.nranks == 3 && out.ncells == 3);
    for (uint32_t i = 0; i < 9; i++) {
        struct ft_cell c = ft_wire_cell(&out, i / 3, i % 3);

        cr_expect(!memcmp(&c, &cells[3 + i], sizeof c), "cell %u", i);
    }
    f.length -= 2;
    cr_expect_eq(ft_wire_get_cells(&f, &out, &e), FT_EDAMAGED);
    f.length += 2;
    b.data[FT_WIRE_HEAD + 16] = 0; /* cells of no length */
    cr_expect_eq(ft_wire_get_cells(&f, &out, &e), FT_EDAMAGED);
    free(b.data);
    cr_expect_eq(ft_wire_cells_ranks(1024), 127);
    cr_expect_eq(ft_wire_cells_ranks(0), (FT_WIRE_MOST - 48) / 16);
}

Test(wire, calls_come_out_as_they_went_in)
{
    struct ft_wire_calls in = {.more = true, .ranks = json_array()}, out;
    uint32_t got = 0;

    for (int i = 0; i < 1200; i++)
        json_array_append_new(in.ranks, json_pack("{si}", "rank", i));
    for (; in.more; in.first += FT_WIRE_CALLS_MOST) {
        struct ft_wire_bytes b = ft_wire_put_calls(&in);
        struct ft_wire_frame f = {FT_WIRE_CALLS, (uint32_t)b.len - FT_WIRE_HEAD, b.data + FT_WIRE_HEAD};

        cr_assert_eq(ft_wire_get_calls(&f, &out, &e), 0);
        cr_expect_eq(out.first, got);
        cr_expect_eq(json_integer_value(json_object_get(json_array_get(out.ranks, 0), "rank")), got);
        got += (uint32_t)json_array_size(out.ranks);
        cr_expect_eq(out.more, got < 1200);
        json_decref(out.ranks);
        free(b.data);
    }
    cr_expect_eq(got, 1200);
    json_decref(in.ranks);
}

Test(wire, calls_that_are_none_are_refused)
{
    static const char *const wrong[] = {"", "{}", "{\"first\":0,\"more\":false,\"ranks\":[1]}", "{\"first\":-1,\"more\":false,\"ranks\":[]}",
                                        "{\"first\":0,\"more\":0,\"ranks\":[]}", "{\"first\":0,\"more\":true,\"ranks\":{}}"};
    struct ft_wire_calls m;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct ft_wire_frame f = said(FT_WIRE_CALLS, wrong[i]);

        cr_expect_eq(ft_wire_get_calls(&f, &m, &e), FT_EDAMAGED, "%s", wrong[i]);
    }
}

Test(wire, heads_that_are_none_are_refused)
{
    static const uint8_t heads[][FT_WIRE_HEAD] = {
        {0, 0, 0, 0, 0}, {0, 0, 0, 0, FT_WIRE_TYPES}, {1, 0, 32, 0, FT_WIRE_BEAT}, {0, 0, 0, 0x80, FT_WIRE_BEAT},
        {0, 0, 0, 0, FT_WIRE_BEAT, 1}, {0, 0, 0, 0, FT_WIRE_BEAT, 0, 0, 1}, "GET / HT"};
    struct ft_wire_frame f;

    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        cr_expect_eq(ft_wire_next(heads[i], FT_WIRE_HEAD, &f, &e), FT_EDAMAGED, "head %zu", i);
}

Test(wire, what_is_asked_of_the_store_comes_out_as_it_went_in)
{
    struct ft_value_ask ask = {.number = ft_value_number(2, 7), .op = FT_VALUE_SET, .key = "key", .nkey = 3, .value = "value", .nvalue = 5}, asked;
    struct ft_value_answer answer = {.number = 9, .status = FT_VALUE_LATE}, answered;
    char bytes[FT_VALUE_ASK_HEAD + 8];
    struct ft_wire_bytes b;
    struct ft_wire_frame f;
    uint32_t rank;

    ft_value_put_ask(&ask, bytes);
    b = ft_wire_put_store_ask(70000, bytes, sizeof bytes);
    f = opened(&b, FT_WIRE_STORE_ASK);
    cr_assert_eq(ft_wire_get_store_ask(&f, &rank, &asked, &e), 0);
    cr_expect(rank == 70000 && asked.number == ask.number && asked.op == FT_VALUE_SET && asked.nkey == 3 && !memcmp(asked.value, "value", 5));
    f.length--;
    cr_expect_eq(ft_wire_get_store_ask(&f, &rank, &asked, &e), FT_EDAMAGED);
    f.length = 7;
    cr_expect_eq(ft_wire_get_store_ask(&f, &rank, &asked, &e), FT_EDAMAGED);
    free(b.data);
    b = ft_wire_put_store_answer(3, &answer);
    f = opened(&b, FT_WIRE_STORE_ANSWER);
    cr_assert_eq(ft_wire_get_store_answer(&f, &rank, &answered, &e), 0);
    cr_expect(rank == 3 && answered.number == 9 && answered.status == FT_VALUE_LATE && !answered.there);
    b.data[FT_WIRE_HEAD + 4] = 1;
    cr_expect_eq(ft_wire_get_store_answer(&f, &rank, &answered, &e), FT_EDAMAGED, "what has to be zero");
    free(b.data);
}

Test(wire, models_come_out_as_they_went_in)
{
    struct ft_ckpt_section two[2] = {{UINT64_C(1) << 40, UINT64_MAX}, {0, 0}};
    struct ft_wire_held in = {.round = 3, .version = UINT64_C(1) << 33, .tail = 4096, .nmodels = 2, .models = two}, held;
    struct ft_wire_part part = {.round = UINT64_C(1) << 50, .at = UINT64_C(1) << 41, .model = 4096, .length = 5}, out;
    struct ft_wire_hold hold;
    struct ft_wire_bytes b = ft_wire_put_hold(&(struct ft_wire_hold){UINT64_C(1) << 34, 3, 12});
    struct ft_wire_frame f = opened(&b, FT_WIRE_HOLD);
    uint8_t *data;

    cr_assert_eq(ft_wire_get_hold(&f, &hold, &e), 0);
    cr_expect(hold.wanted == UINT64_C(1) << 34 && hold.round == 3 && hold.version == 12);
    free(b.data);
    b = ft_wire_put_held(&in);
    f = opened(&b, FT_WIRE_HELD);
    cr_assert_eq(ft_wire_get_held(&f, &held, &e), 0);
    cr_expect(held.round == 3 && held.version == in.version && held.tail == 4096 && held.nmodels == 2);
    cr_expect(!memcmp(held.models, two, sizeof two));
    free(held.models);
    f.length--;
    cr_expect_eq(ft_wire_get_held(&f, &held, &e), FT_EDAMAGED);
    free(b.data);
    b = ft_wire_put_give(&part);
    f = opened(&b, FT_WIRE_GIVE);
    cr_assert_eq(ft_wire_get_give(&f, &out, &e), 0);
    cr_expect(out.round == part.round && out.at == part.at && out.model == 4096 && out.length == 5 && !out.data);
    cr_expect_eq(ft_wire_get_piece(&f, &out, &e), FT_EDAMAGED, "its bytes are lacking");
    free(b.data);
    b = ft_wire_put_piece(&part, &data);
    cr_assert(data);
    memcpy(data, "bytes", 5);
    f = opened(&b, FT_WIRE_MODEL);
    cr_assert_eq(ft_wire_get_piece(&f, &out, &e), 0);
    cr_expect(out.at == part.at && out.length == 5 && !memcmp(out.data, "bytes", 5));
    free(b.data);
}

Test(wire, parts_of_models_that_are_none_are_refused)
{
    const struct ft_wire_part wrong[] = {{.length = 0}, {.length = FT_WIRE_MODEL_PIECE + 1}, {.length = 1, .model = FT_WIRE_MODELS_MOST},
                                         {.length = 1, .at = UINT64_MAX}};
    struct ft_wire_part out;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct ft_wire_bytes b = ft_wire_put_give(&wrong[i]);
        struct ft_wire_frame f = opened(&b, FT_WIRE_GIVE);

        cr_expect_eq(ft_wire_get_give(&f, &out, &e), FT_EDAMAGED, "part %zu", i);
        free(b.data);
    }
}

Test(wire, json_that_is_not_so_is_refused)
{
    static const char *const hellos[] = {
        "", "null", "[]", "{}", "{\"node\":0", "{\"node\":-1,\"incarnation\":0,\"version\":\"\",\"host\":\"\",\"pid\":1,\"addresses\":[],\"port\":1}",
        "{\"node\":1,\"node\":1,\"incarnation\":0,\"version\":\"\",\"host\":\"\",\"pid\":1,\"addresses\":[],\"port\":1}",
        "{\"node\":1,\"incarnation\":0,\"version\":\"0123456789012345678901234567890123456789\",\"host\":\"\",\"pid\":1,\"addresses\":[],\"port\":1}",
        "{\"node\":1,\"incarnation\":0,\"version\":\"\",\"host\":\"a\\u0000b\",\"pid\":1,\"addresses\":[],\"port\":1}",
        "{\"node\":1,\"incarnation\":0,\"version\":\"\",\"host\":\"\",\"pid\":1,\"addresses\":[1],\"port\":1}",
        "{\"node\":1,\"incarnation\":0,\"version\":\"\",\"host\":\"\",\"pid\":1,\"addresses\":[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\"],\"port\":1}",
        "{\"node\":1,\"incarnation\":0,\"version\":\"\",\"host\":\"\",\"pid\":1,\"addresses\":[],\"port\":65536}"};
    static const char *const states[] = {
        "{}", "{\"phase\":6,\"code\":0,\"committed\":0,\"whole\":true,\"signals\":0,\"input\":0,\"version\":0,\"loaded\":false,\"through\":false,\"called\":false,\"absent\":0,\"ranks\":[]}",
        "{\"phase\":0,\"code\":256,\"committed\":0,\"whole\":true,\"signals\":0,\"input\":0,\"version\":0,\"loaded\":false,\"through\":false,\"called\":false,\"absent\":0,\"ranks\":[]}",
        "{\"phase\":0,\"code\":0,\"committed\":0,\"whole\":1,\"signals\":0,\"input\":0,\"version\":0,\"loaded\":false,\"through\":false,\"called\":false,\"absent\":0,\"ranks\":[]}",
        "{\"phase\":0,\"code\":0,\"committed\":0,\"whole\":true,\"signals\":0,\"input\":0,\"version\":0,\"loaded\":false,\"through\":false,\"called\":false,\"absent\":0,\"ranks\":[[1,1,1]]}",
        "{\"phase\":0,\"code\":0,\"committed\":0,\"whole\":true,\"signals\":0,\"input\":0,\"version\":0,\"loaded\":false,\"through\":false,\"called\":false,\"absent\":0,\"ranks\":[[4,1,1,1]]}",
        "{\"phase\":0,\"code\":0,\"committed\":0,\"whole\":true,\"signals\":0,\"input\":0,\"version\":0,\"loaded\":false,\"through\":false,\"called\":false,\"absent\":1,\"ranks\":[]}",
        "{\"phase\":0,\"code\":0,\"committed\":0,\"whole\":true,\"signals\":0,\"input\":0,\"version\":0,\"loaded\":false,\"through\":false,\"called\":false,\"absent\":0,\"ranks\":[{}]}"};
    struct ft_wire_frame f;
    struct ft_wire_hello hello;
    struct ft_wire_state state;
    struct ft_wire_table table;
    struct ft_wire_job job;

    for (size_t i = 0; i < sizeof hellos / sizeof hellos[0]; i++) {
        f = said(FT_WIRE_HELLO, hellos[i]);
        cr_expect_eq(ft_wire_get_hello(&f, &hello, &e), FT_EDAMAGED, "HELLO %zu", i);
    }
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        f = said(FT_WIRE_STATE, states[i]);
        cr_expect_eq(ft_wire_get_state(&f, &state, &e), FT_EDAMAGED, "STATE %zu", i);
    }
    f = said(FT_WIRE_TABLE, "{\"nodes\":[{\"up\":true}]}");
    cr_expect_eq(ft_wire_get_table(&f, &table, &e), FT_EDAMAGED);
    f = said(FT_WIRE_JOB, "{\"phase\":3,\"code\":0,\"stay\":false}");
    cr_expect_eq(ft_wire_get_job(&f, &job, &e), FT_EDAMAGED);
}

Test(wire, records_that_are_none_are_refused)
{
    static const struct ft_wire_record wrong[] = {
        {.stream = FT_RECORD_STREAMS}, {.flags = FT_RECORD_FLAGS + 1}, {.length = FT_WIRE_PIECE + 1}, {.position = UINT64_MAX},
        {.stream = FT_RECORD_AGENT, .rank = 1}, {.stream = FT_RECORD_AGENT, .position = 1}};
    uint8_t head[FT_WIRE_RECORD];
    struct ft_wire_record r;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ft_wire_record_head(head, &wrong[i]);
        cr_expect_eq(ft_wire_record(head, sizeof head, &r, &e), FT_EDAMAGED, "record %zu", i);
    }
}

Test(wire, small_payloads_of_another_length_are_refused)
{
    struct ft_wire_frame f = said(FT_WIRE_GOT, "123456789");
    const uint8_t *data;
    uint64_t place;
    uint32_t len;
    int signal;
    bool last;

    cr_expect_eq(ft_wire_get_got(&f, &place, &e), FT_EDAMAGED);
    cr_expect_eq(ft_wire_get_signal(&f, &place, &signal, &e), FT_EDAMAGED);
    cr_expect_eq(ft_wire_get_input(&f, &place, &last, &data, &len, &e), FT_EDAMAGED);
    f = said(FT_WIRE_INPUT_BYTES, "12345678abcd");
    cr_expect_eq(ft_wire_get_input(&f, &place, &last, &data, &len, &e), FT_EDAMAGED, "2 is no truth");
    f = said(FT_WIRE_SIGNAL, "12345678abcd");
    cr_expect_eq(ft_wire_get_signal(&f, &place, &signal, &e), FT_EDAMAGED, "no such signal");
}
