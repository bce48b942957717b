/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings from configuration files and the environment. */
#ifndef LAUNCHER_OPTIONS_CONFIGURE_H
#define LAUNCHER_OPTIONS_CONFIGURE_H

#include "launcher/options/options.h"

/* SYSCONFDIR/ftmpi.conf, then ftmpi/ftmpi.conf in $XDG_CONFIG_HOME or ~/.config; files that do not exist are none.
   FT_EINVAL with a line that names file and line number. */
int ft_configure_files(struct ft_options *o, struct ft_error *e);

/* FTMPI_*; a name that means nothing is a notice with the nearest one. What ftrun sets for its ranks is passed over: in a
   rank, ftrun starts a job of its own, with the same settings. */
int ft_configure_environment(struct ft_options *o, struct ft_error *e);

#endif
