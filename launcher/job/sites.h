/* SPDX-License-Identifier: BSD-3-Clause */
/* Call sites of ranks in words: a site holds a hash of its module's name (ft/base/site.h), the names are in /proc/PID/maps. */
#ifndef LAUNCHER_JOB_SITES_H
#define LAUNCHER_JOB_SITES_H

#include <stdint.h>
#include <sys/types.h>

enum { FT_SITES = 16, FT_SITE_TEXT = 128 };

/* Sites that have been put into words; { 0 } to begin with. Ranks are mostly in the same few. */
struct ft_sites {
    unsigned n;
    struct { uint64_t site; char text[FT_SITE_TEXT]; } known[FT_SITES];
};

/* "train+0x1234", as the process sees it; "?+0x1234" if it cannot be asked. Good until the next call. */
const char *ft_sites_print(struct ft_sites *s, uint64_t site, pid_t pid);

#endif
