/* SPDX-License-Identifier: BSD-3-Clause */
/* Semaphores that are waited for. That a signal has interrupted it is recorded; whoever posts does so in a replay, too. */
#include "ft/outcome/real.h"

#include <errno.h>

#include "ft/outcome/record.h"

int sem_wait(sem_t *semaphore)
{
    struct ft_recorded c;
    int error = errno;

    if (!ft_recording())
        return ft_real()->sem_wait(semaphore);
    if (sem_trywait(semaphore) == 0)
        return 0;
    errno = error;
    if (!ft_call_begin(&c, FT_CALL_SEMAPHORE, 0, 0))
        return (int)ft_call_end(&c, ft_real()->sem_wait(semaphore), 0);
    return c.record->result == 0 && ft_real()->sem_wait(semaphore) < 0 ? -1 : (int)ft_call_give(&c);
}
