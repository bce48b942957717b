/* SPDX-License-Identifier: BSD-3-Clause */
/* For LD_PRELOAD: as long as the file that NOMEM names exists there is no memory for another process, for snapshots and whoever makes
   them (compat-tests/snapshot/snapfork.sh). Kernels cannot be asked for that: a control group's limit brings the OOM killer. */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static long (*next)(long number, ...);

__attribute__((constructor)) static void find_next(void)
{
    *(void **)&next = dlsym(RTLD_NEXT, "syscall");
}

__attribute__((visibility("default"))) long syscall(long number, ...)
{
    const char *file = getenv("NOMEM");
    long a[6];
    va_list list;

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_clone && file && access(file, F_OK) == 0) {
        errno = ENOMEM;
        return -1;
    }
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
