/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/stdio/output_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };
#define OWN UINT32_MAX /* in the place of a rank: ftrun's own file */

int ft_output_dir_read(struct ft_output_dir *d, const char *text, uint32_t nranks, bool merged, struct ft_error *e)
{
    const char *word = strchr(text, ':');

    *d = (struct ft_output_dir){.text = text, .nranks = nranks, .merged = merged, .digits = snprintf(NULL, 0, "%u", nranks - 1)};
    d->len = (int)(word ? word - text : (ptrdiff_t)strlen(text));
    if (!d->len)
        return ft_err_set(e, FT_EINVAL, "--output-filename %.300s: names no directory", text);
    while (word && *word) {
        size_t len = strcspn(++word, ",");

        if (len == 6 && !memcmp(word, "nocopy", len))
            d->instead = true;
        else if (len != 7 || memcmp(word, "nojobid", len) != 0)
            return ft_err_set(e, FT_EINVAL, "--output-filename %.300s: after \":\" comes nocopy or nojobid, or both with a comma", text);
        word += len;
    }
    return 0;
}

static int path_of(char *path, const struct ft_output_dir *d, uint32_t rank, const char *file, struct ft_error *e)
{
    if (rank == OWN && snprintf(path, PATH_BYTES, "%.*s/ftrun.stderr", d->len, d->text) < PATH_BYTES)
        return 0;
    if (rank != OWN && snprintf(path, PATH_BYTES, "%.*s/rank.%0*u%s%s", d->len, d->text, d->digits, rank, *file ? "/" : "", file) < PATH_BYTES)
        return 0;
    return ft_err_set(e, FT_EINVAL, "--output-filename: %s", strerror(ENAMETOOLONG));
}

static int make_dir(const char *path, struct ft_error *e)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return 0;
    return ft_err_set(e, FT_EINVAL, "--output-filename: cannot make %.300s: %s", path, strerror(errno));
}

/* DIR and what leads to it. */
static int make_path(const struct ft_output_dir *d, struct ft_error *e)
{
    char path[PATH_BYTES];
    size_t len = (size_t)d->len;

    if (len >= sizeof path)
        return ft_err_set(e, FT_EINVAL, "--output-filename: %s", strerror(ENAMETOOLONG));
    memcpy(path, d->text, len);
    path[len] = 0;
    for (size_t i = 1; i < len; i++)
        if (path[i] == '/') {
            path[i] = 0;
            mkdir(path, 0777); /* what goes wrong shows below */
            path[i] = '/';
        }
    return make_dir(path, e);
}

static int make_file(const struct ft_output_dir *d, uint32_t rank, const char *name, struct ft_error *e)
{
    char path[PATH_BYTES];
    struct stat st;
    int fd;

    if (path_of(path, d, rank, name, e) < 0)
        return FT_EINVAL;
    if (stat(path, &st) == 0 && S_ISFIFO(st.st_mode)) /* it has no places; and to open it would wait for a reader */
        return ft_err_set(e, FT_EINVAL, "--output-filename: cannot write %.300s: it is a pipe", path);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
    if (fd < 0)
        return ft_err_set(e, FT_EINVAL, "--output-filename: cannot write %.300s: %s", path, strerror(errno));
    close(fd);
    return 0;
}

int ft_output_dir_make(const struct ft_output_dir *d, struct ft_error *e)
{
    char path[PATH_BYTES];

    if (make_path(d, e) < 0)
        return FT_EINVAL;
    for (uint32_t r = 0; r < d->nranks; r++)
        if (path_of(path, d, r, "", e) < 0 || make_dir(path, e) < 0 || make_file(d, r, "stdout", e) < 0 ||
            (!d->merged && make_file(d, r, "stderr", e) < 0))
            return FT_EINVAL;
    return make_file(d, OWN, "", e);
}

static int write_at(int fd, uint64_t at, const char *data, size_t len)
{
    while (len) {
        ssize_t n = pwrite(fd, data, len, (off_t)at);

        if (n < 0 && errno != EINTR)
            return -1;
        if (n > 0) {
            data += n;
            at += (uint64_t)n;
            len -= (size_t)n;
        }
    }
    return 0;
}

/* Opened for each block: no descriptors to carry over to a successor, no limit on ranks. */
int ft_output_dir_write(const struct ft_output_dir *d, uint32_t rank, int which, uint64_t at, const void *data, size_t len,
                        struct ft_error *e)
{
    char path[PATH_BYTES];
    int fd, err = 0;

    if (path_of(path, d, rank, which ? "stderr" : "stdout", e) < 0)
        return FT_ESYS;
    fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 || write_at(fd, at, data, len) < 0)
        err = ft_err_set(e, FT_ESYS, "output of rank %u was lost: cannot write to %.300s: %s", rank, path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return err;
}

void ft_output_dir_say(const struct ft_output_dir *d, const char *line, size_t len)
{
    char path[PATH_BYTES];
    struct ft_error e;
    int fd = path_of(path, d, OWN, "", &e) < 0 ? -1 : open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0)
        return;
    if (write(fd, line, len) < 0) {
        /* the ranks' files are told of */
    }
    close(fd);
}
