/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/foreign.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ft/base/util.h"

enum {
    PAGE = 4096,
    MOST = 1 << 30  /* bytes of one system call: it reads 2 GiB at most */
};

uint64_t ft_foreign_self(void)
{
    return (uint64_t)syscall(SYS_getpid); /* what the program is told may be its predecessor's */
}

static bool read_some(pid_t process, uint64_t token_at, const struct ft_token *expected, uint64_t from, void *to, uint64_t n)
{
    struct ft_token token;
    struct iovec here[2] = { { to, n }, { &token, sizeof token } };
    struct iovec there[2] = { { (void *)(uintptr_t)from, n }, { (void *)(uintptr_t)token_at, sizeof token } };

    if (!expected)
        return process_vm_readv(process, here, 1, there, 1, 0) == (ssize_t)n;
    return process_vm_readv(process, here, 2, there, 2, 0) == (ssize_t)(n + sizeof token) && memcmp(&token, expected, sizeof token) == 0;
}

bool ft_foreign_read(uint64_t process, uint64_t token_at, const struct ft_token *expected, uint64_t from, void *to, uint64_t n)
{
    bool good = true;

    for (uint64_t k; n > 0 && good; n -= k, from += k, to = (char *)to + k) {
        k = ft_min(n, MOST);
        good = read_some((pid_t)process, token_at, expected, from, to, k);
    }
    return good;
}

void ft_foreign_unshare(const void *at, uint64_t n)
{
    uintptr_t from = (uintptr_t)at / PAGE * PAGE, to = ft_align((uintptr_t)at + n, PAGE);

    if (n)
        madvise((void *)from, to - from, MADV_POPULATE_WRITE);
}
