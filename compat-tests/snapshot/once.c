/* SPDX-License-Identifier: BSD-3-Clause */
/* Refuses to be started twice: its output must not be there yet. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "rounds.h"

int main(int argc, char **argv)
{
    struct rounds r;
    int out;

    rounds_begin(&r, argc, argv);
    out = open(rounds_path(&r, "once"), O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (out < 0) {
        fprintf(stderr, "rank %d: its output is there already: it does not run twice\n", r.rank);
        _exit(3);
    }
    while (rounds_more(&r)) {
        rounds_mix(&r, rounds_draw(&r, 0));
        MUST(&r, dprintf(out, "%u %016llx\n", r.at, (unsigned long long)r.sum) > 0);
    }
    return rounds_end(&r);
}
