/* SPDX-License-Identifier: BSD-3-Clause */
/* forsaken GO HOW [FILE]: all ranks call until the file GO is there. Then rank 1 dies. HOW:
     copies   it is killed by somebody else, and whatever goes on from a copy of it dies of its own at that place
     always   so does what is started by exec
     hand     it kills itself, if it was the first incarnation when main began
     helper   another thread of it does, likewise
     fault    it aborts, likewise
     closed   it kills itself if it is the first incarnation then. It has mapped FILE, so only snapshots of after that can be woken */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

static int incarnation(void)
{
    const char *text = getenv("FTMPI_INCARNATION");

    return text ? atoi(text) : 0;
}

static void map(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    char *at = fd >= 0 && ftruncate(fd, 4096) == 0 ? mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;

    if (at == MAP_FAILED)
        abort();
    at[0] = 1;
}

static void *kill_all(void *arg)
{
    if (*(int *)arg == 0)
        kill(getpid(), SIGKILL);
    return NULL;
}

static void be_killed_by_a_thread(int began)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, kill_all, &began) == 0)
        pthread_join(thread, NULL);
}

static void die_as_told(const char *how, int began)
{
    if (!strcmp(how, "hand") || !strcmp(how, "closed")) {
        if ((how[0] == 'h' ? began : incarnation()) == 0)
            kill(getpid(), SIGKILL);
    } else if (!strcmp(how, "helper")) {
        be_killed_by_a_thread(began);
    } else if (!strcmp(how, "fault")) {
        if (began == 0)
            abort();
    } else if (outside_pid() != started) {
        die(SIGSEGV);
    } else if (incarnation() == 0) {
        die(SIGKILL);
    } else if (!strcmp(how, "always")) {
        die(SIGSEGV);
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 2 ? argv[2] : "copies";
    int rank, calls = 0, began = incarnation();

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1 && argc > 3)
        map(argv[3]);
    for (int go = 0; !go; calls++) {
        usleep(1000);
        go = rank == 0 && argc > 1 && is_there(argv[1]);
        MPI_Allreduce(MPI_IN_PLACE, &go, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 1)
        die_as_told(how, began);
    MPI_Allreduce(MPI_IN_PLACE, &calls, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d: %s\n", rank, calls > 0 ? "done" : "?");
    MPI_Finalize();
    return 0;
}
