/* SPDX-License-Identifier: BSD-3-Clause */
/* The child shares our memory until it execs (CLONE_VM, CLONE_VFORK): no page table is copied, and it tells us
   of an error by writing it where we read it. So it calls nothing but system calls, and everything it needs is
   made before. */
#include "config.h"
#include "launcher/ranks/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ft/shm/given.h"
#include "launcher/base/limits.h"
#include "launcher/base/pidfd.h"
#include "launcher/base/signals.h"
#include "launcher/options/options.h"
#include "launcher/options/topology.h"
#include "launcher/wire/description.h"

enum { STACK_BYTES = 64 << 10, LINKS = 6 /* its place among the descriptors inherited */ };

struct ft_spawn {
    struct ft_spawn_config config;
    struct ft_environ **env;  /* by context */
    int null;
    int nice;          /* of this process as it was started */
    int life[2];       /* a pipe nobody writes to: when its last write end closes, every rank is killed */
    int first;         /* descriptors from here on are the ranks' */
    char life_path[40];
    char *stack;
    /* of the child being started */
    uint32_t rank;
    const struct ft_context *context;
    struct ft_environ *ranks_env;
    char **vars;       /* its environment */
    int in, out, err;
    volatile pid_t *record;
    int error;         /* errno of its first failure */
};

/* The read end of `life`, opened anew: flags and owner belong to an open file description, and each rank's must
   name its own process group. When ftrun is gone, however it went, the kernel sends SIGKILL to the group. Works
   across exec; a prctl(PR_SET_PDEATHSIG) would be tied to one process and be lost in set-user-ID programs. */
static int tie_to_launcher(const struct ft_spawn *s, int to)
{
    struct f_owner_ex owner = {F_OWNER_PGRP, getpid()};
    struct pollfd p = {.fd = to};
    int fd = open(s->life_path, O_RDONLY | O_NONBLOCK);

    if (fd < 0 || (fd != to && dup2(fd, to) < 0))
        return -1;
    if (fd != to)
        close(fd);
    if (fcntl(to, F_SETOWN_EX, &owner) < 0 || fcntl(to, F_SETSIG, SIGKILL) < 0 || fcntl(to, F_SETFL, O_ASYNC | O_NONBLOCK) < 0)
        return -1;
    return poll(&p, 1, 0) > 0 ? -1 : 0; /* it went before we were armed */
}

/* Sources lie below `first`, except for the pipe ends in, out and err: those go first. */
static int place_descriptors(const struct ft_spawn *s)
{
    const struct ft_spawn_config *c = &s->config;

    if (dup2(s->in >= 0 ? s->in : s->null, 0) < 0 || dup2(s->out, 1) < 0 || dup2(s->err, 2) < 0)
        return -1;
    if (dup2(c->memfd, s->first) < 0 || dup2(c->kick, s->first + 1) < 0 || dup2(c->spill, s->first + 2) < 0 ||
        dup2(c->bell, s->first + 3) < 0 || dup2(c->models, s->first + 5) < 0)
        return -1;
    if (c->links >= 0 && s->rank == 0 && dup2(c->links, s->first + LINKS) < 0)
        return -1;
    return tie_to_launcher(s, s->first + 4);
}

/* On a stack of its own, which the address sanitizer would take for an error. */
__attribute__((no_sanitize("address"))) static int child(void *arg)
{
    struct ft_spawn *s = arg;
    const struct ft_spawn_config *c = &s->config;
    struct stat output, errors;

    /* A process group, not a session: Linux schedules each session as a group of its own (autogroup), and a rank
       alone in its group has nobody to yield to. sched_yield would return at once, and ranks that share a core would
       spin their time slices away: 8-byte allreduces of 8 ranks on 2 cores took 190 microseconds instead of 9. */
    *s->record = getpid();
    ft_environ_process(s->ranks_env, getpid(), fstat(s->out, &output) == 0 ? output.st_ino : 0, fstat(s->err, &errors) == 0 ? errors.st_ino : 0);
    if (setpgid(0, 0) < 0 || place_descriptors(s) < 0)
        goto failed;
    if (s->context->wdir && chdir(s->context->wdir) < 0)
        goto failed;
    if (c->topology)
        ft_topology_bind(c->topology, s->rank); /* a core that has gone since is no reason to fail */
    ft_limits_give_back(c->limits);
    if (c->node)
        setpriority(PRIO_PROCESS, 0, s->nice);
    ft_signals_give_back(c->signals);
    if (s->context->plain)
        execvpe(s->context->path, s->context->argv, s->vars); /* has a slash: no search; leaves it to the shell */
    else
        execve(s->context->path, s->context->argv, s->vars);
failed:
    s->error = errno;
    _exit(127);
}

static void select_rank(struct ft_spawn *s, uint32_t rank, uint32_t incarnation)
{
    size_t c = 0;

    while (rank >= s->config.contexts[c].first + s->config.contexts[c].nranks)
        c++;
    ft_environ_rank(s->env[c], rank, incarnation);
    s->rank = rank;
    s->context = &s->config.contexts[c];
    s->ranks_env = s->env[c];
    s->vars = ft_environ_get(s->env[c]);
}

