/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of calls.table about what is in files, and about descriptors. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ft/outcome/test/calls.h"

static char text[100001];

static void say_file(const char *name)
{
    int fd = open(name, O_RDONLY);
    ssize_t n = read(fd, text, sizeof text);

    calls_say_bytes(name, text, n);
    close(fd);
}

/* ---- open, read, write ---- */

static void do_open(void)
{
    int a = (int)SAY(open("open1", O_RDWR | O_CREAT | O_EXCL, 0640)), b = (int)SAY(openat(AT_FDCWD, "open2", O_WRONLY | O_CREAT | O_APPEND, 0600));
    int c = (int)SAY(creat("open1", 0644));

    SAY(open("none", O_RDONLY));
    SAY(open("open1", O_WRONLY | O_CREAT | O_EXCL, 0640));
    SAY(write(c, "abc", 3));
    SAY(write(b, "def", 3));
    SAY(read(a, text, 10));
    SAY(close(a));
    SAY(open("../input", O_RDONLY));
    SAY(open("open1", O_WRONLY | O_TRUNC));
    SAY(open(".", O_RDONLY | O_DIRECTORY));
    SAY(open(".", O_RDWR | O_TMPFILE, 0600));
    closefrom(a);
}

static void do_close(void)
{
    int a = calls_file("close1", "abc"), b = open("close1", O_RDONLY), c = open("close1", O_RDONLY);

    SAY(close(a));
    SAY(close(a));
    SAY(close_range((unsigned)b, (unsigned)b, 0));
    SAY(open("close1", O_RDONLY));
    SAY(close(c));
    SAY(dup2(a, 100));
    closefrom(90);
    SAY(read(100, text, 1));
    SAY(close(a));
}

static void do_read(void)
{
    int fd = calls_file("read", "some text that is read"), input = open("../input", O_RDONLY);
    struct iovec v[2] = {{text, 3}, {text + 3, 50}};

    SAY(read(fd, text, 4));
    SAY(readv(fd, v, 2));
    calls_say_bytes("read", text, 22);
    SAY(read(fd, text, 5));
    SAY(read(input, text, 30000));
    SAY(read(input, text, 100000));
    calls_say_bytes("read", text, 70000);
    SAY(read(-1, text, 5));
    close(fd);
    close(input);
}

static void do_pread(void)
{
    int fd = calls_file("pread", "some text that is read"), input = open("../input", O_RDONLY);
    struct iovec v[2] = {{text, 3}, {text + 3, 50}};

    SAY(pread(fd, text, 4, 10));
    SAY(preadv(fd, v, 2, 8));
    SAY(preadv2(fd, v, 2, 7, 0));
    SAY(pread(input, text, 50000, 1000));
    calls_say_bytes("read", text, 50000);
    close(fd);
    close(input);
}

static void do_write(void)
{
    int fd = calls_file("write", "some text"), append = open("append", O_WRONLY | O_CREAT | O_APPEND, 0644);
    struct iovec v[2] = {{"abcd", 4}, {"efghij", 6}};

    SAY(write(fd, "xy", 2));
    SAY(writev(fd, v, 2));
    SAY(write(append, "first line\n", 11));
    SAY(writev(append, v, 2));
    SAY(write(append, "last line\n", 10));
    close(fd);
    SAY(write(fd, "xy", 2));
    close(append);
    say_file("write");
    say_file("append");
}

static void do_pwrite(void)
{
    int fd = calls_file("pwrite", "some text"), append = open("pappend", O_WRONLY | O_CREAT | O_APPEND, 0644);
    struct iovec v[2] = {{"abcd", 4}, {"efghij", 6}};

    SAY(pwrite(fd, "xy", 2, 30));
    SAY(pwritev(fd, v, 2, 3));
    SAY(pwritev2(fd, v, 2, 5, 0));
    SAY(pwrite(append, "first line\n", 11, 0));
    SAY(pwrite(append, "last line\n", 10, 0));
    close(fd);
    close(append);
    say_file("pwrite");
}

static void do_lseek(void)
{
    int fd = calls_file("lseek", "0123456789");

    SAY(lseek(fd, 4, SEEK_SET));
    SAY(lseek(fd, 2, SEEK_CUR));
    SAY(read(fd, text, 1));
    SAY(lseek(fd, 2, SEEK_CUR));
    SAY(lseek(fd, -3, SEEK_END));
    SAY(read(fd, text, 2));
    calls_say_bytes("read", text, 2);
    SAY(lseek(fd, -30, SEEK_END));
    close(fd);
}

static void do_truncate(void)
{
    close(calls_file("truncate", "0123456789"));
    SAY(truncate("truncate", 4));
    SAY(truncate("truncate", 4000));
    SAY(truncate("truncate", 4000));
    SAY(truncate("none", 4));
    SAY(truncate("truncate", 0));
}

static void do_ftruncate(void)
{
    int fd = calls_file("ftruncate", "0123456789");

    SAY(ftruncate(fd, 4));
    SAY(ftruncate(fd, 3000));
    SAY(ftruncate(fd, 3000));
    SAY(write(fd, "ab", 2));
    SAY(ftruncate(fd, 0));
    close(fd);
}

