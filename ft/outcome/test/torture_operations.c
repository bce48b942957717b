/* SPDX-License-Identifier: BSD-3-Clause */
/* What the rank does between messages, one operation at a time, by its random numbers. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "ft/outcome/test/torture.h"

enum { FDS = 5 };

static int fds[FDS], shared_fd = -1;

static size_t length(void)
{
    int r = torture_pick(40);

    return (size_t)(r == 0 ? 200000 + torture_pick(700000) : r < 6 ? torture_pick(60000) : torture_pick(3000));
}

static const char *name(void)
{
    static char names[4][NAME];
    static int at;
    char *to = names[at++ % 4];
    int r = torture_pick(9);

    if (r < 6)
        snprintf(to, NAME, "f%d", r);
    else if (r == 6)
        snprintf(to, NAME, "d%d/f%d", torture_pick(2), torture_pick(3));
    else
        snprintf(to, NAME, r == 7 ? "d%d" : "s%d", torture_pick(2));
    return to;
}

/* Mostly one that is open. */
static int any_fd(void)
{
    int fd = fds[torture_pick(FDS)];

    for (int i = 0; i < 3 && fd < 0; i++)
        fd = fds[torture_pick(FDS)];
    return fd;
}

/* ---- operations ---- */

static void do_open(void)
{
    static const int flags[] = {O_RDWR | O_CREAT, O_RDWR | O_CREAT | O_TRUNC, O_RDWR | O_CREAT | O_APPEND, O_WRONLY | O_CREAT | O_APPEND,
                                O_RDONLY, O_WRONLY | O_CREAT | O_EXCL, O_RDWR};
    int k = torture_pick(FDS);

    if (fds[k] >= 0)
        torture_say("close", close(fds[k]));
    fds[k] = (int)torture_say("open", open(name(), flags[torture_pick(7)], 0644));
}

static void do_write(void)
{
    size_t n = length();

    torture_fill(n);
    torture_say("write", write(any_fd(), torture.buffer, n));
}

static void do_read(void)
{
    size_t n = length();
    long got = torture_say("read", read(any_fd(), torture.buffer, n));

    torture_mix(torture.buffer, got > 0 ? (size_t)got : 0);
}

static void do_positioned(void)
{
    size_t n = length();
    off_t at = torture_pick(20000);
    long got;

    if (torture_pick(2)) {
        torture_fill(n);
        torture_say("pwrite", pwrite(any_fd(), torture.buffer, n, at));
    } else {
        got = torture_say("pread", pread(any_fd(), torture.buffer, n, at));
        torture_mix(torture.buffer, got > 0 ? (size_t)got : 0);
    }
}

static void do_vector(void)
{
    size_t n = length() / 2;
    struct iovec v[2] = {{torture.buffer, n}, {torture.buffer + n, n / 2}};
    long got;

    torture_fill(n * 2);
    if (torture_pick(2)) {
        torture_say("writev", writev(any_fd(), v, 2));
        return;
    }
    got = torture_say("readv", torture_pick(2) ? readv(any_fd(), v, 2) : preadv(any_fd(), v, 2, torture_pick(9000)));
    torture_mix(torture.buffer, got > 0 ? (size_t)got : 0);
}

static void do_seek(void)
{
    int whence = torture_pick(3);

    torture_say("lseek", lseek(any_fd(), whence == 0 ? torture_pick(10000) : whence == 1 ? torture_pick(2000) - 1000 : -torture_pick(3000), whence));
}

static void do_length(void)
{
    switch (torture_pick(4)) {
    case 0: torture_say("ftruncate", ftruncate(any_fd(), torture_pick(20000))); break;
    case 1: torture_say("truncate", truncate(name(), torture_pick(20000))); break;
    case 2: torture_say("fallocate", posix_fallocate(any_fd(), torture_pick(3000), 1 + torture_pick(9000))); break;
    default: torture_say("sync", torture_pick(2) ? fdatasync(any_fd()) : posix_fadvise(any_fd(), 0, 0, POSIX_FADV_SEQUENTIAL));
    }
}

static void do_rename(void)
{
    const char *from = name(), *to = name();
    int how = torture_pick(4);

    torture_say("rename", how < 2 ? rename(from, to) : renameat2(AT_FDCWD, from, torture.root, to, how == 2 ? RENAME_NOREPLACE : RENAME_EXCHANGE));
}

