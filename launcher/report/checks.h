/* SPDX-License-Identifier: BSD-3-Clause */
/* --check-replay: what came of the replays, in one line. */
#ifndef LAUNCHER_REPORT_CHECKS_H
#define LAUNCHER_REPORT_CHECKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ft_report;

/* A replay differed, or a rank that had left could not be put back. */
bool ft_report_differs(const struct ft_report *r);

/* False: no rank is killed to be checked. A replay that ended the job is none of those that are counted. */
bool ft_report_checks(const struct ft_report *r, bool failed, char *line, size_t size);

#endif
