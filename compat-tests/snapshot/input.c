/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 reads its standard input bit by bit, with stdio or (WHAT is "raw") with read(), and tells the others. */
#include <mpi.h>
#include <string.h>
#include <unistd.h>

#include "rounds.h"

static int from_stdin(struct rounds *r, char *text, int room)
{
    ssize_t n = 0;
    if (strcmp(r->what, "raw")) return fgets(text, room, stdin) ? (int)strlen(text) : 0;
    /* A pipe gives what it has: go on until all has come, or results would depend on timing. */
    for (ssize_t some = 1; some > 0 && n < 24; n += some) some = read(0, text + n, (size_t)(24 - n));
    MUST(r, n >= 0);
    return (int)n;
}

int main(int argc, char **argv)
{
    struct rounds r;
    char text[128];
    int n;

    rounds_begin(&r, argc, argv);
    while (rounds_more(&r)) {
        memset(text, 0, sizeof text);
        n = r.rank == 0 && rounds_draw(&r, 0) % 3 ? from_stdin(&r, text, sizeof text) : 0;
        MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Bcast(text, sizeof text, MPI_CHAR, 0, MPI_COMM_WORLD);
        for (int i = 0; i < n; i++) rounds_mix(&r, (uint64_t)text[i]);
    }
    return rounds_end(&r);
}
