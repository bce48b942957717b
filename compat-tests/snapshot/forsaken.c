/* SPDX-License-Identifier: BSD-3-Clause */
/* forsaken GO [always]: all ranks call until the file GO is there. Then rank 1 is killed, and whatever goes on from a copy of it dies of its own at
   that place; `always`: so does what is started by exec. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compat-tests/lib/outside.h"

static pid_t started;

/* Before the recorder's constructor, which makes snapshot zero. */
static void note_start(int argc, char **argv, char **env)
{
    (void)argc, (void)argv, (void)env;
    started = outside_pid();
}

__attribute__((section(".preinit_array"), used)) static void (*const before_all)(int, char **, char **) = note_start;

static int is_there(const char *path)
{
    int fd = outside_open(path, O_RDONLY | O_CLOEXEC, 0);

    if (fd >= 0)
        outside_close(fd);
    return fd >= 0;
}

static void die(int signal) { outside(SYS_kill, outside_pid(), signal, 0, 0); }

int main(int argc, char **argv)
{
    const char *incarnation = getenv("FTMPI_INCARNATION");
    int rank, calls = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int go = 0; !go; calls++) {
        usleep(1000);
        go = rank == 0 && argc > 1 && is_there(argv[1]);
        MPI_Allreduce(MPI_IN_PLACE, &go, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 1 && outside_pid() != started)
        die(SIGSEGV);
    else if (rank == 1 && incarnation && !strcmp(incarnation, "0"))
        die(SIGKILL);
    else if (rank == 1 && argc > 2)
        die(SIGSEGV);
    MPI_Allreduce(MPI_IN_PLACE, &calls, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d: %s\n", rank, calls > 0 ? "done" : "?");
    MPI_Finalize();
    return 0;
}
