/* SPDX-License-Identifier: BSD-3-Clause */
/* Which processors the ranks of this host get, and what --report-bindings and --display-map
   print. */
#ifndef LAUNCHER_AGENT_BINDINGS_H
#define LAUNCHER_AGENT_BINDINGS_H

#include "launcher/base/say.h"
#include "launcher/options/options.h"

/* What is asked for is made, and told if it cannot be or somebody wants to know. NULL: ranks are
   not bound. */
struct ft_topology *ft_bindings_make(const struct ft_options *o, const struct ft_say *say);

#endif
