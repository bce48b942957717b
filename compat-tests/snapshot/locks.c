/* SPDX-License-Identifier: BSD-3-Clause */
/* A file that ranks lock in turn: WHAT is "between" (locked, changed and unlocked between calls) or "always" (each has one of its own
   that it holds all the time). */
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "rounds.h"

int main(int argc, char **argv)
{
    struct rounds r;
    char path[4096];
    bool always;
    int file;

    rounds_begin(&r, argc, argv);
    always = !strcmp(r.what, "always");
    snprintf(path, sizeof path, "%s/lock", r.dir);
    file = open(always ? rounds_path(&r, "lock") : path, O_WRONLY | O_CREAT, 0600);
    MUST(&r, file >= 0);
    if (always) MUST(&r, flock(file, LOCK_EX | LOCK_NB) == 0);
    while (rounds_more(&r)) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = r.rank, .l_len = 1};
        if (!always) MUST(&r, flock(file, LOCK_EX) == 0);
        MUST(&r, fcntl(file, F_SETLKW, &lock) == 0);
        MUST(&r, pwrite(file, "x", 1, r.rank) == 1);
        lock.l_type = F_UNLCK;
        MUST(&r, fcntl(file, F_SETLK, &lock) == 0);
        if (!always) MUST(&r, flock(file, LOCK_UN) == 0);
        rounds_mix(&r, rounds_draw(&r, 0));
    }
    return rounds_end(&r);
}
