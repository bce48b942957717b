/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "ft/shm/point.h"

static int open_file(struct ft_spill *f, struct ft_error *e)
{
    char path[4096];

    f->fd = open(f->dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (f->fd >= 0)
        return 0;
    snprintf(path, sizeof path, "%s/ftmpi-log-XXXXXX", f->dir);
    f->fd = mkostemp(path, O_CLOEXEC);
    if (f->fd < 0)
        return ft_err_set(e, errno == ENOENT || errno == ENOTDIR ? FT_EINVAL : FT_ESYS, "cannot create a file in %s for the log to "
                          "spill to: %s (--log-spill names another directory)", f->dir, strerror(errno));
    unlink(path);
    return 0;
}

int ft_spill_open(struct ft_spill *f, const char *dir, uint64_t extent_bytes, uint64_t places, struct ft_error *e)
{
    int err;

    *f = (struct ft_spill){ .dir = dir, .extent_bytes = extent_bytes };
    err = open_file(f, e);
    if (err)
        return err;
    if (ft_places_open(&f->places, places) == 0)
        return 0;
    ft_spill_close(f);
    return ft_err_set(e, FT_ENOMEM, "out of memory");
}

void ft_spill_close(struct ft_spill *f)
{
    ft_places_close(&f->places);
    close(f->fd);
}

/* Gives disk space back; where that cannot be done it is only used again. */
static void punch(const struct ft_spill *f, uint64_t place, uint64_t n)
{
    if (n)
        fallocate(f->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(place * f->extent_bytes), (off_t)(n * f->extent_bytes));
}

/* A predecessor may not have come to dropping, or have written and not said. */
void ft_spill_settle(struct ft_spill *f)
{
    struct stat st;

    ft_places_settle(&f->places);
    for (uint64_t i = 0; i < f->places.nfree; i++)
        punch(f, f->places.free[i], 1);
    if (fstat(f->fd, &st) == 0 && (uint64_t)st.st_size > f->places.fresh * f->extent_bytes)
        punch(f, f->places.fresh, ft_div_up((uint64_t)st.st_size, f->extent_bytes) - f->places.fresh);
}

bool ft_spill_take(struct ft_spill *f, uint64_t *place)
{
    return ft_places_used(&f->places, place) || ft_places_fresh(&f->places, place);
}

static int cannot_write(struct ft_spill *f, uint64_t place, int error)
{
    ft_spill_drop(f, place);
    errno = error;
    return -1;
}

int ft_spill_write(struct ft_spill *f, uint64_t place, const char *extent)
{
    uint64_t at = 0;

    ft_point_store();
    while (at < f->extent_bytes) {
        ssize_t n = pwrite(f->fd, extent + at, f->extent_bytes - at, (off_t)(place * f->extent_bytes + at));

        if (n > 0)
            at += (uint64_t)n;
        else if (n == 0 || errno != EINTR)
            return cannot_write(f, place, n ? errno : ENOSPC);
    }
    return 0;
}

void ft_spill_drop(struct ft_spill *f, uint64_t place)
{
    punch(f, place, 1);
    ft_places_give_back(&f->places, place);
}

uint64_t ft_spill_bytes(const struct ft_spill *f)
{
    struct stat st;

    return fstat(f->fd, &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
}
