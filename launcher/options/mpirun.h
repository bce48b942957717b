/* SPDX-License-Identifier: BSD-3-Clause */
/* What mpirun and mpiexec take from their environment about other hosts. Kubernetes' mpi-operator and Trainer tell the launcher's pod its
   workers this way: a host file, slots, arguments for ssh. */
#ifndef LAUNCHER_OPTIONS_MPIRUN_H
#define LAUNCHER_OPTIONS_MPIRUN_H

#include "ft/base/err.h"
#include "launcher/options/options.h"

/* Once all contexts are read. The host file, if a context names no hosts; not in a rank of ours, which has its own host. FT_EINVAL with a
   line. */
int ft_mpirun_hosts(struct ft_options *o, struct ft_error *e);

/* Once it is known what starts other hosts: arguments for ssh, after those of --launch-arg, since ssh obeys the first. FT_EINVAL with a
   line. */
int ft_mpirun_ssh(struct ft_options *o, struct ft_error *e);

#endif
