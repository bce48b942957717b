/* SPDX-License-Identifier: BSD-3-Clause */
/* A call site is the same number in all ranks, whatever they call themselves. */
#include "ft/base/site.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The name of this program's file. */
static const char *own_name(void)
{
    static char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

    cr_assert_gt(n, 0);
    return strrchr(path, '/') + 1;
}

static uint64_t site_as(const char *name)
{
    int ends[2];
    uint64_t site = 0;
    pid_t child;

    cr_assert_eq(pipe(ends), 0);
    child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        prctl(PR_SET_NAME, name);
        site = ft_site((const void *)(uintptr_t)own_name);
        _exit(write(ends[1], &site, sizeof site) != sizeof site);
    }
    cr_assert_eq(read(ends[0], &site, sizeof site), (ssize_t)sizeof site);
    waitpid(child, NULL, 0);
    return site;
}

/* Programs whose ranks had set their names (prctl, setproctitle) found nothing in the bootstrap cache, which goes by sites. */
Test(site, is_not_named_after_what_a_process_calls_itself)
{
    uint64_t site = site_as("rank 0");
    char text[4200], expected[4200];

    cr_expect_eq(site, site_as("rank 1"));
    cr_expect(ft_site_is_in(site, own_name()));
    snprintf(expected, sizeof expected, "%s (deleted)", own_name());
    cr_expect(ft_site_is_in(site, expected), "its file has been replaced");
    snprintf(expected, sizeof expected, "%s+0x%llx", own_name(), (unsigned long long)ft_site_offset(site));
    cr_expect_str_eq(ft_site_print(site, text, sizeof text), expected);
}
