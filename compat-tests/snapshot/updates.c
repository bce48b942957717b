/* SPDX-License-Identifier: BSD-3-Clause */
/* A file that is read and written: each round adds to a counter in it. Done twice it would count twice. */
#include <fcntl.h>
#include <unistd.h>

#include "rounds.h"

int main(int argc, char **argv)
{
    struct rounds r;
    uint64_t counter;
    int file;

    rounds_begin(&r, argc, argv);
    file = open(rounds_path(&r, "counters"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    MUST(&r, file >= 0 && ftruncate(file, 64 * sizeof counter) == 0);
    while (rounds_more(&r)) {
        off_t at = (off_t)(rounds_draw(&r, 0) % 64 * sizeof counter);
        MUST(&r, pread(file, &counter, sizeof counter, at) == sizeof counter);
        counter += r.at;
        rounds_mix(&r, counter);
        MUST(&r, pwrite(file, &counter, sizeof counter, at) == sizeof counter);
    }
    return rounds_end(&r);
}
