/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that computes, receives and orders wrongly, to see that -c finds it: for LD_PRELOAD, in front of any MPI. The last byte of what an
   operation gives is another one on one rank, in each of its calls or in the one that FTBENCH_WRONG numbers (from 1);
   a barrier lets everybody through; a dup is the world's first half, and a split goes by the other order. Calls with one
   element are left alone: the benchmarks judge with those. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

static int due(int count)
{
    static int calls;
    const char *one = getenv("FTBENCH_WRONG");
    if (count <= 1) return 0;
    calls++;
    return !one || atoi(one) == calls;
}

static void spoil(void *buffer, int elements, MPI_Datatype type, int victim)
{
    int rank, size;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Type_size(type, &size);
    if (rank == victim) ((char *)buffer)[(size_t)elements * (size_t)size - 1] ^= 1;
}

static int ranks(MPI_Comm comm)
{
    int n;
    PMPI_Comm_size(comm, &n);
    return n;
}

int MPI_Allreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int code = PMPI_Allreduce(send, recv, count, type, op, comm);
    if (due(count)) spoil(recv, count, type, 1);
    return code;
}

int MPI_Reduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
    int code = PMPI_Reduce(send, recv, count, type, op, root, comm);
    if (due(count)) spoil(recv, count, type, root);
    return code;
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    int code = PMPI_Bcast(buffer, count, type, root, comm);
    if (due(count)) spoil(buffer, count, type, (root + 1) % ranks(comm));
    return code;
}

int MPI_Allgather(const void *send, int nsend, MPI_Datatype sendtype, void *recv, int nrecv, MPI_Datatype recvtype, MPI_Comm comm)
{
    int code = PMPI_Allgather(send, nsend, sendtype, recv, nrecv, recvtype, comm);
    if (due(nrecv)) spoil(recv, nrecv * ranks(comm), recvtype, 1);
    return code;
}

int MPI_Allgatherv(const void *send, int nsend, MPI_Datatype sendtype, void *recv, const int counts[], const int displs[],
                   MPI_Datatype recvtype, MPI_Comm comm)
{
    int code = PMPI_Allgatherv(send, nsend, sendtype, recv, counts, displs, recvtype, comm), last = ranks(comm) - 1;
    if (due(counts[last])) spoil(recv, displs[last] + counts[last], recvtype, 1);
    return code;
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    int code = PMPI_Recv(buffer, count, type, source, tag, comm, status);
    if (due(count)) spoil(buffer, count, type, 1);
    return code;
}

/* What a window receives: all of it goes to one place. */
static struct { void *buffer; int count; MPI_Datatype type; } window;

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    window.buffer = buffer;
    window.count = count;
    window.type = type;
    return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
}

int MPI_Waitall(int n, MPI_Request *requests, MPI_Status *statuses)
{
    int code = PMPI_Waitall(n, requests, statuses);
    if (window.buffer && due(window.count)) spoil(window.buffer, window.count, window.type, 1);
    return code;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *new)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    return PMPI_Comm_split(comm, rank < ranks(comm) / 2, rank, new);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *new)
{
    return PMPI_Comm_split(comm, color, -key, new);
}

int MPI_Barrier(MPI_Comm comm)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    if (rank == 0) nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    return MPI_SUCCESS;
}
