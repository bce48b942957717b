/* SPDX-License-Identifier: BSD-3-Clause */
/* What the members of a round tell each other: a key-value store of that round alone, which is gone with it. Keys are names (doc.h), values any
   bytes. get and wait block, for a time; check does not; add is atomic; a value that a stranger has written is none. */
#ifndef LAUNCHER_RDZV_VALUES_H
#define LAUNCHER_RDZV_VALUES_H

#include <stdint.h>

#include "ft/base/err.h"
#include "launcher/rdzv/seal.h"
#include "launcher/rdzv/store.h"

enum { FT_VALUES_WAIT_MS = 300000, FT_VALUES_KEYS = 64 /* of one wait */, FT_VALUES_BYTES = 1 << 20 /* of a value */ };

struct ft_rdzv_values;

/* Once for each call; why NULL: it is done. get, add: what is there now (add: a number in decimal digits). check: n is 1 if all are there, else 0. */
typedef void ft_values_done(void *arg, const unsigned char *value, size_t n, const char *why);

/* prefix: of the round's keys, with its / at the end; copied. seed: drawn by each process. NULL: no memory. */
struct ft_rdzv_values *ft_rdzv_values_new(struct event_base *base, struct ft_rdzv_store *store, const struct ft_rdzv_secret *secret, const char *prefix,
                                          uint64_t seed);

/* Before the store's end. Nothing is called any more. NULL: there is none. */
void ft_rdzv_values_free(struct ft_rdzv_values *v);

/* FT_EINVAL with a line: no key, or too large a value; FT_ENOMEM. */
int ft_rdzv_values_set(struct ft_rdzv_values *v, const char *key, const void *value, size_t n, ft_values_done *done, void *arg, struct ft_error *e);
int ft_rdzv_values_add(struct ft_rdzv_values *v, const char *key, int64_t by, ft_values_done *done, void *arg, struct ft_error *e);
int ft_rdzv_values_get(struct ft_rdzv_values *v, const char *key, uint64_t wait_ms, ft_values_done *done, void *arg, struct ft_error *e);
int ft_rdzv_values_wait(struct ft_rdzv_values *v, const char *const *keys, uint32_t n, uint64_t wait_ms, ft_values_done *done, void *arg,
                        struct ft_error *e);
int ft_rdzv_values_check(struct ft_rdzv_values *v, const char *const *keys, uint32_t n, ft_values_done *done, void *arg, struct ft_error *e);

#endif
