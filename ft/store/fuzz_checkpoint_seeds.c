/* SPDX-License-Identifier: BSD-3-Clause */
/* What fuzz_checkpoint.c begins with: checkpoint files as they are written. */
#include "config.h"

#include "ft/store/ckpt_models.h"
#include "ft/test/fuzz_driver.h"

enum { SEEDS = 5 };

static int get(void *arg, uint32_t section, uint64_t at, void *to, size_t n)
{
    return test_get(arg, section, at, to, n);
}

static ssize_t keep(void *arg, int fd, const void *data, size_t n, uint64_t at)
{
    struct fuzz_input *in = arg;

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

/* 0: no models; 1: ranks with models; 2: one rank and a long name; 3: many ranks; 4: with messages under way. */
static void seed(struct fuzz_input *in, int which)
{
    static const uint32_t ranks[SEEDS] = {1, TEST_RANKS, 1, 200, TEST_RANKS};
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
    for (uint32_t i = 0; which == 4 && i < 2; i++)
        h.sections[1 + TEST_RANKS + i].bytes = 3 + i;
    in->n = 0;
    in->bytes[0] = 7;
    if (ft_ckpt_file_write(&disk, 0, "x", "y", &h, &models, &e) < 0)
        abort();
    ft_ckpt_header_free(&h);
}

const struct fuzz_target fuzz_target = {.seeds = SEEDS, .seed = seed, .kinds = 8, .head = 160};
