/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzz targets (LLVMFuzzerTestOneInput) without libFuzzer: each gives inputs to begin with, which fuzz_driver.c changes a little, again and again. */
#ifndef FT_TEST_FUZZ_DRIVER_H
#define FT_TEST_FUZZ_DRIVER_H

#include <stddef.h>
#include <stdint.h>

enum { FUZZ_BYTES = 1 << 14 };

struct fuzz_input {
    uint8_t bytes[FUZZ_BYTES];
    size_t n;
};

/* What each target defines. */
struct fuzz_target {
    int seeds;                                      /* how many inputs libFuzzer begins with */
    void (*seed)(struct fuzz_input *in, int which); /* makes one of them; at least a byte */
    unsigned kinds;                                 /* a change may set the first byte, below this */
    size_t head;                                    /* half of the changes are in so many bytes at the beginning */
    void (*make)(struct fuzz_input *in);            /* not NULL: any input by itself, in place of a changed seed */
};
extern const struct fuzz_target fuzz_target;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* A random number below `below`. */
uint64_t fuzz_draw(uint64_t below);

/* More bytes at the end of an input, as many as fit. */
void fuzz_add(struct fuzz_input *in, const void *bytes, size_t n);

#endif
