/* SPDX-License-Identifier: BSD-3-Clause */
/* Time in the launcher: events of libevent that come after a while, and the clock that leases go by. */
#ifndef LAUNCHER_BASE_TIMER_H
#define LAUNCHER_BASE_TIMER_H

#include <stdint.h>

struct event;

/* Comes after ms, once (or each time after so long if it is EV_PERSIST), and not when it was set to come before. */
void ft_timer_set(struct event *timer, uint64_t ms);

/* NULL: there is none. */
void ft_timer_free(struct event *timer);

/* CLOCK_BOOTTIME in ns: it goes on while the machine sleeps. */
uint64_t ft_timer_boot_ns(void);

#endif
