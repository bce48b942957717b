/* SPDX-License-Identifier: BSD-3-Clause */
/* Real processes that take snapshots by fork, die and are woken, on a log that holds a fraction of what they log: the results
   are right, memory is used again, and nothing is spilled. This process is the agent; a rank speaks for it when it
   registers a snapshot.

   cuts [CALLS [BYTES [EVERY]]]     EVERY 0: no snapshots, no kills */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ft/ft.h"
#include "ft/shm/cut.h"
#include "ft/shm/keeper.h"
#include "ft/shm/models.h"
#include "ft/shm/wait.h"

enum { RANKS = 2, SECONDS = 120 };

static struct ft_region region;
static unsigned calls = 120, every = 5;
static uint64_t bytes = 1 << 20;

/* What the agent knows of a rank. */
static struct slot {
    _Atomic pid_t snapshot;
    int wake[2];              /* a pipe: a byte for the snapshot */
    pid_t pid;
    uint32_t incarnation;
} *slots;

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "cuts: %s: %s\n", what, strerror(errno));
    exit(2);
}

/* Returns in the rank, and in the snapshot once it is woken: it is the rank then. */
static void take_snapshot(struct ft *ft, struct slot *slot)
{
    struct ft_positions positions;
    struct ft_error e;
    pid_t before = slot->snapshot, child;
    char byte;

    ft_positions(ft, &positions);
    if (ft_fork_keeps(ft, true, &e) != 0 || (child = fork()) < 0)
        die("no snapshot");
    if (ft_fork_keeps(ft, false, &e) != 0)
        die(e.text);
    if (child == 0) {
        alarm(SECONDS);
        if (read(slot->wake[0], &byte, 1) != 1)
            _exit(0);
        ft_resume(ft);
        take_snapshot(ft, slot);
        return;
    }
    slot->snapshot = child;
    ft_cut_register(&region, (uint32_t)ft_rank(ft), &positions);
    if (before && before != getpid()) {
        kill(before, SIGKILL);
        waitpid(before, NULL, 0);  /* or it might yet take the byte that is for its successor */
    }
}

/* Each rank dies some calls after a snapshot: once as it was started, once as it was woken. */
static bool dies_at(const struct ft *ft, unsigned call)
{
    int incarnation = ft_incarnation(ft);

    return every && incarnation < 2 && call == calls / 4 * (1 + (unsigned)incarnation) + 7 * (unsigned)ft_rank(ft);
}

static int rank_main(uint32_t rank)
{
    struct slot *slot = &slots[rank];
    uint64_t n = bytes / 4;
    int32_t *send = malloc(bytes), *recv = malloc(bytes);
    struct ft_op op = { FT_SUM, ft_reduce_find(FT_I32, FT_SUM), NULL, NULL };
    struct ft_type type = { .elem = 4, .kind = FT_I32 };
    struct ft_error e;
    char number[16];
    struct ft *ft;

    alarm(SECONDS);
    snprintf(number, sizeof number, "%u", rank);
    setenv("FTMPI_RANK", number, 1);
    if (!send || !recv || ft_attach(&ft, false, &e) != 0)
        return 2;
    for (unsigned call = 0; call < calls; call++) {
        if (every && call % every == rank)
            take_snapshot(ft, slot);
        if (dies_at(ft, call))
            raise(SIGKILL);
        for (uint64_t i = 0; i < n; i++)
            send[i] = (int32_t)(call * 31 + rank * 1000 + i);
        if (ft_allreduce(ft_world(ft), send, recv, n, type, &op, 1, &e) != 0) {
            fprintf(stderr, "cuts: %s\n", e.text);
            return 1;
        }
        for (uint64_t i = 0; i < n; i++)
            if (recv[i] != (int32_t)(2 * (call * 31 + i) + 1000)) {
                fprintf(stderr, "cuts: rank %u call %u element %llu is %d\n", rank, call, (unsigned long long)i, recv[i]);
                return 1;
            }
    }
    return ft_finalize(ft, 2, &e) ? 1 : 0;
}

