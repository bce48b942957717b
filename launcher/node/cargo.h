/* SPDX-License-Identifier: BSD-3-Clause */
/* A committed checkpoint of all ranks of a node, as another node keeps it (partner.h): models, what the ranks called before they loaded, the
   bootstrap cache, the words that say so, and what the ranks had printed. With it and the log a node that replaces this one stands
   where this one would stand if all its ranks were killed. Between nodes of one job: of one version of ftmpi, and as the log in the host's
   own representation. */
#ifndef LAUNCHER_NODE_CARGO_H
#define LAUNCHER_NODE_CARGO_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/base/err.h"

struct ft_cargo;
struct ft_job;

/* The newest version that all ranks of this node could load, if it is newer than `than`. 0: there is none. */
uint64_t ft_cargo_newest(const struct ft_job *job, uint64_t than);

/* Pins it: nobody writes over its models until ft_cargo_unpin or ft_cargo_free. NULL: there is none any more, or no memory. */
struct ft_cargo *ft_cargo_pack(const struct ft_job *job, uint64_t than);
void ft_cargo_free(struct ft_cargo *c);  /* may be NULL */
void ft_cargo_unpin(const struct ft_job *job);

uint64_t ft_cargo_version(const struct ft_cargo *c);
uint64_t ft_cargo_bytes(const struct ft_cargo *c);
bool ft_cargo_read(const struct ft_cargo *c, uint64_t at, void *to, uint32_t n);

/* The controller has all that the ranks had printed when it was packed: nobody has to print that again. */
bool ft_cargo_is_told(const struct ft_cargo *c);

/* What an area of `fd` (ft/shm/models.h) has is a cargo by its looks: its version, and the unit that it was made in. */
bool ft_cargo_look(int fd, uint64_t area, uint64_t length, uint64_t *version, uint64_t *unit);

/* No rank has been started, and the log has `units`: they will load what is in that area. The version; 0: it is not for this log, or
   FT_EDAMAGED, FT_ENOMEM, FT_ESYS, and the ranks begin at the start. May be done again. */
int64_t ft_cargo_unpack(const struct ft_job *job, int fd, uint64_t area, uint64_t length, uint64_t units, struct ft_error *e);

#endif
