/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank of streams.sh: files that it changes by its mappings. Each store depends on what is there, so one that is done twice is seen. What it
   reads there is printed; the files are what is left.

     stores DIRECTORY ROUNDS */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 64 << 10, LARGE = 3 << 20, COUNTERS = 8 };

static const char *dir;

static void must(int good, const char *what)
{
    if (!good) {
        perror(what);
        exit(1);
    }
}

static int file(const char *name, int flags, off_t bytes)
{
    char path[300];
    int fd;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    fd = open(path, flags, 0600);
    must(fd >= 0 && (bytes == 0 || ftruncate(fd, bytes) == 0), path);
    return fd;
}

static unsigned *map(int fd, size_t bytes, int protection, int flags)
{
    void *at = mmap(NULL, bytes, protection, flags, fd, 0);

    must(at != MAP_FAILED, "mmap");
    return at;
}

/* Without a call between many of them. */
static unsigned store(unsigned *at, size_t bytes, unsigned round)
{
    unsigned n = (unsigned)(bytes / sizeof *at), sum = 0;

    for (unsigned k = 0; k < 2000; k++) {
        unsigned i = (k * 7919 + round * 104729) % n;

        at[i] = at[i] * 3 + k + round;
        sum += at[i];
    }
    for (unsigned i = 0; i < COUNTERS; i++)
        at[i]++;
    return sum;
}

/* Private to it: nothing of that is in the file, but what write has put there before. */
static void alone(unsigned round)
{
    int fd = file("private", O_RDWR | O_CREAT | O_TRUNC, 0);
    char text[100];
    unsigned *at;

    memset(text, (int)('a' + round % 26), sizeof text);
    must(write(fd, text, sizeof text) == sizeof text, "write");
    at = map(fd, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE);
    close(fd);
    printf("private %u %.4s\n", store(at, 100, round), (const char *)at + 90);
    fflush(stdout);
    printf("private %u\n", at[1]);
    munmap(at, 4096);
}

int main(int argc, char **argv)
{
    unsigned *small, *large, *again;
    int fd;

    if (argc != 3)
        return 2;
    dir = argv[1];
    fd = file("small", O_RDWR | O_CREAT | O_TRUNC, BYTES);
    small = map(fd, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED);
    large = map(file("large", O_RDWR | O_CREAT | O_TRUNC, LARGE - 5000), LARGE, PROT_READ | PROT_WRITE, MAP_SHARED);
    for (unsigned r = 0; r < (unsigned)atoi(argv[2]); r++) {
        char name[40];

        printf("small %u large %u\n", store(small, BYTES, r), store(large, LARGE - 8192, r));
        fflush(stdout);
        alone(r);
        must(pread(fd, name, 4, 0) == 4 && memcmp(name, small, 4) == 0, "pread of what was stored");
        if (r % 3 == 1)
            must(msync(small, BYTES, MS_SYNC) == 0, "msync");
        if (r % 4 == 2) /* past the mapping */
            must(pwrite(fd, &r, sizeof r, 5000) == sizeof r, "pwrite");
        snprintf(name, sizeof name, "new%u", r);
        again = map(file(name, O_RDWR | O_CREAT | O_EXCL, BYTES), BYTES, PROT_READ | PROT_WRITE, MAP_SHARED);
        printf("%s %u\n", name, store(again, BYTES, r));
        must(munmap(again, BYTES) == 0, "munmap");
        printf("counted %u %u, %u\n", small[0], large[COUNTERS - 1], small[5000 / sizeof *small]);
    }
    store(small, BYTES, 77);
    return 0;
}
