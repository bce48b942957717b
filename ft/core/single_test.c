/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank lends (ft/core/single.h) is its own again behind a fork whose child lives. Else who reads there has the kernel copy it page by page, with an interrupt of the lender's
   processor for each: settled allgathers of 8 MiB took 2.8 ms, not 1.9. */
#include "ft/core/single.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ft/shm/region.h"

enum { PAGES = 16, PAGE = 4096 };

static struct ft_region region;
static struct ft_stream s;
static struct ft_patience patience;

static void set_up(void)
{
    struct ft_params p;
    struct ft_error e;

    ft_params_default(&p, 2, 2, 64u << 20);
    ft_params_single_copy(&p);
    cr_assert_eq(ft_region_create(&region, &p, &e), 0, "%s", e.text);
    ft_stream_open(&s, &region, 0, 0, "WORLD", &patience, -1, -1);
}

static void tear_down(void)
{
    ft_stream_close(&s);
    ft_region_close(&region);
}

TestSuite(single, .init = set_up, .fini = tear_down, .timeout = 60);

/* How many of these pages are mapped by nobody else: bit 56 of pagemap (Linux, admin-guide/mm/pagemap). */
static int exclusive(const char *memory)
{
    int fd = open("/proc/self/pagemap", O_RDONLY), n = 0;
    uint64_t entries[PAGES];

    cr_assert_geq(fd, 0);
    cr_assert_eq(pread(fd, entries, sizeof entries, (off_t)((uintptr_t)memory / PAGE * sizeof *entries)), (ssize_t)sizeof entries);
    close(fd);
    for (int i = 0; i < PAGES; i++)
        n += entries[i] >> 56 & 1;
    return n;
}

static char *map(int protection)
{
    char *memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    cr_assert_neq(memory, MAP_FAILED);
    memset(memory, 7, PAGES * PAGE);
    cr_assert_eq(mprotect(memory, PAGES * PAGE, protection), 0);
    return memory;
}

/* A child that has all of this memory, until it is ended. */
static pid_t copy(void)
{
    pid_t child = fork();

    cr_assert_geq(child, 0);
    if (child == 0)
        for (;;)
            pause();
    return child;
}

static void end(pid_t child)
{
    kill(child, SIGKILL);
    cr_assert_eq(waitpid(child, NULL, 0), child);
}

static void lend_twice(const char *at, uint64_t n)
{
    ft_single_lend(&s, at, n);
    ft_single_lend(&s, at, n);
}

Test(single, what_is_lent_is_not_shared_with_a_copy)
{
    char *lent = map(PROT_READ | PROT_WRITE), *part = map(PROT_READ | PROT_WRITE), *other = map(PROT_READ | PROT_WRITE), *constant = map(PROT_READ);
    pid_t child;

    ft_single_lend(&s, lent, 5 * PAGE);
    lend_twice(part + PAGE + 100, 2 * PAGE);
    lend_twice(constant, PAGES * PAGE);
    ft_single_lend(&s, lent, PAGES * PAGE);
    child = copy();
    cr_expect_eq(exclusive(lent), 0);
    cr_expect_eq(exclusive(part), 0);
    ft_single_unshare(&s);
    cr_expect_eq(exclusive(lent), PAGES, "%d", exclusive(lent));
    cr_expect_eq(exclusive(part), 3, "%d", exclusive(part));
    cr_expect_eq(exclusive(other), 0);
    cr_expect_eq(exclusive(constant), 0); /* it cannot be written to: it stays as it is */
    for (int i = 0; i < PAGES * PAGE; i++)
        cr_assert(lent[i] == 7 && part[i] == 7 && constant[i] == 7);
    end(child);
}

/* It would be copied once more for each snapshot, and memory that has come to be there since would be made. */
Test(single, what_is_lent_once_or_was_lent_before_the_last_copy_stays_shared)
{
    char *once = map(PROT_READ | PROT_WRITE), *before = map(PROT_READ | PROT_WRITE);
    pid_t first, second;

    lend_twice(before, PAGES * PAGE);
    first = copy();
    ft_single_unshare(&s);
    end(first);
    ft_single_lend(&s, once, PAGES * PAGE);
    ft_single_lend(&s, before, PAGES * PAGE);
    second = copy();
    ft_single_unshare(&s);
    cr_expect_eq(exclusive(once), 0);
    cr_expect_eq(exclusive(before), 0);
    end(second);
}

/* The program has given it back since, and has other memory there, most of it not used yet. */
Test(single, memory_that_is_not_there_is_not_made)
{
    char *lent = map(PROT_READ | PROT_WRITE), *gone = map(PROT_READ | PROT_WRITE);
    unsigned char there[PAGES];
    int made = 0;
    pid_t child;

    lend_twice(lent, PAGES * PAGE);
    lend_twice(gone, PAGES * PAGE);
    cr_assert(mmap(lent, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == lent);
    cr_assert(munmap(gone, PAGES * PAGE) == 0);
    lent[PAGE] = 1;
    child = copy();
    ft_single_unshare(&s);
    cr_expect_eq(exclusive(lent), 1);
    cr_assert(mincore(lent, PAGES * PAGE, there) == 0);
    for (int i = 0; i < PAGES; i++)
        made += there[i] & 1;
    cr_expect_eq(made, 1, "%d", made);
    end(child);
}

/* Only the last ones are remembered. */
Test(single, what_was_lent_long_ago_stays_shared)
{
    char *lent[FT_LOANS + 1];
    pid_t child;

    for (int i = 0; i <= FT_LOANS; i++) {
        lent[i] = map(PROT_READ | PROT_WRITE);
        lend_twice(lent[i], PAGES * PAGE);
    }
    child = copy();
    ft_single_unshare(&s);
    cr_expect_eq(exclusive(lent[0]), 0);
    for (int i = 1; i <= FT_LOANS; i++)
        cr_expect_eq(exclusive(lent[i]), PAGES);
    end(child);
}
