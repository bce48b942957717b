/* SPDX-License-Identifier: BSD-3-Clause */
/* ftrun --help. */
#ifndef LAUNCHER_OPTIONS_HELP_H
#define LAUNCHER_OPTIONS_HELP_H

void ft_help_print(void);

#endif
