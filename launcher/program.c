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

#include "launcher/options.h"
#include "launcher/say.h"

enum { PATH_BYTES = 4096 };

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

static int find_program(struct ft_context *c, struct ft_error *e)
{
    const char *name = c->argv[0];
    bool searched = !strchr(name, '/');
    int dir = c->wdir ? open(c->wdir, O_PATH | O_DIRECTORY | O_CLOEXEC) : AT_FDCWD;
    char path[PATH_BYTES];
    int err;

    if (!*name)
        err = ENOENT;
    else if (searched)
        err = search(dir, name, path, sizeof path);
    else
        err = snprintf(path, sizeof path, "%s", name) < (int)sizeof path ? try_path(dir, path) : ENAMETOOLONG;
    if (!err && !(c->path = strdup(path)))
        err = ENOMEM;
    err = err ? tell(name, err, searched, dir, e) : 0;
    if (dir >= 0)
        close(dir);
    return err;
}

int ft_program_check(struct ft_context *c, const struct ft_say *say, struct ft_error *e)
{
    struct stat st;

    if (c->wdir && (stat(c->wdir, &st) < 0 || (!S_ISDIR(st.st_mode) && (errno = ENOTDIR)) || access(c->wdir, X_OK) < 0)) {
        ft_err_set(e, 0, "--wdir %s: %s", c->wdir, strerror(errno));
        return FT_CODE_USAGE;
    }
    for (size_t i = 0; i < c->nexports; i++)
        if (!strchr(c->exports[i], '=') && !getenv(c->exports[i]))
            ft_say(say, "-x %s: no such environment variable; ignored", c->exports[i]);
    return find_program(c, e);
}

int ft_program_exec_failed(const char *path, int error, struct ft_error *e)
{
    if (error == ENOENT)
        ft_err_set(e, 0, "%s: its interpreter does not exist", path);
    else
        ft_err_set(e, 0, "%s: cannot be executed: %s", path, strerror(error));
    return FT_CODE_NOT_EXECUTABLE;
}
