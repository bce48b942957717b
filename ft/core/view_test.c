/* SPDX-License-Identifier: BSD-3-Clause */
/* Views against a reference that knows one thing only: in which byte of the program's memory each
   packed byte is. Half of them have a layout, made at random. */
#include "ft/core/view.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "ft/base/hash.h"
#include "ft/base/util.h"

enum {
    MOST_PARTS = 5,
    MOST_COUNT = 40,
    MOST_ELEM = 24,
    ROOM = 4 * MOST_PARTS * MOST_COUNT * MOST_ELEM,
    ROUNDS = 3000
};

/* Where an element's packed bytes are, from where it begins. */
struct element {
    struct ft_layout *layout;      /* NULL: side by side */
    int64_t extent;
    uint32_t bytes;
    int at[MOST_ELEM];
};

/* A buffer in the middle of `memory`, and where its packed bytes are, part by part. */
struct buffer {
    struct ft_view view;
    struct ft_parts parts;
    struct element element;
    uint64_t each;                 /* of the view's elements in one of these */
    char *memory;
    int counts[MOST_PARTS], displs[MOST_PARTS];
    uint64_t bytes, part_at[MOST_PARTS + 1];
    uint32_t where[MOST_PARTS * MOST_COUNT * MOST_ELEM];
};

static uint64_t draw(uint64_t below) { return (uint64_t)random() % below; }

static char *make_memory(void)
{
    char *memory = malloc(ROOM);

    for (uint64_t i = 0; i < ROOM; i++)
        memory[i] = (char)random();
    return memory;
}

static void note_part(struct buffer *b, uint32_t r, int64_t first, uint64_t elements)
{
    b->part_at[r] = b->bytes;
    for (uint64_t i = 0; i < elements; i++)
        for (uint32_t k = 0; k < b->element.bytes; k++)
            b->where[b->bytes++] = (uint32_t)(
                ROOM / 2 + (first + (int64_t)i) * b->element.extent + b->element.at[k]);
    b->part_at[r + 1] = b->bytes;
}

/* A part more, of so many blocks of n bytes or elements of `of`. */
static void add_part(struct element *e, const struct element *of, uint64_t blocks, uint64_t n)
{
    struct ft_layout_part part = { .of = of->layout,
                                   .at = (int64_t)draw(40) - 10,
                                   .stride = (int64_t)draw(30) - 10,
                                   .blocks = blocks,
                                   .n = n };

    ft_layout_add(e->layout, part);
    for (uint64_t i = 0; i < blocks; i++)
        for (uint64_t k = 0; k < n; k++)
            for (uint32_t j = 0; j < of->bytes; j++)
                e->at[e->bytes++] = (int)(part.at + (int64_t)i * part.stride +
                                          (int64_t)k * of->extent + of->at[j]);
}

/* With parts of bytes or, depth > 0, of layouts like it. At least one; none that makes it longer than
   `most`. */
static struct element make_layout(uint32_t most, int depth)
{
    static const struct element byte = { .extent = 1, .bytes = 1 };
    struct element e = { .layout = ft_layout_new(3, (int64_t)draw(36) - 12) };

    e.extent = e.layout->extent;
    for (int i = 0; i < 3; i++) {
        struct element of = depth > 0 && draw(2) ? make_layout(most / 4, depth - 1) : byte;
        uint64_t blocks = 1 + draw(3), n = 1 + draw(of.layout ? 2 : 9);

        if (e.bytes + blocks * n * of.bytes <= most)
            add_part(&e, &of, blocks, n);
        else if (!e.bytes && i == 2)
            add_part(&e, &of, 1, 1);
        ft_layout_release(of.layout);
    }
    return e;
}

static struct element make_element(void)
{
    struct element e = { .bytes = 1 + (uint32_t)draw(MOST_ELEM) };

    if (draw(2))
        return make_layout(MOST_ELEM, 2);
    e.extent = e.bytes;
    for (uint32_t i = 0; i < e.bytes; i++)
        e.at[i] = (int)i;
    return e;
}

