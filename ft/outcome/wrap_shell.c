/* SPDX-License-Identifier: BSD-3-Clause */
/* system and popen, made of calls that are followed: the C library's own start their children past every name. */
#include "ft/outcome/real.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ft/outcome/lock.h"
#include "ft/outcome/record.h"
#include "ft/outcome/stdio.h"

/* ---- system ---- */

/* In the child. */
static void become_shell(const char *command)
{
    char *const argv[] = {"sh", "-c", (char *)(uintptr_t)command, NULL};

    ft_real()->execve("/bin/sh", argv, environ);
    _exit(127);
}

static int run(const char *command)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupt, quit;
    sigset_t child, before;
    int status = -1, error;
    pid_t pid, done;

    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigaction(SIGINT, &ignore, &interrupt);
    sigaction(SIGQUIT, &ignore, &quit);
    pthread_sigmask(SIG_BLOCK, &child, &before);
    pid = _Fork(); /* no handlers of pthread_atfork, as in the C library */
    if (pid == 0) {
        sigaction(SIGINT, &interrupt, NULL);
        sigaction(SIGQUIT, &quit, NULL);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        become_shell(command);
    }
    do
        done = pid < 0 ? -1 : waitpid(pid, &status, 0);
    while (done < 0 && pid > 0 && errno == EINTR);
    if (done < 0)
        status = -1;
    error = errno;
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return status;
}

int system(const char *command)
{
    if (!ft_recording() || !command)
        return ft_real()->system(command);
    return run(command);
}

/* ---- popen ---- */

static struct process {
    FILE *stream;
    pid_t pid;
    struct process *next;
} *processes;

/* In the child: `end` of the pipe is its standard input or output; streams of before are none of its. */
static void become_end(int end, int standard, const char *command)
{
    for (const struct process *p = processes; p; p = p->next)
        ft_real()->close(fileno(p->stream));
    if (end == standard)
        ft_real()->fcntl64(end, F_SETFD, 0);
    else
        ft_real()->dup2(end, standard);
    become_shell(command);
}

static FILE *start(const char *command, bool reads, bool stays)
{
    struct process *p = malloc(sizeof *p);
    int fds[2], ours, theirs;

    if (!p || pipe2(fds, O_CLOEXEC) < 0) {
        free(p);
        return NULL;
    }
    ours = fds[!reads];
    theirs = fds[reads];
    p->stream = fdopen(ours, reads ? "r" : "w");
    p->pid = p->stream ? _Fork() : -1;
    if (p->pid == 0)
        become_end(theirs, reads ? STDOUT_FILENO : STDIN_FILENO, command);
    close(theirs);
    if (p->pid < 0) {
        int error = errno;

        if (p->stream)
            fclose(p->stream);
        else
            close(ours);
        free(p);
        errno = error;
        return NULL;
    }
    if (stays)
        fcntl(ours, F_SETFD, 0);
    ft_threads_lock();
    p->next = processes;
    processes = p;
    ft_threads_unlock();
    return p->stream;
}

/* type: "r" or "w", and perhaps "e" (close on exec). */
FILE *popen(const char *command, const char *type)
{
    bool reads = strchr(type, 'r'), writes = strchr(type, 'w');

    if (!ft_recording())
        return ft_real()->popen(command, type);
    if (reads == writes || type[strspn(type, "rwe")]) {
        errno = EINVAL;
        return NULL;
    }
    return start(command, reads, !strchr(type, 'e'));
}

/* 0: it is none of popen's. */
static pid_t take(const FILE *stream)
{
    pid_t pid = 0;

    ft_threads_lock();
    for (struct process **at = &processes; *at && !pid; at = pid ? at : &(*at)->next)
        if ((*at)->stream == stream) {
            struct process *p = *at;

            pid = p->pid;
            *at = p->next;
            free(p);
        }
    ft_threads_unlock();
    return pid;
}

static int finish(FILE *stream, pid_t pid, bool counted)
{
    pid_t done;
    int status;

    ft_stdio_close(stream, counted);
    do
        done = waitpid(pid, &status, 0);
    while (done < 0 && errno == EINTR);
    return done < 0 ? -1 : status;
}

int pclose(FILE *stream)
{
    pid_t pid = take(stream);

    return pid ? finish(stream, pid, ft_locks()) : ft_real()->pclose(stream);
}

/* As the C library's, which waits for the child of such a stream, too. */
int fclose(FILE *stream)
{
    pid_t pid = processes ? take(stream) : 0;

    return pid ? finish(stream, pid, ft_locks()) : ft_stdio_close(stream, ft_locks());
}
