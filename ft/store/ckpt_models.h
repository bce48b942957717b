/* SPDX-License-Identifier: BSD-3-Clause */
/* Models for the tests of checkpoint files: every byte follows from version, section and place. */
#ifndef FT_STORE_CKPT_MODELS_H
#define FT_STORE_CKPT_MODELS_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ft/store/ckpt_dir.h"

#define TEST_PROGRAM "train.py"
#define TEST_SERIES "k3x9mmpq"

enum { TEST_RANKS = 3 };

static inline unsigned char test_byte(uint64_t version, uint32_t section, uint64_t at)
{
    uint64_t x = (version * 1000003 + section) * 1000033 + at;

    return (unsigned char)((x * 0x9e3779b97f4a7c15ull) >> 56);
}

/* Lengths differ between sections and versions; one is empty. With messages under way (format 2) in each second version. */
static inline uint64_t test_bytes(uint64_t version, uint32_t section)
{
    if (section > TEST_RANKS)
        return version % 2 || section == 2 * TEST_RANKS ? 0 : 90 * section;
    return section == 2 ? 0 : 700 + 100 * section + version % 7;
}

static inline int test_get(void *arg, uint32_t section, uint64_t at, void *to, size_t n)
{
    uint64_t version = *(const uint64_t *)arg;

    for (size_t i = 0; i < n; i++)
        ((unsigned char *)to)[i] = test_byte(version, section, at + i);
    return 0;
}

static inline void test_header(struct ft_ckpt_header *h, uint64_t version)
{
    struct ft_error e;

    if (ft_ckpt_header_new(h, TEST_RANKS, &e) < 0)
        abort();
    h->version = version;
    h->made_s = 1800000000 + version;
    strcpy(h->series, TEST_SERIES);
    strcpy(h->program, TEST_PROGRAM);
    for (uint32_t i = 0; i <= 2 * TEST_RANKS; i++)
        h->sections[i].bytes = test_bytes(version, i);
}

static inline int test_write(const struct ft_disk *disk, int dir, uint64_t version, uint64_t before, struct ft_error *e)
{
    struct ft_ckpt_models models = {test_get, NULL, &version};
    struct ft_ckpt_header h;
    int err;

    test_header(&h, version);
    err = ft_ckpt_dir_write(disk, dir, &h, before, &models, e);
    ft_ckpt_header_free(&h);
    return err;
}

/* What a reader gets. */
struct test_read {
    uint64_t version;  /* being read */
    bool wrong;        /* some byte is not the version's */
    int passed;        /* files that were passed over */
    char line[FT_ERROR_TEXT];  /* why the last one was */
};

static inline int test_begin(void *arg, const struct ft_ckpt_header *h, struct ft_error *e)
{
    struct test_read *r = arg;

    (void)e;
    r->version = h->version;
    r->wrong = false;
    for (uint32_t i = 0; i <= 2 * h->nranks; i++)
        r->wrong |= h->sections[i].bytes != test_bytes(h->version, i);
    return 0;
}

static inline int test_put(void *arg, uint32_t section, uint64_t at, const void *data, size_t n, struct ft_error *e)
{
    struct test_read *r = arg;

    (void)e;
    for (size_t i = 0; i < n; i++)
        r->wrong |= ((const unsigned char *)data)[i] != test_byte(r->version, section, at + i);
    return 0;
}

static inline void test_passed(void *arg, const char *line)
{
    struct test_read *r = arg;

    r->passed++;
    snprintf(r->line, sizeof r->line, "%s", line);
}

/* The version found, 0: none, or an error. -100: its content is wrong. */
static inline int test_load(int dir, struct test_read *r, struct ft_error *e)
{
    struct ft_ckpt_wanted wanted = {TEST_PROGRAM, TEST_RANKS, test_passed, r};
    struct ft_ckpt_sink sink = {test_begin, test_put, r};
    struct ft_ckpt_header h;
    int found, version;

    *r = (struct test_read){0};
    found = ft_ckpt_dir_load(dir, &wanted, &h, &sink, e);
    if (found <= 0)
        return found;
    version = r->wrong || h.version != r->version ? -100 : (int)h.version;
    ft_ckpt_header_free(&h);
    return version;
}

#endif
