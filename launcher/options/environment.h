/* SPDX-License-Identifier: BSD-3-Clause */
/* Variables of our environment that others have set: Slurm, Kubernetes, mpirun's and torchrun's users. */
#ifndef LAUNCHER_OPTIONS_ENVIRONMENT_H
#define LAUNCHER_OPTIONS_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

/* NULL: it is not set, or empty; or there is no name. */
const char *ft_environment_text(const char *name);

/* Likewise, or not a number: `otherwise`. */
uint64_t ft_environment_number(const char *name, uint64_t otherwise);

/* For whoever takes a getenv with an argument: as it is, also empty. */
const char *ft_environment_get(void *arg, const char *name);

/* An ftrun that a rank starts has the job's environment, and is a job of its own. */
bool ft_environment_in_rank(void);

#endif
