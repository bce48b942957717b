/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/base/timer.h"

#include <event2/event.h>
#include <time.h>

void ft_timer_set(struct event *timer, uint64_t ms)
{
    struct timeval wait = {.tv_sec = (time_t)(ms / 1000), .tv_usec = (suseconds_t)(ms % 1000 * 1000)};

    event_add(timer, &wait);
}

void ft_timer_free(struct event *timer)
{
    if (timer)
        event_free(timer);
}

uint64_t ft_timer_boot_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_BOOTTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}
