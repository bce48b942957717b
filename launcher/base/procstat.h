/* SPDX-License-Identifier: BSD-3-Clause */
/* What /proc/PID/stat says of a process: proc_pid_stat(5). */
#ifndef LAUNCHER_BASE_PROCSTAT_H
#define LAUNCHER_BASE_PROCSTAT_H

#include <stdbool.h>
#include <sys/types.h>

struct ft_procstat {
    char state;
    pid_t parent, group;
    bool kernel;               /* a thread of the kernel's: in no exec */
    unsigned long environment; /* where it begins; 0: it is in exec, dead, or we may not know */
    int status;            /* of a zombie: as waitpid would give it; 0 if we may not know */
};

/* False: there is no such process, or no /proc. */
bool ft_procstat_read(pid_t pid, struct ft_procstat *stat);

/* Stopped by SIGSTOP, its terminal or a debugger. */
bool ft_procstat_stopped(pid_t pid);

#endif
