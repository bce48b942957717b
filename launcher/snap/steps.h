/* SPDX-License-Identifier: BSD-3-Clause */
/* What becomes of the snapshots of one rank:

     asked for   the rank is given the number of the next one (`want`). There is one at a time
     named       it waits: a slot gets its pid, then `named` the slot's number. From this store on it is what is woken; its
                 position becomes the rank's cut, and those before it, but for zero, are ended
     refused     the rank says why it cannot be had now; or its process was lost twice
     given up    it is not to be any more, before it was seen to wait; or its process was lost
     dropped     all that the rank has are ended

   `number`, `named` and `zero` are changed here, and in slot.c when a process is gone. A successor of the agent can do every step again. */
#ifndef LAUNCHER_SNAP_STEPS_H
#define LAUNCHER_SNAP_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/snap/slot.h"

/* None is asked for, and a slot is free. */
void ft_steps_ask(struct ft_snapshot *s);

/* It cannot be had now, for that reason (enum ft_image_reason). What was asked for, if anything, is given up. */
void ft_steps_refuse(struct ft_snapshot *s, uint32_t reason);

/* Whatever the rank, or its snapshot, has said since: it is named, or refused; or the rank is about to exec, and all are dropped. */
void ft_steps_look(struct ft_snapshot *s);

/* The one that is asked for died before it could say so: the first time it is given up, then refused. */
void ft_steps_look_for_lost(struct ft_snapshot *s);

/* The rank's process is dead: the one that is asked for is named if it waits already, else given up. */
void ft_steps_buried(struct ft_snapshot *s);

/* A process that was to be one and is in no slot is killed. True: there is none. */
bool ft_steps_clear(const struct ft_snapshot *s);

/* Zero is ended if a newer one is named that can be woken, and so many bytes have been logged since the beginning. */
void ft_steps_end_zero(struct ft_snapshot *s, uint64_t least);

/* All are ended, and the one that is asked for is given up. Their processes are gone a little later. */
void ft_steps_drop(struct ft_snapshot *s);

/* What goes on from them dies: the newest is not woken again, if zero can be; or (all) none is, nor made before the rank has got further. False:
   there was none of that. Can be done twice. */
bool ft_steps_forsake(struct ft_snapshot *s, bool all);

/* This process is a successor of the agent: the step that the dead one was in is done or undone. */
void ft_steps_adopt(struct ft_snapshot *s);

#endif