/* Parts of different lengths, with gaps, in any order, on both sides of the address given. */
static void scatter(struct buffer *b, uint32_t parts)
{
    uint32_t order[MOST_PARTS];
    int at = -(int)draw(MOST_COUNT);

    for (uint32_t r = 0; r < parts; r++)
        order[r] = r;
    for (uint32_t r = parts - 1; r > 0; r--) {
        uint32_t other = (uint32_t)draw(r + 1), kept = order[r];

        order[r] = order[other];
        order[other] = kept;
    }
    for (uint32_t i = 0; i < parts; i++) {
        b->counts[order[i]] = (int)(draw(4) ? draw(MOST_COUNT) : 0);
        b->displs[order[i]] = at;
        at += b->counts[order[i]] + (int)draw(3);
    }
    b->parts = (struct ft_parts){ parts, b->counts, b->displs };
    b->view.parts = &b->parts;
    for (uint32_t r = 0; r < parts; r++) {
        note_part(b, r, b->displs[r], (uint64_t)b->counts[r]);
        b->counts[r] *= (int)b->each;
        b->displs[r] *= (int)b->each;
    }
}

static struct buffer *make(bool scattered)
{
    struct buffer *b = calloc(1, sizeof *b);
    uint64_t count = draw(8) ? draw(MOST_COUNT) : 0;
    uint32_t parts = 1 + (uint32_t)draw(MOST_PARTS);
    struct ft_type type = { .kind = FT_OPAQUE, .base = FT_BYTE };

    b->element = make_element();
    b->each = draw(2) ? 1 : b->element.bytes;
    type.elem = b->element.bytes / (uint32_t)b->each;
    type.layout = b->element.layout;
    b->memory = make_memory();
    b->view = ft_view_of(b->memory + ROOM / 2, count * b->each, type);
    if (scattered) {
        scatter(b, parts);
        return b;
    }
    b->parts.n = parts;
    b->view.parts = draw(2) || parts > 1 ? &b->parts : NULL;
    for (uint32_t r = 0; r < parts; r++)
        note_part(b, r, (int64_t)(r * count), count);
    return b;
}

static void end(struct buffer *b)
{
    ft_layout_release(b->element.layout);
    free(b->memory);
    free(b);
}

/* The packed bytes [at, at + n), one by one. */
static void take(const struct buffer *b, uint64_t at, uint64_t n, char *to)
{
    for (uint64_t i = 0; i < n; i++)
        to[i] = b->memory[b->where[at + i]];
}

/* n bytes in `copy`, which has room for as many before and after: nobody has touched those. */
static void check_copy(const struct buffer *b, uint64_t at, uint64_t n, const char *copy,
                       const char *how)
{
    char *should = malloc(n + 1);

    take(b, at, n, should);
    cr_assert(!memcmp(copy + MOST_ELEM, should, n), "%s: packed bytes from %lu on, %lu of them",
              how, (unsigned long)at, (unsigned long)n);
    for (int i = 0; i < MOST_ELEM; i++)
        cr_assert(copy[i] == 0x5a && copy[MOST_ELEM + n + (uint64_t)i] == 0x5a,
                  "%s: beyond its %lu bytes", how, (unsigned long)n);
    free(should);
}

static void check_out(const struct buffer *b, const struct ft_view *part, uint64_t at,
                      uint64_t from, uint64_t n)
{
    char *copy = malloc(n + 2 * MOST_ELEM);
    const char *hows[] = { "fill", "fill past the cache", "unordered", "unordered past the cache",
                           "pack" };

    for (int how = 0; how < 5; how++) {
        memset(copy, 0x5a, n + 2 * MOST_ELEM);
        if (how == 0)
            ft_view_fill(part, from, n, copy + MOST_ELEM);
        else if (how == 1)
            ft_view_fill_past(part, from, n, copy + MOST_ELEM, true);
        else if (how < 4)
            ft_view_fill_unordered(part, from, n, copy + MOST_ELEM, how == 3);
        else
            ft_view_pack(part, from, n, copy + MOST_ELEM);
        ft_copy_order(true);
        check_copy(b, at + from, n, copy, hows[how]);
    }
    free(copy);
}

