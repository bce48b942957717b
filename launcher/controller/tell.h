/* SPDX-License-Identifier: BSD-3-Clause */
/* What the controller tells people about nodes: one line each. */
#ifndef LAUNCHER_CONTROLLER_TELL_H
#define LAUNCHER_CONTROLLER_TELL_H

#include "launcher/base/say.h"
#include "launcher/options/options.h"
#include "launcher/policy/nodes_policy.h"

struct ft_telling {
    const struct ft_options *options;
    const char *why;           /* the node could not be started; "" if that took too long */
};

/* An FT_ND_TELL. */
void ft_controller_tell(const struct ft_say *say, const struct ft_telling *t, const struct ft_nodes_effect *fx);

/* --display-map. */
void ft_controller_display(const struct ft_say *say, const struct ft_options *o);

#endif
