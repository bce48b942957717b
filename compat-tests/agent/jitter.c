/* SPDX-License-Identifier: BSD-3-Clause */
/* For LD_PRELOAD: now and then the calls by which processes meet (files, sockets, signals, children) are late by a moment, as on a machine
   whose processors are busy with something else. Finding such an order by repetition costs hours. FTJITTER=SEED[:NAME]: which calls are
   late follows from the seed and the process number; with NAME only in programs of that name. Without FTJITTER nothing happens.
   FTJITTER_LOG=FILE: each delay, with the time, the process and the call. (docs/internals/invariants.md, "Orders that are rare") */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How many of 10,000 calls are late. A process in four is a slow one, and late four times as often. */
enum { RARE = 800, OFTEN = 60, YIELD = 1 };

static atomic_int state; /* 0: not looked at yet, 1: none, 2: delays */
static uint64_t seed;
static const char *log_file;
static atomic_ulong calls;

static uint64_t mix(uint64_t x) /* splitmix64 */
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static void look(void)
{
    const char *text = getenv("FTJITTER");
    const char *name = text ? strchr(text, ':') : NULL;
    int wanted = text && *text && (!name || strcmp(name + 1, program_invocation_short_name) == 0);

    seed = wanted ? mix(strtoull(text, NULL, 10)) : 0;
    for (const char *c = program_invocation_short_name; *c; c++) /* a process may become another program */
        seed = mix(seed + (unsigned char)*c);
    log_file = getenv("FTJITTER_LOG");
    atomic_store(&state, wanted ? 2 : 1);
}

