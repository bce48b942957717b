/* SPDX-License-Identifier: BSD-3-Clause */
/* A client and one job: asks it something, and hears from it until it is over, across deaths of its agent. Blocks; says what is wrong on
   stderr. */
#ifndef LAUNCHER_CONTROL_FOLLOW_H
#define LAUNCHER_CONTROL_FOLLOW_H

#include "launcher/control/jobs.h"
#include "launcher/control/pipe.h"

struct ft_follow {
    const struct ft_job_entry *job;
    struct ft_link link;
    json_t *info;           /* the last info or status it sent */
    json_t *known;          /* its ftrun cannot be reached: what its node here knows (reach.h) */
    struct ft_link ending;  /* attach: hears of the end, however much output is on its way before it; fd -1: not open */
};

void ft_follow_begin(struct ft_follow *f, const struct ft_job_entry *job);

/* Asks, and takes the info or status that every answer begins with. 0 (link is open), or an exit code with a line. */
int ft_follow_ask(struct ft_follow *f, const char *request);

/* After asking to wait, stop or attach (its output is written to our stdout and stderr): until the job is over; link is closed then. A
   successor of its agent is asked `request`. The job's exit code, or FT_FOLLOW_*: nobody could tell it (f->known: as has been said);
   `interrupt` (a descriptor, -1: none) was readable. */
enum { FT_FOLLOW_UNKNOWN = -1, FT_FOLLOW_INTERRUPTED = -2 };
int ft_follow_to_end(struct ft_follow *f, const char *request, int interrupt);

void ft_follow_end(struct ft_follow *f);

#endif
