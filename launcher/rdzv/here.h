/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a host's name is this host's. */
#ifndef LAUNCHER_RDZV_HERE_H
#define LAUNCHER_RDZV_HERE_H

#include <stdbool.h>

/* By its name, or one of its addresses. May wait for a name server. */
bool ft_rdzv_is_here(const char *host);

#endif
