/* SPDX-License-Identifier: BSD-3-Clause */
/* Appends to files: with write() and with stdio to its own, and, with the word "shared", to one that all ranks append to. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "rounds.h"

int main(int argc, char **argv)
{
    struct rounds r;
    char path[4096], line[64];
    FILE *text;
    int raw, all = -1;

    rounds_begin(&r, argc, argv);
    text = fopen(rounds_path(&r, "log"), "w"); /* there may be one of an earlier start */
    MUST(&r, text && fclose(text) == 0);
    text = fopen(rounds_path(&r, "log"), "a");
    raw = open(rounds_path(&r, "raw"), O_WRONLY | O_CREAT | O_APPEND | O_TRUNC, 0600);
    MUST(&r, text && raw >= 0);
    snprintf(path, sizeof path, "%s/shared", r.dir);
    if (!strcmp(r.what, "shared")) MUST(&r, (all = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600)) >= 0);
    while (rounds_more(&r)) {
        int n = snprintf(line, sizeof line, "%d %u %016llx\n", r.rank, r.at, (unsigned long long)r.sum);
        MUST(&r, write(raw, line, (size_t)n) == n);
        MUST(&r, all < 0 || write(all, line, (size_t)n) == n);
        MUST(&r, fputs(line, text) >= 0 && (r.at % 7 || fflush(text) == 0));
    }
    MUST(&r, fclose(text) == 0);
    return rounds_end(&r);
}
