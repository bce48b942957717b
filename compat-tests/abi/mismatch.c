/* SPDX-License-Identifier: BSD-3-Clause */
/* mismatch CASE [messages]: ranks that disagree about a collective, after some that they agree about. Must never come back. messages: on a communicator that has
   no stream. */
#include "world.h"

#include <unistd.h>

static void user(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)len, (void)type;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    static double a[200000], b[400000];
    int rank, size, odd, rooted, counts[64] = {0}, displs[64] = {0};
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Op op;

    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    for (int i = 0; i < 9 && argc > 2; i++)
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Op_create(user, 1, &op));
    odd = rank == size - 1;
    rooted = strstr(what, "root") || strcmp(what, "zero_and_some") == 0; /* in these some may be through before others come */
    for (int i = 0; i < 100; i++)
        OK(MPI_Allreduce(a, b, i, MPI_DOUBLE, MPI_SUM, comm));
    if (odd) /* it finds all others waiting, and must see for itself */
        usleep(20000);
    if (strcmp(what, "call") == 0) {
        if (odd) OK(MPI_Barrier(comm));
        else OK(MPI_Allreduce(a, b, 10, MPI_DOUBLE, MPI_SUM, comm));
    } else if (strcmp(what, "count") == 0) {
        OK(MPI_Allreduce(a, b, odd ? 11 : 10, MPI_DOUBLE, MPI_SUM, comm));
    } else if (strcmp(what, "large_count") == 0) {
        OK(MPI_Allreduce(a, b, odd ? 200000 : 199999, MPI_DOUBLE, MPI_SUM, comm));
    } else if (strcmp(what, "small_and_large") == 0) {
        OK(MPI_Allreduce(a, b, odd ? 200000 : 1, MPI_DOUBLE, MPI_SUM, comm));
    } else if (strcmp(what, "zero_and_some") == 0) {
        OK(MPI_Bcast(a, odd ? 0 : 1, MPI_DOUBLE, 0, comm));
    } else if (strcmp(what, "type") == 0) {
        OK(MPI_Allreduce(a, b, 10, odd ? MPI_LONG : MPI_DOUBLE, MPI_SUM, comm));
    } else if (strcmp(what, "reduction") == 0) {
        OK(MPI_Allreduce(a, b, 10, MPI_DOUBLE, odd ? MPI_MAX : MPI_SUM, comm));
    } else if (strcmp(what, "user_reduction") == 0) {
        OK(MPI_Allreduce(a, b, 10, MPI_DOUBLE, odd ? op : MPI_SUM, comm));
    } else if (strcmp(what, "bcast_root") == 0) {
        OK(MPI_Bcast(a, 10, MPI_DOUBLE, odd ? 1 : 0, comm));
    } else if (strcmp(what, "large_bcast_root") == 0) {
        OK(MPI_Bcast(a, 200000, MPI_DOUBLE, odd ? 1 : 0, comm));
    } else if (strcmp(what, "reduce_root") == 0) {
        OK(MPI_Reduce(a, b, 10, MPI_DOUBLE, MPI_SUM, odd ? 1 : 0, comm));
    } else if (strcmp(what, "large_reduce_root") == 0) {
        OK(MPI_Reduce(a, b, 200000, MPI_DOUBLE, MPI_SUM, odd ? 1 : 0, comm));
    } else if (strcmp(what, "large_rooted_reduction") == 0) {
        OK(MPI_Reduce(a, b, 200000, MPI_DOUBLE, odd ? MPI_MAX : MPI_SUM, 0, comm));
    } else if (strcmp(what, "no_reduce_root") == 0) {  /* of two ranks none takes itself for the root */
        OK(MPI_Reduce(a, b, 200000, MPI_DOUBLE, MPI_SUM, odd ? 0 : 1, comm));
    } else if (strcmp(what, "allgather_count") == 0) {
        OK(MPI_Allgather(a, odd ? 2 : 1, MPI_DOUBLE, b, odd ? 2 : 1, MPI_DOUBLE, comm));
    } else if (strcmp(what, "allgatherv_counts") == 0) {
        for (int r = 0; r < size; r++)
            counts[r] = 3, displs[r] = 3 * r;
        if (odd) /* the same sum, shared out differently between the others */
            counts[0] = 2, counts[size - 1] = 4;
        OK(MPI_Allgatherv(a, counts[rank], MPI_DOUBLE, b, counts, displs, MPI_DOUBLE, comm));
    } else if (strcmp(what, "finalize") == 0) {
        if (!odd) OK(MPI_Allreduce(a, b, 10, MPI_DOUBLE, MPI_SUM, comm));
        OK(MPI_Finalize());
        return 0;
    } else {
        fprintf(stderr, "mismatch: no case %s\n", what);
    }
    if (!rooted) {
        printf("rank %d came back\n", rank);
        fflush(stdout);
    }
    OK(MPI_Barrier(comm));
    OK(MPI_Finalize());
    printf("came through\n");
    return 0;
}
