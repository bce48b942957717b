/* SPDX-License-Identifier: BSD-3-Clause */
/* How Slurm writes lists: of nodes, and of a number for each of them. Pure. */
#ifndef LAUNCHER_OPTIONS_NODELIST_H
#define LAUNCHER_OPTIONS_NODELIST_H

#include <stddef.h>
#include <stdint.h>

#include "ft/base/err.h"
#include "launcher/options/options.h"

/* "n[1-3,07-09],gpu1,rack[0-1]n[0-3]": adds each to hosts, in order, with no slots. FT_EINVAL with a line that begins with who: this is not
   such a list, has a name twice, or more than FT_NODES_MAX. */
int ft_nodelist_names(struct ft_options *o, const char *text, const char *who, struct ft_hosts *hosts, struct ft_error *e);

/* "2(x3),1": numbers 2 2 2 1, each from 1 to FT_RANKS_MAX. *n: how many, also if that is more than `most`, the room. FT_EINVAL with a
   line. */
int ft_nodelist_numbers(const char *text, const char *who, uint32_t *numbers, size_t most, size_t *n, struct ft_error *e);

#endif
