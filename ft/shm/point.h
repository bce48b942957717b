/* SPDX-License-Identifier: BSD-3-Clause */
/* Crash points: the places at which the explorer (ft/test/explore.c) may switch ranks or kill one.

   A point is one `nop` of five bytes whose address is listed in the section ft_points, as static tracepoints
   are. The explorer overwrites the nops of the very object code that ships with jumps and is called at each
   of them (ft/test/points.c); everybody else executes a nop. There is a point before every store to shared memory and in
   every turn of a wait, so "between any two stores" and "while waiting" are all places where a kill can
   matter: what a rank does in its private memory nobody sees. */
#ifndef FT_SHM_POINT_H
#define FT_SHM_POINT_H

#include <stddef.h>
#include <stdint.h>

enum ft_point_kind {
    FT_POINT_STORE = 0,  /* one word is about to be stored */
    FT_POINT_BULK = 1,   /* bytes are about to be written: destination in rdi, number in rsi */
    FT_POINT_WAIT = 2,   /* nothing can be done until another rank has stored something */
    FT_POINT_LOOK = 3,   /* shared words are about to be looked at again: others may have moved on */
    FT_POINT_SLEEP = 4   /* as long as a word of 32 bits is what it was: the word in rdi, that in rsi */
};

/* What the section holds. */
struct ft_point {
    int32_t at;    /* address of the nop, relative to this field */
    int32_t kind;
};

#define FT_POINT_NOP "\x0f\x1f\x44\x00\x00"

#if defined(__x86_64__)
#define FT_POINT_ASM(kind, ...)                                         \
    __asm__ volatile("771: .byte 0x0f, 0x1f, 0x44, 0, 0\n\t"            \
                     ".pushsection ft_points,\"a\",@progbits\n\t"       \
                     ".balign 4\n\t"                                    \
                     ".long 771b - .\n\t"                               \
                     ".long %c0\n\t"                                    \
                     ".popsection"                                      \
                     : : "i"(kind), ##__VA_ARGS__ : "memory")
#else
#define FT_POINT_ASM(kind, ...) __asm__ volatile("" : : : "memory")
#endif

static inline __attribute__((always_inline)) void ft_point_store(void) { FT_POINT_ASM(FT_POINT_STORE); }
static inline __attribute__((always_inline)) void ft_point_wait(void) { FT_POINT_ASM(FT_POINT_WAIT); }
static inline __attribute__((always_inline)) void ft_point_look(void) { FT_POINT_ASM(FT_POINT_LOOK); }
static inline __attribute__((always_inline)) void ft_point_bulk(void *to, size_t n)
{
    (void)to;
    (void)n;
    FT_POINT_ASM(FT_POINT_BULK, "D"(to), "S"(n));
}
static inline __attribute__((always_inline)) void ft_point_sleep(const void *word, uint32_t seen)
{
    (void)word;
    (void)seen;
    FT_POINT_ASM(FT_POINT_SLEEP, "D"(word), "S"((size_t)seen));
}

#endif
