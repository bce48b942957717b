/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program that makes its calls in a library, for sites.sh.
     inlib LIBRARY FILE      rank 0 stays outside MPI until FILE is there, the others wait for it in the library
     inlib LIBRARY mismatch  rank 0 calls something else than the others */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
    void (*sum)(void) = library ? (void (*)(void))dlsym(library, "sum_of_ranks") : NULL;
    int rank;

    if (!sum) {
        fprintf(stderr, "%s\n", argc > 2 ? dlerror() : "inlib LIBRARY FILE");
        return 2;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && !strcmp(argv[2], "mismatch"))
        MPI_Barrier(MPI_COMM_WORLD);
    while (rank == 0 && access(argv[2], F_OK) != 0)
        usleep(10000);
    sum();
    MPI_Finalize();
    return 0;
}
