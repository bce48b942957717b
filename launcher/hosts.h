/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of hosts, as mpirun and mpiexec take them. A job runs on one host so far: names of this host are accepted, their
   slots are counted. */
#ifndef LAUNCHER_HOSTS_H
#define LAUNCHER_HOSTS_H

#include <stdint.h>

#include "ft/base/err.h"

/* "localhost:4,127.0.0.1": a host without a number has one slot. Adds to *slots. FT_EINVAL with a line that begins with who. */
int ft_hosts_list(const char *text, const char *who, uint32_t *slots, struct ft_error *e);

/* One host a line: "name slots=4 max_slots=8" (Open MPI) or "name:4" (Hydra), "#" begins a comment. A name without number
   has `each` slots; each 0: one for every time it is listed, or all processors if it is listed once, as Open MPI has it. */
int ft_hosts_file(const char *path, const char *who, uint32_t each, uint32_t *slots, struct ft_error *e);

#endif
