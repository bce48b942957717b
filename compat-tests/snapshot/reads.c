/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a file bit by bit, with stdio and with read(), and a directory with getdents64. */
#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rounds.h"

enum { NAMES = 40 };

static void write_input(struct rounds *r)
{
    FILE *f = fopen(rounds_path(r, "in"), "w");
    MUST(r, f);
    for (unsigned i = 0; i < 4 * r->n; i++) MUST(r, fprintf(f, "%llu\n", (unsigned long long)rounds_draw(r, i)) > 0);
    MUST(r, fclose(f) == 0);
}

static int make_directory(struct rounds *r)
{
    int dir, file;
    char name[16];
    mkdir(rounds_path(r, "list"), 0700);
    dir = open(rounds_path(r, "list"), O_RDONLY | O_DIRECTORY);
    MUST(r, dir >= 0);
    for (int i = 0; i < NAMES; i++) {
        snprintf(name, sizeof name, "file%d", i);
        file = openat(dir, name, O_WRONLY | O_CREAT, 0600);
        MUST(r, file >= 0 && close(file) == 0);
    }
    return dir;
}

/* A few entries; in which order they come is the file system's business, but after the last one each has come once. */
static void read_directory(struct rounds *r, int dir)
{
    static uint64_t found, names;
    char buffer[128];
    long n = syscall(SYS_getdents64, dir, buffer, sizeof buffer);
    MUST(r, n >= 0);
    for (long at = 0; at < n;) {
        const char *name = buffer + at + offsetof(struct dirent64, d_name);
        unsigned short bytes;
        memcpy(&bytes, buffer + at + offsetof(struct dirent64, d_reclen), sizeof bytes);
        found++;
        for (uint64_t h = 1;; name++) {
            h = h * 1099511628211u + (unsigned char)*name;
            if (!*name) {
                names += h;
                break;
            }
        }
        at += bytes;
    }
    if (n == 0) {
        MUST(r, found == NAMES + 2 && lseek(dir, 0, SEEK_SET) == 0);
        rounds_mix(r, names);
        found = names = 0;
    }
}

int main(int argc, char **argv)
{
    struct rounds r;
    char bytes[32];
    unsigned long long number;
    uint64_t ended = 0;
    FILE *text;
    int raw, dir;

    rounds_begin(&r, argc, argv);
    write_input(&r);
    dir = make_directory(&r);
    text = fopen(rounds_path(&r, "in"), "r");
    raw = open(rounds_path(&r, "in"), O_RDONLY);
    MUST(&r, text && raw >= 0);
    while (rounds_more(&r)) {
        for (uint64_t i = rounds_draw(&r, 0) % 5; i > 0 && fscanf(text, "%llu", &number) == 1; i--) rounds_mix(&r, number);
        memset(bytes, 0, sizeof bytes);
        ssize_t n = read(raw, bytes, 1 + rounds_draw(&r, 1) % sizeof bytes);
        MUST(&r, n >= 0);
        for (size_t i = 0; i < sizeof bytes; i++) rounds_mix(&r, (unsigned char)bytes[i]);
        if (r.at % 4 == 0) read_directory(&r, dir);
        if (feof(text)) {
            rewind(text);
            ended++;
        }
    }
    rounds_mix(&r, ended);
    rounds_mix(&r, (uint64_t)lseek(raw, 0, SEEK_CUR));
    return rounds_end(&r);
}
