/* SPDX-License-Identifier: BSD-3-Clause */
/* Its own scratch files: written, read back after MPI calls, renamed over each other, appended to, cut, linked, removed, in directories that
   come and go. (A rank that was put back read what its predecessor had written later: wrong sums, silently.) */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rounds.h"

static char scratch[512], older[512], log_path[512], dir[512], in_dir[600];

static void name_all(struct rounds *r)
{
    snprintf(scratch, sizeof scratch, "%s", rounds_path(r, "scratch"));
    snprintf(older, sizeof older, "%s", rounds_path(r, "older"));
    snprintf(log_path, sizeof log_path, "%s", rounds_path(r, "appended"));
    snprintf(dir, sizeof dir, "%s", rounds_path(r, "dir"));
    snprintf(in_dir, sizeof in_dir, "%s/link", dir);
}

static void write_number(struct rounds *r, const char *path, const char *mode, uint64_t number)
{
    FILE *f = fopen(path, mode);

    MUST(r, f && fprintf(f, "%llu\n", (unsigned long long)number) > 0 && fclose(f) == 0);
}

static void read_number(struct rounds *r, const char *path)
{
    unsigned long long number = 0;
    FILE *f = fopen(path, "r");

    MUST(r, f && fscanf(f, "%llu", &number) == 1 && fclose(f) == 0);
    rounds_mix(r, number);
}

int main(int argc, char **argv)
{
    struct rounds r;
    struct stat st;

    rounds_begin(&r, argc, argv);
    name_all(&r);
    write_number(&r, scratch, "w", 0);
    while (rounds_more(&r)) {
        read_number(&r, scratch); /* of the round before: the MPI call came between */
        MUST(&r, rename(scratch, older) == 0 && access(scratch, F_OK) != 0);
        write_number(&r, scratch, "w", rounds_draw(&r, 0));
        write_number(&r, log_path, "a", r.at);
        MUST(&r, mkdir(dir, 0700) == 0 && link(older, in_dir) == 0);
        read_number(&r, in_dir);
        MUST(&r, stat(older, &st) == 0);
        rounds_mix(&r, (uint64_t)st.st_nlink);
        if (r.at % 50 == 7) MUST(&r, truncate(log_path, 10) == 0);
        MUST(&r, stat(log_path, &st) == 0);
        rounds_mix(&r, (uint64_t)st.st_size);
        MUST(&r, unlink(in_dir) == 0 && rmdir(dir) == 0);
    }
    MUST(&r, unlink(older) == 0);
    return rounds_end(&r);
}
