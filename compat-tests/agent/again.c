/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program whose log grows fast and whose ranks die where they are told to: for compat-tests/agent/restart_all.sh.

     again UNITS [RANK.INCARNATION:DEATH]...    UNITS allreduces of 64 KiB; INCARNATION may be *
       kUNIT  SIGKILL before that unit       sUNIT  SIGSEGV        init  SIGKILL before MPI_Init
       wUNIT  SIGKILL as soon as there is a file `go`              left  SIGKILL when all others have left after MPI_Finalize
       xUNIT  SIGKILL of its snapshot and of itself, when every rank has had a few
       nUNIT  no death: when every rank has had one there will be no newer snapshots
       mUNIT  before that unit it takes memory until the kernel kills it for that (oom.sh), or exits with 3; oUNIT: the first time, whoever it is then
     again hold PID                             so that PID, once dead, stays unknown to its parent until there is a file `release`

   What a rank prints depends on all that all ranks have contributed, and on the lines that rank 0 has read. */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "compat-tests/lib/outside.h"

enum { WORDS = 8192, EVERY = 100, FEW = 10, MUCH = 512 << 20 };

static int rank, size, incarnation;
static char **deaths;
static uint64_t words[WORDS];

static int number(const char *name)
{
    const char *text = getenv(name);

    return text ? atoi(text) : 0;
}

/* For a minute at most. */
static void await_file(const char *name)
{
    for (int i = 0; i < 12000 && access(name, F_OK) != 0; i++)
        usleep(5000);
}

/* A death of this incarnation that begins with `kind`: what follows that; else NULL. */
static const char *told(const char *kind)
{
    char one[32], any[32];

    snprintf(one, sizeof one, "%d.%d:%s", rank, incarnation, kind);
    snprintf(any, sizeof any, "%d.*:%s", rank, kind);
    for (char **d = deaths; *d; d++) {
        if (!strncmp(*d, one, strlen(one)))
            return *d + strlen(one);
        if (!strncmp(*d, any, strlen(any)))
            return *d + strlen(any);
    }
    return NULL;
}

static bool is_first(void)
{
    char name[32];
    int fd;

    snprintf(name, sizeof name, "took.%d", rank);
    fd = outside_open(name, O_CREAT | O_EXCL, 0600);
    if (fd >= 0)
        outside_close(fd);
    return fd >= 0;
}

/* More than oom.sh's limits, and no more than any machine has. */
static void take_memory(void)
{
    volatile char *much = malloc(MUCH);

    for (size_t i = 0; much && i < MUCH; i += 4096)
        much[i] = 1;
    exit(3);
}

static void maybe_die(int unit)
{
    const char *at;

    if ((at = told("k")) && atoi(at) == unit)
        kill(getpid(), SIGKILL);
    if ((at = told("s")) && atoi(at) == unit)
        kill(getpid(), SIGSEGV);
    if ((at = told("m")) && atoi(at) == unit)
        take_memory();
    if ((at = told("o")) && atoi(at) == unit && is_first())
        take_memory();
    if ((at = told("w")) && atoi(at) == unit) {
        await_file("go");
        kill(getpid(), SIGKILL);
    }
}

/* Calls visit for each process of this rank that ftrun has beside this one: its snapshots. */
static void each_snapshot(void visit(int pid))
{
    char path[64], text[65536], wanted[32];
    FILE *children, *environment;
    int pid;

    snprintf(wanted, sizeof wanted, "FTMPI_RANK=%d", rank);
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)getppid(), (int)getppid());
    children = fopen(path, "r");
    while (children && fscanf(children, "%d", &pid) == 1) {
        size_t n = 0;

        snprintf(path, sizeof path, "/proc/%d/environ", pid);
        environment = pid != outside_pid() ? fopen(path, "r") : NULL;
        if (environment) {
            n = fread(text, 1, sizeof text - 1, environment);
            fclose(environment);
        }
        text[n] = 0;
        for (const char *var = text; var < text + n; var += strlen(var) + 1)
            if (!strcmp(var, wanted))
                visit(pid);
    }
    if (children)
        fclose(children);
}

static int last_seen, seen;

