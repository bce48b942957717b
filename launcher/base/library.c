/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/base/library.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
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

/* dir becomes base/below if the file is there. */
static bool try_directory(const char *base, const char *below, const char *file, char *dir)
{
    char candidate[PATH_MAX], path[PATH_MAX];

    if (snprintf(candidate, sizeof candidate, "%s%s", base, below) >= PATH_MAX || !realpath(candidate, dir))
        return false;
    return snprintf(path, sizeof path, "%s/%s", dir, file) < PATH_MAX && access(path, R_OK) == 0;
}

/* The directory of ours that holds the file: a path below $(libdir). */
static int find(const char *file, char *dir, struct ft_error *e)
{
    char own[PATH_MAX];

    if (directory_of_ftrun(own, sizeof own) == 0 &&
        (try_directory(own, "/.libs", file, dir) || try_directory(own, "/../lib", file, dir)))
        return 0;
    if (try_directory(LIBDIR, "", file, dir))
        return 0;
    return ft_err_set(e, FT_EINVAL, "ftmpi is not completely installed: %s is neither beside ftrun nor in %s", file, LIBDIR);
}

int ft_library_compat(char *dir, size_t size, struct ft_error *e)
{
    char base[PATH_MAX];
    int err = find("ftmpi/libmpi.so.40", base, e);

    if (err)
        return err;
    if (strpbrk(base, ":;"))
        return ft_err_set(e, FT_EINVAL, "%s: the path holds a colon or semicolon, which LD_LIBRARY_PATH cannot express; "
                          "install ftmpi elsewhere", base);
    if (snprintf(dir, size, "%s/ftmpi", base) >= (int)size)
        return ft_err_set(e, FT_EINVAL, "%s: the path is too long", base);
    return 0;
}

bool ft_library_records(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;
#else
    return true;
#endif
}

int ft_library_rank(char *preload, size_t size, struct ft_error *e)
{
    char dir[PATH_MAX];
    int err;

    err = find("ftmpi/libftmpi_rank.so", dir, e);
    if (err)
        return err;
    if (strchr(dir, ' ')) /* LD_PRELOAD takes it for a separator; it is in the ranks' LD_LIBRARY_PATH, too */
        dir[0] = 0;
    if (snprintf(preload, size, "%s%slibftmpi_rank.so", dir, dir[0] ? "/ftmpi/" : "") >= (int)size)
        return ft_err_set(e, FT_EINVAL, "%s: the path is too long", dir);
    return 0;
}

int ft_library_rabit(char *preload, size_t size, char *python, size_t python_size, struct ft_error *e)
{
    char engine[PATH_MAX], plugin[PATH_MAX], module[PATH_MAX];
    int err = find("libftmpi.so.0", engine, e);

    if (!err)
        err = find("libftmpi_rabit.so", plugin, e);
    if (!err)
        err = find("ftmpi/python/ftmpi_xgboost.py", module, e);
    if (err)
        return err;
    if (snprintf(preload, size, "%s/libftmpi.so.0:%s/libftmpi_rabit.so", engine, plugin) >= (int)size)
        return ft_err_set(e, FT_EINVAL, "--rabit: %s: the path is too long", engine);
    if (snprintf(python, python_size, "%s/ftmpi/python", module) >= (int)python_size)
        return ft_err_set(e, FT_EINVAL, "--rabit: %s: the path is too long", module);
    if (strchr(preload, ' ')) /* LD_PRELOAD takes spaces for separators */
        return ft_err_set(e, FT_EINVAL, "--rabit: %s: the path holds a space, which LD_PRELOAD cannot express", preload);
    return 0;
}
