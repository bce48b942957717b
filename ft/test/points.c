/* SPDX-License-Identifier: BSD-3-Clause */
/* Crash points made to stop: each is a nop of five bytes (ft/shm/point.h), which becomes a jump to a few instructions of its
   own. These call stop_at_point() with everything saved, and jump back. A breakpoint would do with one byte, but costs a signal,
   2 us; a search passes tens of millions of points. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ft/test/coroutine.h"

extern const struct ft_point __start_ft_points[], __stop_ft_points[];

enum { POINT_BYTES = 5, DETOUR_BYTES = 32 };

/* In the program itself, where jumps reach. */
static unsigned char detours[MAX_POINTS][DETOUR_BYTES] __attribute__((aligned(4096)));

uint32_t npoints(void) { return (uint32_t)(__stop_ft_points - __start_ft_points); }
uint32_t point_number(const struct ft_point *p) { return (uint32_t)(p - __start_ft_points); }

#if defined(__x86_64__)
/* Called by a detour; the number of the point lies above the return address. As compilers see it, a point changes flags, memory
   and nothing else, so that all is saved that a C function may change, vectors in full (the component bitmap 0xe7: x87,
   SSE, AVX and AVX-512). rdi and rsi are what they are at the point: stop_at_point()'s first arguments. */
__asm__(".pushsection .text\n"
        "point_reached:\n"
        "  pushfq\n"
        "  push %rax\n  push %rcx\n  push %rdx\n  push %rdi\n  push %rsi\n"
        "  push %r8\n  push %r9\n  push %r10\n  push %r11\n  push %rbx\n"
        "  mov %rsp, %rbx\n"
        "  mov 96(%rbx), %ecx\n"
        "  sub $2816, %rsp\n"
        "  and $-64, %rsp\n"
        "  xor %eax, %eax\n"
        "  mov %rax, 512(%rsp)\n  mov %rax, 520(%rsp)\n  mov %rax, 528(%rsp)\n  mov %rax, 536(%rsp)\n"
        "  mov %rax, 544(%rsp)\n  mov %rax, 552(%rsp)\n  mov %rax, 560(%rsp)\n  mov %rax, 568(%rsp)\n"
        "  mov $0xe7, %eax\n"
        "  xor %edx, %edx\n"
        "  xsave64 (%rsp)\n"
        "  mov %ecx, %edx\n"
        "  cld\n"
        "  call stop_at_point\n"
        "  mov $0xe7, %eax\n"
        "  xor %edx, %edx\n"
        "  xrstor64 (%rsp)\n"
        "  mov %rbx, %rsp\n"
        "  pop %rbx\n  pop %r11\n  pop %r10\n  pop %r9\n  pop %r8\n"
        "  pop %rsi\n  pop %rdi\n  pop %rdx\n  pop %rcx\n  pop %rax\n"
        "  popfq\n"
        "  ret\n"
        ".popsection");
void point_reached(void);

static unsigned char *put(unsigned char *to, const void *bytes, size_t n) { return (unsigned char *)memcpy(to, bytes, n) + n; }

/* call (0xe8) or jmp (0xe9) TARGET. */
static unsigned char *put_jump(unsigned char *to, unsigned char opcode, const void *target)
{
    int32_t distance = (int32_t)((const char *)target - (const char *)(to + POINT_BYTES));

    *to = opcode;
    memcpy(to + 1, &distance, sizeof distance);
    return to + POINT_BYTES;
}

/* The 128 bytes below the stack pointer belong to the function that is interrupted. */
static void make_detour(unsigned char *to, int32_t number, const unsigned char *back)
{
    to = put(to, "\x48\x8d\x64\x24\x80", 5);             /* lea -128(%rsp), %rsp */
    to = put(put(to, "\x68", 1), &number, sizeof number); /* push $number */
    to = put_jump(to, 0xe8, (const void *)point_reached);
    to = put(to, "\x48\x8d\xa4\x24\x88\0\0\0", 8);        /* lea 136(%rsp), %rsp */
    put_jump(to, 0xe9, back);
}

static void need(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "points: %s\n", what);
    exit(2);
}

/* Code, which compilers must not take for a part of the table because it is found relative to that. */
static unsigned char *code_of(const struct ft_point *p)
{
    uintptr_t at = (uintptr_t)&p->at + (uintptr_t)(intptr_t)p->at;

    __asm__("" : "+r"(at));
    return (unsigned char *)at;
}

void divert_points(void)
{
    const int all = PROT_READ | PROT_WRITE | PROT_EXEC;

    need(npoints() > 0 && npoints() <= MAX_POINTS, "the number of crash points is not between 1 and MAX_POINTS");
    need(mprotect(detours, sizeof detours, all) == 0, "detours cannot be made executable");
    for (uint32_t i = 0; i < npoints(); i++) {
        unsigned char *at = code_of(&__start_ft_points[i]);
        void *page = (void *)((uintptr_t)at & ~4095ul);

        need(mprotect(page, 8192, all) == 0 && memcmp(at, FT_POINT_NOP, POINT_BYTES) == 0, "a crash point is not a nop that can be replaced");
        make_detour(detours[i], (int32_t)i, at + POINT_BYTES);
        put_jump(at, 0xe9, detours[i]);
    }
}
#else
void divert_points(void)
{
    puts("crash points are made to stop by jumps, which points.c knows for x86-64 only");
    exit(77);
}
#endif
