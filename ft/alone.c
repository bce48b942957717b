/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/alone.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ft/shm/given.h"
#include "ft/shm/region.h"
#include "ft/shm/word.h"

/* What each tells the processes that it starts. Its size alone is no proof: salloc and sbatch export SLURM_NTASKS to a shell
   that is one process, and notebooks set WORLD_SIZE. One may have started another, which has more processes; srun --mpi=pmi2 tells the same
   number in two ways, so it comes first. */
static const struct {
    const char *who, *rank, *also, *sizes[2];
} launchers[] = {
    {"srun", "SLURM_PROCID", "SLURM_STEP_ID", {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}}, /* the first: of the step, not of the job */
    {"mpirun", "OMPI_COMM_WORLD_RANK", NULL, {"OMPI_COMM_WORLD_SIZE"}},
    {"mpiexec", "PMI_RANK", NULL, {"PMI_SIZE"}},
    {"torchrun", "RANK", "LOCAL_RANK", {"WORLD_SIZE"}},
};

enum { LAUNCHERS = sizeof launchers / sizeof launchers[0] };

static bool number_from(const char *name, unsigned long long *number)
{
    const char *text = getenv(name);
    char *end;

    if (!text || *text < '0' || *text > '9')
        return false;
    *number = strtoull(text, &end, 10);
    return !*end;
}

/* Slurm's own steps, the shell of salloc and the batch script, have the last numbers of 32 bits. */
static bool is_step(unsigned long long also) { return also < UINT32_MAX - 15; }

static bool may_be_alone(void)
{
    const char *text = getenv("FTMPI_ALONE");

    if (text && *text && strcmp(text, "0") && strcmp(text, "no"))
        return true;
    return getenv("FTMPI_JOB"); /* of a rank, without its FTMPI_FDS: what ftrun tells ranks is still there */
}

/* What ftrun gives a rank is still there until the rank calls MPI_Init. */
static bool has_inherited_job(void)
{
    enum { MOST = 32 };
    static const char memory[] = "/memfd:ftmpi ";
    char path[40], to[sizeof memory];

    for (int fd = FT_FIRST_FD; fd < FT_FIRST_FD + MOST; fd++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if (readlink(path, to, sizeof to) == sizeof to && !memcmp(to, memory, sizeof memory - 1))
            return true;
    }
    return false;
}

/* What launcher i says of this process. false: it has not started it, as far as is known. */
static bool told_by(int i, unsigned long long *rank, unsigned long long *size, const char **name)
{
    const char *const *sizes = launchers[i].sizes;
    unsigned long long also;

    if (!number_from(launchers[i].rank, rank) || (launchers[i].also && (!number_from(launchers[i].also, &also) || !is_step(also))))
        return false;
    *name = number_from(sizes[0], size) ? sizes[0] : sizes[1];
    return *name && number_from(*name, size);
}

int ft_alone_check(struct ft_error *e)
{
    unsigned long long rank = 0, size = 1, r, n;
    const char *who = NULL, *name = NULL, *by;

    if (may_be_alone())
        return 0;
    if (has_inherited_job())
        return ft_err_set(e, FT_EJOB, "ftrun has started this as a rank, but its environment has been taken away (env -i, sudo, su?): it "
                          "would be a world of one; keep the variables FTMPI_*, or set FTMPI_ALONE=1 if that is what you want");
    for (int i = 0; i < LAUNCHERS; i++) {
        if (!told_by(i, &r, &n, &by) || n <= size)
            continue;
        who = launchers[i].who;
        name = by;
        rank = r;
        size = n;
    }
    if (who)
        return ft_err_set(e, FT_EJOB, "%s has started this as process %llu of %llu (%s), and ftrun has not: each of them would be a "
                          "world of one; start ftrun -n %llu in its place, or set FTMPI_ALONE=1 if that is what you want",
                          who, rank, size, name, size);
    if (number_from("PMIX_RANK", &rank) && rank > 0 && rank < UINT32_MAX - 15)
        return ft_err_set(e, FT_EJOB, "a launcher with PMIx has started this as process %llu of several (PMIX_RANK), and ftrun has not: "
                          "each of them would be a world of one; start it with ftrun, or set FTMPI_ALONE=1 if that is what you want", rank);
    return 0;
}

/* Of the process that ftrun has started, which has the memory, the one that has called MPI_Init; 0: none, or that is not known. */
static uint32_t attached(long leader, int memory, uint32_t rank)
{
    struct ft_region r;
    uint32_t pid = 0;
    char path[64];
    struct ft_error e;
    int64_t local;
    int fd;

    snprintf(path, sizeof path, "/proc/%ld/fd/%d", leader, memory);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || ft_region_open(&r, fd, &e) < 0) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    local = ft_region_local(&r, rank);
    if (local >= 0)
        pid = ft_look32(&ft_region_rank(&r, (uint32_t)local)->attached_pid);
    ft_region_close(&r);
    return pid;
}

int ft_alone_explain(int memory, uint32_t rank, struct ft_error *e)
{
    unsigned long long leader;
    uint32_t pid = number_from("FTMPI_PID", &leader) ? attached((long)leader, memory, rank) : 0;

    if (pid && pid == (uint32_t)syscall(SYS_getpid))
        return ft_err_set(e, FT_EJOB, "rank %u has called MPI_Init in another program before it executed this one: only one program per "
                          "rank may call it", rank);
    if (pid)
        return ft_err_set(e, FT_EJOB, "rank %u is process %u, which has called MPI_Init; what that starts afterwards is no rank. "
                          "\"env -u FTMPI_FDS PROGRAM\" starts it as a world of one", rank, pid);
    return ft_err_set(e, FT_EJOB, "rank %u: the job's shared memory, which ftrun has given it as descriptor %d, is not open here: something between "
                      "ftrun and this program closes descriptors (Python's subprocess does unless close_fds=False)", rank, memory);
}