static void do_remove(void)
{
    const char *n = name();
    int how = torture_pick(4);

    torture_say("unlink", how == 0 ? remove(n) : how == 1 ? unlinkat(torture.root, n, 0) : how == 2 ? rmdir(n) : unlink(n));
}

static void do_make(void)
{
    char n[NAME];

    switch (torture_pick(6)) {
    case 0: case 1:
        snprintf(n, NAME, "d%d", torture_pick(2));
        torture_say("mkdir", mkdir(n, 0755));
        break;
    case 2: torture_say("link", link(name(), name())); break;
    case 3:
        snprintf(n, NAME, "s%d", torture_pick(2));
        torture_say("symlink", symlink(name(), n));
        break;
    case 4:
        snprintf(n, NAME, "q%d", torture_pick(2));
        if (torture_pick(2))
            torture_say("mkfifo", mkfifo(n, 0600));
        else
            torture_say("unlink fifo", unlink(n));
        break;
    default: torture_say("mknod", mknodat(torture.root, name(), S_IFREG | 0640, 0));
    }
}

static void do_stat(void)
{
    struct stat st = {0};
    struct statx sx = {0};
    struct statvfs sv;
    long result;

    switch (torture_pick(5)) {
    case 0: result = stat(name(), &st); break;
    case 1: result = lstat(name(), &st); break;
    case 2: result = fstat(any_fd(), &st); break;
    case 3: result = fstatat(torture.root, name(), &st, AT_SYMLINK_NOFOLLOW); break;
    default:
        result = statx(torture.root, name(), 0, STATX_SIZE | STATX_MODE, &sx);
        st.st_mode = sx.stx_mode;
        st.st_size = (off_t)sx.stx_size;
        torture_say("statvfs", statvfs(".", &sv));
    }
    torture_say("stat", result);
    torture_mix_number(st.st_mode);
    torture_mix_number(S_ISDIR(st.st_mode) ? 0 : st.st_size);
}

static void do_ask(void)
{
    char text[PATH_MAX];
    char *path;
    long n;

    switch (torture_pick(3)) {
    case 0: torture_say("access", access(name(), torture_pick(2) ? R_OK : X_OK)); break;
    case 1:
        n = torture_say("readlink", readlink(torture_pick(2) ? "s0" : "s1", text, sizeof text));
        torture_mix(text, n > 0 ? (size_t)n : 0);
        break;
    default:
        path = realpath(name(), NULL);
        torture_say("realpath", path ? 0 : -1);
        if (path)
            torture_mix(strrchr(path, '/'), strlen(strrchr(path, '/')));
        free(path);
    }
}

static void do_attributes(void)
{
    struct timespec times[2] = {{1000000 + torture_pick(1000), 0}, {1000000 + torture_pick(1000), 5}};
    struct stat st;
    const char *n;
    char value[40];
    long got;

    switch (torture_pick(5)) {
    case 0: torture_say("chmod", chmod(name(), torture_pick(2) ? 0644 : 0755)); break;
    case 1: torture_say("fchmod", fchmod(any_fd(), torture_pick(2) ? 0600 : 0644)); break;
    case 2:
        n = name();
        torture_say("utimensat", utimensat(torture.root, n, times, 0));
        if (torture_say("stat", stat(n, &st)) == 0 && S_ISREG(st.st_mode))
            torture_mix_number(st.st_mtim.tv_sec == times[1].tv_sec);
        break;
    case 3: torture_say("fchown", fchown(any_fd(), getuid(), getgid())); break;
    default:
        n = name();
        torture_say("setxattr", setxattr(n, "user.ft", torture.buffer, (size_t)torture_pick(30), torture_pick(3)));
        got = torture_say("getxattr", getxattr(n, "user.ft", value, sizeof value));
        torture_mix(value, got > 0 ? (size_t)got : 0);
        if (torture_pick(2))
            torture_say("removexattr", removexattr(n, "user.ft"));
    }
}

/* ---- directories ---- */

static uint64_t sum;

static void add(const char *text, long more)
{
    uint64_t h = 77 + (uint64_t)more;

    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 1099511628211ull;
    sum += h;
}

