/* SPDX-License-Identifier: BSD-3-Clause */
/* An OpenMP program over MPI, as people write it: loops with a static schedule, sums in a fixed order, a barrier, single, critical, ordered, locks, nested
   teams of another size, and an allreduce by the main thread (MPI_THREAD_FUNNELED). omp ROUNDS */
#include <math.h>
#include <mpi.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 60000, TEAM = 4 };

static double field[CELLS], next[CELLS];
static double sums[TEAM + 1];
static uint64_t drawn;
#pragma omp threadprivate(drawn)

static void begin(int rank)
{
#pragma omp parallel num_threads(TEAM)
    {
        drawn = (uint64_t)omp_get_thread_num() * 77 + (uint64_t)rank + 1;
#pragma omp for schedule(static)
        for (int i = 0; i < CELLS; i++) field[i] = sin(i * 0.001 * (rank + 1));
    }
}

/* Each thread's part is added up in its own place; one thread adds the parts in their order. */
static double sweep(void)
{
    double total = 0;

#pragma omp parallel num_threads(TEAM)
    {
        int me = omp_get_thread_num();

        sums[me] = 0;
#pragma omp for schedule(static)
        for (int i = 0; i < CELLS; i++) {
            next[i] = 0.5 * field[i] + 0.25 * (field[(i + 1) % CELLS] + field[(i + CELLS - 1) % CELLS]) + 1e-9 * (double)(drawn >> 40);
            sums[me] += sqrt(fabs(next[i]));
        }
        drawn = drawn * 6364136223846793005u + 1442695040888963407u;
#pragma omp for schedule(static)
        for (int i = 0; i < CELLS; i++) field[i] = next[i];
#pragma omp single
        for (int t = 0; t < TEAM; t++) total += sums[t];
    }
    return total;
}

/* Whole numbers, so that the order in which threads come to the lock does not show. */
static uint64_t counted(omp_lock_t *lock)
{
    uint64_t all = 0, critical = 0, locked = 0, in_order = 0;

#pragma omp parallel for num_threads(3) schedule(static) reduction(+ : all)
    for (int i = 0; i < 300; i++) {
        all += (uint64_t)(fabs(field[i * 7]) * 1e6);
        if (i % 100 == 0) {
#pragma omp critical
            critical += (uint64_t)i;
            omp_set_lock(lock);
            locked ^= (uint64_t)i << 20;
            omp_unset_lock(lock);
        }
    }
#pragma omp parallel for num_threads(TEAM) ordered schedule(static, 1)
    for (int i = 0; i < 12; i++) {
#pragma omp ordered
        in_order = in_order * 31 + (uint64_t)i;
    }
    return all ^ critical ^ locked ^ in_order;
}

int main(int argc, char **argv)
{
    int given, rank, rounds = argc > 1 ? atoi(argv[1]) : 10;
    uint64_t hash = 1469598103934665603u;
    omp_lock_t lock;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (given < MPI_THREAD_FUNNELED)
        MPI_Abort(MPI_COMM_WORLD, 3);
    omp_set_dynamic(0);
    omp_init_lock(&lock);
    begin(rank);
    for (int k = 0; k < rounds; k++) {
        double mine = 0, all;

        for (int s = 0; s < 40; s++) {
            mine = sweep();
            MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            field[s * 11] += 1e-7 * all;
        }
        hash = (hash ^ counted(&lock)) * 1099511628211u;
        printf("round %d %.17g %016llx\n", k, all, (unsigned long long)hash);
        fflush(stdout);
    }
    for (int i = 0; i < CELLS; i++) hash = (hash ^ (uint64_t)(field[i] * 1e15)) * 1099511628211u;
    printf("model %016llx\n", (unsigned long long)hash);
    omp_destroy_lock(&lock);
    MPI_Finalize();
    return 0;
}
