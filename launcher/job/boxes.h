/* SPDX-License-Identifier: BSD-3-Clause */
/* The boxes of this host's ranks (ft/shm/box.h), as their agent reads and fills them. */
#ifndef LAUNCHER_JOB_BOXES_H
#define LAUNCHER_JOB_BOXES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ft/base/value.h"

struct ft_boxes;
struct ft_region;

/* NULL: no memory. */
struct ft_boxes *ft_boxes_new(const struct ft_region *region);
void ft_boxes_free(struct ft_boxes *b);

/* False: no rank has ever asked anything, and there is nothing to be taken. */
bool ft_boxes_used(const struct ft_boxes *b);

/* What is in rank's box and has not been taken by this process: *bytes, good until it is answered. False: nothing. */
bool ft_boxes_take(struct ft_boxes *b, uint32_t local, const void **bytes, size_t *length);

/* What was taken is to be taken again. */
void ft_boxes_again(struct ft_boxes *b);

/* The answer to what was taken last. The rank may be dead, and nobody wait for it. */
void ft_boxes_answer(struct ft_boxes *b, uint32_t local, const struct ft_value_answer *answer);

#endif
