/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/outcome/counts.h"

#include <string.h>

#include "ft/outcome/descriptors.h"
#include "ft/outcome/record.h"

static struct counts {
    int64_t count[FT_COUNTS];
    unsigned char users[FT_COUNTS];
} table[FT_DESCRIPTORS];

static struct counts *of(int fd) { return fd >= 0 && fd < FT_DESCRIPTORS ? &table[fd] : NULL; }

int64_t ft_counts_get(int fd, enum ft_count which) { return ft_descriptors_is_alone(fd) ? of(fd)->count[which] : -1; }

void ft_counts_set(int fd, enum ft_count which, int64_t count)
{
    if (of(fd))
        of(fd)->count[which] = count;
}

void ft_counts_enter(int fd, enum ft_count which)
{
    if (!ft_threads_many || !of(fd))
        return;
    if (__atomic_fetch_add(&of(fd)->users[which], 1, __ATOMIC_SEQ_CST) > 0)
        ft_recorder_close("two threads of it %s descriptor %d at a time", which == FT_COUNT_SENT ? "send to" : "receive from", fd);
}

void ft_counts_leave(int fd, enum ft_count which)
{
    if (of(fd) && of(fd)->users[which])
        __atomic_fetch_sub(&of(fd)->users[which], 1, __ATOMIC_SEQ_CST);
}

void ft_counts_begin(int fd) { table[fd] = (struct counts){.count = {-1, -1, -1, -1}}; }

/* What an eventfd counts is by what outcomes say, not the kernel. */
void ft_counts_forget(int fd) { table[fd].count[FT_COUNT_RECEIVED] = table[fd].count[FT_COUNT_SENT] = table[fd].count[FT_COUNT_OWED] = -1; }

void ft_counts_left(int fd) { memset(table[fd].users, 0, sizeof table[fd].users); }
