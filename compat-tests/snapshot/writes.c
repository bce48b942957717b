/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes files in the ways that bear being done twice: from front to back with stdio, blocks with pwrite in any order and again and
   again, a header in place, cut short now and then, and a state that is written beside and renamed. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "rounds.h"

enum { BLOCK = 64, BLOCKS = 256 };

static void write_state(struct rounds *r)
{
    char name[4096];
    FILE *f;
    snprintf(name, sizeof name, "%s", rounds_path(r, "state.tmp"));
    f = fopen(name, "w");
    MUST(r, f && fprintf(f, "%u %016llx\n", r->at, (unsigned long long)r->sum) > 0 && fclose(f) == 0);
    MUST(r, rename(name, rounds_path(r, "state")) == 0);
}

/* Opened for reading, too, but only here. */
static void write_header(struct rounds *r)
{
    FILE *f = fopen(rounds_path(r, "blocks"), "r+");
    MUST(r, f && fprintf(f, "rounds: %8u\n", r->at) > 0 && fclose(f) == 0);
}

int main(int argc, char **argv)
{
    struct rounds r;
    FILE *text;
    int blocks, moved;

    rounds_begin(&r, argc, argv);
    text = fopen(rounds_path(&r, "text"), "w");
    blocks = open(rounds_path(&r, "blocks"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    moved = open(rounds_path(&r, "moved"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    MUST(&r, text && blocks >= 0 && moved >= 0);
    while (rounds_more(&r)) {
        char block[BLOCK];
        MUST(&r, fprintf(text, "%u %016llx\n", r.at, (unsigned long long)r.sum) > 0); /* stays in the buffer for some rounds */
        memset(block, 'a' + (int)(r.sum % 26), BLOCK);
        MUST(&r, pwrite(blocks, block, BLOCK, (off_t)(rounds_draw(&r, 0) % BLOCKS * BLOCK)) == BLOCK);
        MUST(&r, write(moved, block, 1 + rounds_draw(&r, 1) % BLOCK) > 0);
        if (rounds_draw(&r, 2) % 4 == 0) MUST(&r, lseek(moved, (off_t)(rounds_draw(&r, 3) % 4096), SEEK_SET) >= 0);
        if (r.at % 64 == 0) MUST(&r, ftruncate(blocks, (off_t)(rounds_draw(&r, 4) % (BLOCK * BLOCKS))) == 0);
        if (r.at % 16 == 0) write_state(&r);
        if (r.at % 8 == 0) write_header(&r);
    }
    MUST(&r, fclose(text) == 0);
    return rounds_end(&r);
}
