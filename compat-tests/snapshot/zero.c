/* SPDX-License-Identifier: BSD-3-Clause */
/* zero: a job of one rank whose launcher stands still from before snapshot zero is made until the rank is in MPI; then the rank is killed, and
   prints what its successor came from. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compat-tests/lib/outside.h"

static int first;

/* Before any library's constructor, and so before the recorder's; by system calls alone. */
static void stop_launcher(int argc, char **argv, char **env)
{
    (void)argc, (void)argv;
    for (; *env; env++)
        first |= !strcmp(*env, "FTMPI_INCARNATION=0");
    if (first)
        outside(SYS_kill, outside(SYS_getppid, 0, 0, 0, 0), SIGSTOP, 0, 0);
}

__attribute__((section(".preinit_array"), used)) static void (*const before_all)(int, char **, char **) = stop_launcher;

int main(int argc, char **argv)
{
    const char *incarnation = getenv("FTMPI_INCARNATION");
    int one = 1, sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (first && incarnation && !strcmp(incarnation, "0")) {
        outside(SYS_kill, outside(SYS_getppid, 0, 0, 0, 0), SIGCONT, 0, 0);
        raise(SIGKILL);
    }
    printf("%d rank, %s\n", sum, first ? "from zero" : "by exec");
    MPI_Finalize();
    return 0;
}
