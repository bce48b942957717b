/* SPDX-License-Identifier: BSD-3-Clause */
/* System calls that are not recorded (docs/outcomes.md): what a test program remembers from one incarnation to the next, and tells of
   itself to the test. An incarnation that goes on from a snapshot is given what its predecessor was told by anything else. Calls that the kernel counts
   as writes would be noticed, so bytes are put into files by splice. */
#ifndef COMPAT_TESTS_LIB_OUTSIDE_H
#define COMPAT_TESTS_LIB_OUTSIDE_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/* As syscall(2), but the result is that of the kernel: below 0 the negative errno. */
static inline long outside(long number, long a, long b, long c, long d)
{
#if defined(__x86_64__)
    register long r10 __asm__("r10") = d;
    long result;

    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c, x3 __asm__("x3") = d;

    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    return x0;
#else
    return syscall(number, a, b, c, d);
#endif
}

/* From a pipe to a file. */
static inline long outside_splice(int from, int to, off_t *at, size_t n)
{
#if defined(__x86_64__)
    register long r10 __asm__("r10") = (long)at, r8 __asm__("r8") = (long)n, r9 __asm__("r9") = 0;
    long result;

    __asm__ volatile("syscall" : "=a"(result) : "a"((long)SYS_splice), "D"((long)from), "S"(0L), "d"((long)to), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
    return result;
#else
    return syscall(SYS_splice, from, NULL, to, at, n, 0);
#endif
}

static inline int outside_open(const char *path, int flags, mode_t mode)
{
    return (int)outside(SYS_openat, AT_FDCWD, (long)path, flags, (long)mode);
}

static inline int outside_close(int fd) { return (int)outside(SYS_close, fd, 0, 0, 0); }

/* n bytes, at most a page, at `at`; 0, or -1. */
static inline int outside_put(int fd, const void *from, size_t n, off_t at)
{
    static int ends[2] = {-1, -1};
    struct iovec piece = {(void *)(uintptr_t)from, n};
    char left[256];

    if (ends[0] < 0 && outside(SYS_pipe2, (long)ends, O_CLOEXEC | O_NONBLOCK, 0, 0) < 0)
        return -1;
    while (outside(SYS_read, ends[0], (long)left, sizeof left, 0) > 0) /* of a predecessor */
        ;
    if (outside(SYS_vmsplice, ends[1], (long)&piece, 1, 0) != (long)n)
        return -1;
    return outside_splice(ends[0], fd, &at, n) == (long)n ? 0 : -1;
}

static inline ssize_t outside_pread(int fd, void *to, size_t n, off_t at) { return outside(SYS_pread64, fd, (long)to, (long)n, at); }
static inline off_t outside_size(int fd) { return outside(SYS_lseek, fd, 0, SEEK_END, 0); }
static inline pid_t outside_pid(void) { return (pid_t)outside(SYS_getpid, 0, 0, 0, 0); }

#endif
