/* SPDX-License-Identifier: BSD-3-Clause */
/* NAME_plain INPUTS SEED          runs a fuzz target with so many inputs, always the same ones
   NAME_plain SECONDSs SEED        ... that long
   NAME_plain kept FILE [DIR]      with each input of the corpus, a line of hexadecimal digits each; DIR: and writes them there, for libFuzzer
   NAME_plain seeds DIR            writes what both begin with */
#include "ft/test/fuzz_driver.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t state = 1;

uint64_t fuzz_draw(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

void fuzz_add(struct fuzz_input *in, const void *bytes, size_t n)
{
    if (n > FUZZ_BYTES - in->n)
        n = FUZZ_BYTES - in->n;
    memcpy(in->bytes + in->n, bytes, n);
    in->n += n;
}

static void change(struct fuzz_input *in)
{
    static const uint64_t numbers[] = {0, 1, 7, 8, 63, 64, 65, 255, 1 << 16, 0x7fffffff, 0xffffffff, 1ull << 40, 1ull << 63, UINT64_MAX};
    size_t at = fuzz_draw(2) || in->n < fuzz_target.head ? fuzz_draw(in->n) : fuzz_draw(fuzz_target.head), from;
    uint64_t number = numbers[fuzz_draw(sizeof numbers / sizeof numbers[0])];

    switch (fuzz_draw(6)) {
    case 0:
        in->bytes[at] ^= (uint8_t)(1 << fuzz_draw(8));
        break;
    case 1:
        in->bytes[at] = (uint8_t)fuzz_draw(256);
        break;
    case 2:
        if (at + 8 <= in->n)
            memcpy(in->bytes + at, &number, fuzz_draw(2) ? 8 : fuzz_draw(2) ? 4 : 2);
        break;
    case 3:
        in->n = 1 + fuzz_draw(in->n);
        break;
    case 4: /* something of it once more, elsewhere */
        from = fuzz_draw(in->n);
        memmove(in->bytes + at, in->bytes + from, fuzz_draw(in->n - (at > from ? at : from)));
        break;
    default:
        in->bytes[0] = (uint8_t)fuzz_draw(fuzz_target.kinds);
    }
}

static double seconds_since(const struct timespec *begin)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begin->tv_sec) + (double)(now.tv_nsec - begin->tv_nsec) / 1e9;
}

/* Until there were so many inputs and so many seconds. */
static void run(long inputs, double seconds)
{
    struct fuzz_input *seeds = calloc((size_t)fuzz_target.seeds, sizeof *seeds);
    static struct fuzz_input in;
    struct timespec begin;
    long n = 0;

    if (!seeds)
        abort();
    for (int i = 0; i < fuzz_target.seeds; i++) {
        fuzz_target.seed(&seeds[i], i);
        LLVMFuzzerTestOneInput(seeds[i].bytes, seeds[i].n);
    }
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        for (int k = 0; k < 50; k++, n++) {
            if (fuzz_target.make) {
                fuzz_target.make(&in);
            } else {
                in = seeds[fuzz_draw((uint64_t)fuzz_target.seeds)];
                for (uint64_t changes = fuzz_draw(6); changes; changes--)
                    change(&in);
            }
            LLVMFuzzerTestOneInput(in.bytes, in.n);
        }
    } while (n < inputs || seconds_since(&begin) < seconds);
    free(seeds);
    printf("%ld inputs\n", n);
}

static bool write_input(const char *dir, const char *name, int i, const struct fuzz_input *in)
{
    char path[4096];
    int fd;
    bool written;

    snprintf(path, sizeof path, "%s/%s%d", dir, name, i);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    written = fd >= 0 && write(fd, in->bytes, in->n) == (ssize_t)in->n;
    if (fd >= 0)
        close(fd);
    return written;
}

static int write_seeds(const char *dir)
{
    static struct fuzz_input in;

    for (int i = 0; i < fuzz_target.seeds; i++) {
        fuzz_target.seed(&in, i);
        if (!write_input(dir, "seed", i, &in))
            return 1;
    }
    return 0;
}

static bool read_hex(const char *line, struct fuzz_input *in)
{
    unsigned byte;
    int digits;

    for (in->n = 0; in->n < FUZZ_BYTES && sscanf(line, "%2x%n", &byte, &digits) == 1 && digits == 2; line += 2)
        in->bytes[in->n++] = (uint8_t)byte;
    return in->n && (*line == '\n' || !*line);
}

static int run_kept(const char *file, const char *dir)
{
    static struct fuzz_input in;
    FILE *f = fopen(file, "r");
    char *line = NULL;
    size_t size = 0;
    int n = 0;
    bool good = f;

    for (; good && getline(&line, &size, f) > 0; n += good) {
        good = read_hex(line, &in) && (!dir || write_input(dir, "kept", n, &in));
        if (good)
            LLVMFuzzerTestOneInput(in.bytes, in.n);
    }
    printf(good && n ? "%s: %d inputs kept\n" : "%s: line %d cannot be used\n", file, good ? n : n + 1);
    free(line);
    if (f)
        fclose(f);
    return good && n ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "seeds"))
        return write_seeds(argv[2]);
    if (argc >= 3 && !strcmp(argv[1], "kept"))
        return run_kept(argv[2], argv[3]);
    if (argc != 3)
        return 2;
    state = strtoull(argv[2], NULL, 10) * 2 + 1;
    printf("%s: seed %s, ", argv[0], argv[2]);
    fflush(stdout);
    if (argv[1][strspn(argv[1], "0123456789")] == 's')
        run(0, atof(argv[1]));
    else
        run(atol(argv[1]), 0);
    return 0;
}
