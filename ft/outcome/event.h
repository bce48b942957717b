/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes of an eventfd: eight bytes each. */
#ifndef FT_OUTCOME_EVENT_H
#define FT_OUTCOME_EVENT_H

#include <stdbool.h>
#include <sys/types.h>

#include "ft/outcome/descriptors.h"
#include "ft/outcome/record.h"

/* After the signals before the call have been handed over (ft_pipes_gives). */
static inline bool ft_event_is(int fd)
{
    return ft_recorder_replays() ? ft_recorder_next() == FT_CALL_EVENT : ft_descriptors_kind(fd) == FT_DESCRIPTOR_EVENT;
}

/* All threads have been given all: each eventfd counts what outcomes say, so that calls under way are made again. */
void ft_event_settle(void);

/* The descriptor, which may be an epoll, is closed. */
void ft_event_closed(int fd);

ssize_t ft_event_read(int fd, void *to);
ssize_t ft_event_write(int fd, const void *from);

#endif
