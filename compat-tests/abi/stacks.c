/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI is called on a small stack, as user-level threads have: 12 KiB, with memory behind it that nobody may touch. Each rank prints the same numbers. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { STACK_BYTES = 12 << 10, LARGE = 300000 };

static ucontext_t outside, inside;
static int rank, size;
static long sum, small_sum;
static int *many, *all;

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void call(void)
{
    int one = rank + 1, ones = 0, owned[4] = {rank, rank, rank, rank}, sums[4];
    MPI_Op op;

    MPI_Op_create(add, 1, &op);
    for (int i = 0; i < 100; i++) {
        MPI_Allreduce(&one, &ones, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        small_sum += ones;
    }
    MPI_Allreduce(owned, sums, 4, MPI_INT, op, MPI_COMM_WORLD);
    small_sum += sums[3];
    MPI_Bcast(many, LARGE, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allreduce(many, all, LARGE, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(many, all + LARGE, LARGE, MPI_INT, op, size - 1, MPI_COMM_WORLD);
    MPI_Bcast(all + LARGE, LARGE, MPI_INT, size - 1, MPI_COMM_WORLD);
    MPI_Allgather(&one, 1, MPI_INT, all + 2 * LARGE, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2 * LARGE + size; i++)
        sum += all[i];
    MPI_Op_free(&op);
}

int main(int argc, char **argv)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *stack;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    many = calloc(LARGE, sizeof *many);
    all = calloc(2 * LARGE + (size_t)size, sizeof *all);
    stack = mmap(NULL, 16 * page + STACK_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!many || !all || stack == MAP_FAILED || mprotect(stack + 16 * page, STACK_BYTES, PROT_READ | PROT_WRITE) != 0)
        return 3;
    for (int i = 0; i < LARGE; i++)
        many[i] = rank == 0 ? i % 7 : 0;
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack + 16 * page;
    inside.uc_stack.ss_size = STACK_BYTES;
    inside.uc_link = &outside;
    makecontext(&inside, call, 0);
    swapcontext(&outside, &inside);
    printf("rank %d: %ld %ld\n", rank, small_sum, sum);
    MPI_Finalize();
    return 0;
}
