/* SPDX-License-Identifier: BSD-3-Clause */
/* Directories. A stream is the library's own structure: a descriptor, which is opened and closed as any other, and all entries as
   of when it was opened or rewound, by value. Under way: read once more from the beginning. */
#include "ft/outcome/real.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>

#include "ft/outcome/record.h"

enum { STREAMS = 1024, ENTRY_MOST = 280, END_ROOM = 64 << 10 };

struct stream {
    int fd;
    size_t bytes, at, room;
    char *entries;   /* struct dirent64, as the kernel gives them */
};

_Static_assert(sizeof(struct dirent) == sizeof(struct dirent64), "one structure has both names");

/* A program's other streams are the C library's: those of other threads, and of before this library's constructor. */
static _Atomic(struct stream *) streams[STREAMS];

static struct stream *own(DIR *d)
{
    for (int i = 0; i < STREAMS; i++) {
        struct stream *s = atomic_load_explicit(&streams[i], memory_order_relaxed);

        if (!s)
            return NULL; /* from the first free one on all are: the last takes the place of one that goes */
        if (s == (struct stream *)(void *)d)
            return s;
    }
    return NULL;
}

static bool enter(struct stream *s)
{
    for (int i = 0; i < STREAMS; i++)
        if (!atomic_load_explicit(&streams[i], memory_order_relaxed)) {
            atomic_store_explicit(&streams[i], s, memory_order_release);
            return true;
        }
    errno = EMFILE;
    return false;
}

static void leave(const struct stream *s)
{
    int at = -1, last = -1;

    for (int i = 0; i < STREAMS && atomic_load_explicit(&streams[i], memory_order_relaxed); i++) {
        if (atomic_load_explicit(&streams[i], memory_order_relaxed) == s)
            at = i;
        last = i;
    }
    if (at < 0)
        return;
    atomic_store_explicit(&streams[at], atomic_load_explicit(&streams[last], memory_order_relaxed), memory_order_release);
    atomic_store_explicit(&streams[last], NULL, memory_order_release);
}

/* ---- entries ---- */

static bool has_room(struct stream *s, size_t more)
{
    char *entries;

    if (s->bytes + more <= s->room)
        return true;
    entries = realloc(s->entries, s->bytes + more);
    if (!entries)
        return false;
    s->entries = entries;
    s->room = s->bytes + more;
    return true;
}

/* As many as one record holds. */
static long fill(int fd, char *to, bool *more)
{
    long done = 0, n;

    do
        n = syscall(SYS_getdents64, fd, to + done, (size_t)(FT_OUTCOME_PIECE - done));
    while (n > 0 && (done += n) <= FT_OUTCOME_PIECE - ENTRY_MOST);
    *more = n > 0;
    return n < 0 && (errno != EINVAL || done == 0) ? n : done;
}

/* note[0]: there may be more. */
static long read_piece(struct stream *s, int piece, bool *more)
{
    struct ft_recorded c;
    long n;

    if (!has_room(s, FT_OUTCOME_PIECE))
        return -1;
    if (!ft_call_begin(&c, FT_CALL_DIRECTORY, ft_what(s->fd, piece, 0), FT_OUTCOME_PIECE)) {
        if (piece == 0)
            syscall(SYS_lseek, s->fd, 0, SEEK_SET);
        else if (c.under_way)
            ft_recorder_lost("it was killed while it read a large directory");
        errno = c.error;
        n = fill(s->fd, s->entries + s->bytes, more);
        if (c.record)
            c.record->note[0] = *more;
        if (n > 0 && c.record)
            memcpy(ft_call_data(&c), s->entries + s->bytes, (size_t)n);
        n = ft_call_end(&c, n, n > 0 ? (size_t)n : 0);
    } else {
        memcpy(s->entries + s->bytes, ft_call_data(&c), ft_call_bytes(&c));
        *more = c.record->note[0];
        n = ft_call_give(&c);
    }
    s->bytes += n > 0 ? (size_t)n : 0;
    return n;
}

static bool read_all(struct stream *s)
{
    bool more = true;

    s->bytes = s->at = 0;
    for (int piece = 0; more; piece++)
        if (read_piece(s, piece, &more) < 0)
            return false;
    return true;
}

/* ---- streams ---- */

static DIR *stream_of(int fd)
{
    struct stream *s = calloc(1, sizeof *s);
    char *less;

    if (!s)
        return NULL;
    s->fd = fd;
    if (!read_all(s) || !enter(s)) {
        free(s->entries);
        free(s);
        return NULL;
    }
    less = realloc(s->entries, s->bytes + 1);
    s->entries = less ? less : s->entries;
    s->room = s->bytes + 1;
    return (DIR *)(void *)s;
}

