/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of options, read. Each returns 0, or FT_EINVAL for what it does not understand. */
#ifndef LAUNCHER_OPTIONS_VALUES_H
#define LAUNCHER_OPTIONS_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/policy/rank_policy.h"

/* A decimal number and nothing else. */
int ft_values_number(const char *text, uint64_t *value);

/* "512", "64K", "1.5G" (also k, KiB, KB: all powers of 1024). */
int ft_values_size(const char *text, uint64_t *bytes);

/* Seconds with a fraction, at most about 30 years. */
int ft_values_milliseconds(const char *text, uint64_t *ms);

/* yes, true, on, 1, or no, ...; NULL is yes. */
int ft_values_flag(const char *text, bool *flag);

/* "signal,129-159", "none", "3". */
int ft_values_restart_on(const char *text, struct ft_restart_on *on);

#endif
