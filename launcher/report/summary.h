/* SPDX-License-Identifier: BSD-3-Clause */
/* What a job survived, in a line for whoever reads the end of its output. */
#ifndef LAUNCHER_REPORT_SUMMARY_H
#define LAUNCHER_REPORT_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>

struct ft_report;

/* False: no rank died. */
bool ft_report_summary(const struct ft_report *r, char *line, size_t size);

#endif
