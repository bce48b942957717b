/* SPDX-License-Identifier: BSD-3-Clause */
/* What fuzz_kept.c begins with: a checkpoint as it is, and with a few words changed. Each is made anew. */
#include "ft/test/fuzz_driver.h"

enum { WORDS = 20, HOWS = 11 };

static void change(struct fuzz_input *in)
{
    static const uint32_t numbers[] = {0, 1, 2, 3, 7, 8, 31, 64, 4096, 4097, 4296, 1 << 20, 0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff};
    /* Of the first stream, behind head and ranks: its lines, the mark's, how much follows. */
    static const uint16_t printed[] = {160, 168, 184, 188, 192, 196, 200, 208, 216, 220, 4320, 4328, 4336};
    uint16_t place = (uint16_t)(8 * fuzz_draw(WORDS));
    uint32_t value = fuzz_draw(4) ? numbers[fuzz_draw(sizeof numbers / sizeof numbers[0])] : (uint32_t)fuzz_draw(UINT32_MAX);
    uint8_t head[4] = {0, 0, (uint8_t)fuzz_draw(fuzz_draw(2) ? 4 : HOWS)};

    if (fuzz_draw(3) == 0)
        place = printed[fuzz_draw(sizeof printed / sizeof printed[0])];
    if (fuzz_draw(16) == 0)
        place = (uint16_t)fuzz_draw(UINT16_MAX);
    head[0] = (uint8_t)place;
    head[1] = (uint8_t)(place >> 8);
    fuzz_add(in, head, sizeof head);
    fuzz_add(in, &value, sizeof value);
}

static void make_with(struct fuzz_input *in, uint64_t changes)
{
    in->n = 0;
    for (int i = 0; i < 4; i++)
        in->bytes[in->n++] = (uint8_t)fuzz_draw(256);
    while (changes--)
        change(in);
}

static void seed(struct fuzz_input *in, int which) { make_with(in, (uint64_t)which % 4); }

static void make(struct fuzz_input *in) { make_with(in, fuzz_draw(5)); }

const struct fuzz_target fuzz_target = {.seeds = 16, .seed = seed, .make = make};
