/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program whose ranks die at exact points: for compat-tests/agent/deaths.sh.

     deaths DIR [RANK:WHERE[:WHOM]...]

   Of a rank's entries the first is done once, by whatever process is the rank then; after that the second, and so on.
   WHERE  a number: before that operation; init1, init2: in MPI_Init, before and after it is attached; finalize: in MPI_Finalize, before it
          waits for the others; leaving: in MPI_Finalize, when all are there; after: behind it; alone: there, when all others are gone
   WHOM   self (the default), all, most (more than half, itself among them), others; with "+agent" that process of ftrun before them */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "compat-tests/lib/outside.h"

enum { OPERATIONS = 40, RANKS_MAX = 64 };

static const char *directory;
static char **entries;
static int rank, size;
static enum { OUTSIDE, IN_INIT, IN_FINALIZE } inside;

static int open_in(const char *name, int flags)
{
    char path[4096];
    int fd;

    snprintf(path, sizeof path, "%s/%s", directory, name);
    fd = outside_open(path, flags | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        perror(path);
        _exit(3);
    }
    return fd;
}

static void close_it(int fd) { outside_close(fd); }

/* Where the others find us. */
static void tell_pid(void)
{
    pid_t pid = outside_pid();
    int fd = open_in("pids", O_WRONLY);

    if (outside_put(fd, &pid, sizeof pid, rank * (off_t)sizeof pid) != 0)
        perror("pids");
    close_it(fd);
}

static pid_t pid_of(int r)
{
    int fd = open_in("pids", O_RDONLY);
    pid_t pid = 0;

    if (outside_pread(fd, &pid, sizeof pid, r * (off_t)sizeof pid) < 0)
        perror("pids");
    close_it(fd);
    return pid;
}

/* Not one that has got the number of a dead rank. */
static bool is_rank(pid_t pid)
{
    char path[64], mine[4096], its[4096];
    ssize_t m = readlink("/proc/self/exe", mine, sizeof mine), n;

    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    n = readlink(path, its, sizeof its);
    return n > 0 && n == m && !memcmp(mine, its, (size_t)n);
}

static void await_others(void)
{
    for (int r = 0; r < size; r++)
        for (int i = 0; r != rank && i < 20000 && kill(pid_of(r), 0) == 0; i++)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void die(const char *whom)
{
    bool agent = strstr(whom, "+agent"), others = !strncmp(whom, "others", 6);
    int n = !strncmp(whom, "all", 3) || others ? size : !strncmp(whom, "most", 4) ? size / 2 + 1 : 1;

    if (agent)
        kill(getppid(), SIGKILL);
    for (int i = 1; i < n; i++)
        if (is_rank(pid_of((rank + i) % size)))
            kill(pid_of((rank + i) % size), SIGKILL);
    if (!others)
        kill(outside_pid(), SIGKILL);
}

/* Here is WHERE: dies if that is what the next entry says. How many have been done is the size of a file. */
static void point(const char *where)
{
    char name[32];
    off_t mine = 0, done;
    int fd, r, at, to;

    snprintf(name, sizeof name, "done.%d", rank);
    fd = open_in(name, O_WRONLY);
    done = outside_size(fd);
    for (char **entry = entries; *entry; entry++) {
        if (sscanf(*entry, "%d:%n%*[^:]%n", &r, &at, &to) < 1 || r != rank || mine++ != done)
            continue;
        if (strncmp(*entry + at, where, (size_t)(to - at)) || strlen(where) != (size_t)(to - at))
            break;
        if (outside_put(fd, "x", 1, done) != 0)
            perror(name);
        if (!strcmp(where, "alone"))
            await_others();
        die((*entry)[to] ? *entry + to + 1 : "self");
        break;
    }
    close_it(fd);
}

/* What the library calls in MPI_Init and MPI_Finalize goes through here. */
__attribute__((visibility("default"))) int madvise(void *at, size_t bytes, int advice)
{
    static int calls;

    if (inside == IN_INIT)
        point(++calls == 1 ? "init1" : calls == 2 ? "init2" : "init");
    return (int)syscall(SYS_madvise, at, bytes, advice);
}

__attribute__((visibility("default"))) int close(int fd)
{
    if (inside == IN_FINALIZE) {
        inside = OUTSIDE;
        point("leaving");
    }
    return ((int (*)(int))dlsym(RTLD_NEXT, "close"))(fd);
}

static int on_delete(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    point("finalize");
    inside = IN_FINALIZE;
    return MPI_SUCCESS;
}

static double operation(int i, double x)
{
    double all[RANKS_MAX];

    x = x / size + i + rank;
    if (i % 3 == 0)
        MPI_Bcast(&x, 1, MPI_DOUBLE, i % size, MPI_COMM_WORLD);
    else if (i % 3 == 1)
        MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else if (MPI_Allgather(&x, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, MPI_COMM_WORLD) == MPI_SUCCESS)
        x = all[(rank + i) % size] - all[i % size];
    return x;
}

int main(int argc, char **argv)
{
    double x = 0;
    int key;

    if (argc < 2)
        return 2;
    directory = argv[1];
    entries = argv + 2;
    rank = atoi(getenv("FTMPI_RANK"));
    tell_pid();
    inside = IN_INIT;
    MPI_Init(&argc, &argv);
    inside = OUTSIDE;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i <= OPERATIONS; i++) {
        char where[16];

        snprintf(where, sizeof where, "%d", i);
        tell_pid(); /* a woken snapshot has another */
        point(where);
        x = operation(i, x);
        if (i % 10 == 0)
            printf("rank %d, %d: %.6f\n", rank, i, x);
    }
    MPI_Finalize();
    point("after");
    point("alone");
    return 0;
}