static void do_fallocate(void)
{
    int fd = calls_file("fallocate", "0123456789");

    SAY(posix_fallocate(fd, 100, 3000));
    SAY(fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 9000));
    SAY(ftruncate(fd, 20480));
    SAY(pwrite(fd, "abc", 3, 9000));
    SAY(fallocate(fd, FALLOC_FL_COLLAPSE_RANGE, 4096, 4096));
    SAY(fallocate(fd, FALLOC_FL_INSERT_RANGE, 0, 4096));
    SAY(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 8192, 4096));
    close(fd);
    say_file("fallocate");
}

static void do_fsync(void)
{
    int fd = calls_file("fsync", "0123456789");

    SAY(fdatasync(fd));
    SAY(sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE));
    SAY(fsync(-1));
    close(fd);
}

static void do_advise(void)
{
    int fd = calls_file("advise", "0123456789");

    SAY(posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL));
    SAY(readahead(fd, 0, 4096));
    close(fd);
}

static void do_copy(void)
{
    int from = calls_file("from", "0123456789abcdefghij"), to = calls_file("to", "");
    off_t at = 3, at_to = 40;

    SAY(copy_file_range(from, NULL, to, NULL, 5, 0));
    SAY(copy_file_range(from, &at, to, &at_to, 7, 0));
    SAY(at + at_to);
    SAY(sendfile(to, from, NULL, 4));
    at = 1;
    SAY(sendfile(to, from, &at, 6));
    SAY(at);
    SAY(lseek(from, 0, SEEK_CUR));
    close(from);
    close(to);
    say_file("to");
}

/* ---- descriptors ---- */

static void do_flock(void)
{
    int fd = calls_file("flock", "0123456789"), other = open("flock", O_RDWR);

    SAY(flock(fd, LOCK_EX));
    SAY(flock(other, LOCK_SH | LOCK_NB));
    SAY(flock(fd, LOCK_UN));
    SAY(lockf(other, F_LOCK, 5));
    SAY(lockf(other, F_TEST, 5));
    SAY(lockf(other, F_ULOCK, 5));
    close(fd);
    close(other);
}

static void do_fcntl(void)
{
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 2, .l_len = 3};
    int fd = calls_file("fcntl", "0123456789"), a, b;

    a = (int)SAY(fcntl(fd, F_DUPFD, 40));
    b = (int)SAY(fcntl(fd, F_DUPFD_CLOEXEC, 40));
    SAY(fcntl(fd, F_SETFD, FD_CLOEXEC));
    SAY(fcntl(fd, F_GETFD));
    SAY(fcntl(fd, F_SETFL, O_APPEND));
    SAY(fcntl(fd, F_GETFL));
    SAY(write(a, "end", 3));
    SAY(fcntl(fd, F_SETLK, &l));
    SAY(fcntl(fd, F_GETLK, &l));
    SAY(l.l_type);
    l.l_type = F_UNLCK;
    SAY(fcntl(fd, F_SETLKW, &l));
    close(a);
    close(b);
    close(fd);
}

/* That of standard output once lost descriptor 1: a replay that ended in dup2 closed it. */
static void do_dup(void)
{
    int fd = calls_file("dup", "0123456789"), out, a;

    a = (int)SAY(dup(fd));
    SAY(dup2(fd, 60));
    SAY(dup3(fd, 61, O_CLOEXEC));
    SAY(dup3(fd, fd, 0));
    SAY(dup2(fd, fd));
    SAY(dup2(-1, 60));
    SAY(read(a, text, 2));
    SAY(read(60, text, 2));
    SAY(read(61, text, 2));
    out = dup(1);
    SAY(close(1));
    SAY(dup2(fd, 1));
    SAY(write(1, "to a file", 9));
    SAY(dup2(out, 1));
    close(out);
    SAY(dup2(a, 60));
    SAY(lseek(60, 0, SEEK_CUR));
    close(60);
    close(61);
    close(a);
    close(fd);
    say_file("dup");
}

static void do_ioctl(void)
{
    int fd = calls_file("ioctl", "0123456789"), n = -1;

    SAY(ioctl(fd, FIONREAD, &n));
    SAY(n);
    n = 1;
    SAY(ioctl(fd, FIONBIO, &n));
    SAY(ioctl(fd, FIOCLEX));
    close(fd);
}

const struct calls_row calls_of_files[] = {
    {"open", do_open, 0}, {"close", do_close, 0}, {"read", do_read, 0}, {"pread", do_pread, 0}, {"write", do_write, 0}, {"pwrite", do_pwrite, 0},
    {"lseek", do_lseek, 0}, {"truncate", do_truncate, 0}, {"ftruncate", do_ftruncate, 0}, {"fallocate", do_fallocate, 0}, {"fsync", do_fsync, 0},
    {"posix_fadvise", do_advise, 0}, {"copy_file_range", do_copy, 0}, {"flock", do_flock, 0}, {"fcntl", do_fcntl, 0}, {"dup", do_dup, 0},
    {"ioctl", do_ioctl, 0}, {NULL, NULL, 0},
};
