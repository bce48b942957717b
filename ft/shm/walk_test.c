/* SPDX-License-Identifier: BSD-3-Clause */
/* A log in an array: records, gaps, what is released, and what is none. */
#include "ft/shm/walk.h"

#include <criterion/criterion.h>
#include <string.h>

#include "ft/shm/log.h"

enum { EXTENT = 1024, EXTENTS = 8, RESULT = 300 };

static _Alignas(64) char bytes[EXTENTS * EXTENT];
static uint64_t released, end, units;
static uint64_t first[EXTENTS];

static bool read_bytes(void *arg, uint64_t position, void *to, uint64_t n)
{
    (void)arg;
    if (position < released || position + n > sizeof bytes)
        return false;
    memcpy(to, bytes + position, n);
    return true;
}

static struct ft_walk from(uint64_t unit, uint64_t position)
{
    return (struct ft_walk){.read = read_bytes, .extent_bytes = EXTENT, .unit = unit, .position = position};
}

/* Two fit an extent; behind the last one is what an earlier use has left there: a record. */
static void fill(void)
{
    struct ft_record old = {.unit = 1, .sig = {.call = FT_CALL_BCAST, .length = 8}};

    for (uint64_t at = 0; at < sizeof bytes; at += 64)
        memcpy(bytes + at, &old, sizeof old);
    released = end = units = 0;
    while (end + EXTENT < sizeof bytes) {
        struct ft_record rec = {.unit = units + 1, .sig = {.call = FT_CALL_BCAST, .length = RESULT}}, gap = ft_walk_gap(units);
        uint64_t left = EXTENT - end % EXTENT;

        if (left < ft_record_bytes(RESULT)) {
            memcpy(bytes + end, &gap, sizeof gap);
            end += left;
        }
        if (end % EXTENT == 0)
            first[end / EXTENT] = units;
        memcpy(bytes + end, &rec, sizeof rec);
        end += ft_record_bytes(RESULT);
        units++;
    }
}

TestSuite(walk, .init = fill);

Test(walk, each_record_is_found_and_no_other)
{
    struct ft_walk w = from(0, 0);
    struct ft_record rec;

    for (uint64_t u = 0; u < units; u++) {
        cr_assert_eq(ft_walk_look(&w, &rec), FT_WALK_RECORD, "unit %lu", (unsigned long)u);
        cr_assert_eq(rec.unit, u + 1);
        ft_walk_on(&w, &rec);
    }
    cr_assert_eq(w.position, end);
    cr_assert_eq(ft_walk_look(&w, &rec), FT_WALK_DAMAGED, "what an earlier use has left");
}

Test(walk, what_is_no_record_is_damaged)
{
    struct ft_record rec, gap = ft_walk_gap(0), huge = {.unit = 1, .sig = {.call = FT_CALL_BCAST, .length = EXTENT}};
    struct ft_walk w = from(5, 0);

    cr_assert_eq(ft_walk_look(&w, &rec), FT_WALK_DAMAGED, "another unit");
    memcpy(bytes, &huge, sizeof huge);
    w = from(0, 0);
    cr_assert_eq(ft_walk_look(&w, &rec), FT_WALK_DAMAGED, "longer than its extent");
    memcpy(bytes, &gap, sizeof gap);
    cr_assert_eq(ft_walk_look(&w, &rec), FT_WALK_RECORD, "an extent begins with no gap");
    cr_assert_eq(w.position, 0);
    w = from(0, sizeof bytes);
    cr_assert_eq(ft_walk_look(&w, &rec), FT_WALK_ABSENT);
}

Test(walk, seeks_the_extent_of_a_unit)
{
    uint64_t begun = ft_div_up(end, EXTENT);

    for (uint64_t floor = 0; floor < begun; floor++) {
        released = floor * EXTENT;
        for (uint64_t u = 0; u < units + 3; u++) {
            struct ft_walk w = from(0, 0);
            bool found = ft_walk_seek(&w, u, floor / 2, begun); /* it has been released since who asks has looked */

            cr_assert_eq(found, u >= first[floor], "unit %lu of those from %lu on", (unsigned long)u, (unsigned long)first[floor]);
            if (!found)
                continue;
            cr_assert_eq(w.unit, first[w.position / EXTENT]);
            cr_assert(w.unit <= u && (w.position / EXTENT + 1 == begun || first[w.position / EXTENT + 1] > u));
        }
    }
}
