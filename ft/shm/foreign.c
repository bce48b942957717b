/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/foreign.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ft/base/util.h"

enum {
    LOOK = 512,     /* pages at once */
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

/* Pages that are there: the program may have unmapped what it had, and mapped something anew that it has not touched. */
static void write_present(char *from, uint64_t pages, uint64_t page)
{
    unsigned char there[LOOK];

    for (uint64_t k; pages; pages -= k, from += k * page) {
        k = ft_min(pages, LOOK);
        if (mincore(from, k * page, there) != 0)
            continue; /* nothing, at least in a part of it */
        for (uint64_t i = 0, run; i < k; i += run) {
            for (run = 1; i + run < k && !((there[i] ^ there[i + run]) & 1); run++)
                ;
            if (there[i] & 1)
                madvise(from + i * page, run * page, MADV_POPULATE_WRITE);
        }
    }
}

void ft_foreign_unshare(const void *at, uint64_t n)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = (uintptr_t)at / page * page;

    if (n)
        write_present((char *)from, (ft_align((uintptr_t)at + n, page) - from) / page, page);
}
