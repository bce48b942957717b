/* SPDX-License-Identifier: BSD-3-Clause */
/* The job's store between a node and the controller (docs/store.md): what a rank asks, and what it is answered, as it lies in its box
   (ft/base/value.h), behind {u32 rank in the job, u32 zero}. A node says on each connection what has not been answered. */
#ifndef LAUNCHER_WIRE_STORE_H
#define LAUNCHER_WIRE_STORE_H

#include "ft/base/value.h"
#include "launcher/wire/wire.h"

/* ask: `length` bytes of a sound one. */
struct ft_wire_bytes ft_wire_put_store_ask(uint32_t rank, const void *ask, size_t length);
struct ft_wire_bytes ft_wire_put_store_answer(uint32_t rank, const struct ft_value_answer *answer);

/* 0, with pointers into the frame; FT_EDAMAGED. */
int ft_wire_get_store_ask(const struct ft_wire_frame *f, uint32_t *rank, struct ft_value_ask *ask, struct ft_error *e);
int ft_wire_get_store_answer(const struct ft_wire_frame *f, uint32_t *rank, struct ft_value_answer *answer, struct ft_error *e);

#endif
