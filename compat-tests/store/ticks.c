/* SPDX-License-Identifier: BSD-3-Clause */
/* ticks ROUNDS [every=N] [pause=US] [fill=BYTES] [astray=RANK] [kill=RANK,ROUND,STEP,LIFE]... [lose=...]: ranks that use the job's store in
   each round: add to a counter, add to another one by compare-and-swap, hand on a token from rank to rank by set and wait, read a long value,
   wait for what never comes. What each is answered is printed, so that ftrun finds a replay that was answered otherwise; rank 0 prints what
   the counters are in the end.
   every: a checkpoint every so many rounds. pause: rank 0, before it hands on. fill: so much is reduced in each round, so that the log gets
   full. astray: RANK asks for something else in its second life. kill: RANK kills itself before STEP of ROUND, in its life LIFE; lose: and
   its host. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compat-tests/checkpoint/lose_node.h"
#include "ftmpi.h"

enum { KILLS = 16, LONG = 100000 };

static struct { int rank, round, step, life; bool host; } kills[KILLS];
static int nkills, rank, size, astray = -1;

#define OK(call) do { if ((call) != MPI_SUCCESS) { printf("rank %d: %s failed\n", rank, #call); MPI_Abort(MPI_COMM_WORLD, 9); } } while (0)
#define CHECK(condition, text) do { if (!(condition)) { printf("rank %d: %s\n", rank, text); MPI_Abort(MPI_COMM_WORLD, 9); } } while (0)

static void step(int round, int s)
{
    int life;

    OK(MPIX_Incarnation(&life));
    for (int i = 0; i < nkills; i++)
        if (kills[i].rank == rank && kills[i].round == round && kills[i].step == s && kills[i].life == life)
            kills[i].host ? lose_node(0) : (void)kill(getpid(), SIGKILL);
}

static void swap(int round)
{
    const void *now;
    MPI_Count n;
    int there, swapped = 0;
    char before[32], text[32];
    long value = 0;

    while (!swapped) {
        OK(MPIX_Store_get("swaps", &now, &n, &there));
        CHECK(n < (MPI_Count)sizeof before, "a counter of many digits");
        memcpy(before, there ? now : "", (size_t)n);
        before[n] = 0;
        value = there ? strtol(before, NULL, 10) + 1 : 1;
        snprintf(text, sizeof text, "%ld", value);
        OK(MPIX_Store_compare_and_swap("swaps", before, there ? n : MPIX_STORE_NONE, text, (MPI_Count)strlen(text), &swapped));
    }
    printf("rank %d round %d swap %ld\n", rank, round, value);
}

static void hand_on(int round, unsigned pause_us)
{
    char key[64], text[64];
    const void *now;
    MPI_Count n;
    int there;

    snprintf(key, sizeof key, "token/%d/%d", round, rank);
    if (rank > 0) {
        OK(MPIX_Store_wait(key, MPIX_STORE_FOREVER, &now, &n, &there));
        snprintf(text, sizeof text, "from %d in %d", rank - 1, round);
        CHECK(there && n == (MPI_Count)strlen(text) && !memcmp(now, text, (size_t)n), "a token that is none");
    } else if (pause_us) {
        usleep(pause_us);
    }
    step(round, 3);
    snprintf(key, sizeof key, "token/%d/%d", round, rank + 1);
    snprintf(text, sizeof text, "from %d in %d", rank, round);
    OK(MPIX_Store_set(key, text, (MPI_Count)strlen(text)));
}

static void read_long(int round)
{
    static char value[LONG];
    const char *now;
    char key[64];
    MPI_Count n;
    int there;

    snprintf(key, sizeof key, "long/%d", round);
    for (int i = 0; i < LONG; i++)
        value[i] = (char)(i * 7 + round);
    if (rank == 0)
        OK(MPIX_Store_set(key, value, LONG - round));
    OK(MPIX_Store_wait(key, 100, (const void **)&now, &n, &there));
    CHECK(there && n == LONG - round && !memcmp(now, value, (size_t)n), "another value than was set");
}

static void one_round(int round, unsigned pause_us)
{
    long long sum;
    int there, life;

    step(round, 0);
    OK(MPIX_Incarnation(&life));
    if (rank == astray && life > 0)
        OK(MPIX_Store_get("other", NULL, NULL, &there));
    OK(MPIX_Store_add("count", 1, &sum));
    printf("rank %d round %d ticket %lld\n", rank, round, sum);
    step(round, 1);
    swap(round);
    step(round, 2);
    hand_on(round, pause_us);
    if (round % 4 == 1)
        read_long(round);
    step(round, 4);
    if (round % 8 == 2) {
        OK(MPIX_Store_wait("never", 0.002, NULL, NULL, &there));
        printf("rank %d round %d never %d\n", rank, round, there);
    }
    if (round % 3 == 0)
        OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void result(const char *key)
{
    const void *now;
    MPI_Count n;
    int there;

    OK(MPIX_Store_get(key, &now, &n, &there));
    printf("rank %d: %s %.*s\n", rank, key, (int)n, (const char *)now);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 8, every = 0, version = 0, fill = 0;
    void *bytes;
    unsigned pause_us = 0;
    MPI_Count n;
    void *model;

    for (int i = 2; i < argc; i++)
        if (sscanf(argv[i] + 4, "=%d,%d,%d,%d", &kills[nkills].rank, &kills[nkills].round, &kills[nkills].step, &kills[nkills].life) == 4)
            kills[nkills++].host = argv[i][0] == 'l';
        else if (sscanf(argv[i], "every=%d", &every) != 1 && sscanf(argv[i], "pause=%u", &pause_us) != 1 &&
                 sscanf(argv[i], "fill=%d", &fill) != 1 &&
                 sscanf(argv[i], "astray=%d", &astray) != 1)
            return 2;
    bytes = calloc(1, (size_t)fill + 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (every)
        OK(MPIX_Checkpoint_load(&model, &n, NULL, NULL, &version));
    for (int round = version * every; round < rounds; round++) {
        one_round(round, pause_us);
        fflush(stdout);
        OK(MPI_Allreduce(MPI_IN_PLACE, bytes, fill, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD));
        if (every && (round + 1) % every == 0)
            OK(MPIX_Checkpoint(&round, sizeof round, NULL, 0));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        result("count");
        result("swaps");
    }
    MPI_Finalize();
    free(bytes);
    return 0;
}
