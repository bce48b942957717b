/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws a job as a picture (SVG): time to the right, a row per rank, what it was doing in colours, deaths and snapshots as marks.
   Thousands of ranks share rows. The size of the file is bounded: about 1 MB, and 4 KB for a few ranks at rest. */
#ifndef LAUNCHER_REPORT_SVG_H
#define LAUNCHER_REPORT_SVG_H

#include "launcher/report/report.h"
#include "launcher/report/timeline.h"

/* As it is at now_ns, to be freed; *len bytes. exit_code: or FT_UNFINISHED. NULL: no memory. */
char *ft_svg_text(const struct ft_timeline *t, const struct ft_report *r, int exit_code, uint64_t now_ns, size_t *len);

/* Into the timeline's file. The job has ended at now_ns with exit_code. FT_ESYS with a line. */
int ft_svg_write(const struct ft_timeline *t, const struct ft_report *r, int exit_code, uint64_t now_ns, struct ft_error *e);

#endif
