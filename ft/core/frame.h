/* SPDX-License-Identifier: BSD-3-Clause */
/* What goes from one representative to another: this head, then `length` bytes. Both have the same byte order, or HELLO finds out. */
#ifndef FT_CORE_FRAME_H
#define FT_CORE_FRAME_H

#include "ft/base/sig.h"

enum { FT_FRAME_VERSION = 2 /* goes up with any change here: HELLO compares it */, FT_FRAME_STREAMS = 1 << 16 };

struct ft_frame_head {
    uint8_t type;         /* enum ft_frame (ft/core/exchange.h) */
    uint8_t zero;
    uint16_t stream;      /* all that follows is of this one; 0: the first, of all ranks */
    uint32_t length;      /* bytes that follow: of PART and RES */
    uint64_t unit;        /* of PART and RES; HELLO: the sender's node */
    uint64_t count;       /* the sender has committed all units below */
    struct ft_sig sig;    /* PART and RES: the call the unit belongs to, ... */
    uint64_t site;        /* ... and where it is made. HELLO: hash of what both sides must have alike */
};

_Static_assert(sizeof(struct ft_frame_head) == 64, "a head is a cache line, without padding");

#endif