static int walked(const char *path, const struct stat *st, int type, struct FTW *f)
{
    add(path, (S_ISREG(st->st_mode) && type == FTW_F ? st->st_size : 0) + type * 1000003 + f->level);
    return 0;
}

static int not_hidden(const struct dirent *e) { return e->d_name[0] != '.'; }

static void do_list(void)
{
    const char *n = torture_pick(2) ? "." : torture_pick(2) ? "d0" : "d1";
    struct dirent **list = NULL, *e;
    glob_t g;
    DIR *d;
    long k;

    sum = 0;
    switch (torture_pick(4)) {
    case 0:
        d = opendir(n);
        torture_say("opendir", d ? 0 : -1);
        while (d && (e = readdir(d)))
            add(e->d_name, 0);
        if (d && torture_pick(2)) {
            rewinddir(d);
            while ((e = readdir(d)))
                add(e->d_name, faccessat(dirfd(d), e->d_name, R_OK, 0));
        }
        if (d)
            torture_say("closedir", closedir(d));
        break;
    case 1:
        k = torture_say("scandir", scandir(n, &list, not_hidden, alphasort));
        for (long i = 0; i < k; i++) {
            torture_mix(list[i]->d_name, strlen(list[i]->d_name));
            free(list[i]);
        }
        free(list);
        break;
    case 2: torture_say("nftw", nftw(n, walked, 8, torture_pick(2) ? FTW_PHYS : FTW_PHYS | FTW_DEPTH)); break;
    default:
        torture_say("glob", glob(torture_pick(2) ? "f*" : "d*/f[0-1]", 0, NULL, &g));
        for (size_t i = 0; i < g.gl_pathc; i++)
            torture_mix(g.gl_pathv[i], strlen(g.gl_pathv[i]));
        globfree(&g);
    }
    torture_mix_number((long)sum);
}

static void do_temporary(void)
{
    char file[] = "tmp.XXXXXX.t", dir[] = "tmpXXXXXX";
    int fd;

    if (torture_pick(2)) {
        fd = mkstemps(file, 2);
        torture_say("mkstemps", fd);
        torture_fill(800);
        torture_say("write", write(fd, torture.buffer, 800));
        torture_say("rename", torture_pick(2) ? rename(file, name()) : -unlink(file));
        unlink(file);
        torture_say("close", close(fd));
    } else {
        torture_say("mkdtemp", mkdtemp(dir) ? 0 : -1);
        if (torture_say("rename", rename(dir, "d1")) < 0)
            torture_say("rmdir", rmdir(dir));
    }
}

/* In the directory d0, and back. */
static void do_place(void)
{
    char text[PATH_MAX] = "/";
    mode_t old = umask(torture_pick(2) ? 027 : 022);

    torture_mix_number(old);
    if (torture_say("chdir", chdir("d0")) < 0)
        return;
    torture_say("getcwd", getcwd(text, sizeof text) ? 0 : -1);
    torture_mix(strrchr(text, '/'), strlen(strrchr(text, '/')));
    if (torture_pick(2))
        torture_say("rename", rename("f0", "../f1"));
    else
        torture_say("access", access("f1", R_OK));
    torture_say("fchdir", fchdir(torture.root));
}

/* ---- descriptors ---- */

static void do_double(void)
{
    int k = torture_pick(FDS), of = any_fd(), fd;

    switch (torture_pick(4)) {
    case 0:
        fd = (int)torture_say("dup", dup(of));
        torture_say("read", read(fd, torture.buffer, 100));
        torture_say("close", fd >= 0 ? close(fd) : 0);
        break;
    case 1:
        if (fds[k] >= 0 && of >= 0)
            torture_say("dup2", torture_pick(2) || of == fds[k] ? dup2(of, fds[k]) : dup3(of, fds[k], O_CLOEXEC));
        break;
    case 2:
        fd = (int)torture_say("F_DUPFD", fcntl(of, F_DUPFD, 40));
        torture_say("lseek", lseek(fd, torture_pick(500), SEEK_SET));
        if (fd >= 0)
            torture_say("close_range", close_range((unsigned)fd, (unsigned)fd, 0));
        break;
    default:
        torture_say("F_GETFL", fcntl(of, F_GETFL));
        torture_say("F_SETFL", fcntl(of, F_SETFL, torture_pick(2) ? O_APPEND : 0));
    }
}

