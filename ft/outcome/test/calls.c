/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank of points.sh that makes every call of calls.table, row by row, in the directory it is started in.

     calls [ROW...]      all that close no way back, or these
     calls -rows         which there are
     calls -left DIR OUT what is left in this directory, and was printed (calls_left.c)

   It prints at the end what the calls came to, where that is the same in each run. What is not, times and numbers drawn,
   goes to a file when it is told, and is compared with that at the end. ../input is an old file of 100,000 bytes. */
#include "ft/outcome/test/calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char said[1 << 16], told[1 << 14], again[1 << 14];
static size_t nsaid, ntold;
static int told_fd = -1;

static void print(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    nsaid += (size_t)vsnprintf(said + nsaid, sizeof said - nsaid, format, args);
    va_end(args);
}

long calls_say(const char *what, long result)
{
    int error = errno;

    print("%s %ld %d\n", what, result, result < 0 ? error : 0);
    errno = error;
    return result;
}

void calls_say_bytes(const char *what, const void *bytes, long n)
{
    const unsigned char *p = bytes;
    uint64_t h = 1469598103934665603ull;

    for (long i = 0; i < n; i++)
        h = (h ^ p[i]) * 1099511628211ull;
    print("%s %ld bytes %016lx\n", what, n, (unsigned long)h);
}

void calls_told(const void *value, size_t n)
{
    if (told_fd < 0)
        told_fd = open("told", O_RDWR | O_CREAT, 0600);
    memcpy(told + ntold, value, n);
    ntold += n;
    if (write(told_fd, value, n) != (ssize_t)n)
        print("a value is not written\n");
}

int calls_file(const char *name, const char *text)
{
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);

    if (write(fd, text, strlen(text)) != (ssize_t)strlen(text) || lseek(fd, 0, SEEK_SET) != 0)
        print("%s is not made\n", name);
    return fd;
}

static void compare_told(void)
{
    if (told_fd < 0)
        return;
    if (pread(told_fd, again, sizeof again, 0) != (ssize_t)ntold || memcmp(told, again, ntold) != 0)
        print("what it was told has changed\n");
    ftruncate(told_fd, 0);
    close(told_fd);
}

static bool is_wanted(const struct calls_row *row, int n, char **names)
{
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], row->name) == 0)
            return true;
    return n == 0 && !row->closes;
}

static void make_all(const struct calls_row *row, int n, char **names)
{
    void (*named)(const char *) = (void (*)(const char *))(uintptr_t)dlsym(RTLD_DEFAULT, "test_row");

    for (; row->name; row++) {
        if (!is_wanted(row, n, names))
            continue;
        if (named)
            named(row->name);
        print("-- %s\n", row->name);
        row->make();
    }
    if (named)
        named("-");
}

static void list(const struct calls_row *row)
{
    for (; row->name; row++)
        print("%s|%s\n", row->name, row->closes ? "closes" : "");
}

int main(int argc, char **argv)
{
    static const struct calls_row *const all[] = {calls_of_files, calls_of_names, calls_of_streams, calls_of_process, calls_of_sockets};

    if (argc > 3 && strcmp(argv[1], "-left") == 0)
        return calls_left(argv[2], argv[3]);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (argc > 1 && strcmp(argv[1], "-rows") == 0)
            list(all[i]);
        else
            make_all(all[i], argc - 1, argv + 1);
    compare_told();
    return write(1, said, nsaid) == (ssize_t)nsaid ? 0 : 1;
}
