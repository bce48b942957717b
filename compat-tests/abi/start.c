/* SPDX-License-Identifier: BSD-3-Clause */
#include "compat-tests/abi/start.h"

#include <getopt.h>

#include "compat-tests/chaos/progress.h"

int me, ranks;
bool own;
static uint64_t done;

void start(int argc, char **argv, int *many)
{
    for (int c; (c = getopt(argc, argv, "n:p:o")) != -1;) {
        if (c == 'n' && many)
            *many = atoi(optarg);
        else if (c == 'o')
            own = true;
        else if (c != 'p' || progress_open(optarg))
            exit(2);
    }
    progress_phase(PROGRESS_IN_INIT);
    MPI_Init(&argc, &argv);
    progress_phase(PROGRESS_RUNS);
    setvbuf(stdout, NULL, _IOLBF, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

void end(void)
{
    progress_phase(PROGRESS_IN_FINALIZE);
    MPI_Finalize();
    progress_phase(PROGRESS_OVER);
}

void step(void) { progress_advance(++done); }

int class_of(int code)
{
    int class = -1;

    MPI_Error_class(code, &class);
    return class;
}
