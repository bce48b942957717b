/* SPDX-License-Identifier: BSD-3-Clause */
/* Control groups, version 1 and 2, read as files. */
#ifndef LAUNCHER_BASE_CGROUP_H
#define LAUNCHER_BASE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FT_CGROUP_PATH = 1024 };

struct ft_cgroup {
    char dir[FT_CGROUP_PATH];
    size_t mount;   /* so many bytes of dir are where the groups are mounted: that is the root, or our container's */
};

/* The group for `controller` ("" is version 2) in `text`, which is a /proc/PID/cgroup, below `mount`. In a container the path may lie
   outside of what is mounted: then the mount is the group. False: that controller is not named there, or nothing is mounted. */
bool ft_cgroup_find(struct ft_cgroup *g, const char *text, const char *controller, const char *mount);

/* Goes on to the group above. False: that was the mount. */
bool ft_cgroup_up(struct ft_cgroup *g);

/* A number alone in a file of the group. UINT64_MAX: "max", or there is no such file. */
uint64_t ft_cgroup_number(const struct ft_cgroup *g, const char *file);

/* The number after `name` at the beginning of a line. 0: there is no such line. */
uint64_t ft_cgroup_field(const char *text, const char *name);

/* The file's text, empty if there is none. Returns text. */
const char *ft_cgroup_text(const struct ft_cgroup *g, const char *file, char *text, size_t size);

#endif
