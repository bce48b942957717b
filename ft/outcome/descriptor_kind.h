/* SPDX-License-Identifier: BSD-3-Clause */
/* Of what kind the kernel says that a descriptor is, and which can be followed. */
#ifndef FT_OUTCOME_DESCRIPTOR_KIND_H
#define FT_OUTCOME_DESCRIPTOR_KIND_H

#include <stdbool.h>

#include "ft/outcome/descriptors.h"

enum ft_descriptor_kind ft_descriptor_kind_ask(int fd);

/* Of what socket() takes, or getsockopt tells; protocol 0: the type's own. FT_DESCRIPTOR_OTHER cannot be followed. */
enum ft_descriptor_kind ft_descriptor_kind_of_socket(int domain, int type, int protocol);

/* No copy can be made while it is open. */
bool ft_descriptor_kind_is_odd(int fd);

#endif