DIR *opendir(const char *name)
{
    int fd, error;
    DIR *d;

    if (!ft_recording())
        return ft_real()->opendir(name);
    fd = open(name, O_RDONLY | O_NONBLOCK | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    d = stream_of(fd);
    error = errno;
    if (!d)
        close(fd);
    errno = error;
    return d;
}

DIR *fdopendir(int fd)
{
    return ft_recording() ? stream_of(fd) : ft_real()->fdopendir(fd);
}

int closedir(DIR *d)
{
    struct stream *s = own(d);
    int fd;

    if (!s)
        return ft_real()->closedir(d);
    fd = s->fd;
    leave(s);
    free(s->entries);
    free(s);
    return close(fd);
}

static struct dirent64 *next_entry(struct stream *s)
{
    struct dirent64 *e = (struct dirent64 *)(void *)(s->entries + s->at);

    if (s->at >= s->bytes)
        return NULL;
    s->at += e->d_reclen;
    return e;
}

struct dirent64 *readdir64(DIR *d)
{
    struct stream *s = own(d);

    return s ? next_entry(s) : ft_real()->readdir64(d);
}

struct dirent *readdir(DIR *d) { return (struct dirent *)(void *)readdir64(d); }

static int read_into(DIR *d, struct dirent64 *to, struct dirent64 **result)
{
    int error = errno, failed;
    const struct dirent64 *e;

    errno = 0;
    e = readdir64(d);
    failed = errno;
    errno = error;
    if (e)
        memcpy(to, e, e->d_reclen);
    *result = e ? to : NULL;
    return e ? 0 : failed;
}

int readdir64_r(DIR *d, struct dirent64 *to, struct dirent64 **result) { return read_into(d, to, result); }

int readdir_r(DIR *d, struct dirent *to, struct dirent **result)
{
    return read_into(d, (struct dirent64 *)(void *)to, (struct dirent64 **)(void *)result);
}

/* All that there is by now, as POSIX has it. */
void rewinddir(DIR *d)
{
    struct stream *s = own(d);
    int error = errno;

    if (!s)
        ft_real()->rewinddir(d);
    else if (ft_recording())
        read_all(s);
    else
        s->at = 0;
    errno = error;
}

long telldir(DIR *d)
{
    struct stream *s = own(d);

    return s ? (long)s->at : ft_real()->telldir(d);
}

void seekdir(DIR *d, long at)
{
    struct stream *s = own(d);

    if (!s)
        ft_real()->seekdir(d, at);
    else if (at >= 0 && (size_t)at <= s->bytes)
        s->at = (size_t)at;
}

int dirfd(DIR *d)
{
    struct stream *s = own(d);

    return s ? s->fd : ft_real()->dirfd(d);
}

/* ---- whole directories: inside the C library the inner calls would not be seen ---- */

static void free_all(struct dirent64 **list, size_t n)
{
    while (n > 0)
        free(list[--n]);
    free(list);
}

/* The entries that the program wants, copied. -1: errno. */
static long select_entries(DIR *d, struct dirent64 ***result, int (*wanted)(const struct dirent64 *))
{
    struct dirent64 **list = NULL, **longer, *e, *copy;
    size_t n = 0, room = 0;

    while ((e = readdir64(d))) {
        if (wanted && !wanted(e))
            continue;
        copy = malloc(e->d_reclen);
        longer = n < room ? list : realloc(list, (room = 2 * room + 16) * sizeof(struct dirent64 *));
        if (!copy || !longer) {
            free(copy);
            free_all(longer ? longer : list, n);
            errno = ENOMEM;
            return -1;
        }
        list = longer;
        list[n++] = memcpy(copy, e, e->d_reclen);
    }
    *result = list;
    return (long)n;
}

typedef int compare_function(const void *, const void *);

int scandirat64(int dir, const char *name, struct dirent64 ***list, int (*wanted)(const struct dirent64 *),
                int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
    struct dirent64 **found = NULL;
    int fd, error;
    long n;
    DIR *d;

    if (!ft_recording())
        return ft_real()->scandirat64(dir, name, list, wanted, compare);
    fd = openat(dir, name, O_RDONLY | O_NONBLOCK | O_DIRECTORY | O_CLOEXEC);
    d = fd < 0 ? NULL : stream_of(fd);
    if (!d) {
        error = errno;
        if (fd >= 0)
            close(fd);
        errno = error;
        return -1;
    }
    error = errno;
    n = select_entries(d, &found, wanted);
    if (n > 0 && compare)
        qsort(found, (size_t)n, sizeof *found, (compare_function *)(void (*)(void))compare);
    if (n >= 0) {
        *list = found;
        errno = error;
    }
    error = errno;
    closedir(d);
    errno = error;
    return (int)n;
}

int scandirat(int dir, const char *name, struct dirent ***list, int (*wanted)(const struct dirent *),
              int (*compare)(const struct dirent **, const struct dirent **))
{
    return scandirat64(dir, name, (struct dirent64 ***)(void *)list, (int (*)(const struct dirent64 *))(void (*)(void))wanted,
                       (int (*)(const struct dirent64 **, const struct dirent64 **))(void (*)(void))compare);
}

int scandir(const char *name, struct dirent ***list, int (*wanted)(const struct dirent *),
            int (*compare)(const struct dirent **, const struct dirent **))
{
    return scandirat(AT_FDCWD, name, list, wanted, compare);
}

int scandir64(const char *name, struct dirent64 ***list, int (*wanted)(const struct dirent64 *),
              int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
    return scandirat64(AT_FDCWD, name, list, wanted, compare);
}
