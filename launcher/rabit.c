/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/rabit.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int directory_of_ftrun(char *dir, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", dir, size - 1);
    char *slash;

    if (n < 0)
        return -1;
    dir[n] = 0;
    slash = strrchr(dir, '/');
    if (slash)
        *slash = 0;
    return 0;
}

/* 0 if both libraries lie in dir/below; text is then what to preload. */
static int try_directory(const char *dir, const char *below, char *text, size_t size)
{
    char engine[PATH_MAX + 64], plugin[PATH_MAX + 64];

    if (snprintf(engine, sizeof engine, "%s%s/libftmpi.so.0", dir, below) >= (int)sizeof engine)
        return -1;
    snprintf(plugin, sizeof plugin, "%s%s/libftmpi_rabit.so", dir, below);
    if (access(engine, R_OK) < 0 || access(plugin, R_OK) < 0)
        return -1;
    return snprintf(text, size, "%s:%s", engine, plugin) < (int)size ? 0 : -1;
}

int ft_rabit_preload(char *text, size_t size, struct ft_error *e)
{
    char dir[PATH_MAX];

    if (directory_of_ftrun(dir, sizeof dir) == 0 &&
        (try_directory(dir, "/.libs", text, size) == 0 || try_directory(dir, "/../lib", text, size) == 0))
        goto found;
    if (try_directory(LIBDIR, "", text, size) < 0)
        return ft_err_set(e, FT_EINVAL, "--rabit: libftmpi.so.0 and libftmpi_rabit.so are neither beside ftrun nor in %s", LIBDIR);
found:
    if (strpbrk(text, " ")) /* LD_PRELOAD takes spaces for separators */
        return ft_err_set(e, FT_EINVAL, "--rabit: %s: the path holds a space, which LD_PRELOAD cannot express", text);
    return 0;
}
