/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/stdio/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { TAKE = 64 << 10, PATH_BYTES = 4096, NULL_MAJOR = 1, NULL_MINOR = 3 };

static enum ft_store_kind kind_of_stdin(void)
{
    int flags = fcntl(0, F_GETFL);
    struct stat st;

    if (flags < 0 || (flags & O_ACCMODE) == O_WRONLY || fstat(0, &st) < 0 || S_ISDIR(st.st_mode))
        return FT_STORE_NONE;
    if (S_ISCHR(st.st_mode) && st.st_rdev == makedev(NULL_MAJOR, NULL_MINOR))
        return FT_STORE_NONE;
    if (S_ISREG(st.st_mode) && st.st_size) /* files in /proc have no size */
        return FT_STORE_FILE;
    return S_ISFIFO(st.st_mode) ? FT_STORE_PIPE : FT_STORE_OTHER;
}

static int open_again(int fd)
{
    char path[40];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* False: the file may not be opened again, so it is read as anything else. */
static bool open_file(struct ft_store *s)
{
    s->start = lseek(0, 0, SEEK_CUR);
    s->from = s->start < 0 ? -1 : open_again(0);
    if (s->from < 0)
        return false;
    ft_store_rewind(s);
    return true;
}

static int open_kept(struct ft_store *s, const char *dir)
{
    char path[PATH_BYTES];

    s->to = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (s->to < 0) {
        snprintf(path, sizeof path, "%s/ftmpi-stdin-XXXXXX", dir);
        s->to = mkostemp(path, O_CLOEXEC);
        if (s->to < 0)
            return -1;
        unlink(path);
    }
    s->from = open_again(s->to);
    if (s->from < 0)
        return -1;
    return s->kind == FT_STORE_OTHER ? pipe2(s->middle, O_CLOEXEC) : 0;
}

int ft_store_open(struct ft_store *s, const char *dir, bool *ended, struct ft_error *e)
{
    *s = (struct ft_store){.kind = kind_of_stdin(), .from = -1, .to = -1, .middle = {-1, -1}, .ended = ended};
    if (s->kind == FT_STORE_FILE && !open_file(s))
        s->kind = FT_STORE_OTHER;
    if (s->kind < FT_STORE_PIPE || open_kept(s, dir) == 0)
        return 0;
    ft_err_set(e, FT_ESYS, "cannot create a file in %.300s to keep standard input in: %s (--log-spill names another directory)", dir,
               strerror(errno));
    ft_store_close(s);
    return FT_ESYS;
}

/* A kernel, or a kind of file, that cannot splice. */
static ssize_t copy(struct ft_store *s)
{
    char block[TAKE];
    ssize_t n = read(0, block, sizeof block), put = 0;

    while (n > 0 && put < n) {
        ssize_t k = write(s->to, block + put, (size_t)(n - put));

        if (k > 0)
            put += k;
        else if (k == 0 || errno != EINTR)
            return -1;
    }
    return n;
}

static ssize_t take_pipe(struct ft_store *s, int pipe)
{
    return splice(pipe, NULL, s->to, NULL, TAKE, SPLICE_F_NONBLOCK);
}

/* Out of the middle what a predecessor may have left there, then more. */
static ssize_t take_other(struct ft_store *s)
{
    ssize_t n = take_pipe(s, s->middle[0]);

    if (n >= 0 || errno != EAGAIN)
        return n;
    n = splice(0, NULL, s->middle[1], NULL, TAKE, SPLICE_F_NONBLOCK);
    if (n < 0 && (errno == EINVAL || errno == ENOSYS))
        return copy(s);
    return n > 0 ? take_pipe(s, s->middle[0]) : n;
}

ssize_t ft_store_take(struct ft_store *s)
{
    ssize_t n = s->kind == FT_STORE_PIPE ? take_pipe(s, 0) : take_other(s);

    if (n == 0)
        *s->ended = true;
    return n;
}

ssize_t ft_store_give(struct ft_store *s, int pipe, size_t most)
{
    return sendfile(pipe, s->from, NULL, most);
}

bool ft_store_ended(const struct ft_store *s)
{
    return s->kind == FT_STORE_FILE || *s->ended;
}

uint64_t ft_store_ahead(const struct ft_store *s)
{
    return (uint64_t)(lseek(s->to, 0, SEEK_CUR) - lseek(s->from, 0, SEEK_CUR));
}

void ft_store_rewind(struct ft_store *s)
{
    lseek(s->from, s->start, SEEK_SET);
}

void ft_store_close(struct ft_store *s)
{
    const int fds[] = {s->from, s->to, s->middle[0], s->middle[1]};

    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    s->from = s->to = s->middle[0] = s->middle[1] = -1;
}