/* Into the program's memory: those bytes, and no other; and into the log. */
static void check_in(struct buffer *b, const struct ft_view *part, uint64_t at, uint64_t from,
                     uint64_t n)
{
    char *before = malloc(ROOM), *log = malloc(ROOM);

    memcpy(before, b->memory, ROOM);
    for (int how = 0; how < 3; how++) {
        char *given = make_memory();

        if (how == 0)
            ft_view_unpack(part, from, n, given);
        else
            ft_view_unpack_logged(part, from, n, given, log, how == 2);
        ft_copy_order(how == 2);
        for (uint64_t i = 0; i < n; i++)
            before[b->where[at + from + i]] = given[i];
        cr_assert(!memcmp(before, b->memory, ROOM), "%d: packed bytes from %lu on, %lu of them",
                  how, (unsigned long)(at + from), (unsigned long)n);
        cr_assert(how == 0 || !memcmp(log, given, n), "%d: the log", how);
        free(given);
    }
    free(before);
    free(log);
}

static void check_range(struct buffer *b, uint32_t r)
{
    struct ft_view part = ft_view_part(&b->view, r);
    uint64_t at = b->part_at[r], bytes = b->part_at[r + 1] - at, from = draw(bytes + 1),
             n = draw(bytes - from + 1);
    const char *direct = ft_view_direct(&part, from);

    cr_assert_eq(ft_view_bytes(&part), bytes);
    cr_assert_eq(ft_view_part_bytes(&b->view, r), bytes);
    cr_assert_eq(direct == NULL, b->element.layout != NULL);
    check_out(b, &part, at, from, n);
    check_in(b, &part, at, from, n);
    for (uint64_t i = 0; direct && i < n; i++)
        cr_assert_eq(direct + i, b->memory + b->where[at + from + i], "direct, from %lu on",
                     (unsigned long)from);
}

Test(view, packed_ranges_of_parts)
{
    srandom(1);
    for (int round = 0; round < ROUNDS; round++) {
        struct buffer *b = make(round % 2);

        cr_assert_eq(ft_view_bytes(&b->view), b->bytes);
        check_range(b, (uint32_t)draw(b->parts.n));
        end(b);
    }
}

/* Piece after piece comes to all packed bytes, each once, in order. */
Test(view, pieces_are_all_of_it)
{
    srandom(2);
    for (int round = 0; round < ROUNDS; round++) {
        struct buffer *b = make(round % 2);
        uint64_t at = 0;

        for (uint32_t i = 0; i < ft_view_pieces(&b->view); i++) {
            struct ft_view piece = ft_view_piece(&b->view, i);

            check_out(b, &piece, at, 0, ft_view_bytes(&piece));
            at += ft_view_bytes(&piece);
        }
        cr_assert_eq(at, b->bytes);
        end(b);
    }
}

/* What a snapshot leaves out is overwritten, each byte, and is not given: a byte more is the
   program's data, lost. */
Test(view, nothing_but_what_is_overwritten)
{
    uint64_t known = 0;

    srandom(3);
    for (int round = 0; round < ROUNDS; round++) {
        struct buffer *b = make(round % 3 == 0);
        char *is_received = calloc(1, ROOM), *left_out;
        uint64_t given_bytes = draw(200), given_at = draw(ROOM - given_bytes), n;
        struct ft_view given = ft_view_of(b->memory + given_at, given_bytes,
                                          (struct ft_type){ .elem = 1, .kind = FT_BYTE });
        struct ft_view nothing = { 0 };

        for (uint64_t i = 0; i < b->bytes; i++)
            is_received[b->where[i]] = 1;
        left_out = ft_view_overwritten(&b->view, draw(2) ? &given : &nothing, &n);
        for (uint64_t i = 0; left_out && i < n; i++)
            cr_assert(is_received[left_out - b->memory + (int64_t)i],
                      "byte %lu of %lu is not received", (unsigned long)i, (unsigned long)n);
        left_out = ft_view_overwritten(&b->view, &given, &n);
        for (uint64_t i = 0; left_out && i < n; i++)
            cr_assert(left_out + i < b->memory + given_at ||
                          left_out + i >= b->memory + given_at + given_bytes,
                      "it is given");
        known += left_out && n;
        cr_assert(!ft_view_overwritten(&b->view, &b->view, &n) || !n, "in place");
        cr_assert_null(ft_view_overwritten(&nothing, &given, &n), "who receives nothing");
        free(is_received);
        end(b);
    }
    cr_assert_gt(known, ROUNDS / 6, "it is known most of the time, without layouts");
}

