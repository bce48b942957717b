/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "ft/store/ckpt_header.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "ft/base/util.h"

#define MAGIC UINT64_C(0x504b4349504d5446) /* "FTMPICKP" */

enum {
    AT_MAGIC = 0, AT_FORMAT = 8, AT_LENGTH = 12, AT_FILE = 16, AT_PREFIX_HASH = 24, AT_REST_HASH = 32,
    AT_VERSION = 40, AT_MADE = 48, AT_SERIES = 56, AT_RANKS = 72, AT_PROGRAM_BYTES = 76, AT_SECTIONS = 80,
    SECTION = 16, ALIGN = 64
};

static void put32(char *at, uint32_t v)
{
    v = htole32(v);
    memcpy(at, &v, sizeof v);
}

static void put64(char *at, uint64_t v)
{
    v = htole64(v);
    memcpy(at, &v, sizeof v);
}

static uint32_t get32(const char *at)
{
    uint32_t v;

    memcpy(&v, at, sizeof v);
    return le32toh(v);
}

static uint64_t get64(const char *at)
{
    uint64_t v;

    memcpy(&v, at, sizeof v);
    return le64toh(v);
}

static uint64_t prefix_hash(const char *bytes)
{
    return XXH3_64bits(bytes, AT_PREFIX_HASH);
}

static uint64_t rest_hash(const char *bytes, size_t n)
{
    return XXH3_64bits(bytes + AT_VERSION, n - AT_VERSION);
}

static uint64_t length_of(uint64_t sections, uint64_t program_bytes)
{
    return ft_align(AT_SECTIONS + SECTION * sections + program_bytes, ALIGN);
}

static bool has_carried(const struct ft_ckpt_header *h)
{
    bool has = false;

    for (uint32_t i = 1 + h->nranks; i <= 2 * h->nranks; i++)
        has = has || h->sections[i].bytes;
    return has;
}

uint32_t ft_ckpt_header_sections(const struct ft_ckpt_header *h) { return 1 + h->nranks * (1 + has_carried(h)); }

int ft_ckpt_header_new(struct ft_ckpt_header *h, uint32_t nranks, struct ft_error *e)
{
    *h = (struct ft_ckpt_header){.nranks = nranks, .sections = calloc(2 * nranks + 1u, sizeof *h->sections)};
    return h->sections ? 0 : ft_err_set(e, FT_ENOMEM, "out of memory");
}

void ft_ckpt_header_free(struct ft_ckpt_header *h)
{
    free(h->sections);
    h->sections = NULL;
}

size_t ft_ckpt_header_bytes(const struct ft_ckpt_header *h)
{
    return length_of(ft_ckpt_header_sections(h), strlen(h->program));
}

uint64_t ft_ckpt_header_file_bytes(const struct ft_ckpt_header *h)
{
    uint64_t bytes = ft_ckpt_header_bytes(h);

    for (uint32_t i = 0; i < ft_ckpt_header_sections(h); i++)
        bytes += h->sections[i].bytes;
    return bytes;
}

void ft_ckpt_header_encode(const struct ft_ckpt_header *h, void *out)
{
    size_t n = ft_ckpt_header_bytes(h), program_bytes = strlen(h->program);
    char *bytes = out, *at = bytes + AT_SECTIONS;
    uint32_t sections = ft_ckpt_header_sections(h);

    memset(bytes, 0, n);
    put64(bytes + AT_VERSION, h->version);
    put64(bytes + AT_MADE, h->made_s);
    memcpy(bytes + AT_SERIES, h->series, strnlen(h->series, FT_CKPT_SERIES));
    put32(bytes + AT_RANKS, h->nranks);
    put32(bytes + AT_PROGRAM_BYTES, (uint32_t)program_bytes);
    for (uint32_t i = 0; i < sections; i++, at += SECTION) {
        put64(at, h->sections[i].bytes);
        put64(at + 8, h->sections[i].hash);
    }
    memcpy(at, h->program, program_bytes);
    put64(bytes + AT_REST_HASH, rest_hash(bytes, n));

    put64(bytes + AT_MAGIC, MAGIC);
    put32(bytes + AT_FORMAT, has_carried(h) ? 2 : 1);
    put32(bytes + AT_LENGTH, (uint32_t)n);
    put64(bytes + AT_FILE, ft_ckpt_header_file_bytes(h));
    put64(bytes + AT_PREFIX_HASH, prefix_hash(bytes));
}

