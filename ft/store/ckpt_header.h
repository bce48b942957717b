/* SPDX-License-Identifier: BSD-3-Clause */
/* What a checkpoint file begins with (docs/internals/checkpoints.md, "Durable checkpoints"): to
   whom it belongs, and length and XXH3 hash of each section that follows. Section 0 is the global
   model, 1 + r the local model of rank r, one behind the other. Format 2 has as many sections again as ranks: what each rank's checkpoint
   carries besides, messages under way above all (ft/carry.h). It is written where any of these has a byte, else format 1.

     at 0   magic, format, bytes of the header, bytes of the file, hash of these     the same in all formats ever
     at 32  hash of the rest of the header
     at 40  version, seconds since 1970, series, ranks, bytes of the program's name, sections, the name, zeros up to a multiple of 64

   Numbers are little-endian. A header has one encoding only: what is accepted is encoded again to the same bytes. */
#ifndef FT_STORE_CKPT_HEADER_H
#define FT_STORE_CKPT_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ft/base/err.h"

enum {
    FT_CKPT_FORMAT = 2,       /* the newest */
    FT_CKPT_PREFIX = 32,      /* bytes that can be read whatever the format */
    FT_CKPT_SERIES = 16,
    FT_CKPT_PROGRAM = 1024,
    FT_CKPT_RANKS = 65536,    /* at most */
    FT_CKPT_HEADER_MAX = 4 << 20
};
#define FT_CKPT_SECTION_MAX (UINT64_C(1) << 40)  /* bytes */

struct ft_ckpt_section {
    uint64_t bytes, hash;
};

struct ft_ckpt_header {
    uint64_t version;                   /* from 1 */
    uint64_t made_s;                    /* seconds since 1970 */
    char series[FT_CKPT_SERIES];        /* the job that made the first of them; those that resume it go on with it */
    char program[FT_CKPT_PROGRAM];      /* what is run, for people and to be compared; 1 byte at least */
    uint32_t nranks;
    struct ft_ckpt_section *sections;   /* 1 + 2 * nranks; owned */
};

/* Those that a file of it has: the last nranks ones only if any of them has a byte. */
uint32_t ft_ckpt_header_sections(const struct ft_ckpt_header *h);

/* Room for the sections, all empty. FT_ENOMEM. */
int ft_ckpt_header_new(struct ft_ckpt_header *h, uint32_t nranks, struct ft_error *e);
void ft_ckpt_header_free(struct ft_ckpt_header *h);

/* Lengths of its encoding and of the whole file. The first section follows the header. */
size_t ft_ckpt_header_bytes(const struct ft_ckpt_header *h);
uint64_t ft_ckpt_header_file_bytes(const struct ft_ckpt_header *h);

/* ft_ckpt_header_bytes(h) bytes at out. */
void ft_ckpt_header_encode(const struct ft_ckpt_header *h, void *out);

/* How long the header is that begins with FT_CKPT_PREFIX bytes, in a file of so many. FT_EDAMAGED; FT_EINVAL: of a newer ftmpi. */
int ft_ckpt_header_length(const void *prefix, uint64_t file_bytes, size_t *length, struct ft_error *e);

/* The n bytes of the header that begins that file. After 0, ft_ckpt_header_free. FT_EDAMAGED, FT_ENOMEM. */
int ft_ckpt_header_decode(struct ft_ckpt_header *h, const void *bytes, size_t n, uint64_t file_bytes, struct ft_error *e);

#endif