Test(view, moves)
{
    srandom(4);
    for (int round = 0; round < ROUNDS; round++) {
        struct buffer *from = make(round % 2), *to = make(false);
        uint32_t r = (uint32_t)draw(from->parts.n);
        struct ft_view part = ft_view_part(&from->view, r),
                       target = ft_view_of(to->memory, MOST_COUNT * MOST_ELEM,
                                           (struct ft_type){ .elem = 1 });
        uint64_t bytes = ft_view_bytes(&part), at = draw(bytes + 1), n = draw(bytes - at + 1);
        char *before = malloc(ROOM);

        memcpy(before, to->memory, ROOM);
        take(from, from->part_at[r] + at, n, before + at);
        ft_view_move(&target, &part, at, n, round % 4 < 2);
        cr_assert(!memcmp(before, to->memory, ROOM));
        memcpy(before, from->memory, ROOM);
        ft_view_move(&part, &part, at, n, round % 4 < 2);
        cr_assert(!memcmp(before, from->memory, ROOM), "to where it is");
        free(before);
        end(from);
        end(to);
    }
}

/* From one layout to another. */
Test(view, moves_between_layouts)
{
    srandom(5);
    for (int round = 0; round < ROUNDS; round++) {
        struct buffer *from = make(false), *to = make(false);
        uint64_t bytes = ft_min(from->bytes, to->bytes), at = draw(bytes + 1), n = draw(bytes - at + 1);
        struct ft_view source = ft_view_piece(&from->view, 0), target = ft_view_piece(&to->view, 0);
        char *before = malloc(ROOM);

        memcpy(before, to->memory, ROOM);
        for (uint64_t i = at; i < at + n; i++)
            before[to->where[i]] = from->memory[from->where[i]];
        ft_view_move(&target, &source, at, n, round % 2);
        cr_assert(!memcmp(before, to->memory, ROOM));
        free(before);
        end(from);
        end(to);
    }
}

/* Of what types consist of, without padding. */
Test(view, hashes_are_of_elements)
{
    struct ft_f64_int values[3] = { { .value = 1, .index = 2 },
                                    { .value = 3, .index = 4 },
                                    { .value = 5, .index = 6 } },
                      others[3];
    struct ft_type type = { .elem = sizeof values[0], .kind = FT_F64_INT }, derived = {
        .elem = 3 * sizeof values[0], .kind = FT_OPAQUE, .base = FT_F64_INT
    };
    struct ft_view plain = ft_view_of(values, 3, type), same = ft_view_of(others, 3, type),
                   one = ft_view_of(values, 1, derived);
    struct ft_view nothing = { 0 };

    memset(others, 0xff, sizeof others);
    for (int i = 0; i < 3; i++) {
        others[i].value = values[i].value;
        others[i].index = values[i].index;
    }
    cr_assert_eq(ft_view_hash(&plain), ft_view_hash(&same));
    cr_assert_eq(ft_view_hash(&plain), ft_view_hash(&one));
    others[2].index++;
    cr_assert_neq(ft_view_hash(&plain), ft_view_hash(&same));
    cr_assert_neq(ft_view_hash(&nothing), 0);
}

/* There is no buffer where nothing is received, and a program may give none for zero elements. */
Test(view, no_buffer)
{
    struct ft_type type = { .elem = 8, .kind = FT_F64 };
    struct ft_view none = ft_view_of(NULL, 0, type), part;
    int counts[2] = { 0, 0 }, displs[2] = { 3, 7 };
    struct ft_parts parts = { 2, counts, displs };

    none.parts = &parts;
    part = ft_view_part(&none, 1);
    cr_assert(!ft_view_exists(&none) && !ft_view_exists(&part));
    cr_assert_eq(ft_view_bytes(&none), 0);
    cr_assert_null(ft_view_direct(&part, 0));
}
