/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run of points.sh has left in a directory, which is empty afterwards. One process says it: there are thousands of runs. */
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ft/outcome/test/calls.h"

enum { MOST = 1000 };

static char *lines[MOST];
static int nlines;

static uint64_t hash_of(const char *path)
{
    unsigned char bytes[4096];
    uint64_t h = 1469598103934665603ull;
    int fd = open(path, O_RDONLY);
    ssize_t n;

    while (fd >= 0 && (n = read(fd, bytes, sizeof bytes)) > 0)
        for (ssize_t i = 0; i < n; i++)
            h = (h ^ bytes[i]) * 1099511628211ull;
    close(fd);
    return h;
}

static int describe(const char *path, const struct stat *st, int type, struct FTW *f)
{
    char text[PATH_MAX] = "";

    (void)type;
    (void)f;
    if (S_ISLNK(st->st_mode) && readlink(path, text, sizeof text - 1) < 0)
        return -1;
    if (nlines == MOST || asprintf(&lines[nlines++], "%s %o links %ld bytes %ld hash %016llx %s", path, st->st_mode,
                                   S_ISDIR(st->st_mode) ? 0L : (long)st->st_nlink, S_ISDIR(st->st_mode) ? 0L : (long)st->st_size,
                                   S_ISREG(st->st_mode) ? (unsigned long long)hash_of(path) : 0, text) < 0)
        return -1;
    return 0;
}

static int take_away(const char *path, const struct stat *st, int type, struct FTW *f)
{
    (void)st;
    (void)type;
    return f->level ? remove(path) : 0;
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void print(const char *path)
{
    FILE *f = fopen(path, "r");
    int c;

    while (f && (c = getc(f)) != EOF)
        putchar(c);
    if (f)
        fclose(f);
}

int calls_left(const char *directory, const char *out)
{
    if (nftw(directory, describe, 16, FTW_PHYS) != 0 || nftw(directory, take_away, 16, FTW_PHYS | FTW_DEPTH) != 0) {
        perror(directory);
        return 1;
    }
    qsort(lines, (size_t)nlines, sizeof *lines, by_text);
    for (int i = 0; i < nlines; i++)
        puts(lines[i]);
    print(out);
    return 0;
}
