/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing a model into an area of the store (ft/shm/models.h) that this process writes again and again.

   Memory that is not there yet is written by pwrite: what cannot be had is an error, never a signal. What this process has written
   before is there (nobody else writes or shortens the area), and is written through a mapping, which takes half the time. The
   mapping is nobody else's: not inherited by forks, so a snapshot that becomes its rank begins with none. */
#ifndef FT_SHM_MODEL_MAP_H
#define FT_SHM_MODEL_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/base/err.h"

/* One for each area; zeros to begin with, and in a fork. */
struct ft_model_map {
    char *at;          /* NULL: nothing is mapped */
    uint64_t bytes;    /* mapped ... */
    uint64_t touched;  /* ... and in the page tables */
    uint64_t there;    /* the area has memory and the file a size for so many bytes ... */
    bool ended;        /* ... and no page behind */
};

/* The area becomes these bytes and ends there; *hash: ft_hash(0, ...) of them, 0 if there are none. FT_ENOMEM as ft_models_write:
   then it is empty. */
int ft_model_map_put(struct ft_model_map *m, int fd, uint64_t area, const void *bytes, uint64_t n, uint64_t *hash, struct ft_error *e);

/* The area is emptied. */
void ft_model_map_clear(struct ft_model_map *m, int fd, uint64_t area);

void ft_model_map_close(struct ft_model_map *m);

#endif
