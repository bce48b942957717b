/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* 0 if it can be run, else errno; EISDIR for directories. */
static int try_path(int dir, const char *path)
{
    struct stat st;

    if (fstatat(dir, path, &st, 0) < 0)
        return errno;
    if (S_ISDIR(st.st_mode))
        return EISDIR;
    return faccessat(dir, path, X_OK, AT_EACCESS) < 0 ? errno : 0;
}

/* The first executable in $PATH; the best error otherwise: a file that is not executable beats none. */
static int search(int dir, const char *name, char *path, size_t size)
{
    const char *list = getenv("PATH");
    int found = ENOENT;

    for (const char *p = list ? list : "/usr/local/bin:/usr/bin:/bin";;) {
        size_t len = strcspn(p, ":");
        int n = snprintf(path, size, "%.*s/%s", len ? (int)len : 1, len ? p : ".", name);
        int err = n < (int)size ? try_path(dir, path) : ENAMETOOLONG;

        if (!err)
            return 0;
        if (err == EACCES || err == EISDIR)
            found = err == EACCES && found == ENOENT ? EACCES : found;
        if (!p[len])
            return found;
        p += len + 1;
    }
}

static int tell(const char *name, int err, bool searched, int dir, struct ft_error *e)
{
    switch (err) {
    case EISDIR:
        ft_err_set(e, 0, "%s: is a directory, not a program", name);
        return FT_CODE_NOT_EXECUTABLE;
    case EACCES:
        ft_err_set(e, 0, "%s: not executable: permission denied", name);
        return FT_CODE_NOT_EXECUTABLE;
    }
    if (searched && !try_path(dir, name))
        ft_err_set(e, 0, "%s: command not found; did you mean ./%s?", name, name);
    else if (err == ENOENT || err == ENOTDIR)
        ft_err_set(e, 0, "%s: %s", name, searched ? "command not found" : "no such file");
    else
        ft_err_set(e, 0, "%s: %s", name, strerror(err));
    return FT_CODE_NOT_FOUND;
}

int ft_program_find(const char *name, const char *wdir, char *path, size_t size, struct ft_error *e)
{
    bool searched = !strchr(name, '/');
    int dir = wdir ? open(wdir, O_PATH | O_DIRECTORY | O_CLOEXEC) : AT_FDCWD;
    int err, code;

    if (!*name)
        err = ENOENT;
    else if (searched)
        err = search(dir, name, path, size);
    else
        err = snprintf(path, size, "%s", name) < (int)size ? try_path(dir, path) : ENAMETOOLONG;
    code = err ? tell(name, err, searched, dir, e) : 0;
    if (dir >= 0)
        close(dir);
    return code;
}

int ft_program_exec_failed(const char *path, int error, struct ft_error *e)
{
    if (error == ENOENT)
        ft_err_set(e, 0, "%s: its interpreter does not exist", path);
    else
        ft_err_set(e, 0, "%s: cannot be executed: %s", path, strerror(error));
    return FT_CODE_NOT_EXECUTABLE;
}
