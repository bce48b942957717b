/* SPDX-License-Identifier: BSD-3-Clause */
/* From one record of a log to the next. Every record says its unit and the length of its result;
   where an extent has no room for the next one, a gap says so: a head of that one's unit with no
   call. So whoever can read the bytes needs nothing else, and an extent always begins with a
   record. */
#ifndef FT_SHM_WALK_H
#define FT_SHM_WALK_H

#include <stdbool.h>

#include "ft/shm/layout.h"

struct ft_walk {
    bool (*read)(void *arg, uint64_t position, void *to, uint64_t n);  /* false: it is not there, or not any more */
    void *arg;
    uint64_t extent_bytes;
    uint64_t unit, position;   /* of the next record; there may be a gap before it */
};

enum ft_walk_step {
    FT_WALK_RECORD,
    FT_WALK_ABSENT,    /* it cannot be read */
    FT_WALK_DAMAGED    /* what is there is no record of that unit */
};

/* RECORD: rec is the head of the record of w->unit, which begins at w->position. */
enum ft_walk_step ft_walk_look(struct ft_walk *w, struct ft_record *rec);

/* Behind the record that was looked at. */
void ft_walk_on(struct ft_walk *w, const struct ft_record *rec);

/* To the beginning of the last extent in [from, to), all of which have begun, that begins with
   `unit` or one before it. False: none that can be read does. */
bool ft_walk_seek(struct ft_walk *w, uint64_t unit, uint64_t from, uint64_t to);

/* The head of a gap before the record of `unit`. */
static inline struct ft_record ft_walk_gap(uint64_t unit) { return (struct ft_record){ .unit = unit + 1, .sig = { .call = FT_CALL_NONE } }; }

#endif
