/* SPDX-License-Identifier: BSD-3-Clause */
/* timeouts FILE rank|host: the last rank waits a second for a key. In its first life it, or its host, is killed meanwhile; in the second
   one it begins to wait only after the first one's time is up, and makes FILE. When that is there, rank 0 sets the key. So it is there
   in time. */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "compat-tests/checkpoint/lose_node.h"
#include "ftmpi.h"

enum { SECOND_US = 1000000, SOON_US = 200000, TURN_US = 1000, TURNS = 20000 };

#define OK(call) do { if ((call) != MPI_SUCCESS) { printf("%s failed\n", #call); MPI_Abort(MPI_COMM_WORLD, 9); } } while (0)

static volatile sig_atomic_t with_host;

static void on_alarm(int signal)
{
    (void)signal;
    if (with_host)
        lose_node(0);
    else
        kill(getpid(), SIGKILL);
}

static void wait_for_key(const char *file)
{
    static const struct itimerval soon = {.it_value.tv_usec = SOON_US};
    int life, there;

    OK(MPIX_Store_wait("never", 0.01, NULL, NULL, &there));
    printf("never %d\n", there);
    OK(MPIX_Incarnation(&life));
    signal(SIGALRM, on_alarm);
    if (life == 0) {
        setitimer(ITIMER_REAL, &soon, NULL);
    } else {
        usleep(SECOND_US);
        close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    }
    OK(MPIX_Store_wait("key", 1.0, NULL, NULL, &there));
    printf("key %d\n", there);
}

int main(int argc, char **argv)
{
    int rank, size;

    if (argc < 3)
        return 2;
    with_host = !strcmp(argv[2], "host");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == size - 1)
        wait_for_key(argv[1]);
    for (int turn = 0; rank == 0 && turn < TURNS && access(argv[1], F_OK) < 0; turn++)
        usleep(TURN_US);
    if (rank == 0)
        OK(MPIX_Store_set("key", "v", 1));
    MPI_Finalize();
    return 0;
}