int ft_ckpt_header_length(const void *prefix, uint64_t file_bytes, size_t *length, struct ft_error *e)
{
    const char *bytes = prefix;

    if (get64(bytes + AT_MAGIC) != MAGIC)
        return ft_err_set(e, FT_EDAMAGED, "it does not begin as a checkpoint does");
    if (get64(bytes + AT_PREFIX_HASH) != prefix_hash(bytes))
        return ft_err_set(e, FT_EDAMAGED, "its first bytes are damaged (checksum)");
    if (!get32(bytes + AT_FORMAT))
        return ft_err_set(e, FT_EDAMAGED, "its first bytes are damaged (format)");
    if (get32(bytes + AT_FORMAT) > FT_CKPT_FORMAT)
        return ft_err_set(e, FT_EINVAL, "it has format %u, of a newer ftmpi; this one reads up to format %d", get32(bytes + AT_FORMAT),
                          FT_CKPT_FORMAT);
    if (get64(bytes + AT_FILE) != file_bytes)
        return ft_err_set(e, FT_EDAMAGED, "it has %llu byte%s and should have %llu", (unsigned long long)file_bytes, ft_plural(file_bytes),
                          (unsigned long long)get64(bytes + AT_FILE));
    *length = get32(bytes + AT_LENGTH);
    if (*length < AT_SECTIONS + SECTION || *length > FT_CKPT_HEADER_MAX || *length > file_bytes || *length % ALIGN)
        return ft_err_set(e, FT_EDAMAGED, "its header is damaged (length)");
    return 0;
}

static int damaged(struct ft_error *e)
{
    return ft_err_set(e, FT_EDAMAGED, "its header is damaged (contradictions)");
}

static bool only_zeros(const char *from, const char *to)
{
    while (from < to)
        if (*from++)
            return false;
    return true;
}

/* A text that fills its field only up to a 0, and has nothing in it that must not get into a line. */
static bool is_text(const char *text, size_t n)
{
    size_t len = strnlen(text, n);

    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 127)
            return false;
    return len && only_zeros(text + len, text + n);
}

static int decode_sections(struct ft_ckpt_header *h, uint32_t sections, const char *bytes, size_t n, uint64_t file_bytes, struct ft_error *e)
{
    uint64_t total = n;

    for (uint32_t i = 0; i < sections; i++) {
        const char *at = bytes + AT_SECTIONS + (size_t)SECTION * i;

        h->sections[i] = (struct ft_ckpt_section){get64(at), get64(at + 8)};
        if (h->sections[i].bytes > FT_CKPT_SECTION_MAX)
            return damaged(e);
        total += h->sections[i].bytes; /* no overflow: 2^17 sections of 2^40 bytes */
    }
    return total == file_bytes && sections == ft_ckpt_header_sections(h) ? 0 : damaged(e);
}

int ft_ckpt_header_decode(struct ft_ckpt_header *h, const void *data, size_t n, uint64_t file_bytes, struct ft_error *e)
{
    const char *bytes = data, *program;
    uint64_t nranks, program_bytes, sections;
    int err;

    if (get64(bytes + AT_REST_HASH) != rest_hash(bytes, n))
        return ft_err_set(e, FT_EDAMAGED, "its header is damaged (checksum)");
    nranks = get32(bytes + AT_RANKS);
    program_bytes = get32(bytes + AT_PROGRAM_BYTES);
    sections = 1 + nranks * get32(bytes + AT_FORMAT);
    if (!nranks || nranks > FT_CKPT_RANKS || !program_bytes || program_bytes >= FT_CKPT_PROGRAM || n != length_of(sections, program_bytes) ||
        !get64(bytes + AT_VERSION) || !is_text(bytes + AT_SERIES, FT_CKPT_SERIES) || bytes[AT_SERIES + FT_CKPT_SERIES - 1])
        return damaged(e);
    program = bytes + AT_SECTIONS + SECTION * sections;
    if (!is_text(program, program_bytes) || program[program_bytes - 1] == 0 || !only_zeros(program + program_bytes, bytes + n))
        return damaged(e);
    if (ft_ckpt_header_new(h, (uint32_t)nranks, e) < 0)
        return FT_ENOMEM;
    h->version = get64(bytes + AT_VERSION);
    h->made_s = get64(bytes + AT_MADE);
    memcpy(h->series, bytes + AT_SERIES, FT_CKPT_SERIES);
    memcpy(h->program, program, program_bytes);
    err = decode_sections(h, (uint32_t)sections, bytes, n, file_bytes, e);
    if (err < 0)
        ft_ckpt_header_free(h);
    return err;
}
