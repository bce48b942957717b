/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for models, held by the launcher beside the region: a sparse memfd that every rank inherits. It is cut into areas of fixed
   giant size, so nothing has to be allocated. It is not mapped: what cannot be written is an error, never a signal. Who may write an
   area, and when what is there may be read, is said in the region (struct ft_model_slot, struct ft_version_head). */
#ifndef FT_SHM_MODELS_H
#define FT_SHM_MODELS_H

#include <stdint.h>

#include "ft/base/err.h"

#define FT_MODELS_AREA_BYTES (1ull << 40)

enum ft_models_area {
    FT_MODELS_GLOBAL = 0,   /* two slots of the global model: rank 0 */
    FT_MODELS_PREFIX = 2,  /* the log up to the first load, at the same positions: rank 0 */
    FT_MODELS_CACHE = 3,    /* the bootstrap cache: rank 0 */
    FT_MODELS_GIVEN = 4,    /* what each rank contributed to units that may be in it, as hashes: each its own */
    FT_MODELS_LOCAL = 5     /* two slots of each rank's own model, then two of what each rank's checkpoint carries besides (ft/carry.h) */
};

static inline uint64_t ft_models_global(uint32_t slot) { return FT_MODELS_GLOBAL + slot; }
static inline uint64_t ft_models_local(uint32_t rank, uint32_t slot) { return FT_MODELS_LOCAL + 2ull * rank + slot; }
static inline uint64_t ft_models_carried(uint32_t nranks, uint32_t rank, uint32_t slot) { return ft_models_local(nranks + rank, slot); }

/* Agent: a new one, close-on-exec. The descriptor, or FT_ESYS. */
int ft_models_create(struct ft_error *e);

/* Rank: checks what it has inherited, and keeps it from programs that it starts. 0 or FT_EJOB. */
int ft_models_attach(int fd, struct ft_error *e);

/* n bytes to `at` of an area. FT_ENOMEM, with a line that says why: no memory, or RLIMIT_FSIZE (the soft limit is raised for the
   call). What was written by then stays. */
int ft_models_write(int fd, uint64_t area, uint64_t at, const void *bytes, uint64_t n, struct ft_error *e);

/* FT_ESYS: so much is not there. */
int ft_models_read(int fd, uint64_t area, uint64_t at, void *bytes, uint64_t n, struct ft_error *e);

/* As ft_hash(0, ...) of the first n bytes of an area; 0 if n is 0. FT_ENOMEM. */
int ft_models_hash(int fd, uint64_t area, uint64_t n, uint64_t *hash, struct ft_error *e);

/* The area ends at n: gives back the memory of what is beyond. */
void ft_models_end(int fd, uint64_t area, uint64_t n);

#endif
