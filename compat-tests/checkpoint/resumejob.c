/* SPDX-License-Identifier: BSD-3-Clause */
/* resumejob ROUNDS BYTES MS [lazy] [local] [anew] [poor]: a computation whose state is its checkpoint. Every round all ranks add something up, and the
   result changes the model of BYTES bytes (and, with "local", one of each rank's own, of another size in each version). Loaded models are
   checked byte by byte. With "anew" nothing is loaded. "poor": rank 1 has no memory to load
   the model at first, and loads again. Rank 0 says what it began with on stderr, prints each round, and at the end the model's sum. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "ftmpi.h"

struct job {
    int rank, nranks, rounds, version;
    size_t bytes;       /* of the global model, a multiple of 8 */
    uint64_t *model;    /* the first word is the state, the others follow from it */
    unsigned char *local;
    int lazy, has_local, anew, poor;
};

static uint64_t mix(uint64_t x)
{
    x ^= x >> 31;
    x *= 0x7fb5d329728ea185ull;
    x ^= x >> 27;
    x *= 0x81dadef4bc2dd44dull;
    return x ^ x >> 33;
}

static void fail(const struct job *j, const char *what)
{
    fprintf(stderr, "rank %d, version %d: %s\n", j->rank, j->version, what);
    MPI_Abort(MPI_COMM_WORLD, 9);
}

static size_t local_bytes(const struct job *j, int version)
{
    return j->has_local ? (size_t)(j->rank * 1000 + version % 5 * 300) : 0;
}

static unsigned char local_byte(const struct job *j, int version, size_t i)
{
    return (unsigned char)mix((uint64_t)j->rank << 40 ^ (uint64_t)version << 20 ^ i);
}

static void spread(struct job *j)
{
    for (size_t i = 1; i < j->bytes / 8; i++)
        j->model[i] = j->model[0] + mix(i);
}

static void check_loaded(const struct job *j, const uint64_t *model, MPI_Count n, const unsigned char *local, MPI_Count nlocal)
{
    if (n != (MPI_Count)j->bytes)
        fail(j, "the model has another size");
    for (size_t i = 1; i < j->bytes / 8; i++)
        if (model[i] != model[0] + mix(i))
            fail(j, "the model is not what was kept");
    if (nlocal != (MPI_Count)local_bytes(j, j->version))
        fail(j, "the rank's model has another size");
    for (MPI_Count i = 0; i < nlocal; i++)
        if (local[i] != local_byte(j, j->version, (size_t)i))
            fail(j, "the rank's model is not what was kept");
}

/* A rank that has no memory for what it loads has not loaded, and nobody waits for it in vain when it does. */
static void load_poor(const struct job *j)
{
    struct rlimit before, none;
    void *model;
    MPI_Count n;
    int version;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    getrlimit(RLIMIT_AS, &before);
    none = before;
    none.rlim_cur = 1 << 20;
    setrlimit(RLIMIT_AS, &none);
    if (MPIX_Checkpoint_load(&model, &n, NULL, NULL, &version) == MPI_SUCCESS)
        fail(j, "loads without memory");
    setrlimit(RLIMIT_AS, &before);
}

static void load(struct job *j)
{
    void *model, *local;
    MPI_Count n, nlocal;

    if (j->poor && j->rank == 1)
        load_poor(j);
    if (!j->anew)
        MPIX_Checkpoint_load(&model, &n, &local, &nlocal, &j->version);
    if (!j->rank)
        fprintf(stderr, "begins with version %d\n", j->version);
    j->model = malloc(j->bytes);
    j->local = malloc(local_bytes(j, 4) + 1);
    if (!j->model || !j->local)
        fail(j, "out of memory");
    if (j->version) {
        check_loaded(j, model, n, local, nlocal);
        memcpy(j->model, model, j->bytes);
    } else {
        j->model[0] = 1;
    }
}

static int serialize(void *state, const void **bytes, MPI_Count *n)
{
    struct job *j = state;

    spread(j);
    *bytes = j->model;
    *n = (MPI_Count)j->bytes;
    return 0;
}

static void keep(struct job *j)
{
    size_t nlocal = local_bytes(j, j->version + 1);

    if (j->lazy) {
        MPIX_Checkpoint_lazy(serialize, j);
    } else {
        spread(j);
        for (size_t i = 0; i < nlocal; i++)
            j->local[i] = local_byte(j, j->version + 1, i);
        MPIX_Checkpoint(j->model, (MPI_Count)j->bytes, nlocal ? j->local : NULL, (MPI_Count)nlocal);
    }
    j->version++;
}

int main(int argc, char **argv)
{
    struct job j = {0};
    int ms;

    if (argc < 4)
        return 2;
    j.rounds = atoi(argv[1]);
    j.bytes = strtoull(argv[2], NULL, 10) & ~7ull;
    ms = atoi(argv[3]);
    for (int i = 4; i < argc; i++) {
        j.lazy |= !strcmp(argv[i], "lazy");
        j.anew |= !strcmp(argv[i], "anew");
        j.poor |= !strcmp(argv[i], "poor");
        j.has_local |= !strcmp(argv[i], "local");
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &j.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &j.nranks);
    load(&j);
    while (j.version < j.rounds) {
        uint64_t mine = mix(j.model[0] + (uint64_t)j.rank), sum;

        nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
        MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        j.model[0] = sum;
        if (!j.rank) { /* before the checkpoint: a restarted rank goes on behind it */
            printf("round %d: %016llx\n", j.version + 1, (unsigned long long)sum);
            fflush(stdout);
        }
        keep(&j);
    }
    if (!j.rank)
        printf("final: %016llx\n", (unsigned long long)j.model[0]);
    free(j.model);
    free(j.local);
    MPI_Finalize();
    return 0;
}
