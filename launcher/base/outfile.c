/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "--report /dev/stdout >FILE": another one put in its place would be seen by nobody. */
static int own_output(const struct stat *st)
{
    struct stat own;

    for (int fd = 1; fd <= 2; fd++)
        if (!fstat(fd, &own) && own.st_dev == st->st_dev && own.st_ino == st->st_ino)
            return fd;
    return -1;
}

/* What a link that leads to no file names, as seen from here. NULL: it is no link, or out of memory. */
static char *link_target(const char *path)
{
    const char *slash = strrchr(path, '/');
    char target[PATH_MAX], *whole;
    ssize_t n = readlink(path, target, sizeof target);

    if (n <= 0 || n == (ssize_t)sizeof target)
        return NULL;
    return asprintf(&whole, "%.*s%.*s", slash && *target != '/' ? (int)(slash + 1 - path) : 0, path, (int)n, target) < 0 ? NULL : whole;
}

/* DIR/NAME, or what a link of that name leads to. NULL with errno. Where links lead in a circle that is ELOOP, so this ends. */
static char *absolute(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *whole = realpath(path, NULL), *dir, *of;

    if (whole || errno != ENOENT)
        return whole;
    if ((of = link_target(path))) {
        whole = absolute(of);
        free(of);
        return whole;
    }
    dir = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    of = dir ? realpath(dir, NULL) : NULL;
    if (of && !*name)
        errno = EISDIR;
    else if (of && asprintf(&whole, "%s/%s", of, name) < 0)
        whole = NULL;
    free(of);
    free(dir);
    return whole;
}

/* A name in the same directory that is nobody else's, and proof that files can be made there. NULL with errno. */
static char *name_beside(const char *path)
{
    char *name = NULL;
    int fd;

    if (asprintf(&name, "%.*s/.ftrun-XXXXXX", (int)(strrchr(path, '/') - path), path) < 0)
        return NULL;
    fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0) {
        free(name);
        return NULL;
    }
    close(fd);
    unlink(name);
    return name;
}

static int open_file(struct ft_outfile *f, const char *path)
{
    f->path = absolute(path);
    if (!f->path || (access(f->path, W_OK) < 0 && errno != ENOENT))
        return -1;
    f->beside = name_beside(f->path);
    return f->beside ? 0 : -1;
}

int ft_outfile_open(struct ft_outfile *f, const char *option, const char *path, struct ft_error *e)
{
    struct stat st;
    bool there = !stat(path, &st);
    int own = there ? own_output(&st) : -1, failed;

    *f = (struct ft_outfile){.fd = -1};
    if (own >= 0)
        failed = f->fd = fcntl(own, F_DUPFD_CLOEXEC, 3);
    else if (there && !S_ISREG(st.st_mode))
        failed = f->fd = open(path, O_WRONLY | O_CLOEXEC);
    else
        failed = open_file(f, path);
    if (failed >= 0)
        return 0;
    ft_err_set(e, FT_ESYS, "%s %s: %s", option, path, strerror(errno));
    ft_outfile_close(f);
    return FT_ESYS;
}

bool ft_outfile_same(const char *a, const char *b)
{
    struct stat sa, sb;
    bool there = !stat(a, &sa);
    char *pa, *pb;
    bool same;

    if (there != !stat(b, &sb))
        return false;
    if (there)
        return S_ISREG(sa.st_mode) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
    pa = absolute(a);
    pb = absolute(b);
    same = pa && pb && !strcmp(pa, pb);
    free(pa);
    free(pb);
    return same;
}

bool ft_outfile_wanted(const struct ft_outfile *f)
{
    return f->fd >= 0 || f->path;
}

bool ft_outfile_is_file(const struct ft_outfile *f)
{
    return f->path;
}

static int put_all(int fd, const char *data, size_t len)
{
    while (len) {
        ssize_t n = write(fd, data, len);

        if (n < 0 && errno != EINTR)
            return -1;
        data += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* Who may read and write the older one may do so with this one, too. */
static void keep_mode(const struct ft_outfile *f, int fd)
{
    struct stat st;

    if (!stat(f->path, &st) && fchmod(fd, st.st_mode & 07777) < 0)
        return;
}

/* Written and closed; 0, or -1 with errno. */
static int put_beside(const struct ft_outfile *f, const char *data, size_t len)
{
    int fd = open(f->beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), error = 0;

    if (fd < 0)
        return -1;
    keep_mode(f, fd);
    if (put_all(fd, data, len) < 0)
        error = errno;
    if (close(fd) < 0 && !error) /* of a file on another machine, this is where it is told */
        error = errno;
    errno = error;
    return error ? -1 : 0;
}

int ft_outfile_put(const struct ft_outfile *f, const char *data, size_t len)
{
    int error;

    if (f->fd >= 0)
        return put_all(f->fd, data, len);
    if (put_beside(f, data, len) == 0 && rename(f->beside, f->path) == 0)
        return 0;
    error = errno;
    unlink(f->beside);
    errno = error;
    return -1;
}

void ft_outfile_close(struct ft_outfile *f)
{
    int error = errno;

    if (f->fd >= 0)
        close(f->fd);
    free(f->path);
    free(f->beside);
    *f = (struct ft_outfile){.fd = -1};
    errno = error;
}
