/* SPDX-License-Identifier: BSD-3-Clause */
/* What checkpoints cost, and what they save. ftmpi only.

     checkpoint [-g MIB] [-l MIB] [-i CHECKPOINTS] [-e MS]
                    makes a checkpoint of a global model, and of a local one, every MS milliseconds; the first two are not counted.
                    Rank 0 prints "CHECKPOINT COPY", medians in microseconds: of a checkpoint, and of a memcpy of the same bytes
                    to memory that was written before
     checkpoint -t FILE [-g MIB] [-n OPERATIONS]
                    after a checkpoint and so many 8-byte allreduces rank 1 is killed; its successor prints "LOAD LIVE", in microseconds
                    since the kill: it has loaded the checkpoint, it has finished its first live operation
     checkpoint -k CALLS
                    rank 0 prints "PLAIN CACHED", microseconds of an 8-byte allreduce of each kind: medians of so many calls' means, in blocks
                    of 50 by turns */
#include <fcntl.h>
#include <ftmpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../compat-tests/lib/outside.h"

static int rank;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static double median_us(uint64_t *ns, int n)
{
    qsort(ns, (size_t)n, sizeof *ns, ascending);
    return (double)ns[n / 2] / 1e3;
}

static char *model(size_t n)
{
    char *m = malloc(n + !n);
    if (!m) {
        fprintf(stderr, "checkpoint: no memory for a model of %zu bytes\n", n);
        exit(1);
    }
    memset(m, 1, n);
    return m;
}

static uint64_t sum(uint64_t x)
{
    uint64_t out = 0;
    MPI_Allreduce(&x, &out, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return out;
}

static void cost(size_t nglobal, size_t nlocal, int times, double ms)
{
    char *global = model(nglobal), *local = model(nlocal), *copy = model(nglobal + nlocal);
    uint64_t *took = calloc((size_t)times + 2, sizeof *took), *copied = calloc((size_t)times + 2, sizeof *copied);
    if (!took || !copied) exit(1);
    for (int i = -2; i < times; i++) {
        memset(global, i, nglobal);
        memset(local, i, nlocal);
        uint64_t begin = now_ns();
        memcpy(copy, global, nglobal);
        memcpy(copy + nglobal, local, nlocal);
        copied[i < 0 ? 0 : i] = now_ns() - begin;
        MPI_Barrier(MPI_COMM_WORLD);
        begin = now_ns();
        MPIX_Checkpoint(global, (MPI_Count)nglobal, local, (MPI_Count)nlocal);
        took[i < 0 ? 0 : i] = now_ns() - begin;
        while ((double)(now_ns() - begin) < ms * 1e6) nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    if (rank == 0) printf("%.1f %.1f\n", median_us(took, times), median_us(copied, times));
    free(global);
    free(local);
    free(copy);
    free(took);
    free(copied);
}

static uint64_t killed_at(const char *file)
{
    uint64_t at = 0;
    int fd = outside_open(file, O_RDONLY | O_CLOEXEC, 0);
    if (fd >= 0 && outside_pread(fd, &at, sizeof at, 0) != sizeof at) at = 0;
    if (fd >= 0) outside_close(fd);
    return at;
}

static void kill_myself(const char *file)
{
    int fd = outside_open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    uint64_t at = now_ns();
    if (fd >= 0 && outside_put(fd, &at, sizeof at, 0) == 0) outside(SYS_kill, outside_pid(), SIGKILL, 0, 0); /* as by somebody else */
    perror(file);
    exit(1);
}

static void recovery(const char *file, size_t nglobal, int version, int operations)
{
    uint64_t loaded = now_ns(), x = 0;
    if (version == 0) {
        char *global = model(nglobal);
        MPIX_Checkpoint(global, (MPI_Count)nglobal, NULL, 0);
        free(global);
    }
    for (int i = 0; i < operations; i++) x = sum(x + (uint64_t)rank);
    if (rank == 1 && !killed_at(file)) kill_myself(file);
    sum(x);
    uint64_t live = now_ns(), killed = rank == 1 ? killed_at(file) : 0;
    if (rank == 1) printf("%.1f %.1f\n", loaded > killed ? (double)(loaded - killed) / 1e3 : 0, (double)(live - killed) / 1e3);
}

static uint64_t plain_block(int calls)
{
    uint64_t begin = now_ns();
    for (int i = 0; i < calls; i++) sum(1);
    return now_ns() - begin;
}

/* A key is good once. */
static uint64_t cached_block(int calls)
{
    static int number;
    uint64_t x = 1, out, begin = now_ns();
    for (int i = 0; i < calls; i++) {
        char key[32];
        snprintf(key, sizeof key, "call %d", number++);
        MPIX_Allreduce_cached(&x, &out, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD, key);
    }
    return now_ns() - begin;
}

static void cached(int calls)
{
    enum { BLOCK = 50 };
    int blocks = (calls + BLOCK - 1) / BLOCK;
    uint64_t *plain = calloc((size_t)blocks, sizeof *plain), *kept = calloc((size_t)blocks, sizeof *kept);
    if (!plain || !kept) exit(1);
    for (int i = 0; i < blocks; i++) {
        plain[i] = plain_block(BLOCK);
        MPI_Barrier(MPI_COMM_WORLD);
        kept[i] = cached_block(BLOCK);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0) printf("%.2f %.2f\n", median_us(plain, blocks) / BLOCK, median_us(kept, blocks) / BLOCK);
    free(plain);
    free(kept);
}

int main(int argc, char **argv)
{
    const char *file = NULL;
    size_t nglobal = 64 << 20, nlocal = 0;
    int times = 10, operations = 1000, calls = 0, version = 0;
    double ms = 0;
    for (int c; (c = getopt(argc, argv, "g:l:i:e:t:n:k:")) != -1;) {
        switch (c) {
        case 'g': nglobal = strtoul(optarg, NULL, 0) << 20; break;
        case 'l': nlocal = strtoul(optarg, NULL, 0) << 20; break;
        case 'i': times = atoi(optarg); break;
        case 'e': ms = atof(optarg); break;
        case 't': file = optarg; break;
        case 'n': operations = atoi(optarg); break;
        case 'k': calls = atoi(optarg); break;
        default: return 2;
        }
    }
    if (times < 1) return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    void *global;
    MPI_Count n;
    MPIX_Checkpoint_load(&global, &n, NULL, NULL, &version);
    if (calls) cached(calls);
    else if (file) recovery(file, nglobal, version, operations);
    else cost(nglobal, nlocal, times, ms);
    MPI_Finalize();
    return 0;
}
