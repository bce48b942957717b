/* SPDX-License-Identifier: BSD-3-Clause */
/* The checkpoint reader on arbitrary bytes (libFuzzer's entry point; fuzz_driver.c drives it without). The first byte says which checksums are
   made right, for most of the reader lies behind them. What is accepted must be encoded again to the same bytes, and its models must
   lie in the file one behind the other. */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "ft/base/util.h"
#include "ft/store/ckpt_file.h"
#include "ft/test/fuzz_driver.h"

enum { FIX_PREFIX = 1, FIX_REST = 2, FIX_LENGTH = 4 };

struct file {
    const char *bytes;
    size_t n;
    uint64_t at;       /* where the next part of a model must be */
    uint32_t section;
};

static int read_part(void *arg, uint64_t at, void *to, size_t n)
{
    const struct file *f = arg;

    FT_INVARIANT(at <= f->n && n <= f->n - at, "nothing is read behind the end");
    memcpy(to, f->bytes + at, n);
    return 0;
}

static int begin(void *arg, const struct ft_ckpt_header *h, struct ft_error *e)
{
    struct file *f = arg;

    (void)e;
    f->at = ft_ckpt_header_bytes(h);
    return 0;
}

static int put_part(void *arg, uint32_t section, uint64_t at, const void *data, size_t n, struct ft_error *e)
{
    struct file *f = arg;

    (void)at;
    (void)e;
    FT_INVARIANT(section >= f->section && f->at + n <= f->n, "models follow each other");
    FT_INVARIANT(!memcmp(f->bytes + f->at, data, n), "a model is what the file has");
    f->section = section;
    f->at += n;
    return 0;
}

static void put64(char *at, uint64_t v)
{
    memcpy(at, &v, sizeof v);
}

static void fix(char *bytes, size_t n, int what)
{
    uint32_t length;

    if (n < 80)
        return;
    if (what & FIX_LENGTH)
        put64(bytes + 16, n);
    memcpy(&length, bytes + 12, sizeof length);
    if (what & FIX_REST && length > 40 && length <= n)
        put64(bytes + 32, XXH3_64bits(bytes + 40, length - 40));
    if (what & FIX_PREFIX)
        put64(bytes + 24, XXH3_64bits(bytes, 24));
}

static void check_accepted(const struct ft_ckpt_header *h, const struct file *f)
{
    size_t n = ft_ckpt_header_bytes(h);
    char *again = malloc(n);

    FT_INVARIANT(again, "there is memory for a header");
    FT_INVARIANT(n <= f->n && ft_ckpt_header_file_bytes(h) == f->n, "header and models are the file");
    ft_ckpt_header_encode(h, again);
    FT_INVARIANT(!memcmp(again, f->bytes, n), "a header has one encoding");
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *bytes;
    struct file f;
    struct ft_ckpt_header h;
    struct ft_ckpt_sink sink = {begin, put_part, &f};
    struct ft_ckpt_source source = {0, read_part, &f};
    struct ft_error e = {""};

    if (!n)
        return 0;
    bytes = malloc(n); /* exactly: AddressSanitizer sees one byte more */
    memcpy(bytes, data + 1, n - 1);
    fix(bytes, n - 1, data[0]);
    f = (struct file){.bytes = bytes, .n = n - 1};
    source.bytes = n - 1;
    if (ft_ckpt_file_header(&source, &h, &e) == 0) {
        check_accepted(&h, &f);
        if (ft_ckpt_file_models(&source, &h, &sink, &e) == 0)
            FT_INVARIANT(f.at == f.n, "accepted models fill the file");
        ft_ckpt_header_free(&h);
    } else {
        FT_INVARIANT(e.text[0] && !strchr(e.text, '\n'), "a refusal says why in one line");
    }
    free(bytes);
    return 0;
}
