/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread's name is the process's own, and is set again. That of another thread is written to a file by the C library, past every name: so it is
   counted here, or the write would seem to be the program's, past the recorder. */
#include "ft/outcome/real.h"

#include <pthread.h>

#include "ft/outcome/record.h"

int pthread_setname_np(pthread_t thread, const char *name)
{
    if (ft_recording() && !pthread_equal(thread, pthread_self()))
        ft_real_count_write();
    return ft_real()->pthread_setname_np(thread, name);
}
