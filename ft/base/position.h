/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a rank is, in all its streams: what is said of a snapshot, which goes on from there. Plain data: it may be
   sent and stored as it is. */
#ifndef FT_BASE_POSITION_H
#define FT_BASE_POSITION_H

#include <stdint.h>

enum { FT_MOST_STREAMS = 1 };  /* of a job */

struct ft_position {
    struct {
        uint64_t unit;  /* the next one */
        uint64_t end;   /* bytes of the log up to there: what is below is not needed */
    } stream[FT_MOST_STREAMS];
};

#endif