/* Raw calls, which are not delayed themselves. */
static void note(const char *when, const char *call, long ms)
{
    char line[200];
    struct timespec now;
    struct rlimit most;
    int n, fd;

    if (getrlimit(RLIMIT_FSIZE, &most) < 0 || most.rlim_cur != RLIM_INFINITY) return; /* it might be what ends the program */
    fd = (int)syscall(SYS_openat, AT_FDCWD, log_file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    clock_gettime(CLOCK_REALTIME, &now);
    n = snprintf(line, sizeof line, "%ld.%03ld %d %s %s %s %ld\n", (long)now.tv_sec, now.tv_nsec / 1000000, getpid(), program_invocation_short_name, when,
                 call, ms);
    if (fd >= 0 && n > 0) syscall(SYS_write, fd, line, (size_t)n);
    if (fd >= 0) syscall(SYS_close, fd);
}

static void late(int rate, const char *when, const char *call)
{
    int saved = errno;
    uint64_t who, x;
    long ms;

    if (atomic_load_explicit(&state, memory_order_relaxed) == 0) look();
    if (atomic_load_explicit(&state, memory_order_relaxed) == 1) return;
    who = mix(seed + (uint64_t)getpid());
    if (who % 4 == 0) rate *= 4;
    x = mix(who + atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed));
    if (x % 10000 >= (uint64_t)rate) return;
    x = mix(x);
    ms = 1 + (long)(x / 64 % (x % 32 == 0 ? 400 : x % 8 == 0 ? 150 : 30));
    if (log_file) note(when, call, ms);
    syscall(SYS_nanosleep, &(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
    errno = saved;
}

#define CALLS(X)                                                                                                                                               \
    X(OFTEN, ssize_t, read, (int fd, void *p, size_t n), (fd, p, n))                                                                                           \
    X(OFTEN, ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n))                                                                                    \
    X(OFTEN, ssize_t, readv, (int fd, const struct iovec *v, int n), (fd, v, n))                                                                               \
    X(OFTEN, ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n))                                                                              \
    X(OFTEN, ssize_t, pwrite, (int fd, const void *p, size_t n, off_t at), (fd, p, n, at))                                                                     \
    X(OFTEN, ssize_t, send, (int fd, const void *p, size_t n, int flags), (fd, p, n, flags))                                                                   \
    X(OFTEN, ssize_t, recv, (int fd, void *p, size_t n, int flags), (fd, p, n, flags))                                                                         \
    X(OFTEN, ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags), (fd, m, flags))                                                                    \
    X(OFTEN, ssize_t, recvmsg, (int fd, struct msghdr *m, int flags), (fd, m, flags))                                                                          \
    X(OFTEN, ssize_t, splice, (int in, off64_t *from, int out, off64_t *to, size_t n, unsigned flags), (in, from, out, to, n, flags))                          \
    X(OFTEN, ssize_t, tee, (int in, int out, size_t n, unsigned flags), (in, out, n, flags))                                                                   \
    X(OFTEN, ssize_t, sendfile, (int out, int in, off_t *from, size_t n), (out, in, from, n))                                                                  \
    X(OFTEN, int, close, (int fd), (fd))                                                                                                                       \
    X(OFTEN, int, fsync, (int fd), (fd))                                                                                                                       \
    X(OFTEN, int, dup2, (int from, int to), (from, to))                                                                                                        \
    X(OFTEN, int, poll, (struct pollfd * p, nfds_t n, int ms), (p, n, ms))                                                                                     \
    X(OFTEN, int, ppoll, (struct pollfd * p, nfds_t n, const struct timespec *t, const sigset_t *s), (p, n, t, s))                                             \
    X(OFTEN, int, select, (int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *t), (n, r, w, e, t))                                                        \
    X(OFTEN, int, pselect, (int n, fd_set *r, fd_set *w, fd_set *e, const struct timespec *t, const sigset_t *s), (n, r, w, e, t, s))                          \
    X(OFTEN, int, epoll_wait, (int fd, struct epoll_event *e, int n, int ms), (fd, e, n, ms))                                                                  \
    X(OFTEN, int, epoll_pwait2, (int fd, struct epoll_event *e, int n, const struct timespec *t, const sigset_t *s), (fd, e, n, t, s))                         \
    X(OFTEN, FILE *, fopen, (const char *path, const char *mode), (path, mode))                                                                                \
    X(OFTEN, FILE *, fopen64, (const char *path, const char *mode), (path, mode))                                                                              \
    X(OFTEN, int, fclose, (FILE * f), (f))                                                                                                                     \
    X(OFTEN, int, fflush, (FILE * f), (f))                                                                                                                     \
    X(OFTEN, DIR *, opendir, (const char *path), (path))                                                                                                       \
    X(RARE, int, clock_nanosleep, (clockid_t c, int flags, const struct timespec *t, struct timespec *rest), (c, flags, t, rest))                              \
    X(RARE, int, nanosleep, (const struct timespec *t, struct timespec *rest), (t, rest))                                                                      \
    X(RARE, int, usleep, (useconds_t t), (t))                                                                                                                  \
    X(RARE, int, rename, (const char *from, const char *to), (from, to))                                                                                       \
    X(RARE, int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to))                                                                 \
    X(RARE, int, renameat2, (int a, const char *from, int b, const char *to, unsigned flags), (a, from, b, to, flags))                                         \
    X(RARE, int, linkat, (int a, const char *from, int b, const char *to, int flags), (a, from, b, to, flags))                                                 \
    X(RARE, int, unlink, (const char *path), (path))                                                                                                           \
    X(RARE, int, unlinkat, (int at, const char *path, int flags), (at, path, flags))                                                                           \
    X(RARE, int, mkdir, (const char *path, mode_t mode), (path, mode))                                                                                         \
    X(RARE, int, mkdirat, (int at, const char *path, mode_t mode), (at, path, mode))                                                                           \
    X(RARE, int, rmdir, (const char *path), (path))                                                                                                            \
    X(RARE, int, bind, (int fd, const struct sockaddr *a, socklen_t n), (fd, a, n))                                                                            \
    X(RARE, int, listen, (int fd, int n), (fd, n))                                                                                                             \
    X(RARE, int, connect, (int fd, const struct sockaddr *a, socklen_t n), (fd, a, n))                                                                         \
    X(RARE, int, accept, (int fd, struct sockaddr *a, socklen_t *n), (fd, a, n))                                                                               \
    X(RARE, int, accept4, (int fd, struct sockaddr *a, socklen_t *n, int flags), (fd, a, n, flags))                                                            \
    X(RARE, int, shutdown, (int fd, int how), (fd, how))                                                                                                       \
    X(RARE, int, kill, (pid_t pid, int sig), (pid, sig))                                                                                                       \
    X(RARE, int, killpg, (pid_t pid, int sig), (pid, sig))                                                                                                     \
    X(RARE, int, raise, (int sig), (sig))                                                                                                                      \
    X(RARE, int, setpgid, (pid_t pid, pid_t group), (pid, group))                                                                                              \
    X(RARE, pid_t, setsid, (void), ())                                                                                                                         \
    X(RARE, int, tcsetpgrp, (int fd, pid_t group), (fd, group))                                                                                                \
    X(RARE, pid_t, fork, (void), ())                                                                                                                           \
    X(RARE, pid_t, waitpid, (pid_t pid, int *status, int options), (pid, status, options))                                                                     \
    X(RARE, int, waitid, (idtype_t type, id_t id, siginfo_t *info, int options), (type, id, info, options))                                                    \
    X(RARE, pid_t, wait3, (int *status, int options, struct rusage *u), (status, options, u))                                                                  \
    X(RARE, pid_t, wait4, (pid_t pid, int *status, int options, struct rusage *u), (pid, status, options, u))                                                  \
    X(RARE, int, execve, (const char *path, char *const args[], char *const env[]), (path, args, env))                                                         \
    X(RARE, int, execv, (const char *path, char *const args[]), (path, args))                                                                                  \
    X(RARE, int, execvp, (const char *path, char *const args[]), (path, args))                                                                                 \
    X(RARE, int, execvpe, (const char *path, char *const args[], char *const env[]), (path, args, env))                                                        \
    X(RARE, int, posix_spawn,                                                                                                                                  \
      (pid_t * pid, const char *path, const posix_spawn_file_actions_t *acts, const posix_spawnattr_t *attr, char *const args[], char *const env[]),           \
      (pid, path, acts, attr, args, env))                                                                                                                      \
    X(RARE, int, posix_spawnp,                                                                                                                                 \
      (pid_t * pid, const char *path, const posix_spawn_file_actions_t *acts, const posix_spawnattr_t *attr, char *const args[], char *const env[]),           \
      (pid, path, acts, attr, args, env))                                                                                                                      \
    X(RARE, int, pthread_create, (pthread_t * t, const pthread_attr_t *a, void *(*f)(void *), void *arg), (t, a, f, arg))                                      \
    X(YIELD, int, sched_yield, (void), ())

