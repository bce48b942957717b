/* SPDX-License-Identifier: BSD-3-Clause */
/* The file that extents of the log go to when there is no memory left for them: unlinked, on the user's disk, mapped by ranks
   that replay. What is in it the keeper's tables say; a place that none of them names is free. */
#ifndef FT_SHM_SPILL_H
#define FT_SHM_SPILL_H

#include "ft/base/err.h"
#include "ft/shm/places.h"

struct ft_spill {
    const char *dir;
    int fd;                  /* close-on-exec; owned */
    uint64_t extent_bytes;
    struct ft_places places; /* rebuilt by each keeper: ft_places_forget, ft_places_name for what is there, ft_spill_settle */
};

/* places: extents it holds at most. FT_ESYS: dir does not allow it; FT_ENOMEM. */
int ft_spill_open(struct ft_spill *f, const char *dir, uint64_t extent_bytes, uint64_t places, struct ft_error *e);
void ft_spill_close(struct ft_spill *f);

/* Every place that is used has been named: the others are free, and so is their disk space. */
void ft_spill_settle(struct ft_spill *f);

bool ft_spill_take(struct ft_spill *f, uint64_t *place);   /* a free place; false: there is none */
int ft_spill_write(struct ft_spill *f, uint64_t place, const char *extent);  /* 0, or -1 with errno: the disk is full; the place is free then */
void ft_spill_drop(struct ft_spill *f, uint64_t place);    /* nobody needs what is there any more */

uint64_t ft_spill_bytes(const struct ft_spill *f);         /* of disk space */

#endif
