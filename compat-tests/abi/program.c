/* SPDX-License-Identifier: BSD-3-Clause */
/* A small MPI program in the common part of C and C++, compiled with Open MPI's header and run with our library: handles
   must mean the same whether the program reads them through the library or from its own copies. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(condition) do { if (!(condition)) { printf("line %d: %s\n", __LINE__, #condition); exit(1); } } while (0)

static MPI_Comm world = MPI_COMM_WORLD;     /* addresses in initialised data: relocations of their own */
static MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE};
static MPI_Op sum = MPI_SUM;

static void keep_last(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)in, (void)inout;
    OK(*len >= 1 && *type == MPI_INT);
}

int main(int argc, char **argv)
{
    int rank, size, in, out, version, subversion;
    double x = 0.5, y = 0;
    MPI_Errhandler handler;
    MPI_Op last;

    OK(MPI_Init(&argc, &argv) == MPI_SUCCESS);
    OK(world == MPI_COMM_WORLD);
    OK(MPI_Comm_rank(world, &rank) == MPI_SUCCESS && MPI_Comm_size(world, &size) == MPI_SUCCESS);
    in = rank + 1;
    OK(MPI_Allreduce(&in, &out, 1, types[0], sum, world) == MPI_SUCCESS && out == size * (size + 1) / 2);
    OK(MPI_Allreduce(&x, &y, 1, types[1], MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS && y == 0.5 * size);
    OK(MPI_Op_create(keep_last, 0, &last) == MPI_SUCCESS);
    OK(MPI_Allreduce(&rank, &out, 1, MPI_INT, last, MPI_COMM_WORLD) == MPI_SUCCESS && out == size - 1);
    OK(MPI_Op_free(&last) == MPI_SUCCESS && last == MPI_OP_NULL);
    OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler) == MPI_SUCCESS && handler == MPI_ERRORS_ARE_FATAL);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN) == MPI_SUCCESS);
    OK(MPI_Bcast(&in, 1, MPI_INT, 5, MPI_COMM_SELF) == MPI_ERR_ROOT);
    OK(MPI_Get_version(&version, &subversion) == MPI_SUCCESS && version == MPI_VERSION);
    OK(MPI_Finalize() == MPI_SUCCESS);
    return 0;
}