#define POINTER(rate, type, name, params, args) static type(*next_##name) params;
CALLS(POINTER)

#define WRAPPER(rate, type, name, params, args)                                       \
    __attribute__((visibility("default"))) type name params                           \
    {                                                                                 \
        type result;                                                                  \
        if (!next_##name) *(void **)&next_##name = dlsym(RTLD_NEXT, #name);           \
        late(rate, "before", #name);                                                  \
        result = next_##name args;                                                    \
        late(rate, "after", #name);                                                   \
        return result;                                                                \
    }
CALLS(WRAPPER)

static int (*next_open)(const char *path, int flags, ...);
static int (*next_openat)(int at, const char *path, int flags, ...);
static long (*next_syscall)(long number, ...);
static int (*next_clone)(int (*f)(void *), void *stack, int flags, void *arg, ...);

__attribute__((visibility("default"))) int open(const char *path, int flags, ...)
{
    va_list list;
    mode_t mode;
    int fd;

    va_start(list, flags);
    mode = va_arg(list, mode_t);
    va_end(list);
    if (!next_open) *(void **)&next_open = dlsym(RTLD_NEXT, "open");
    late(OFTEN, "before", "open");
    fd = next_open(path, flags, mode);
    late(OFTEN, "after", "open");
    return fd;
}
__attribute__((visibility("default"), alias("open"))) int open64(const char *path, int flags, ...);

__attribute__((visibility("default"))) int openat(int at, const char *path, int flags, ...)
{
    va_list list;
    mode_t mode;
    int fd;

    va_start(list, flags);
    mode = va_arg(list, mode_t);
    va_end(list);
    if (!next_openat) *(void **)&next_openat = dlsym(RTLD_NEXT, "openat");
    late(OFTEN, "before", "openat");
    fd = next_openat(at, path, flags, mode);
    late(OFTEN, "after", "openat");
    return fd;
}
__attribute__((visibility("default"), alias("openat"))) int openat64(int at, const char *path, int flags, ...);

/* Agents and ranks signal, sleep and fork through it. */
__attribute__((visibility("default"))) long syscall(long number, ...)
{
    int rate = number == SYS_futex ? OFTEN : RARE;
    va_list list;
    long a[6], result;

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (!next_syscall) *(void **)&next_syscall = dlsym(RTLD_NEXT, "syscall");
    if (number == SYS_nanosleep || number == SYS_openat || number == SYS_write || number == SYS_close) /* our own, above */
        return next_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    late(rate, "before", "syscall");
    result = next_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    late(rate, "after", "syscall");
    return result;
}

__attribute__((visibility("default"))) int clone(int (*f)(void *), void *stack, int flags, void *arg, ...)
{
    va_list list;
    void *a[3];
    int pid;

    va_start(list, arg);
    for (int i = 0; i < 3; i++)
        a[i] = va_arg(list, void *);
    va_end(list);
    if (!next_clone) *(void **)&next_clone = dlsym(RTLD_NEXT, "clone");
    late(RARE, "before", "clone");
    pid = next_clone(f, stack, flags, arg, a[0], a[1], a[2]);
    late(RARE, "after", "clone");
    return pid;
}

/* Looked up now: later it may be in a signal handler, or a child with its parent's memory. And who is started late is late. */
__attribute__((constructor)) static void begin(void)
{
#define LOOKUP(rate, type, name, params, args) *(void **)&next_##name = dlsym(RTLD_NEXT, #name);
    CALLS(LOOKUP)
    *(void **)&next_open = dlsym(RTLD_NEXT, "open");
    *(void **)&next_openat = dlsym(RTLD_NEXT, "openat");
    *(void **)&next_syscall = dlsym(RTLD_NEXT, "syscall");
    *(void **)&next_clone = dlsym(RTLD_NEXT, "clone");
    look();
    late(RARE, "before", "main");
}
