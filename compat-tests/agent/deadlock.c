/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that wait for each other: deadlock WHAT. Or for one that has left: deadlock gone exit|_exit|return|finalize WAIT. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int me, ranks, word;

static void ring(void) { MPI_Recv(&word, 1, MPI_INT, (me + 1) % ranks, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

/* A message comes, with another tag. */
static void tag(void)
{
    MPI_Send(&word, 1, MPI_INT, (me + 1) % ranks, 6, MPI_COMM_WORLD);
    MPI_Recv(&word, 1, MPI_INT, (me + ranks - 1) % ranks, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void any(void) { MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

static void synchronous(void)
{
    if (me)
        MPI_Barrier(MPI_COMM_WORLD);
    else
        MPI_Ssend(&word, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
}

static void waitany(void)
{
    MPI_Request both[2];
    int which;

    for (int i = 0; i < 2; i++)
        MPI_Irecv(&word, 1, MPI_INT, (me + 1) % ranks, i, MPI_COMM_WORLD, &both[i]);
    MPI_Waitany(2, both, &which, MPI_STATUS_IGNORE);
}

static void communicators(void)
{
    MPI_Comm one, other;

    MPI_Comm_dup(MPI_COMM_WORLD, &one);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Barrier(me ? one : other);
}

static void finalize(void)
{
    if (!me)
        MPI_Recv(&word, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* None: one rank is busy for longer than the others' patience. */
static void busy(void)
{
    if (me) {
        MPI_Recv(&word, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        sleep(3);
        for (int r = 1; r < ranks; r++)
            MPI_Send(&word, 1, MPI_INT, r, 5, MPI_COMM_WORLD);
    }
}

/* None: rank 0 has the first message that it waits for, but not the second one, and the sender of the first waits for rank 0. */
static void later(void)
{
    MPI_Request both[2];

    if (me == 0) {
        for (int i = 0; i < 2; i++)
            MPI_Irecv(&word, 1, MPI_INT, 1 + i, 5, MPI_COMM_WORLD, &both[i]);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        MPI_Send(&word, 1, MPI_INT, 1, 6, MPI_COMM_WORLD);
    } else if (me == 1) {
        usleep(300000);
        MPI_Send(&word, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
        MPI_Recv(&word, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        sleep(3);
        MPI_Send(&word, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    }
}

/* What is received first is sent last, after more than the log may have. */
static void backlog(void)
{
    static char much[1 << 20];

    for (int i = 0; me == 0 && i < 100; i++)
        MPI_Send(much, sizeof much, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    if (me == 0)
        MPI_Send(much, 1, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
    if (me == 1)
        MPI_Recv(much, 1, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; me == 1 && i < 100; i++)
        MPI_Recv(much, sizeof much, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* More than the log may have, from any rank, and then the receiver dies: what would be received in another order this time is forgotten. */
static void decided(void)
{
    static char much[1 << 20];

    for (int i = 0; me && i < 30; i++)
        MPI_Ssend(much, sizeof much, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    for (int i = 0; !me && i < 30 * (ranks - 1); i++)
        MPI_Recv(much, sizeof much, MPI_CHAR, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!me && !strcmp(getenv("FTMPI_INCARNATION"), "0"))
        raise(SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 1 leaves when the others have waited for a while. */
static void gone(const char *how, const char *wait)
{
    if (me == 1) {
        usleep(500000);
        if (!strcmp(how, "exit"))
            exit(0);
        if (!strcmp(how, "_exit"))
            _exit(0);
    } else if (!strcmp(wait, "receive")) {
        MPI_Recv(&word, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(wait, "any")) {
        any();
    } else if (!strcmp(wait, "probe")) {
        MPI_Probe(1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(wait, "synchronous")) {
        MPI_Ssend(&word, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    static const struct { const char *name; void (*play)(void); } plays[] = {
        {"ring", ring}, {"tag", tag}, {"any", any}, {"synchronous", synchronous}, {"waitany", waitany}, {"communicators", communicators},
        {"finalize", finalize}, {"busy", busy}, {"later", later}, {"backlog", backlog}, {"decided", decided}};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (size_t i = 0; i < sizeof plays / sizeof *plays; i++)
        if (argc > 1 && !strcmp(argv[1], plays[i].name))
            plays[i].play();
    if (argc > 3 && !strcmp(argv[1], "gone")) {
        gone(argv[2], argv[3]);
        if (me == 1 && !strcmp(argv[2], "return"))
            return 0;
    }
    MPI_Finalize();
    printf("%d over\n", me);
    return 0;
}
