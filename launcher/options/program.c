/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/options/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher/base/elf.h"
#include "launcher/base/say.h"
#include "launcher/options/options.h"

enum { PATH_BYTES = 4096 };

/* 0 if it can be run, else errno; EISDIR for directories. */
static int try_path(int dir, const char *path)
{
    struct stat st;

    if (fstatat(dir, path, &st, 0) < 0)
        return errno;
    if (S_ISDIR(st.st_mode))
        return EISDIR;
    /* Filters of containers refuse this one with EPERM, which is no answer of the kernel's: the C library does without a call that is
       not there. */
    if (faccessat(dir, path, X_OK, AT_EACCESS) == 0 || (errno == EPERM && syscall(SYS_faccessat, dir, path, X_OK) == 0))
        return 0;
    return errno;
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

bool ft_program_exists(const char *name)
{
    char path[PATH_MAX];

    return search(AT_FDCWD, name, path, sizeof path) != ENOENT || !try_path(AT_FDCWD, name);
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

static int bad(struct ft_error *e, const char *name, const char *why)
{
    ft_err_set(e, 0, "%s: %s", name, why);
    return FT_CODE_NOT_EXECUTABLE;
}

/* The interpreter that a script's first line names must be there. */
static int check_script(const char *name, char *line, struct ft_error *e)
{
    char *interpreter = line + 2 + strspn(line + 2, " \t");
    size_t len = strcspn(interpreter, " \t\n");
    bool dos = len && interpreter[len - 1] == '\r';

    interpreter[len] = 0;
    if (*interpreter != '/' || !access(interpreter, F_OK) || errno != ENOENT) /* a relative one is found where it is run */
        return 0;
    interpreter[len - dos] = 0;
    ft_err_set(e, 0, "%s: its interpreter %.200s does not exist%s", name, interpreter,
               dos ? " with the carriage return after it: the script has DOS line ends" : "");
    return FT_CODE_NOT_EXECUTABLE;
}

/* MPICH's library would start one job of one rank in each process: silently wrong. */
static int check_elf(const char *name, const struct ft_elf *elf, struct ft_error *e)
{
    if (!*elf->mpich)
        return 0;
    ft_err_set(e, 0, "%s is linked against %s, MPICH's binary interface; ftmpi has Open MPI's: build it with ftmpicc, or with Open MPI's "
               "mpicc (--other-mpi allow runs it on MPICH, each rank alone)", name, elf->mpich);
    return FT_CODE_NOT_EXECUTABLE;
}

const char *ft_program_fault(const struct ft_elf *elf, const char *head, size_t n)
{
    if (n == 0)
        return "is an empty file";
    if (elf->cut || (!elf->is_elf && n >= SELFMAG && !memcmp(head, ELFMAG, SELFMAG)))
        return "is the beginning of a program, the rest is missing";
    if (!elf->is_elf && strncmp(head, "#!", 2) && memchr(head, 0, n))
        return "is neither a program nor a script";
    return NULL;
}

/* What exec would refuse, or leave to the shell, which would try to run anything. */
static int check_content(struct ft_context *c, int dir, const char *name, bool any_mpi, struct ft_error *e)
{
    int fd = openat(dir, c->path, O_RDONLY | O_CLOEXEC), code = 0;
    char head[512];
    const char *fault;
    struct ft_elf elf;
    ssize_t n;

    if (fd < 0) /* what may not be read can still be run */
        return 0;
    n = pread(fd, head, sizeof head - 1, 0);
    ft_elf_read(fd, &elf);
    close(fd);
    head[n < 0 ? 0 : n] = 0;
    c->alone = elf.is_elf && elf.sanitized;
    fault = n < 0 ? NULL : ft_program_fault(&elf, head, (size_t)n);
    if (fault)
        code = bad(e, name, fault);
    else if (elf.is_elf)
        code = any_mpi ? 0 : check_elf(name, &elf, e);
    else if (n > 2 && !memcmp(head, "#!", 2))
        code = check_script(name, head, e);
    else
        c->plain = true;
    return code;
}

static int find_program(struct ft_context *c, bool any_mpi, struct ft_error *e)
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
    err = err ? tell(name, err, searched, dir, e) : check_content(c, dir, name, any_mpi, e);
    if (dir >= 0)
        close(dir);
    return err;
}

void ft_program_tell_exports(const struct ft_context *c, const struct ft_say *say)
{
    for (size_t i = 0; i < c->nexports; i++)
        if (!strchr(c->exports[i], '=') && !getenv(c->exports[i]))
            ft_say(say, "-x %s: no such environment variable; ignored", c->exports[i]);
}

int ft_program_check(struct ft_context *c, bool any_mpi, const struct ft_say *say, struct ft_error *e)
{
    struct stat st;

    if (c->wdir && (stat(c->wdir, &st) < 0 || (!S_ISDIR(st.st_mode) && (errno = ENOTDIR)) || access(c->wdir, X_OK) < 0)) {
        ft_err_set(e, 0, "--wdir %s: %s", c->wdir, strerror(errno));
        return FT_CODE_USAGE;
    }
    ft_program_tell_exports(c, say);
    return find_program(c, any_mpi, e);
}

int ft_program_exec_failed(const struct ft_context *c, int error, struct ft_error *e)
{
    int dir = c->wdir ? open(c->wdir, O_PATH | O_DIRECTORY | O_CLOEXEC) : AT_FDCWD, fd = openat(dir, c->path, O_RDONLY | O_CLOEXEC);
    struct ft_elf elf = {.is_elf = false};

    if (fd >= 0) {
        ft_elf_read(fd, &elf);
        close(fd);
    }
    if (dir >= 0)
        close(dir);
    if (error == ENOENT)
        ft_err_set(e, 0, "%s: its interpreter %.200s does not exist", c->path, elf.interpreter);
    else if (error == ENOEXEC && elf.is_elf && !elf.ours)
        ft_err_set(e, 0, "%s: a program for another machine (%s), this is %s", c->path, elf.machine, ft_elf_machine());
    else
        ft_err_set(e, 0, "%s: cannot be executed: %s", c->path, strerror(error));
    return FT_CODE_NOT_EXECUTABLE;
}
