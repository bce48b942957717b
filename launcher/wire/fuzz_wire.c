/* SPDX-License-Identifier: BSD-3-Clause */
/* All that an agent or the controller reads from a socket, on arbitrary bytes (libFuzzer's entry point; fuzz_driver.c drives it without). The
   first byte says what they are taken for. Numbers that are accepted must be said again as they came; of pieces of a log only whole
   records may count. */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"
#include "ft/shm/transfer.h"
#include "ft/shm/walk.h"
#include "ft/shm/word.h"
#include "ft/test/fuzz_driver.h"
#include "launcher/wire/calls.h"
#include "launcher/wire/greeting.h"
#include "launcher/wire/models.h"
#include "launcher/wire/store.h"
#include "launcher/report/wire.h"
#include "launcher/wire/wire.h"

enum { EXTENT = 16 << 10, EXTENTS = 4 };

static void line(const struct ft_error *e)
{
    FT_INVARIANT(e->text[0] && !strchr(e->text, '\n'), "a refusal says why in one line");
}

/* ---- frames between agents and controller ---- */

static void records(const uint8_t *data, uint32_t len)
{
    struct ft_wire_record r;
    struct ft_error e = {""};
    int n;

    for (uint32_t at = 0; at < len; at += (uint32_t)n) {
        n = ft_wire_record(data + at, len - at, &r, &e);
        FT_INVARIANT(n > 0 && (uint32_t)n <= len - at, "OUT has whole records");
        FT_INVARIANT(r.data >= data && r.data + r.length <= data + len, "a record's bytes are in its frame");
    }
}

static int payload(const struct ft_wire_frame *f, struct ft_error *e)
{
    static struct ft_wire_hello hello;
    struct ft_wire_state state = {0};
    struct ft_wire_table table = {0};
    struct ft_wire_job job;
    struct ft_wire_report report;
    struct ft_wire_cells cells;
    struct ft_wire_calls calls;
    struct ft_wire_hold hold;
    struct ft_wire_held held;
    struct ft_wire_part part;
    struct ft_value_ask ask;
    struct ft_value_answer answer;
    const uint8_t *data;
    uint64_t number;
    uint32_t len;
    bool last;
    int err = 0, signal;

    switch (f->type) {
    case FT_WIRE_HELLO: return ft_wire_get_hello(f, &hello, e);
    case FT_WIRE_STATE:
        if (!(err = ft_wire_get_state(f, &state, e)))
            ft_wire_state_free(&state);
        return err;
    case FT_WIRE_OUT:
        if (!(err = ft_wire_get_out(f, &number, &data, &len, e)))
            records(data, len);
        return err;
    case FT_WIRE_TABLE:
        if (!(err = ft_wire_get_table(f, &table, e)))
            ft_wire_table_free(&table);
        return err;
    case FT_WIRE_JOB: return ft_wire_get_job(f, &job, e);
    case FT_WIRE_GOT: return ft_wire_get_got(f, &number, e);
    case FT_WIRE_SIGNAL: return ft_wire_get_signal(f, &number, &signal, e);
    case FT_WIRE_INPUT_BYTES:
        if (!(err = ft_wire_get_input(f, &number, &last, &data, &len, e)))
            FT_INVARIANT(data + len <= f->payload + f->length, "input is in its frame");
        return err;
    case FT_WIRE_REPORT:
        if (!(err = ft_wire_get_report(f, &report, e)))
            ft_wire_report_free(&report);
        return err;
    case FT_WIRE_CELLS:
        if (!(err = ft_wire_get_cells(f, &cells, e)) && cells.nranks && cells.ncells)
            FT_INVARIANT(ft_wire_cell(&cells, cells.nranks - 1, cells.ncells - 1).cuts <= UINT16_MAX, "cells are in their frame");
        return err;
    case FT_WIRE_CALLS:
        if (!(err = ft_wire_get_calls(f, &calls, e)))
            json_decref(calls.ranks);
        return err;
    case FT_WIRE_HOLD: return ft_wire_get_hold(f, &hold, e);
    case FT_WIRE_HELD:
        if (!(err = ft_wire_get_held(f, &held, e)))
            free(held.models);
        return err;
    case FT_WIRE_GIVE: return ft_wire_get_give(f, &part, e);
    case FT_WIRE_MODEL:
        if (!(err = ft_wire_get_piece(f, &part, e)))
            FT_INVARIANT(part.data + part.length == f->payload + f->length, "a piece is in its frame");
        return err;
    case FT_WIRE_STORE_ASK:
        if (!(err = ft_wire_get_store_ask(f, &len, &ask, e)))
            FT_INVARIANT((const uint8_t *)ask.value + ask.nvalue == f->payload + f->length, "what is asked is in its frame");
        return err;
    case FT_WIRE_STORE_ANSWER:
        if (!(err = ft_wire_get_store_answer(f, &len, &answer, e)))
            FT_INVARIANT((const uint8_t *)answer.value + answer.nvalue == f->payload + f->length, "an answer is in its frame");
        return err;
    case FT_WIRE_WORD:
    case FT_WIRE_TEXT: /* words are shares(), below */
    case FT_WIRE_ASK:
    case FT_WIRE_BEAT:
    case FT_WIRE_TYPES: break;
    }
    return 0;
}

