/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a killed rank is away. Rank 1 dies by SIGKILL after -n logged allreduces of -b bytes (default 8); its successor replays them, or what came
   after its snapshot, and takes part in the next. When it died is in a file, which is open only while it is used:

     recovery -t FILE [-n OPERATIONS] [-b BYTES] [-m MIB] [-w SECONDS]
                                        rank 1's successor prints, in microseconds since the kill:
                                        "MAIN INIT LIVE REPLAYED KILLED": entered main, left MPI_Init, finished its first live
                                        operation, had replayed all before it (MAIN and INIT 0: it is a snapshot that was woken);
                                        KILLED is when that was, in seconds since 1970
                   -m  rank 1 holds so much memory, written once
                   -w  goes on for so long, an operation each millisecond, so that there is a snapshot behind the others
     recovery -s                        the program's own start, without MPI_Init: median of 31 posix_spawn -> main */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../compat-tests/lib/outside.h"

extern char **environ;

static uint64_t ns_of(struct timespec t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* As it is, not as a predecessor was told. */
static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t = {0};
    outside(SYS_clock_gettime, clock, (long)&t, 0, 0);
    return ns_of(t);
}

static uint64_t now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int own_start(char *program)
{
    double us[31];
    for (int i = 0; i < 31; i++) {
        int fds[2], status;
        if (pipe(fds)) return 1;
        char number[16];
        snprintf(number, sizeof number, "%d", fds[1]);
        char *args[] = {program, (char *)"-c", number, NULL};
        pid_t pid;
        uint64_t begin = now_ns(), at_main = 0;
        if (posix_spawn(&pid, program, NULL, NULL, args, environ)) return 1;
        if (read(fds[0], &at_main, sizeof at_main) != sizeof at_main) return 1;
        waitpid(pid, &status, 0);
        close(fds[0]);
        close(fds[1]);
        us[i] = (double)(at_main - begin) / 1e3;
    }
    qsort(us, 31, sizeof *us, ascending);
    printf("%.1f\n", us[15]);
    return 0;
}

/* The moment of the kill by two clocks, zeros if it is to come. */
struct kill_time {
    uint64_t monotonic, real;
};

static struct kill_time killed_at(const char *file)
{
    struct kill_time at = {0};
    int fd = outside_open(file, O_RDONLY | O_CLOEXEC, 0);
    if (fd >= 0 && outside_pread(fd, &at, sizeof at, 0) != sizeof at) at = (struct kill_time){0};
    if (fd >= 0) outside_close(fd);
    return at;
}

static void kill_myself(const char *file)
{
    int fd = outside_open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    struct kill_time at = {now_ns(), clock_ns(CLOCK_REALTIME)};
    if (fd >= 0 && outside_put(fd, &at, sizeof at, 0) == 0) outside(SYS_kill, outside_pid(), SIGKILL, 0, 0); /* as by somebody else */
    perror(file);
    exit(1);
}

static uint64_t sum(uint64_t x)
{
    uint64_t out = 0;
    MPI_Allreduce(&x, &out, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return out;
}

/* What the program goes by. */
static uint64_t told_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return ns_of(t);
}

/* An operation each millisecond until rank 0's clock says that it is enough. */
static uint64_t go_on(int rank, uint64_t x, double seconds)
{
    uint64_t end = told_ns() + (uint64_t)(seconds * 1e9);
    int more = 1;
    while (more) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        if (rank == 0) more = told_ns() < end;
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
        x = sum(x + (uint64_t)rank);
    }
    return x;
}

static double since_us(struct kill_time killed, uint64_t at)
{
    return at > killed.monotonic ? (double)(at - killed.monotonic) / 1e3 : 0;
}

/* The first element goes through sum and on; the others are only there. */
static uint64_t sum_many(uint64_t *buffer, size_t n, uint64_t x)
{
    if (n <= 1) return sum(x);
    buffer[0] = x;
    MPI_Allreduce(buffer, buffer + n, (int)n, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return buffer[n];
}

int main(int argc, char **argv)
{
    uint64_t at_main = now_ns(), x = 0;
    const char *file = NULL;
    int rank, operations = 10000;
    size_t mib = 0, words = 1;
    double seconds = 0;
    for (int c; (c = getopt(argc, argv, "t:n:b:m:w:sc:")) != -1;) {
        switch (c) {
        case 't': file = optarg; break;
        case 'n': operations = atoi(optarg); break;
        case 'b': words = strtoul(optarg, NULL, 0) / sizeof(uint64_t); break;
        case 'm': mib = strtoul(optarg, NULL, 0); break;
        case 'w': seconds = atof(optarg); break;
        case 's': return own_start(argv[0]);
        case 'c': return write(atoi(optarg), &at_main, sizeof at_main) != sizeof at_main;
        default: return 2;
        }
    }
    if (!file) {
        fprintf(stderr, "usage: recovery -t FILE [-n OPERATIONS] [-b BYTES] [-m MIB] [-w SECONDS] | -s\n");
        return 2;
    }

    MPI_Init(&argc, &argv);
    uint64_t at_init = now_ns();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *memory = rank == 1 && mib ? malloc(mib << 20) : NULL;
    if (memory) memset(memory, 1, mib << 20);
    uint64_t *buffer = calloc(words ? words * 2 : 1, sizeof *buffer);
    if (!buffer) return 2;
    for (int i = 0; i < operations; i++) x = sum_many(buffer, words, x + (uint64_t)rank);
    if (seconds > 0) x = go_on(rank, x, seconds);
    uint64_t replayed = now_ns();
    if (rank == 1 && !killed_at(file).monotonic) kill_myself(file);
    sum(x);
    uint64_t live = now_ns();
    if (rank == 1) {
        struct kill_time killed = killed_at(file);
        printf("%.1f %.1f %.1f %.1f %.6f\n", since_us(killed, at_main), since_us(killed, at_init), since_us(killed, live),
               since_us(killed, replayed), (double)killed.real / 1e9);
    }
    MPI_Finalize();
    free(buffer);
    free(memory);
    return 0;
}
