/* SPDX-License-Identifier: BSD-3-Clause */
/* --report, --timeline and the last line of a job on several hosts: made by the controller out of what nodes say (wire_report.h), and of what it
   sees itself of hosts that are lost. A node's moments are of its own clock; the shortest way that any of its frames took tells how far that is from ours, so they are
   as exact as half of the way there and back. */
#ifndef LAUNCHER_CONTROLLER_REPORT_H
#define LAUNCHER_CONTROLLER_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/base/err.h"
#include "launcher/options/options.h"
#include "launcher/wire/wire.h"

struct ft_controller_report;
struct ft_durable_totals;
struct ft_report;

/* Opens the files that are wanted; what is known from then on is in shared memory. FT_ESYS or FT_ENOMEM with a line. */
int ft_controller_report_new(struct ft_controller_report **out, const struct ft_options *o, struct ft_error *e);

/* In the process that goes on after another one was killed: what that was entering is not; it is said again. */
void ft_controller_report_recover(struct ft_controller_report *c);

/* An incarnation of node is being started on host; is there; has said something, STATE, or REPORT or CELLS (FT_EDAMAGED: that is not for
   this job). */
void ft_controller_report_start(struct ft_controller_report *c, uint32_t node, uint32_t host);
void ft_controller_report_up(struct ft_controller_report *c, uint32_t node);
void ft_controller_report_heard(struct ft_controller_report *c, uint32_t node);
void ft_controller_report_state(struct ft_controller_report *c, uint32_t node, const struct ft_wire_state *state);
int ft_controller_report_take(struct ft_controller_report *c, uint32_t node, const struct ft_wire_frame *f, struct ft_error *e);

/* It is lost, with its host or without; its ranks (all: those of all nodes) start again on host `to`, -1: the job ends. `lost` false: it was there, and
   could not go on. */
void ft_controller_report_lost(struct ft_controller_report *c, uint32_t node, int64_t to, bool all, bool lost);

/* As it is now, in its files, and as it comes in: what has become of how many. The first is good until the next call. */
const struct ft_report *ft_controller_report_now(struct ft_controller_report *c, const struct ft_durable_totals *durable, uint64_t now_ns);
const struct ft_report *ft_controller_report_of(const struct ft_controller_report *c);

/* Writes both. FT_ESYS with a line. */
int ft_controller_report_write(struct ft_controller_report *c, const struct ft_durable_totals *durable, int exit_code, struct ft_error *e);

/* After that: ft_report_summary. */
bool ft_controller_report_summary(const struct ft_controller_report *c, char *line, size_t size);

/* Of this process, in the end; then all there is. */
void ft_controller_report_close(struct ft_controller_report *c);
void ft_controller_report_free(struct ft_controller_report *c);

#endif