static void do_lock(void)
{
    struct flock l = {.l_type = (short)(torture_pick(2) ? F_WRLCK : F_UNLCK), .l_whence = SEEK_SET, .l_start = torture_pick(10), .l_len = 1 + torture_pick(10)};
    int pending = 0;

    torture_say("F_SETLK", fcntl(torture.lock, F_SETLK, &l));
    l.l_type = F_WRLCK;
    torture_say("F_OFD_GETLK", fcntl(torture.lock, F_GETLK, &l));
    torture_mix_number(l.l_type);
    torture_say("flock", flock(any_fd(), LOCK_SH | LOCK_NB));
    torture_say("FIONREAD", ioctl(any_fd(), FIONREAD, &pending));
    torture_mix_number(pending);
}

static void do_copy(void)
{
    int from = any_fd(), to = any_fd();
    off_t at_from = torture_pick(500), at_to = 30000 + torture_pick(500);
    size_t n = (size_t)torture_pick(5000);

    if (from == to)
        return;
    switch (torture_pick(3)) {
    case 0: torture_say("copy_file_range", copy_file_range(from, &at_from, to, &at_to, n, 0)); break;
    case 1: torture_say("sendfile", sendfile(to, from, &at_from, n)); break;
    default: torture_say("copy_file_range", copy_file_range(from, NULL, to, NULL, n, 0));
    }
    torture_mix_number(at_from + at_to);
}

/* ---- with others ---- */

/* Lines whose length divides every block: none is torn. */
static void do_append(void)
{
    char line[65];

    if (shared_fd < 0)
        shared_fd = open("../shared.log", O_WRONLY | O_APPEND | O_CREAT, 0644);
    snprintf(line, sizeof line, "%-46s %016lx\n", "rank", (long)torture_random());
    torture_say("append", write(shared_fd, line, 64));
}

/* Large files that have not been changed for long. One of them is, at times. */
static void do_input(void)
{
    char n[NAME];
    int fd;

    snprintf(n, NAME, "in%d", torture_pick(3));
    fd = (int)torture_say("open", open(n, O_RDONLY));
    for (int i = torture_pick(3); i >= 0; i--) {
        long got = torture_say("read", torture_pick(2) ? read(fd, torture.buffer, 60000) : pread(fd, torture.buffer, 70000, torture_pick(30000)));

        torture_mix(torture.buffer, got > 0 ? (size_t)got : 0);
    }
    if (fd >= 0)
        torture_say("close", close(fd));
    if (torture_pick(20) != 0)
        return;
    fd = (int)torture_say("open", open(n, O_RDWR));
    torture_fill(20000);
    torture_say("pwrite", pwrite(fd, torture.buffer, 20000, torture_pick(30000)));
    if (fd >= 0)
        torture_say("close", close(fd));
}

/* A file that is made anew: who looks at a message sees it whole. */
static void do_publish(void)
{
    int fd = open("next", O_WRONLY | O_CREAT | O_TRUNC, 0644);

    torture_fill(3000);
    for (int i = 0; i < 3; i++)
        torture_say("write", write(fd, torture.buffer + 1000 * i, 1000));
    torture_say("fsync", fsync(fd));
    torture_say("close", close(fd));
    torture_say("rename", rename("next", "p0"));
}

static void (*const operations[])(void) = {
    do_open, do_open, do_open, do_open, do_open, do_write, do_write, do_write, do_write, do_read, do_read, do_read, do_positioned,
    do_positioned, do_vector, do_seek, do_seek, do_length, do_length, do_rename, do_rename, do_remove, do_remove, do_make,
    do_make, do_make, do_stat, do_stat, do_ask, do_attributes, do_attributes, do_list, do_list, do_temporary, do_place,
    do_double, do_double, do_lock, do_copy, do_append, do_append, do_input, do_input, do_publish,
};

void torture_begin(void)
{
    for (int i = 0; i < FDS; i++)
        fds[i] = -1;
}

void torture_operation(void) { operations[torture_pick(sizeof operations / sizeof *operations)](); }
