/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "ft/base/util.h"
#include "ft/store/ckpt_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LEAVE_MS = 2000, LOOK_MS = 10 };

void ft_ckpt_dir_name(char name[FT_CKPT_NAME], uint64_t version)
{
    snprintf(name, FT_CKPT_NAME, "checkpoint-%010" PRIu64 ".ftmpi", version);
}

uint64_t ft_ckpt_dir_version(const char *name)
{
    char same[FT_CKPT_NAME];
    uint64_t version;

    if (sscanf(name, "checkpoint-%" SCNu64, &version) != 1)
        return 0;
    ft_ckpt_dir_name(same, version);
    return strcmp(name, same) ? 0 : version;
}

/* That it was made is on disk only when the directory above is. */
static void sync_above(const char *path)
{
    char above[PATH_MAX];
    size_t len = strlen(path);
    int fd;

    while (len > 1 && path[len - 1] == '/')
        len--;
    while (len && path[len - 1] != '/')
        len--;
    if (snprintf(above, sizeof above, "%.*s", len ? (int)len : 1, len ? path : ".") >= (int)sizeof above)
        return;
    fd = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

/* A job that was killed holds its lock until the kernel has taken its memory apart. False: another job has it. */
static bool lock(int fd)
{
    const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};

    for (int ms = 0; flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK; ms += LOOK_MS) { /* else: the file system has no locks */
        if (ms >= LEAVE_MS)
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

int ft_ckpt_dir_open(const char *path, struct ft_error *e)
{
    bool made = mkdir(path, 0700) == 0;
    int fd;

    if (!made && errno != EEXIST)
        return ft_err_set(e, FT_ESYS, "cannot make the directory %.300s: %s", path, strerror(errno));
    if (made)
        sync_above(path);
    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || faccessat(fd, ".", R_OK | W_OK | X_OK, AT_EACCESS) < 0) {
        ft_err_set(e, FT_ESYS, "cannot use the directory %.300s: %s", path, strerror(errno));
    } else if (!lock(fd)) {
        ft_err_set(e, FT_EINVAL, "%.300s is in use by another job", path);
        close(fd);
        return FT_EINVAL;
    } else {
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return FT_ESYS;
}

struct versions {
    uint64_t *v;
    size_t n;
    bool no_memory;
};

static void add_version(void *to, const char *name)
{
    struct versions *list = to;
    uint64_t version = ft_ckpt_dir_version(name), *more;

    if (!version)
        return;
    more = realloc(list->v, (list->n + 1) * sizeof *more);
    if (!more) {
        list->no_memory = true;
        return;
    }
    list->v = more;
    list->v[list->n++] = version;
}

static int newest_first(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? 1 : x > y ? -1 : 0;
}

int ft_ckpt_dir_list(const struct ft_disk *disk, int dir, uint64_t **versions, struct ft_error *e)
{
    struct versions list = {NULL, 0, false};
    int err = 0;

    if (disk->list(disk->arg, dir, add_version, &list) < 0)
        err = ft_err_set(e, FT_ESYS, "the directory cannot be read: %s", strerror(errno));
    else if (list.no_memory)
        err = ft_err_set(e, FT_ENOMEM, "out of memory");
    if (err) {
        free(list.v);
        return err;
    }
    if (list.n)
        qsort(list.v, list.n, sizeof *list.v, newest_first);
    *versions = list.v;
    return (int)list.n;
}

int ft_ckpt_dir_write(const struct ft_disk *disk, int dir, struct ft_ckpt_header *h, uint64_t before,
                      const struct ft_ckpt_models *models, struct ft_error *e)
{
    char name[FT_CKPT_NAME];
    uint64_t *versions = NULL;
    struct ft_error ignored;
    int err, n;

    ft_ckpt_dir_name(name, h->version);
    err = ft_ckpt_file_write(disk, dir, name, FT_CKPT_SPARE, h, models, e);
    if (err < 0)
        return err;
    n = ft_ckpt_dir_list(disk, dir, &versions, &ignored);
    for (int i = 0; i < n; i++) {
        ft_ckpt_dir_name(name, versions[i]);
        if (versions[i] != h->version && versions[i] != before)
            disk->remove(disk->arg, dir, name);
    }
    free(versions);
    return 0;
}

/* ---- reading ---- */

static int read_file(void *arg, uint64_t at, void *to, size_t n)
{
    char *next = to;

    while (n) {
        ssize_t got = pread(*(const int *)arg, next, n, (off_t)at);

        if (got == 0)
            errno = 0;
        if (got == 0 || (got < 0 && errno != EINTR))
            return -1;
        if (got > 0) {
            next += got;
            at += (uint64_t)got;
            n -= (size_t)got;
        }
    }
    return 0;
}

/* Opens a version; its descriptor is what source reads by. */
static int open_version(int dir, uint64_t version, int *fd, struct ft_ckpt_source *source, struct ft_error *e)
{
    char name[FT_CKPT_NAME];
    struct stat st;

    ft_ckpt_dir_name(name, version);
    *fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); /* a FIFO would not be waited for */
    if (*fd < 0)
        return ft_err_set(e, FT_ESYS, "it cannot be opened: %s", strerror(errno));
    if (fstat(*fd, &st) == 0 && S_ISREG(st.st_mode)) {
        *source = (struct ft_ckpt_source){(uint64_t)st.st_size, read_file, fd};
        return 0;
    }
    close(*fd);
    return ft_err_set(e, FT_EDAMAGED, "it is not a regular file");
}

static int check_identity(const struct ft_ckpt_header *h, const struct ft_ckpt_wanted *wanted, struct ft_error *e)
{
    if (strcmp(h->program, wanted->program) != 0)
        return ft_err_set(e, FT_EINVAL, "it is of the program \"%.150s\", this is \"%.150s\"", h->program, wanted->program);
    if (h->nranks != wanted->nranks)
        return ft_err_set(e, FT_EINVAL, "it is of %u rank%s, this job has %u", h->nranks, ft_plural(h->nranks), wanted->nranks);
    return 0;
}

static int read_header(int dir, uint64_t version, int *fd, struct ft_ckpt_source *source, struct ft_ckpt_header *h, struct ft_error *e)
{
    int err = open_version(dir, version, fd, source, e);

    if (err < 0)
        return err;
    err = ft_ckpt_file_header(source, h, e);
    if (!err && h->version != version) {
        err = ft_err_set(e, FT_EDAMAGED, "it holds checkpoint %llu, which its name does not say", (unsigned long long)h->version);
        ft_ckpt_header_free(h);
    }
    if (err < 0)
        close(*fd);
    return err;
}

/* h stays if it is good. */
static int load_version(int dir, uint64_t version, const struct ft_ckpt_wanted *wanted, struct ft_ckpt_header *h,
                        const struct ft_ckpt_sink *sink, struct ft_error *e)
{
    struct ft_ckpt_source source;
    int fd, err = read_header(dir, version, &fd, &source, h, e);

    if (err < 0)
        return err;
    err = check_identity(h, wanted, e);
    if (!err)
        err = ft_ckpt_file_models(&source, h, sink, e);
    close(fd);
    if (err < 0)
        ft_ckpt_header_free(h);
    return err;
}

/* The other files are of the same series; those that cannot be read are not asked. */
static int check_series(int dir, const uint64_t *versions, int n, const struct ft_ckpt_header *h, struct ft_error *e)
{
    int err = 0;

    for (int i = 0; i < n && !err; i++) {
        struct ft_ckpt_source source;
        struct ft_ckpt_header other;
        struct ft_error ignored;
        int fd;

        if (versions[i] == h->version || read_header(dir, versions[i], &fd, &source, &other, &ignored) < 0)
            continue;
        if (strcmp(other.series, h->series) != 0)
            err = ft_err_set(e, FT_EINVAL, "there are checkpoints of two jobs: checkpoint %llu of job %s, checkpoint %llu of job %s; remove those of one",
                             (unsigned long long)h->version, h->series, (unsigned long long)other.version, other.series);
        ft_ckpt_header_free(&other);
        close(fd);
    }
    return err;
}

/* What is there is not ours to remove. */
static int check_owner(int dir, const char *series, struct ft_error *e)
{
    uint64_t *versions = NULL;
    int n = ft_ckpt_dir_list(&ft_disk_real, dir, &versions, e), err = n < 0 ? n : 0;

    for (int i = 0; i < n && !err; i++) {
        struct ft_ckpt_source source;
        struct ft_ckpt_header h;
        struct ft_error ignored;
        int fd;

        if (read_header(dir, versions[i], &fd, &source, &h, &ignored) < 0)
            continue;
        if (strcmp(h.series, series) != 0)
            err = ft_err_set(e, FT_EINVAL, "it is another directory than before, with checkpoints of job %s", h.series);
        ft_ckpt_header_free(&h);
        close(fd);
    }
    free(versions);
    return err;
}

int ft_ckpt_dir_follow(int *dir, const char *path, const char *series, struct ft_error *e)
{
    struct stat named, open;
    int fd, err;

    if (fstat(*dir, &open) < 0 || (stat(path, &named) < 0 && errno != ENOENT && errno != ESTALE))
        return 0; /* it can still be written to, perhaps: that will tell */
    if (open.st_nlink && stat(path, &named) == 0 && named.st_dev == open.st_dev && named.st_ino == open.st_ino)
        return 0;
    fd = ft_ckpt_dir_open(path, e);
    if (fd < 0)
        return fd;
    err = check_owner(fd, series, e);
    close(err < 0 ? fd : *dir);
    if (err < 0)
        return err;
    *dir = fd;
    return 1;
}

static void pass_over(const struct ft_ckpt_wanted *wanted, const char *name, const struct ft_error *why)
{
    struct ft_error line;

    ft_err_set(&line, 0, "%s cannot be used: %.400s", name, why->text);
    wanted->passed(wanted->arg, line.text);
}

int ft_ckpt_dir_load(int dir, const struct ft_ckpt_wanted *wanted, struct ft_ckpt_header *h, const struct ft_ckpt_sink *sink,
                     struct ft_error *e)
{
    uint64_t *versions = NULL;
    int n = ft_ckpt_dir_list(&ft_disk_real, dir, &versions, e), err = n < 0 ? n : 0;
    char name[FT_CKPT_NAME];
    struct ft_error why;

    for (int i = 0; i < n; i++) {
        ft_ckpt_dir_name(name, versions[i]);
        err = load_version(dir, versions[i], wanted, h, sink, &why);
        if (!err) {
            err = check_series(dir, versions, n, h, e);
            if (err < 0)
                ft_ckpt_header_free(h);
            free(versions);
            return err < 0 ? err : 1;
        }
        if (err != FT_EDAMAGED && err != FT_ESYS) {
            ft_err_set(e, err, "%s cannot be used: %.400s", name, why.text);
            break;
        }
        pass_over(wanted, name, &why);
        err = ft_err_set(e, FT_EINVAL, "there is no good checkpoint in it");
    }
    free(versions);
    return err;
}
