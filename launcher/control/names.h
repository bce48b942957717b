/* SPDX-License-Identifier: BSD-3-Clause */
/* What there is in the JSON of `ftrun status` beside what a report has: each name always, with null for what is not there. All of it is in
   docs/report.schema.json. */
#ifndef LAUNCHER_CONTROL_NAMES_H
#define LAUNCHER_CONTROL_NAMES_H

#include <jansson.h>

enum ft_named { FT_NAMED_JOB, FT_NAMED_NODE, FT_NAMED_RANK };

/* What the object lacks of these names is null. */
void ft_names_fill(json_t *object, enum ft_named what);

/* The report of a job that runs, and in it what is only of now: info of the job, an object for each rank. Takes over all three. NULL: no memory. */
json_t *ft_names_status(json_t *report, json_t *info, json_t *ranks);

#endif
