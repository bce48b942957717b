/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_plain seeds DIR: writes the fuzzer's first inputs there. fuzz_plain SECONDS [SEED]: runs the target on these, changed at random,
   for compilers without libFuzzer. */
#include "config.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "ft/test/ckpt_models.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { SEEDS = 4, ROOM = 1 << 14 };

struct input {
    uint8_t bytes[ROOM];
    size_t n;
};

static int get(void *arg, uint32_t section, uint64_t at, void *to, size_t n)
{
    return test_get(arg, section, at, to, n);
}

static ssize_t keep(void *arg, int fd, const void *data, size_t n, uint64_t at)
{
    struct input *in = arg;

    (void)fd;
    memcpy(in->bytes + 1 + at, data, n);
    in->n = in->n < 1 + at + n ? 1 + at + n : in->n;
    return (ssize_t)n;
}

static int yes(void *arg, int fd)
{
    (void)arg;
    (void)fd;
    return 0;
}

static int yes_name(void *arg, int dir, const char *name)
{
    (void)name;
    return yes(arg, dir);
}

static int yes_names(void *arg, int dir, const char *from, const char *to)
{
    (void)from;
    (void)to;
    return yes(arg, dir);
}

static int yes_bytes(void *arg, int fd, uint64_t bytes)
{
    (void)bytes;
    return yes(arg, fd);
}

/* 0: no models; 1: ranks with models; 2: one rank and a long name; 3: many ranks. */
static void make_seed(struct input *in, int which)
{
    static const uint32_t ranks[SEEDS] = {1, TEST_RANKS, 1, 200};
    struct ft_disk disk = {in, yes_name, yes_bytes, keep, yes, yes, yes_names, yes_name, NULL};
    uint64_t version = (uint64_t)which + 1;
    struct ft_ckpt_models models = {get, NULL, &version};
    struct ft_ckpt_header h;
    struct ft_error e;

    if (ft_ckpt_header_new(&h, ranks[which], &e) < 0)
        abort();
    h.version = version;
    strcpy(h.series, TEST_SERIES);
    memset(h.program, 'p', which == 2 ? FT_CKPT_PROGRAM - 1 : 5);
    for (uint32_t i = 0; which && i <= h.nranks; i++)
        h.sections[i].bytes = which == 3 ? i % 3 : test_bytes(version, i);
    in->n = 0;
    in->bytes[0] = 7;
    if (ft_ckpt_file_write(&disk, 0, "x", "y", &h, &models, &e) < 0)
        abort();
    ft_ckpt_header_free(&h);
}

static uint64_t state;

static uint64_t draw(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

static void change(struct input *in)
{
    static const uint64_t numbers[] = {0, 1, 63, 64, 65, 255, 1 << 16, 0x7fffffff, 0xffffffff, 1ull << 40, 1ull << 63, UINT64_MAX};
    size_t at = draw(2) ? draw(in->n) : draw(in->n < 160 ? in->n : 160);
    uint64_t number = numbers[draw(sizeof numbers / sizeof numbers[0])];

    switch (draw(5)) {
    case 0:
        in->bytes[at] ^= (uint8_t)(1 << draw(8));
        break;
    case 1:
        in->bytes[at] = (uint8_t)draw(256);
        break;
    case 2:
        if (at + 8 <= in->n)
            memcpy(in->bytes + at, &number, draw(2) ? 8 : 4);
        break;
    case 3:
        in->n = 1 + draw(in->n);
        break;
    default:
        in->bytes[0] = (uint8_t)draw(8);
    }
}

static void run(double seconds)
{
    static struct input seeds[SEEDS], in;
    struct timespec begin, now;
    long n = 0;

    for (int i = 0; i < SEEDS; i++)
        make_seed(&seeds[i], i);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        for (int k = 0; k < 1000; k++, n++) {
            in = seeds[draw(SEEDS)];
            for (uint64_t changes = draw(6); changes; changes--)
                change(&in);
            LLVMFuzzerTestOneInput(in.bytes, in.n);
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) / 1e9 < seconds);
    printf("%ld inputs\n", n);
}

static int write_seeds(const char *dir)
{
    static struct input in;
    char path[4096];

    for (int i = 0; i < SEEDS; i++) {
        int fd;

        make_seed(&in, i);
        snprintf(path, sizeof path, "%s/seed%d", dir, i);
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (fd < 0 || write(fd, in.bytes, in.n) != (ssize_t)in.n)
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
