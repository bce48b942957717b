/* SPDX-License-Identifier: BSD-3-Clause */
/* Mappings of files and memory shared with others are not followed yet: ways back from before one are closed, and there is no copy
   while there is one. The C library's and the dynamic linker's own never come here. */
#include "ft/outcome/real.h"

#include <stddef.h>
#include <stdint.h>

#include "ft/outcome/maps.h"
#include "ft/outcome/once.h"
#include "ft/outcome/record.h"

enum { MOST = 256 };

static struct {
    uintptr_t start, end;
} maps[MOST];

static int nmaps;      /* MOST: there may be more, for ever */

bool ft_maps_any(void) { return nmaps > 0; }

static void note(uintptr_t start, size_t bytes)
{
    if (nmaps < MOST)
        maps[nmaps].start = start, maps[nmaps++].end = start + bytes;
}

/* Whole mappings only: what is unmapped in part stays. */
static void forget(uintptr_t start, size_t bytes)
{
    if (nmaps == MOST)
        return;
    for (int i = nmaps - 1; i >= 0; i--)
        if (maps[i].start >= start && maps[i].end <= ((start + bytes + 4095) & ~(uintptr_t)4095))
            maps[i] = maps[--nmaps];
}

void *mmap64(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    bool followed = flags & MAP_ANONYMOUS && !(flags & MAP_SHARED);
    bool recording = !followed && ft_recording();
    void *start = ft_real()->mmap64(at, bytes, protection, flags, fd, offset);

    if (!recording || start == MAP_FAILED)
        return start;
    if (fd >= 0) {
        ft_once_read(fd);
        if (flags & MAP_SHARED && protection & PROT_WRITE)
            ft_once_write(fd);
    }
    ft_recorder_close("it has mapped a file, or memory that others may share");
    note((uintptr_t)start, bytes);
    return start;
}

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset) __attribute__((alias("mmap64")));

int munmap(void *at, size_t bytes)
{
    int result = ft_real()->munmap(at, bytes);

    if (nmaps > 0 && result == 0)
        forget((uintptr_t)at, bytes);
    return result;
}

void *shmat(int id, const void *at, int flags)
{
    void *start = ft_real()->shmat(id, at, flags);

    if (start != (void *)-1 && ft_recording()) {
        ft_recorder_close("it has memory that others may share (shmat)");
        note((uintptr_t)start, 1);
    }
    return start;
}

int shmdt(const void *at)
{
    int result = ft_real()->shmdt(at);

    if (result == 0)
        forget((uintptr_t)at, 1);
    return result;
}
