/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that wait and are not recorded: a signal that interrupts one is handled before it returns, as the program expects. */
#include "ft/outcome/real.h"

#include <errno.h>

#include "ft/outcome/record.h"
#include "ft/outcome/signals.h"

/* After the call, whose result this is; its errno stays. */
FT_CALLED ssize_t after(ssize_t result)
{
    int error = errno;

    if (ft_recording() && ft_signals_wait)
        ft_signals_at(FT_SIGNALS_AFTER);
    errno = error;
    return result;
}

int sem_wait(sem_t *semaphore)
{
    return (int)after(ft_real()->sem_wait(semaphore));
}
