/* SPDX-License-Identifier: BSD-3-Clause */
/* A committed version that is being read stays: ranks that want to write over it wait (ft/checkpoint.c, take_slot). Each kind of reader pins one
   slot at most. One thread at a time does this for a job. */
#ifndef LAUNCHER_JOB_PIN_H
#define LAUNCHER_JOB_PIN_H

#include <stdbool.h>

#include "ft/shm/versions.h"

/* Pins the newest version, in the place of what this reader had pinned. False: there is none newer than `than`, and nothing is pinned. */
bool ft_pin_newest(const struct ft_region *r, enum ft_pin pin, uint64_t than, struct ft_version *v);

/* Pins this very version. False: it is not there, not yet or not any more, and what was pinned still is. */
bool ft_pin_version(const struct ft_region *r, enum ft_pin pin, uint64_t version, struct ft_version *v);

void ft_pin_drop(const struct ft_region *r, enum ft_pin pin);

#endif
