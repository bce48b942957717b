/* SPDX-License-Identifier: BSD-3-Clause */
/* From what the user wrote to the options of a job, checked. */
#ifndef LAUNCHER_OPTIONS_PARSE_H
#define LAUNCHER_OPTIONS_PARSE_H

#include "launcher/options/options.h"

/* Defaults, configuration files, environment, command line, each before the next. Strings of
   argv are not copied, and the ":" between contexts are replaced by NULL. 0, or FT_EINVAL with
   one line. ft_options_free in any case. */
int ft_options_parse(struct ft_options *o, int argc, char **argv, struct ft_error *e);

/* The second half of it, where hosts find each other (--rdzv): which rank runs where, once o->hosts has them. ft_options_parse does it for
   all others. FT_EINVAL with one line. */
int ft_options_number(struct ft_options *o, struct ft_error *e);

void ft_options_free(struct ft_options *o);

/* Defaults, configuration files and environment alone: for ftmpi_info. ft_options_free in any
   case. */
int ft_options_configure(struct ft_options *o, struct ft_error *e);

#endif
