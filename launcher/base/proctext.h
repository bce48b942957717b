/* SPDX-License-Identifier: BSD-3-Clause */
/* What short files of the kernel's say, read whole: /proc, cgroups. */
#ifndef LAUNCHER_BASE_PROCTEXT_H
#define LAUNCHER_BASE_PROCTEXT_H

#include <stddef.h>
#include <sys/types.h>

/* As much as fits, with a 0 behind it. Its length; -1: it cannot be read, or its process is gone, and the text is empty. */
ssize_t ft_proctext_read(const char *path, char *text, size_t size);

/* /proc/PID/name. */
ssize_t ft_proctext_of(pid_t pid, const char *name, char *text, size_t size);

#endif
