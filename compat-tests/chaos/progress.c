/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "compat-tests/lib/outside.h"

static int file = -1;
static char path[4096];
static struct progress mine;

static void put(size_t at, size_t bytes)
{
    if (file >= 0 && outside_put(file, (const char *)&mine + at, bytes, (off_t)at) != 0) perror("progress");
}

/* The file is this process's from now on. What was furthest is in the file: a woken snapshot remembers an older one. */
static void take_over(void)
{
    struct progress last = {0};
    int before = outside_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (before >= 0 && outside_pread(before, &last, sizeof last, 0) < 0) perror(path);
    if (before >= 0) outside_close(before);
    mine.pid = 0;
    put(offsetof(struct progress, pid), sizeof mine.pid);
    mine.base = mine.furthest = last.furthest;
    put(0, sizeof mine);
    mine.pid = (uint64_t)outside_pid();
    put(offsetof(struct progress, pid), sizeof mine.pid);
}

int progress_open(const char *dir)
{
    const char *rank = getenv("FTMPI_RANK");
    if (!rank) {
        fprintf(stderr, "progress is for runs under ftrun: there is no $FTMPI_RANK\n");
        return -1;
    }
    snprintf(path, sizeof path, "%s/rank.%s", dir, rank);
    file = outside_open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) {
        perror(path);
        return -1;
    }
    take_over();
    return 0;
}

void progress_phase(enum progress_phase phase)
{
    mine.phase = phase;
    put(offsetof(struct progress, phase), sizeof mine.phase);
}

void progress_advance(uint64_t done)
{
    if (file < 0) return;
    mine.ops = done;
    if (mine.pid != (uint64_t)outside_pid()) take_over(); /* woken from a snapshot */
    if (done > mine.furthest) mine.furthest = done;
    put(offsetof(struct progress, ops), offsetof(struct progress, phase) - offsetof(struct progress, ops));
}
