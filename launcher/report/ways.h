/* SPDX-License-Identifier: BSD-3-Clause */
/* The ways back of a rank, in the order in which they are tried (DESIGN section 5). */
#ifndef LAUNCHER_REPORT_WAYS_H
#define LAUNCHER_REPORT_WAYS_H

enum ft_way_back {
    FT_BACK_SNAPSHOT,   /* its snapshot is woken, and goes on from there with the log */
    FT_BACK_CHECKPOINT, /* the program is started from its beginning, loads its checkpoint, and goes on from there with the log */
    FT_BACK_START,      /* the program is started from its beginning, with the log */
    FT_BACK_ALL         /* a part of the log that it would need is gone: all ranks start again */
};

/* "snapshot", "checkpoint", "start", "all". */
static inline const char *ft_way_back_text(enum ft_way_back way)
{
    static const char *const texts[] = {"snapshot", "checkpoint", "start", "all"};

    return texts[way];
}

#endif
