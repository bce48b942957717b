/* SPDX-License-Identifier: BSD-3-Clause */
/* `ftrun list`, `status`, `stop`, `wait` and `attach`: what asks a running job through its socket. */
#ifndef LAUNCHER_CONTROL_CLIENT_H
#define LAUNCHER_CONTROL_CLIENT_H

#include <stdbool.h>

/* Is the first word of ftrun's command line one of these? (`ftrun -n 1 list` runs a program.) */
bool ft_client_is_command(const char *word);

/* The one that was meant, perhaps; NULL: none is near. */
const char *ft_client_nearest(const char *word);

/* Prints what they do. */
void ft_client_help(void);

/* argv[0] is the command. The exit code. */
int ft_client_run(char **argv);

#endif