static void note_snapshot(int pid)
{
    seen += pid != last_seen;
    last_seen = pid;
}

static void kill_snapshot(int pid)
{
    kill(pid, SIGKILL);
}

/* Every rank has had so many snapshots; what the log has before the first of them is released, by a keeper that is not in a hurry. How
   often they look for that depends on time, and changes nothing. */
static void await_snapshots(int number)
{
    int least = 0;

    seen = last_seen = 0;
    while (least < number) {
        usleep(5000);
        each_snapshot(note_snapshot);
        MPI_Allreduce(&seen, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    }
    usleep(50000);
}

/* Whether any rank does this at this unit: all have to wait for it together. */
static bool is_time(char kind, int unit)
{
    char word[32];

    snprintf(word, sizeof word, ":%c%d", kind, unit);
    for (char **d = deaths; *d; d++)
        if (strstr(*d, word) && !strstr(*d, word)[strlen(word)])
            return true;
    return false;
}

static void maybe_lose_snapshots(int unit)
{
    if (is_time('x', unit)) {
        await_snapshots(FEW);
        if (told("x")) {
            each_snapshot(kill_snapshot);
            kill(getpid(), SIGKILL);
        }
    }
    if (is_time('n', unit)) {
        await_snapshots(1);
        if (socket(AF_UNIX, SOCK_DGRAM, 0) < 0)
            exit(3);
    }
}

static void tell_pid(void)
{
    char name[32], other[40], text[16];
    int fd;

    snprintf(name, sizeof name, "pid.%d", rank);
    snprintf(other, sizeof other, "%s.new", name);
    snprintf(text, sizeof text, "%d\n", (int)outside_pid());
    fd = outside_open(other, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || outside_put(fd, text, strlen(text), 0) != 0 || outside_close(fd) < 0 ||
        outside(SYS_renameat, AT_FDCWD, (long)other, AT_FDCWD, (long)name) != 0)
        exit(3);
}

/* Reaped, not only dead. */
static void await_others(void)
{
    for (int r = 0; r < size; r++) {
        char name[32];
        int pid = 0;
        FILE *file;

        snprintf(name, sizeof name, "pid.%d", r);
        file = fopen(name, "r");
        if (r == rank || !file || fscanf(file, "%d", &pid) != 1)
            pid = 0;
        if (file)
            fclose(file);
        while (pid && (kill(pid, 0) == 0 || errno != ESRCH))
            usleep(5000);
    }
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    return x ^ (x >> 27);
}

static uint64_t next_line(void)
{
    char line[256] = "";

    return fgets(line, sizeof line, stdin) ? mix((uint64_t)atoi(line) + 1) : 0;
}

static void run(int units)
{
    uint64_t sum = 0;

    for (int unit = 0; unit < units; unit++) {
        maybe_die(unit);
        maybe_lose_snapshots(unit);
        if (rank == 0 && unit % EVERY == 0)
            sum += next_line();
        for (int i = 0; i < WORDS; i++)
            words[i] = mix(sum + (uint64_t)(rank + unit + i));
        MPI_Allreduce(MPI_IN_PLACE, words, WORDS, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < WORDS; i += 64)
            sum = mix(sum + words[i]);
        if (unit % EVERY == EVERY - 1) {
            printf("rank %d of %d unit %d: %016llx\n", rank, size, unit + 1, (unsigned long long)sum);
            fflush(stdout);
        }
    }
    fprintf(stderr, "rank %d is done\n", rank);
}

static int hold(int pid)
{
    if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0) {
        perror("again hold");
        return 1;
    }
    printf("held\n");
    fflush(stdout);
    await_file("release");
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "hold"))
        return hold(atoi(argv[2]));
    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    rank = number("FTMPI_RANK");
    incarnation = number("FTMPI_INCARNATION");
    deaths = argv + (argc > 2 ? 2 : argc);
    tell_pid();
    if (told("init"))
        kill(getpid(), SIGKILL);
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    run(argc > 1 ? atoi(argv[1]) : 0);
    MPI_Finalize();
    if (told("left")) {
        await_others();
        kill(getpid(), SIGKILL);
    }
    return 0;
}
