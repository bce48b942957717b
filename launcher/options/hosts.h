/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of hosts, as mpirun and mpiexec take them. */
#ifndef LAUNCHER_OPTIONS_HOSTS_H
#define LAUNCHER_OPTIONS_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launcher/options/options.h"

/* "localhost:4,user@127.0.0.1": a host without a number has one slot, and a name that comes again adds its slots. FT_EINVAL with a line that
   begins with who. */
int ft_hosts_list(struct ft_options *o, const char *text, const char *who, struct ft_hosts *hosts, struct ft_error *e);

/* One host a line: "name slots=4 max_slots=8" (Open MPI, with its synonyms) or "name:4" (Hydra); "^name": not that one; comments as in
   a shell and in C. What is not understood is refused, with file and line. A name without number
   has `each` slots; each 0: one for every time it is listed, or all processors if it is this host and listed alone, as Open MPI has it. */
int ft_hosts_file(struct ft_options *o, const char *path, const char *who, uint32_t each, struct ft_hosts *hosts, struct ft_error *e);

uint32_t ft_hosts_slots(const struct ft_hosts *hosts);

/* So many ranks may be on them at most (max_slots); 0: there is no limit. What is said of so many more. */
uint32_t ft_hosts_most(const struct ft_hosts *hosts);
int ft_hosts_no_place(uint32_t more, struct ft_error *e);

/* Each program has hosts, by itself or by the host file. */
bool ft_hosts_are_named(const struct ft_options *o);

/* Not all of them are the one we run on. */
bool ft_hosts_elsewhere(const struct ft_hosts *hosts);

/* What a host may be called, by itself or for ssh (USER@NAME, an address). */
bool ft_hosts_is_name(const char *name);

/* It is a name or an address of the host we run on. */
bool ft_hosts_is_here(const char *name);

/* NULL: it is not in the list. */
struct ft_host *ft_hosts_find(const struct ft_hosts *hosts, const char *name);

/* Adds to the list, or to the slots of the host of that name. -1: no memory. */
int ft_hosts_add(struct ft_options *o, struct ft_hosts *hosts, const struct ft_host *host);

#endif
