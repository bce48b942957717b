/* SPDX-License-Identifier: BSD-3-Clause */
/* Drives fuzz_frames.c without libFuzzer: peers that say mostly what is right.

   fuzz_frames_plain SECONDS [SEED]     fuzz_frames_plain seeds DIR: writes what libFuzzer begins with */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ft/core/exchange.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { SEEDS = 16, CALLS = 6, FRAMES = 30 };

static uint64_t state;

static uint64_t draw(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

static size_t make(uint8_t *bytes, uint64_t odd)
{
    size_t n = 0;
    int frames = (int)draw(FRAMES);

    for (int i = 0; i <= CALLS; i++)
        bytes[n++] = (uint8_t)draw(256);
    for (int i = 0; i < frames; i++) {
        uint8_t type = i == 0 ? FT_FRAME_HELLO : draw(3) ? FT_FRAME_PART : FT_FRAME_RES;
        uint8_t frame[5] = {type, 0, type == FT_FRAME_RES, 0, 0};

        if (draw(100) < odd)
            frame[draw(5)] = (uint8_t)(draw(2) ? draw(4) : draw(256));
        memcpy(bytes + n, frame, sizeof frame);
        n += sizeof frame;
        for (uint64_t more = frame[0] == FT_FRAME_HELLO ? 0 : 16; more; more--)
            bytes[n++] = (uint8_t)draw(256);
    }
    return n;
}

static void run(double seconds)
{
    uint8_t bytes[1024];
    struct timespec begin, now;
    long n = 0;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        for (int k = 0; k < 50; k++, n++)
            LLVMFuzzerTestOneInput(bytes, make(bytes, draw(40)));
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) / 1e9 < seconds);
    printf("%ld inputs\n", n);
}

static int write_seeds(const char *dir)
{
    uint8_t bytes[1024];
    char path[4096];

    state = 1;
    for (int i = 0; i < SEEDS; i++) {
        size_t n = make(bytes, (uint64_t)i * 2);
        int fd;

        snprintf(path, sizeof path, "%s/seed%d", dir, i);
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
            return 1;
        close(fd);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "seeds"))
        return write_seeds(argv[2]);
    if (argc < 2)
        return 2;
    state = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)time(NULL);
    state = state * 2 + 1;
    printf("seed %llu\n", (unsigned long long)(state / 2));
    run(atof(argv[1]));
    return 0;
}
