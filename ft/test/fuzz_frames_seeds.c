/* SPDX-License-Identifier: BSD-3-Clause */
/* What fuzz_frames.c begins with: peers that say mostly what is right. Each is made anew: of one that is changed, only what comes before the change counts. */
#include "ft/core/exchange.h"
#include "ft/test/fuzz_driver.h"

enum { CALLS = 6, FRAMES = 30 };

/* odd: percent of the frames that are wrong. */
static void peer(struct fuzz_input *in, uint64_t odd)
{
    int frames = (int)fuzz_draw(FRAMES);

    in->n = 0;
    for (int i = 0; i <= CALLS; i++)
        in->bytes[in->n++] = (uint8_t)fuzz_draw(256);
    for (int i = 0; i < frames; i++) {
        uint8_t type = i == 0 ? FT_FRAME_HELLO : fuzz_draw(3) ? FT_FRAME_PART : FT_FRAME_RES;
        uint8_t frame[5] = {type, 0, type == FT_FRAME_RES, 0, 0};

        if (fuzz_draw(100) < odd)
            frame[fuzz_draw(5)] = (uint8_t)(fuzz_draw(2) ? fuzz_draw(4) : fuzz_draw(256));
        fuzz_add(in, frame, sizeof frame);
        for (uint64_t more = frame[0] == FT_FRAME_HELLO ? 0 : 16; more; more--)
            in->bytes[in->n++] = (uint8_t)fuzz_draw(256);
    }
}

static void seed(struct fuzz_input *in, int which)
{
    peer(in, (uint64_t)which * 2);
}

static void make(struct fuzz_input *in)
{
    peer(in, fuzz_draw(40));
}

const struct fuzz_target fuzz_target = {.seeds = 16, .seed = seed, .make = make};
