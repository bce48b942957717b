/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a lot: lines that are begun in one round and ended in another, on both outputs, long ones, and many at once. */
#include <stdlib.h>
#include <string.h>

#include "rounds.h"

enum { LONG = 40000 };

int main(int argc, char **argv)
{
    struct rounds r;
    char *line = malloc(LONG + 1);
    bool begun = false;

    rounds_begin(&r, argc, argv);
    MUST(&r, line);
    while (rounds_more(&r)) {
        /* rounds.c prints a line after every tenth of the rounds. */
        bool end = rounds_draw(&r, 0) % 3 == 0 || r.at == r.n || r.at % (r.n / 10 ? r.n / 10 : 1) == 0;
        if (!begun) printf("%d begun in %u", r.rank, r.at);
        printf(", %016llx", (unsigned long long)r.sum);
        if (end) printf(", ended in %u\n", r.at);
        begun = !end;
        fflush(stdout); /* half a line */
        if (r.at % 10 == 1) fprintf(stderr, "%d in round %u", r.rank, r.at);
        if (r.at % 10 == 6) fprintf(stderr, " and %u\n", r.at);
        if (begun) continue;
        if (r.at % 16 == 0)
            for (int i = 0; i < 200; i++) printf("%d line %d of round %u: %016llx\n", r.rank, i, r.at, (unsigned long long)rounds_draw(&r, 9));
        if (r.at % 24 == 0) {
            memset(line, 'a' + (int)(r.sum % 26), LONG);
            line[LONG] = '\0';
            printf("%d %s\n", r.rank, line);
        }
    }
    free(line);
    return rounds_end(&r);
}
