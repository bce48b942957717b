/* SPDX-License-Identifier: BSD-3-Clause */
/* This host's way to the store; and the store, if this is the host that has it. */
#ifndef LAUNCHER_RDZV_ATTACH_H
#define LAUNCHER_RDZV_ATTACH_H

#include "ft/base/err.h"
#include "launcher/rdzv/rdzv_state.h"

/* r has its secret, and its id. FT_EINVAL, FT_ESYS, FT_ENOMEM: with a line. */
int ft_rdzv_attach(struct ft_rdzv *r, struct ft_error *e);

/* The store has lost its memory. */
void ft_rdzv_begin_anew(struct ft_rdzv *r);

#endif