/* Kernels before 5.2 do not know CLONE_PIDFD and say nothing, and filters refuse it: then pidfd_open may do. */
static pid_t start(struct ft_spawn *s, int *pidfd)
{
    const int flags = CLONE_VM | CLONE_VFORK | SIGCHLD;
    pid_t pid = clone(child, s->stack + STACK_BYTES, flags | CLONE_PIDFD, s, pidfd);

    if (pid < 0 && (errno == EINVAL || errno == EPERM || errno == ENOSYS))
        pid = clone(child, s->stack + STACK_BYTES, flags, s);
    if (pid > 0 && *pidfd < 0 && !s->error)
        *pidfd = ft_pidfd_open(pid);
    return pid;
}

/* Its death would not be noticed. */
static int end_unwatched(pid_t pid, uint32_t number, struct ft_error *e)
{
    char why[256];

    kill(-pid, SIGKILL);
    waitpid(pid, NULL, 0);
    if (ft_pidfd_works(why, sizeof why))
        snprintf(why, sizeof why, "no descriptor of its process: too many open files?");
    return ft_err_set(e, FT_ESYS, "rank %u cannot be watched: clone gives no descriptor (CLONE_PIDFD), and %s", number, why);
}

int ft_spawn_start(struct ft_spawn *s, uint32_t rank, uint32_t incarnation, int in, int out, int err, volatile pid_t *record,
                   struct ft_child *kid, int *error, struct ft_error *e)
{
    const struct ft_description *d = s->config.node;
    uint32_t number = d ? d->rank_at[d->first[d->node] + rank] : rank; /* in the job */
    sigset_t all, before;
    int pidfd = -1, made;

    select_rank(s, rank, incarnation);
    s->in = in;
    s->out = out;
    s->err = err;
    s->record = record;
    s->error = 0;
    sigfillset(&all); /* none may reach the child before it is in a group of its own */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    kid->pid = start(s, &pidfd);
    made = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    *error = 0;
    if (kid->pid < 0)
        return ft_err_set(e, FT_ESYS, "rank %u cannot be started: %s", number,
                          made == EAGAIN ? "too many processes (ulimit -u, or the pids limit of the cgroup)" : strerror(made));
    if (s->error) {
        waitpid(kid->pid, NULL, 0);
        if (pidfd >= 0)
            close(pidfd);
        *error = s->error;
        return ft_err_set(e, FT_ESYS, "rank %u cannot be started: %s", number, strerror(s->error));
    }
    if (pidfd < 0)
        return end_unwatched(kid->pid, number, e);
    kid->pidfd = pidfd;
    return 0;
}

/* Above every descriptor that a rank inherits, so that placing one never closes another. */
static int first_free(const struct ft_spawn *s)
{
    const int sources[] = {s->config.memfd, s->config.kick, s->config.spill, s->config.bell, s->config.models,
                           s->config.links, s->null, s->life[0], s->life[1]};
    int first = FT_FIRST_FD;

    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++)
        if (sources[i] >= first)
            first = sources[i] + 1;
    return first;
}

int ft_spawn_new(struct ft_spawn **out, const struct ft_spawn_config *config, struct ft_error *e)
{
    struct ft_spawn *s = calloc(1, sizeof *s);

    if (!s)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    s->config = *config;
    s->nice = getpriority(PRIO_PROCESS, 0);
    s->null = s->life[0] = s->life[1] = -1;
    s->stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (s->stack == MAP_FAILED || pipe2(s->life, O_CLOEXEC) < 0 || (s->null = open("/dev/null", O_RDONLY | O_CLOEXEC)) < 0) {
        ft_err_set(e, FT_ESYS, "cannot prepare to start ranks: %s", strerror(errno));
        ft_spawn_free(s);
        return FT_ESYS;
    }
    snprintf(s->life_path, sizeof s->life_path, "/proc/self/fd/%d", s->life[0]);
    s->first = first_free(s);
    s->env = calloc(config->ncontexts, sizeof *s->env);
    for (size_t c = 0; c < config->ncontexts; c++) {
        if (!s->env || !(s->env[c] = ft_environ_new(config, &config->contexts[c], s->first))) {
            ft_spawn_free(s);
            return ft_err_set(e, FT_ENOMEM, "out of memory");
        }
    }
    *out = s;
    return 0;
}

void ft_spawn_free(struct ft_spawn *s)
{
    if (!s)
        return;
    for (size_t c = 0; s->env && c < s->config.ncontexts; c++)
        ft_environ_free(s->env[c]);
    free(s->env);
    if (s->stack != MAP_FAILED)
        munmap(s->stack, STACK_BYTES);
    for (int i = 0; i < 2; i++)
        if (s->life[i] >= 0)
            close(s->life[i]);
    if (s->null >= 0)
        close(s->null);
    free(s);
}
