/* SPDX-License-Identifier: BSD-3-Clause */
/* What fuzz_wire.c begins with: what both sides really say. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "ft/shm/log.h"
#include "ft/test/fuzz_driver.h"
#include "launcher/wire/calls.h"
#include "launcher/wire/greeting.h"
#include "launcher/wire/models.h"
#include "launcher/wire/store.h"
#include "launcher/report/wire.h"
#include "launcher/wire/wire.h"

static void add_frame(struct fuzz_input *in, struct ft_wire_bytes frame)
{
    if (!frame.data)
        abort();
    fuzz_add(in, frame.data, frame.len);
    free(frame.data);
}

static const struct ft_cell *row(const void *arg, uint32_t rank)
{
    static const struct ft_cell cell = {.seen = {1, 2}, .cuts = 3};

    (void)arg;
    (void)rank;
    return &cell;
}

/* Both say these. */
static void models(struct fuzz_input *in)
{
    struct ft_ckpt_section two[2] = {{1000, 7}, {0, 0}};
    struct ft_wire_held held = {.round = 3, .version = 12, .tail = 4096, .nmodels = 2, .models = two};
    struct ft_wire_part part = {.round = 3, .at = 500, .length = 5};
    uint8_t *data;
    struct ft_wire_bytes piece = ft_wire_put_piece(&part, &data);

    if (data)
        memcpy(data, "bytes", 5);
    add_frame(in, ft_wire_put_hold(&(struct ft_wire_hold){13, 3, 12}));
    add_frame(in, ft_wire_put_held(&held));
    add_frame(in, ft_wire_put_give(&part));
    add_frame(in, piece);
}

static void store(struct fuzz_input *in)
{
    struct ft_value_ask ask = {.number = 5, .op = FT_VALUE_COMPARE, .key = "key", .nkey = 3, .expected = "1", .nexpected = 1, .value = "2", .nvalue = 1};
    struct ft_value_answer answer = {.number = 5, .there = true, .swapped = true, .value = "2", .nvalue = 1};
    char bytes[64];

    ft_value_put_ask(&ask, bytes);
    add_frame(in, ft_wire_put_store_ask(3, bytes, ft_value_ask_bytes(&ask)));
    add_frame(in, ft_wire_put_store_answer(3, &answer));
}

static void from_node(struct fuzz_input *in)
{
    static struct ft_wire_hello hello = {.node = 1, .incarnation = 2, .version = "0.1.0", .host = "h1", .pid = 17, .naddresses = 2, .port = 4711,
                                         .addresses = {{"192.0.2.1"}, {"2001:db8::1"}}};
    struct ft_wire_rank ranks[2] = {{.state = FT_NODE_RANK_UP, .pid = 1}, {.state = FT_NODE_RANK_DOWN, .restarts = 3}};
    struct ft_wire_state s = {.phase = FT_NODE_RUNNING, .committed = 1000, .whole = true, .nranks = 2, .ranks = ranks};
    struct ft_wire_record r = {.rank = 3, .stream = FT_RECORD_STDOUT, .flags = FT_RECORD_BEGINS, .position = 77, .length = 6};
    struct ft_wire_restart restart = {.restart = {.signal = 9, .died_ns = 5}};
    struct ft_wire_life life = {.total = {.pid = 1}};
    struct ft_wire_report report = {.nrestarts = 1, .nranks = 1, .restarts = &restart, .ranks = &life};
    struct ft_wire_calls calls = {.ranks = json_pack("[{si}, {}]", "rank", 7)};
    uint8_t out[FT_WIRE_OUT_HEAD], head[FT_WIRE_RECORD];

    add_frame(in, ft_wire_put_hello(&hello));
    add_frame(in, ft_wire_put_state(&s));
    ft_wire_out_head(out, 12345, 2 * (FT_WIRE_RECORD + 6));
    fuzz_add(in, out, sizeof out);
    for (int i = 0; i < 2; i++, r.position += 6) {
        ft_wire_record_head(head, &r);
        fuzz_add(in, head, sizeof head);
        fuzz_add(in, "hello\n", 6);
    }
    add_frame(in, ft_wire_put_beat());
    add_frame(in, ft_wire_put_report(&report));
    add_frame(in, ft_wire_put_cells(&(struct ft_wire_cells){.width_ns = 1, .nranks = 1, .ncells = 1}, row, NULL));
    add_frame(in, ft_wire_put_calls(&calls));
    json_decref(calls.ranks);
    models(in);
    store(in);
}

static void from_controller(struct fuzz_input *in)
{
    struct ft_wire_node nodes[2] = {{.up = true, .host = "h0", .naddresses = 1, .addresses = {{"192.0.2.1"}}, .port = 1},
                                    {.incarnation = 4, .host = "h1"}};
    struct ft_wire_table t = {.nnodes = 2, .nodes = nodes};
    struct ft_wire_job job = {.phase = FT_JOB_END, .code = 3};

    add_frame(in, ft_wire_put_table(&t));
    add_frame(in, ft_wire_put_job(&job));
    add_frame(in, ft_wire_put_got(999));
    add_frame(in, ft_wire_put_signal(1, 15));
    add_frame(in, ft_wire_put_input(0, true, "data", 4));
}

static void from_agent(struct fuzz_input *in, int i)
{
    struct ft_greeting g = {.want = FT_WANT_LOG, .from = 2, .from_incarnation = 1, .to = 1, .position = 4096};
    struct ft_answer a = {.verdict = FT_VERDICT_YES, .node = 1, .extent_bytes = 4 << 20, .position = 1 << 20};
    struct ft_piece p = {.position = 4096, .length = 70000, .hash = 99};
    struct ft_greeting link = {.want = FT_WANT_LINK, .from = 2, .to = 1, .stream = 3};
    uint8_t text[FT_GREETING_BYTES];

    if (i == 0)
        ft_greeting_put(&g, text);
    else if (i == 1)
        ft_answer_put(&a, text);
    else if (i == 2)
        ft_piece_put(&p, text);
    else
        ft_greeting_put(&link, text);
    fuzz_add(in, text, i == 1 ? FT_ANSWER_BYTES : i == 2 ? FT_PIECE_HEAD : FT_GREETING_BYTES);
}

/* Whole records in pieces; as many as fill more than an extent. */
static void log_pieces(struct fuzz_input *in, uint32_t length, bool gap)
{
    uint8_t bytes[512] = {0};
    struct ft_record rec = {.sig = {.length = length}};
    uint16_t n = (uint16_t)ft_record_bytes(length);

    for (int u = 0; u < 20; u++) {
        uint8_t head[4] = {(uint8_t)n, (uint8_t)(n >> 8), gap, 1};

        rec.unit = (uint64_t)u + 1;
        memcpy(bytes, &rec, sizeof rec);
        fuzz_add(in, head, sizeof head);
        fuzz_add(in, bytes, n);
    }
}

static void seed(struct fuzz_input *in, int i)
{
    in->bytes[0] = (uint8_t)(i < 2 ? 0 : i < 6 ? 2 : 3);
    in->n = 1;
    if (i == 0)
        from_node(in);
    else if (i == 1)
        from_controller(in);
    else if (i < 6)
        from_agent(in, i - 2);
    else
        log_pieces(in, i == 6 ? 16 : 400, i == 8);
}

const struct fuzz_target fuzz_target = {.seeds = 9, .seed = seed, .kinds = 4, .head = 100};
