/* SPDX-License-Identifier: BSD-3-Clause */
/* What a call costs that acts on files or asks the clock: `files` runs it as a rank that is recorded and as one that is not
   (ftrun --snapshot off), by turns. No MPI.

     calls DIR MIB     prints a line for each: name, ns a call (of the last three: a MiB); MIB: the size of large files */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SMALL = 64, BLOCK = 1 << 20, CALLS = 20000, FEW = 2000, ROUNDS = 5 };

static char block[BLOCK];
static const char *dir;
static long mib;

static void must(int good, const char *what)
{
    if (good)
        return;
    perror(what);
    exit(1);
}

static const char *in_dir(const char *name)
{
    static char path[2][4096];
    static int which;

    which = !which;
    snprintf(path[which], sizeof path[which], "%s/%s", dir, name);
    return path[which];
}

static int opened(const char *name, int flags)
{
    int fd = open(in_dir(name), flags | O_CLOEXEC, 0600);

    must(fd >= 0, name);
    return fd;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void small_reads(void)
{
    int fd = opened("small", O_RDONLY);

    for (int i = 0; i < CALLS; i++)
        must(pread(fd, block, SMALL, i % 100 * SMALL) == SMALL, "pread");
    close(fd);
}

static void small_writes(void)
{
    int fd = opened("small", O_WRONLY);

    for (int i = 0; i < CALLS; i++)
        must(pwrite(fd, block, SMALL, i % 100 * SMALL) == SMALL, "pwrite");
    close(fd);
}

static void appends(void)
{
    int fd = opened("log", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);

    for (int i = 0; i < CALLS; i++)
        must(write(fd, block, SMALL) == SMALL, "append");
    close(fd);
}

static void lines(void)
{
    FILE *f = fopen(in_dir("lines"), "w");

    must(f != NULL, "lines");
    for (int i = 0; i < CALLS; i++)
        fprintf(f, "line %d of a file that is written by a stream\n", i);
    must(fclose(f) == 0, "lines");
}

static void opens(void)
{
    for (int i = 0; i < CALLS; i++)
        close(opened("small", O_RDONLY));
}

static void renames(void)
{
    for (int i = 0; i < FEW; i++) {
        int fd = opened("new", O_WRONLY | O_CREAT | O_TRUNC);

        must(write(fd, block, SMALL) == SMALL && close(fd) == 0, "new");
        must(rename(in_dir("new"), in_dir("old")) == 0, "rename");
    }
}

static void clocks(void)
{
    for (int i = 0; i < 50 * CALLS; i++)
        now();
}

static void rewrite(void)
{
    int fd = opened("large", O_WRONLY);

    for (long i = 0; i < mib; i++)
        must(pwrite(fd, block, BLOCK, i * BLOCK) == BLOCK, "large");
    close(fd);
}

static void replace(void)
{
    int fd = opened("large.new", O_WRONLY | O_CREAT | O_TRUNC);

    for (long i = 0; i < mib; i++)
        must(write(fd, block, BLOCK) == BLOCK, "large.new");
    close(fd);
    must(rename(in_dir("large.new"), in_dir("large")) == 0, "rename");
}

/* It is there, and old (by `files`). */
static void input(void)
{
    int fd = opened("input", O_RDONLY);

    for (long i = 0; i < mib; i++)
        must(read(fd, block, BLOCK) == BLOCK, "input");
    close(fd);
}

static const struct {
    const char *name;
    void (*run)(void);
    long calls;        /* 0: of each MiB */
} measures[] = {
    {"read 64 B", small_reads, CALLS}, {"write 64 B", small_writes, CALLS}, {"append 64 B", appends, CALLS}, {"line by a stream", lines, CALLS},
    {"open and close", opens, CALLS},  {"write and rename", renames, FEW},  {"clock", clocks, 50 * CALLS},   {"rewrite in place", rewrite, 0},
    {"rewrite by rename", replace, 0}, {"read an input", input, 0},
};

int main(int argc, char **argv)
{
    int fd;

    if (argc != 3 || (mib = atol(argv[2])) < 1)
        return 2;
    dir = argv[1];
    memset(block, 'x', BLOCK);
    fd = opened("small", O_WRONLY | O_CREAT | O_TRUNC);
    must(write(fd, block, 100 * SMALL) == 100 * SMALL && close(fd) == 0, "small");
    close(opened("large", O_WRONLY | O_CREAT));
    for (size_t m = 0; m < sizeof measures / sizeof *measures; m++) {
        double least = 0;

        for (int i = 0; i < ROUNDS; i++) {
            double begin = now(), took;

            measures[m].run();
            took = (now() - begin) / (double)(measures[m].calls ? measures[m].calls : mib);
            if (i == 0 || took < least)
                least = took;
        }
        printf("%-20s %12.1f\n", measures[m].name, least);
    }
    return 0;
}
