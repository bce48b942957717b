/* SPDX-License-Identifier: BSD-3-Clause */
/* Other processes. A child may change what nobody records: until it is followed, ways back from before it are closed. exec ends the
   copies first: it takes the descriptor table from them, and what would be left to them holds the program's locks. */
#include "ft/outcome/real.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "ft/outcome/descriptors.h"
#include "ft/outcome/record.h"

/* ---- children ---- */

static void make_child(void)
{
    ft_recorder_live(); /* or it would have the mask, and what was left, of a replay */
    atomic_store(&ft_recorder.log.words->children, 1);
    ft_descriptors_share_all();
    ft_recorder_close("it started another process");
}

/* It has not even the job's memory. */
static void in_child(void)
{
    ft_recorder.on = false;
    ft_real_writes = NULL;
}

/* Also one that the C library makes by itself (forkpty, daemon). */
static void before_fork(void)
{
    if (ft_recorder.on && ft_recorded_thread.mine && !ft_recorded_thread.inside)
        make_child();
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(before_fork, NULL, in_child);
}

pid_t fork(void)
{
    if (ft_recording())
        make_child();
    return ft_real()->fork();
}

/* As fork: in a child of a true vfork our own words would be the parent's. */
pid_t vfork(void)
{
    if (ft_recording())
        make_child();
    return ft_real()->fork();
}

pid_t _Fork(void)
{
    pid_t pid;

    if (ft_recording())
        make_child();
    pid = ft_real()->_Fork();
    if (pid == 0)
        in_child();
    return pid;
}

/* What clone calls in the child. */
struct begin {
    int (*function)(void *arg);
    void *arg;
};

static int begin_child(void *arg)
{
    struct begin begin = *(struct begin *)arg;

    in_child();
    return begin.function(begin.arg);
}

/* A child that shares our memory is the program's business (it has our words, too, and is taken for a thread); it closes the ways back. */
int clone(int (*function)(void *), void *stack, int flags, void *arg, ...)
{
    va_list more;
    pid_t *parent_tid, *child_tid;
    void *tls;

    va_start(more, arg);
    parent_tid = va_arg(more, pid_t *);
    tls = va_arg(more, void *);
    child_tid = va_arg(more, pid_t *);
    va_end(more);
    if (ft_recording())
        make_child();
    if (flags & CLONE_VM)
        return ft_real()->clone(function, stack, flags, arg, parent_tid, tls, child_tid);
    return ft_real()->clone(begin_child, stack, flags, &(struct begin){function, arg}, parent_tid, tls, child_tid);
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                char *const argv[], char *const envp[])
{
    if (ft_recording())
        make_child();
    return ft_real()->posix_spawn(pid, path, actions, attributes, argv, envp);
}

int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                 char *const argv[], char *const envp[])
{
    if (ft_recording())
        make_child();
    return ft_real()->posix_spawnp(pid, file, actions, attributes, argv, envp);
}

int system(const char *command)
{
    if (ft_recording())
        make_child();
    return ft_real()->system(command);
}

FILE *popen(const char *command, const char *type)
{
    if (ft_recording())
        make_child();
    return ft_real()->popen(command, type);
}

/* ---- exec ---- */

/* If it fails after all the rank goes on, and has a copy made when one is due. */
static void leave(void)
{
    int error = errno;

    ft_recorder_live();
    ft_recorder_close("it has become another program (exec)");
    ft_recorder.end_copies();
    errno = error;
}

/* A program is looked for by trying, too. */
static bool is_there(const char *path) { return syscall(SYS_faccessat, AT_FDCWD, path, X_OK) == 0; }

int execve(const char *path, char *const argv[], char *const envp[])
{
    if (ft_recording() && is_there(path))
        leave();
    return ft_real()->execve(path, argv, envp);
}

int execveat(int dir, const char *path, char *const argv[], char *const envp[], int flags)
{
    if (ft_recording())
        leave();
    return ft_real()->execveat(dir, path, argv, envp, flags);
}

int fexecve(int fd, char *const argv[], char *const envp[])
{
    if (ft_recording())
        leave();
    return ft_real()->fexecve(fd, argv, envp);
}

int execv(const char *path, char *const argv[])
{
    if (ft_recording() && is_there(path))
        leave();
    return ft_real()->execve(path, argv, environ);
}

int execvp(const char *file, char *const argv[])
{
    if (ft_recording())
        leave();
    return ft_real()->execvpe(file, argv, environ);
}

int execvpe(const char *file, char *const argv[], char *const envp[])
{
    if (ft_recording())
        leave();
    return ft_real()->execvpe(file, argv, envp);
}

/* The arguments of execl and its kin, NULL at the end. */
static int count(va_list args)
{
    int n = 2;

    while (va_arg(args, char *))
        n++;
    return n;
}

static void take(char **argv, const char *first, va_list args)
{
    int n = 0;

    argv[n] = (char *)(uintptr_t)first;
    while (argv[n])
        argv[++n] = va_arg(args, char *);
}

#define ARGUMENTS(argv, first)          \
    va_list args;                       \
    va_start(args, first);              \
    char *argv[count(args)];            \
    va_end(args);                       \
    va_start(args, first);              \
    take(argv, first, args)

int execl(const char *path, const char *first, ...)
{
    ARGUMENTS(argv, first);
    va_end(args);
    if (ft_recording())
        leave();
    return ft_real()->execve(path, argv, environ);
}

int execlp(const char *file, const char *first, ...)
{
    ARGUMENTS(argv, first);
    va_end(args);
    if (ft_recording())
        leave();
    return ft_real()->execvpe(file, argv, environ);
}

int execle(const char *path, const char *first, ...)
{
    char *const *envp;

    ARGUMENTS(argv, first);
    envp = va_arg(args, char *const *);
    va_end(args);
    if (ft_recording())
        leave();
    return ft_real()->execve(path, argv, envp);
}
