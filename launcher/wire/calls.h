/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a node's ranks are (wire.h: CALLS), as objects of status.h: the controller passes them on to who asks, and looks at no more of
   them than that they are objects. */
#ifndef LAUNCHER_WIRE_CALLS_H
#define LAUNCHER_WIRE_CALLS_H

#include <jansson.h>

#include "launcher/wire/wire.h"

enum { FT_WIRE_CALLS_MOST = 512 };  /* ranks in one frame */

struct ft_wire_calls {
    uint32_t first;              /* local rank */
    bool more;                   /* ranks follow in another frame */
    json_t *ranks;               /* an array */
};

/* Those of the ranks from m->first on that fit; m->ranks are all, m->more is set. */
struct ft_wire_bytes ft_wire_put_calls(struct ft_wire_calls *m);

/* 0, and m->ranks is a new reference; FT_EDAMAGED. */
int ft_wire_get_calls(const struct ft_wire_frame *f, struct ft_wire_calls *m, struct ft_error *e);

#endif
