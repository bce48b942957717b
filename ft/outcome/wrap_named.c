/* SPDX-License-Identifier: BSD-3-Clause */
/* Semaphores with a name: libraries make one to see whether they can (joblib, multiprocessing). One that is made (O_CREAT | O_EXCL) is nobody else's
   before the program tells somebody. A replay has memory in its place, which children that it makes share. What others may have is not followed. */
#include "ft/outcome/real.h"

#include <errno.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "ft/outcome/record.h"

enum { MOST = 64, PAGE = 4096, UNLINK = -21, OPEN = -22 };

static sem_t *ours[MOST]; /* those that a replay has made: a page each */

static int place_of(const sem_t *semaphore)
{
    int i = 0;

    while (i < MOST && ours[i] != semaphore)
        i++;
    return i;
}

static sem_t *make_again(unsigned value)
{
    int i = place_of(NULL);
    void *at = i == MOST ? MAP_FAILED : ft_real()->mmap64(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED || sem_init(at, 1, value) < 0)
        ft_recorder_lost("a replay cannot make a semaphore that its predecessor had");
    ours[i] = at;
    return at;
}

static bool is_there(const char *name)
{
    char path[300];

    snprintf(path, sizeof path, "/dev/shm/sem.%s", name + (*name == '/'));
    return syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0;
}

/* note[0]: there was one of that name, others'. */
static sem_t *make(const char *name, int flags, mode_t mode, unsigned value)
{
    struct ft_recorded c;
    sem_t *semaphore;

    if (ft_call_begin(&c, FT_CALL_SEMAPHORE, ft_what(OPEN, (int64_t)ft_what_name(name), flags), 0)) {
        semaphore = c.record->result == 0 ? make_again(value) : SEM_FAILED;
        ft_call_give(&c);
        return semaphore;
    }
    if (!ft_call_noted(&c))
        ft_call_note(&c, is_there(name), 0);
    errno = c.error;
    ft_real_count_write(); /* its first content */
    semaphore = ft_real()->sem_open(name, flags, mode, value);
    if (semaphore == SEM_FAILED && errno == EEXIST && c.under_way && !c.record->note[0])
        semaphore = ft_real()->sem_open(name, flags & ~O_EXCL, mode, value);
    ft_call_end(&c, semaphore == SEM_FAILED ? -1 : 0, 0);
    return semaphore;
}

sem_t *sem_open(const char *name, int flags, ...)
{
    mode_t mode = 0;
    unsigned value = 0;
    va_list args;

    va_start(args, flags);
    if (flags & O_CREAT) {
        mode = va_arg(args, mode_t);
        value = va_arg(args, unsigned);
    }
    va_end(args);
    if (ft_recording() && (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
        return make(name, flags, mode, value);
    if (ft_recording()) {
        ft_real_count_write();
        return FT_CLOSED(ft_real()->sem_open(name, flags, mode, value), "it has opened a semaphore that other processes may have (sem_open)");
    }
    return ft_real()->sem_open(name, flags, mode, value);
}

int sem_close(sem_t *semaphore)
{
    int i = place_of(semaphore);

    if (i == MOST)
        return ft_real()->sem_close(semaphore);
    ours[i] = NULL;
    return ft_real()->munmap(semaphore, PAGE);
}

/* Under way: what is not there any more has been unlinked. */
int sem_unlink(const char *name)
{
    struct ft_recorded c;
    int result;

    if (!ft_recording())
        return ft_real()->sem_unlink(name);
    if (ft_call_begin(&c, FT_CALL_UNLINK, ft_what(UNLINK, (int64_t)ft_what_name(name), 0), 0))
        return (int)ft_call_give(&c);
    if (!ft_call_noted(&c))
        ft_call_note(&c, is_there(name), 0);
    errno = c.error;
    result = ft_real()->sem_unlink(name);
    if (result < 0 && errno == ENOENT && c.under_way && c.record->note[0]) {
        errno = c.error;
        result = 0;
    }
    return (int)ft_call_end(&c, result, 0);
}
