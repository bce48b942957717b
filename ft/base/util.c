/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/base/util.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

uint64_t ft_page_bytes(void) { return (uint64_t)getpagesize(); }

char *ft_number_write(char *to, uint64_t value)
{
    char digits[24];
    int n = 0;

    do
        digits[n++] = (char)('0' + value % 10);
    while (value /= 10);
    while (n > 0)
        *to++ = digits[--n];
    *to = 0;
    return to;
}

uint64_t ft_number_read(const char **at, unsigned base)
{
    uint64_t value = 0;

    for (;; (*at)++) {
        unsigned char c = (unsigned char)**at;
        unsigned digit = c >= '0' && c <= '9' ? c - (unsigned)'0' : c >= 'a' && c <= 'f' ? c - (unsigned)'a' + 10 : base;

        if (digit >= base)
            return value;
        value = value * base + digit;
    }
}

static struct iovec piece(const char *text) { return (struct iovec){(void *)(uintptr_t)text, strlen(text)}; }

/* Without standard error's stream: another thread may have its lock, and stand still. */
void ft_broken(const char *invariant, const char *file, int line)
{
    char number[24];
    struct iovec text[] = {piece("ftmpi: broken invariant: "), piece(invariant), piece(" ("), piece(file), piece(":"),
                           {number, (size_t)(ft_number_write(number, (uint64_t)line) - number)}, piece("). This is a bug in ftmpi.\n")};

    syscall(SYS_writev, STDERR_FILENO, text, sizeof text / sizeof *text);
    abort();
}
