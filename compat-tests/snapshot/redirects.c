/* SPDX-License-Identifier: BSD-3-Clause */
/* Has its standard output go to a file after a while, and its own one somewhere else. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "rounds.h"

int main(int argc, char **argv)
{
    struct rounds r;
    int saved = -1;

    rounds_begin(&r, argc, argv);
    while (rounds_more(&r)) {
        rounds_mix(&r, rounds_draw(&r, 0));
        if (r.at == r.n / 8) {
            MUST(&r, (saved = fcntl(1, F_DUPFD, 50)) >= 0);
            MUST(&r, freopen(rounds_path(&r, "stdout"), "w", stdout));
            setvbuf(stdout, NULL, _IOFBF, 512);
        }
        if (saved >= 0 && r.at % 10 == 0) MUST(&r, dprintf(saved, "%d in round %u still here: %016llx\n", r.rank, r.at, (unsigned long long)r.sum) > 0);
        printf("%d round %u: %016llx\n", r.rank, r.at, (unsigned long long)r.sum);
    }
    MUST(&r, fflush(stdout) == 0 && dup2(saved, 1) == 1 && close(saved) == 0);
    return rounds_end(&r);
}
