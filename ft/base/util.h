/* SPDX-License-Identifier: BSD-3-Clause */
/* Small arithmetic that every part needs. */
#ifndef FT_BASE_UTIL_H
#define FT_BASE_UTIL_H

#include <stddef.h>
#include <stdint.h>

/* Words of 64 bits are waited for by their first four bytes, the kernel's futex, and a job's memory needs addresses of 64 bits (docs/portability.md). */
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ || __SIZEOF_POINTER__ != 8
#error "ftmpi needs a little-endian machine with addresses of 64 bits"
#endif

/* A function of every short call. The linker puts these next to each other (ft/test/hot.sh): a rank that shares its processor with more ranks than
   Linux keeps translations for begins each turn with none, and its calls should need few. */
#define FT_HOT __attribute__((hot))

enum { FT_LINE = 64 }; /* bytes of a cache line: layouts are laid out in these */

static inline uint64_t ft_min(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t ft_max(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* a rounded up to a multiple of `to`, a power of two. */
static inline uint64_t ft_align(uint64_t a, uint64_t to) { return (a + to - 1) & ~(to - 1); }

static inline uint64_t ft_div_up(uint64_t a, uint64_t by) { return (a + by - 1) / by; }

/* The end of a noun that n of are counted: "%u rank%s". */
static inline const char *ft_plural(uint64_t n) { return n == 1 ? "" : "s"; }

/* Of memory of this machine: 4 KiB, or up to 64. */
uint64_t ft_page_bytes(void);

/* Numbers as text without the C library, which has locks and a locale. Written in decimal digits, with a zero after the last one, where the
   result points. */
char *ft_number_write(char *to, uint64_t value);

/* Read in decimal or hexadecimal digits; *at is behind the last one, where it is if there is none. */
uint64_t ft_number_read(const char **at, unsigned base);

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* madvise(2), Linux 5.14; older kernels say EINVAL */
#endif

/* Always on. A broken invariant says which one and stops the process: the alternative is a wrong number. */
void ft_broken(const char *invariant, const char *file, int line) __attribute__((noreturn, cold));
#define FT_INVARIANT(cond, text) \
    do { if (__builtin_expect(!(cond), 0)) ft_broken(text, __FILE__, __LINE__); } while (0)

#endif