static void start(uint32_t rank)
{
    struct slot *slot = &slots[rank];
    pid_t pid;

    ft_region_start_rank(&region, rank, 0);
    if (pipe(slot->wake) != 0 || (pid = fork()) < 0)
        die("cannot start a rank");
    if (pid == 0)
        _exit(rank_main(rank));
    slot->pid = pid;
}

static void keeper_failed(void *arg, const char *line)
{
    (void)arg;
    fprintf(stderr, "cuts: %s\n", line);
    exit(1);
}

/* A rank has died: its snapshot is the rank now. */
static void wake(uint32_t rank)
{
    struct slot *slot = &slots[rank];

    slot->pid = slot->snapshot;
    ft_region_start_rank(&region, rank, ++slot->incarnation);
    if (!slot->pid || write(slot->wake[1], "!", 1) != 1)
        die("no snapshot to wake");
}

/* Until all ranks have ended: the number of those that were killed, or -1. */
static int look_after(void)
{
    int killed = 0, left = RANKS;

    while (left) {
        int status;
        pid_t pid = waitpid(-1, &status, 0);

        if (pid < 0)
            return -1;
        for (uint32_t r = 0; r < RANKS; r++) {
            if (slots[r].pid != pid)
                continue;
            if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
                wake(r);
                killed++;
            } else if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
                left--;
            } else {
                fprintf(stderr, "cuts: rank %u ended with status %#x\n", r, (unsigned)status);
                return -1;
            }
        }
    }
    for (uint32_t r = 0; r < RANKS; r++)
        if (slots[r].snapshot)
            kill(slots[r].snapshot, SIGKILL);
    return killed;
}

int main(int argc, char **argv)
{
    struct ft_keeper_config config = { .spill_dir = "/tmp" };
    struct ft_params params;
    struct ft_keeper *keeper;
    struct ft_error e;
    uint64_t since, logged, released, spilled;
    char fds[64];
    int killed;

    if (argc > 1)
        calls = (unsigned)atoi(argv[1]);
    if (argc > 2)
        bytes = (uint64_t)atoll(argv[2]);
    if (argc > 3)
        every = (unsigned)atoi(argv[3]);
    alarm(SECONDS + 5);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    ft_params_default(&params, RANKS, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN), ft_max(64u << 20, 24 * bytes));
    params.unfenced = ft_wait_can_register();
    slots = mmap(NULL, RANKS * sizeof *slots, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (slots == MAP_FAILED || ft_region_create(&region, &params, &e) != 0 || ft_keeper_open(&keeper, &region, &config, &e) != 0)
        die("cannot begin");
    snprintf(fds, sizeof fds, "%d,%d,%d,-1,-1,%d", region.fd, ft_keeper_kick_fd(keeper), ft_keeper_spill_fd(keeper),
             ft_models_create(&e));
    setenv("FTMPI_FDS", fds, 1);
    since = ft_clock_ns();
    for (uint32_t r = 0; r < RANKS; r++)
        start(r);
    if (ft_keeper_run(keeper, keeper_failed, NULL, &e) != 0)
        die(e.text);
    killed = look_after();
    since = ft_clock_ns() - since;
    ft_keeper_stop(keeper);
    logged = ft_region_log_bytes(&region) >> 20;
    released = ft_region_released_bytes(&region) >> 20;
    spilled = ft_keeper_stats(keeper).spilled_bytes >> 20;
    printf("cuts: %d kills, %llu MiB logged at %llu MiB/s, %llu released, %llu spilled, %llu MiB of memory in use\n", killed,
           (unsigned long long)logged, (unsigned long long)(logged * 1000000000 / since), (unsigned long long)released,
           (unsigned long long)spilled, (unsigned long long)(ft_keeper_stats(keeper).memory_bytes >> 20));
    ft_keeper_close(keeper);
    if (!every)
        return killed != 0;
    return killed != 2 * RANKS || released < logged / 2;
}
