/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process's memory is bounded by: its control group (version 1 or 2), those above, and the machine. */
#ifndef LAUNCHER_BASE_MEMORY_H
#define LAUNCHER_BASE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "launcher/base/cgroup.h"

/* A process's control group for memory. */
struct ft_memgroup {
    struct ft_cgroup at;
    int version;       /* 1 or 2; 0: none, so that nothing but the machine bounds it */
};

/* The tightest of these. Bytes. */
struct ft_memory {
    uint64_t limit;
    uint64_t used;     /* there, by anybody, without what the kernel takes back when memory is short: clean pages of files */
    bool group;        /* that is a control group, not the machine */
    bool all;          /* the kernel kills all of the group at once (memory.oom.group) */
};

/* Where that process is; 0: this one. A dead one that nobody has waited for is in version 1 seen in the root: *known is false then. */
void ft_memgroup_of(struct ft_memgroup *g, pid_t pid, bool *known);

/* The same from the text of a /proc/PID/cgroup, with the groups mounted at `root` or in its folder "memory". */
void ft_memgroup_read(struct ft_memgroup *g, const char *text, const char *root);

bool ft_memgroup_is(const struct ft_memgroup *a, const struct ft_memgroup *b);

/* Any thread. Some tens of microseconds. Swap is not counted. */
void ft_memory_look(const struct ft_memgroup *g, struct ft_memory *m);

/* So much can be taken. */
static inline uint64_t ft_memory_left(const struct ft_memory *m) { return m->limit > m->used ? m->limit - m->used : 0; }

/* So much can this process take. */
uint64_t ft_memory_here(void);

/* Files of that directory are memory: the file system's name ("tmpfs"). NULL: they are on a disk, or it cannot be told. */
const char *ft_memory_of_files(const char *dir);

/* Processes of this very group that the kernel has killed for want of memory, the group's or another's. Never goes down while the group
   is there. 0: nobody counts them. */
uint64_t ft_memgroup_kills(const struct ft_memgroup *g);

/* What the kernel goes by when it chooses whom to kill: -1000 to 1000, the greater the sooner. `otherwise`: that process is gone. */
int ft_memory_score(pid_t pid, int otherwise);
void ft_memory_set_score(pid_t pid, int score);

#endif
