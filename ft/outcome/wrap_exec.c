/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of this program, others in its place, and other processes that are not followed (wrap_child.c has those that are): ways back from before those are closed.
   exec ends the copies first: it takes the descriptor table from them, and what would be left to them holds the program's locks. */
#include "ft/outcome/real.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <wordexp.h>

#include "ft/base/util.h"
#include "ft/outcome/child.h"
#include "ft/outcome/children.h"
#include "ft/outcome/descriptors.h"
#include "ft/outcome/images.h"
#include "ft/outcome/process.h"
#include "ft/outcome/record.h"

/* ---- children ---- */

bool ft_child_strangers;

/* It has not even the job's memory. */
void ft_in_child(void)
{
    ft_children_claim();
    ft_recorder.on = ft_recorder.ended = false;
    ft_real_writes = NULL;
    ft_real_watch(NULL); /* its parent's threads may have been at anything */
}

/* One that is not followed: the C library makes it by itself (forkpty, daemon), or the program by clone. */
static void make_stranger(void)
{
    ft_child_strangers = true;
    ft_recorder_live(); /* or it would have the mask, and what was left, of a replay */
    ft_images_settle();
    ft_images_unfollow_all("it has made a child, which may have a file mapped as it has");
    atomic_store(&ft_recorder.log.words->children, 1);
    ft_descriptors_share_all();
    ft_recorder_close("it started another process, by clone or in a function of the C library");
}

static void before_fork(void)
{
    if (ft_recorder.on && ft_thread.mine && !ft_thread.inside && !ft_children_offers())
        make_stranger();
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(before_fork, NULL, ft_in_child);
}

/* It runs commands, by processes that no name tells of. */
int wordexp(const char *words, wordexp_t *to, int flags)
{
    if (ft_recording() && !(flags & WRDE_NOCMD) && words && strpbrk(words, "$`"))
        make_stranger();
    return ft_real()->wordexp(words, to, flags);
}

/* What clone calls in the child. */
struct begin {
    int (*function)(void *arg);
    void *arg;
};

static int begin_child(void *arg)
{
    struct begin begin = *(struct begin *)arg;

    ft_in_child();
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
        make_stranger();
    if (flags & CLONE_VM)
        return ft_real()->clone(function, stack, flags, arg, parent_tid, tls, child_tid);
    return ft_real()->clone(begin_child, stack, flags, &(struct begin){function, arg}, parent_tid, tls, child_tid);
}

/* ---- exec ---- */

/* Of the log that a replay goes through. */
static uint64_t left(void)
{
    return atomic_load(&ft_recorder.log.words->tail) - ft_recorder.log.at;
}

/* In a replay: its predecessor went on after this. */
static void must_be_last(const char *what)
{
    if (ft_thread.replays && ft_log_peek()) /* what it has to lock yet, destructors of other libraries may lock */
        ft_recorder_lost("a replay %s, %llu byte%s before the end of its log", what, (unsigned long long)left(), ft_plural(left()));
    ft_recorder_live();
    ft_images_settle();
}

/* If it fails after all the rank goes on, and has a copy made when one is due. */
static void leave(void)
{
    int error = errno;

    must_be_last("becomes another program (exec)");
    ft_recorder_close("it has become another program (exec)");
    ft_recorder.end_copies();
    errno = error;
}

/* By FTMPI_PID the next program knows that it is the rank. ftrun has said which number its first incarnation has. */
static const char pid_name[] = "FTMPI_PID=";
enum { PID_ROOM = sizeof pid_name + 12 };

static size_t length_of(char *const envp[])
{
    size_t n = 0;

    while (envp && envp[n])
        n++;
    return n;
}

static void name_rank(char **to, char own[PID_ROOM], char *const envp[])
{
    size_t n = length_of(envp);

    snprintf(own, PID_ROOM, "%s%d", pid_name, (int)ft_process_rank());
    for (size_t i = 0; i < n; i++)
        to[i] = ft_process_rank() && !strncmp(envp[i], pid_name, sizeof pid_name - 1) ? own : envp[i];
    to[n] = NULL;
}

#define ENVIRONMENT(to, envp)           \
    char to##_pid[PID_ROOM];            \
    char *to[length_of(envp) + 1];      \
    name_rank(to, to##_pid, envp)

/* A program is looked for by trying, too. */
static bool is_there(const char *path) { return syscall(SYS_faccessat, AT_FDCWD, path, X_OK) == 0; }

int execve(const char *path, char *const argv[], char *const envp[])
{
    if (ft_recording() && is_there(path))
        leave();
    ENVIRONMENT(env, envp);
    return ft_real()->execve(path, argv, env);
}

int execveat(int dir, const char *path, char *const argv[], char *const envp[], int flags)
{
    if (ft_recording())
        leave();
    ENVIRONMENT(env, envp);
    return ft_real()->execveat(dir, path, argv, env, flags);
}

int fexecve(int fd, char *const argv[], char *const envp[])
{
    if (ft_recording())
        leave();
    ENVIRONMENT(env, envp);
    return ft_real()->fexecve(fd, argv, env);
}

int execv(const char *path, char *const argv[])
{
    if (ft_recording() && is_there(path))
        leave();
    ENVIRONMENT(env, environ);
    return ft_real()->execve(path, argv, env);
}

int execvp(const char *file, char *const argv[])
{
    if (ft_recording())
        leave();
    ENVIRONMENT(env, environ);
    return ft_real()->execvpe(file, argv, env);
}

int execvpe(const char *file, char *const argv[], char *const envp[])
{
    if (ft_recording())
        leave();
    ENVIRONMENT(env, envp);
    return ft_real()->execvpe(file, argv, env);
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
    ENVIRONMENT(env, environ);
    return ft_real()->execve(path, argv, env);
}

int execlp(const char *file, const char *first, ...)
{
    ARGUMENTS(argv, first);
    va_end(args);
    if (ft_recording())
        leave();
    ENVIRONMENT(env, environ);
    return ft_real()->execvpe(file, argv, env);
}

int execle(const char *path, const char *first, ...)
{
    char *const *envp;

    ARGUMENTS(argv, first);
    envp = va_arg(args, char *const *);
    va_end(args);
    if (ft_recording())
        leave();
    ENVIRONMENT(env, envp);
    return ft_real()->execve(path, argv, env);
}

/* ---- the end ---- */

/* What the C library does with its streams after this. */
static bool is_of_streams(enum ft_call_kind kind)
{
    return kind == FT_CALL_WRITE || kind == FT_CALL_PIPE_WRITE || kind == FT_CALL_SEEK || kind == FT_CALL_SIGNAL;
}

/* By exit, or from main; of all that the program does at its end this is the last. */
__attribute__((destructor)) static void end(void)
{
    if (!ft_recorder.on || !ft_thread.mine || ft_thread.inside)
        return;
    if (!ft_thread.replays || !is_of_streams(ft_recorder_next()))
        must_be_last("ends");
}

void _exit(int code)
{
    if (ft_recording())
        must_be_last("ends");
    ft_real()->_exit(code);
    __builtin_unreachable();
}

void _Exit(int code) __attribute__((alias("_exit")));
