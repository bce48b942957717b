/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread's name, and where its stack is: the process's own, and asked again. Of another thread the C library goes by the number that it had first (stand.h);
   so it is done here for those that are known. */
#include "ft/outcome/real.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ft/outcome/record.h"
#include "ft/outcome/task.h"

static const struct ft_task *other(pthread_t thread)
{
    return ft_recorder.on && !pthread_equal(thread, pthread_self()) ? ft_stand_of(thread) : NULL;
}

/* An error's number, or 0. */
static int transfer(const struct ft_task *t, int flags, long call, char *name, size_t bytes)
{
    char path[FT_TASK_PATH];
    int before = errno, error = 0, file;
    long n;

    if (call == SYS_write)
        ft_real_count_write(); /* or it would seem to be the program's, past the recorder */
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", atomic_load(&t->tid));
    file = (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC);
    n = file < 0 ? -1 : syscall(call, file, name, bytes);
    if (n < 0)
        error = errno;
    else if (call == SYS_read)
        name[n > 0 ? n - 1 : 0] = 0; /* a line's end */
    if (file >= 0)
        syscall(SYS_close, file);
    errno = before;
    return error;
}

int pthread_setname_np(pthread_t thread, const char *name)
{
    const struct ft_task *t = other(thread);
    char text[FT_TASK_NAME];

    if (!t)
        return ft_real()->pthread_setname_np(thread, name);
    if (strlen(name) >= sizeof text)
        return ERANGE;
    strcpy(text, name);
    return transfer(t, O_WRONLY, SYS_write, text, strlen(text));
}

int pthread_getname_np(pthread_t thread, char *name, size_t bytes)
{
    const struct ft_task *t = other(thread);

    if (!t)
        return ft_real()->pthread_getname_np(thread, name, bytes);
    return bytes < FT_TASK_NAME ? ERANGE : transfer(t, O_RDONLY, SYS_read, name, bytes);
}

/* The C library asks for the processors last, by that number. */
int pthread_getattr_np(pthread_t thread, pthread_attr_t *to)
{
    const struct ft_task *t = ft_recorder.on ? ft_stand_of(thread) : NULL;
    int error = ft_real()->pthread_getattr_np(thread, to), before = errno;
    cpu_set_t processors;

    if (error != ESRCH || !t)
        return error;
    CPU_ZERO(&processors);
    if (syscall(SYS_sched_getaffinity, atomic_load(&t->tid), sizeof processors, &processors) < 0)
        error = errno;
    else
        error = pthread_attr_setaffinity_np(to, sizeof processors, &processors);
    errno = before;
    return error;
}
