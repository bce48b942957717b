/* SPDX-License-Identifier: BSD-3-Clause */
/* --check-replay: does a successor send the same bytes again? Those that its predecessor sent are in the log. */
#ifndef FT_MSG_CHECK_H
#define FT_MSG_CHECK_H

#include "ft/msg/channel.h"

/* The next unit is going to be bytes [from, from + sig->length) of v. 0: it is new, or its bytes are those of before, or its signature is
   another one, which ft_msg_send finds. FT_EDIVERGED: other bytes, and *before is that unit. FT_ENOMEM, neither of which says a line; FT_ESPACE does. */
int ft_msg_check(struct ft_msg_channel *c, const struct ft_sig *sig, const struct ft_view *v, uint64_t from, struct ft_unit *before,
                 struct ft_error *e);

#endif
