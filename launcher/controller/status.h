/* SPDX-License-Identifier: BSD-3-Clause */
/* A job on several hosts, as control.h shows it: info and status as those of one host, as far as nodes say it, and {"node": [...]}. */
#ifndef LAUNCHER_CONTROLLER_STATUS_H
#define LAUNCHER_CONTROLLER_STATUS_H

#include <jansson.h>
#include <sys/types.h>

#include "launcher/options/options.h"
#include "launcher/policy/nodes_policy.h"

struct ft_controller_view {
    const struct ft_options *options;
    const struct ft_nodes *policy;
    const struct ft_wire_state *(*state)(const void *arg, uint32_t node);  /* the last that it said; all zero: none */
    const json_t *(*calls)(const void *arg, uint32_t rank);  /* its object, of status.h, as its node made it just now; NULL: that said nothing */
    const void *arg;
    pid_t launcher, standby;   /* the process that the user started; the one that stands by, 0: none does */
    double seconds;            /* since the job began */
};

json_t *ft_controller_info(const struct ft_controller_view *v);

/* To what the report says (taken over), what is only of now. */
json_t *ft_controller_status(const struct ft_controller_view *v, json_t *report);

#endif
