/* SPDX-License-Identifier: BSD-3-Clause */
/* Random bytes of the system's. */
#ifndef FT_SHM_RANDOM_H
#define FT_SHM_RANDOM_H

#include <stddef.h>

/* n bytes, 256 at most; out of /dev/urandom where getrandom is refused (the filter of a container). -1, errno: neither is to be had. */
int ft_random(void *to, size_t n);

#endif