static void frames(const uint8_t *data, size_t n)
{
    struct ft_wire_frame f;
    struct ft_error e = {""};
    int took;

    for (size_t at = 0; at < n; at += (size_t)took) {
        took = ft_wire_next(data + at, n - at, &f, &e);
        if (took <= 0) {
            if (took < 0)
                line(&e);
            return;
        }
        FT_INVARIANT((size_t)took <= n - at && f.payload + f.length <= data + n, "a frame is where it came");
        if (payload(&f, &e) < 0)
            line(&e);
    }
}

/* ---- between agents ---- */

static void greetings(const uint8_t *data, size_t n)
{
    uint8_t text[FT_GREETING_BYTES] = {0}, again[FT_GREETING_BYTES];
    struct ft_greeting g;
    struct ft_answer a;
    struct ft_piece p;

    memcpy(text, data, n < sizeof text ? n : sizeof text);
    if (ft_greeting_get(text, &g)) {
        ft_greeting_put(&g, again);
        FT_INVARIANT(!memcmp(text, again, FT_GREETING_BYTES), "a greeting has one form");
    }
    if (ft_answer_get(text, &a)) {
        ft_answer_put(&a, again);
        FT_INVARIANT(!memcmp(text, again, FT_ANSWER_BYTES) && *ft_verdict_text(a.verdict) != '?', "an answer has one form");
    }
    if (ft_piece_get(text, &p)) {
        ft_piece_put(&p, again);
        FT_INVARIANT(!memcmp(text, again, FT_PIECE_HEAD) && p.length <= FT_PIECE_MOST, "a piece has one form");
    }
}

/* ---- a log that somebody sends ---- */

static struct ft_region region;
static struct ft_keeper *keeper;

static void keeper_failed(void *arg, const char *text)
{
    (void)arg;
    (void)text; /* no room: nothing more can be put */
}

static void open_region(void)
{
    struct ft_keeper_config config = {.spill_dir = "/tmp"};
    struct ft_params params;
    struct ft_error e;

    ft_params_default(&params, 1, 1, 64 << 20);
    ft_params_nodes(&params, 2, 0, 2);
    params.short_max = params.rooted_max = params.gather_max = 64;
    params.slot_bytes = params.gather_bytes = params.segment = 4096;
    params.slot_depth = 2;
    params.short_depth = 2;
    params.extent_bytes = EXTENT;
    params.nextents = EXTENTS;
    params.ntable = 16;
    params.keeps_log = 1;
    FT_INVARIANT(ft_region_create(&region, &params, &e) == 0 && ft_keeper_open(&keeper, &region, &config, &e) == 0, "there is memory");
}

/* {u16 length, u8 gap, u8 flags} and bytes, again and again: as ft_writer_put is given them. flags: 1 heads are put in where records begin,
   2 cut. */
static void put_log(const uint8_t *data, size_t n)
{
    struct ft_writer w, again;
    struct ft_error e = {""};
    static char piece[EXTENT];

    if (!region.base)
        open_region();
    ft_region_reset(&region);
    ft_keeper_adopt(keeper, keeper_failed, NULL);
    FT_INVARIANT(ft_writer_open(&w, &region, keeper, ft_keeper_spill_fd(keeper), &e) == 0 && w.unit == 0, "a new log is empty");
    while (n >= 4) {
        uint64_t length = (data[0] | (uint64_t)data[1] << 8) % EXTENT, room, before = w.end;
        bool gap = data[2] & 1;
        int flags = data[3];
        struct ft_record head;

        ft_writer_room(&w);
        ft_keeper_serve(keeper);
        room = ft_writer_room(&w);
        data += 4;
        n -= 4;
        length = ft_min(length, room);
        if (!length)
            break;
        memset(piece, 0, length);
        memcpy(piece, data, ft_min(n, length));
        if (flags & 1 && length >= sizeof head && w.at == w.end) {
            memcpy(&head, piece, sizeof head);
            head.unit = w.unit + 1;
            head.sig.length %= 5000;
            if (gap)
                head = ft_walk_gap(w.unit);
            memcpy(piece, &head, sizeof head);
        }
        if (ft_writer_put(&w, piece, length, &e) < 0) {
            line(&e);
            ft_writer_cut(&w);
        }
        FT_INVARIANT(w.end >= before && w.end <= w.at, "what is whole stays");
        if (flags & 2)
            ft_writer_cut(&w);
        data += ft_min(n, length);
        n -= ft_min(n, length);
    }
    FT_INVARIANT(ft_writer_open(&again, &region, keeper, ft_keeper_spill_fd(keeper), &e) == 0 && again.unit == w.unit && again.end == w.end,
                 "a successor finds what is whole");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    uint8_t *bytes;

    if (!n)
        return 0;
    bytes = malloc(n); /* exactly: AddressSanitizer sees one byte more */
    FT_INVARIANT(bytes, "there is memory for an input");
    memcpy(bytes, data + 1, n - 1);
    switch (data[0] % 4) {
    case 0:
    case 1: frames(bytes, n - 1); break;
    case 2: greetings(bytes, n - 1); break;
    default: put_log(bytes, n - 1);
    }
    free(bytes);
    return 0;
}
