/* SPDX-License-Identifier: BSD-3-Clause */
/* What --report and --timeline would say if the job ended now, in their files, marked as unfinished: for the case that nobody of ftrun
   is left to write them at the end. A second after the start, then ever more rarely, and soon after a death. A thread does the
   writing, so that a disk that stands still holds up nothing. */
#ifndef LAUNCHER_REPORT_DRAFT_H
#define LAUNCHER_REPORT_DRAFT_H

#include <stdint.h>

struct event_base;
struct ft_draft;
struct ft_report;

/* What it is at now_ns, for ft_report_text and ft_svg_text. Good until the next call. */
typedef const struct ft_report *ft_draft_now(void *arg, uint64_t now_ns);

/* Begins at once, in this process and its loop. NULL: neither of the two goes to a file, or there is no memory or no thread for it; it may
   be NULL in what follows. */
struct ft_draft *ft_draft_new(struct event_base *base, const struct ft_report *r, ft_draft_now *now, void *arg);

/* Nothing more is written. Waits for what is being written. */
void ft_draft_free(struct ft_draft *d);

#endif
