/* SPDX-License-Identifier: BSD-3-Clause */
/* A job's socket in the user's directory (rundir.h). All of the job's launcher processes on a host hold it, so who knocks between an
   agent's death and its successor waits instead of finding nobody. Only the user and root come in. */
#ifndef LAUNCHER_CONTROL_DOOR_H
#define LAUNCHER_CONTROL_DOOR_H

#include "ft/base/err.h"

struct event_base;
struct ft_door;

/* Makes the socket ID.sock, before the first fork. id is short (FT_SOCKET_NAME). NULL with a line. */
struct ft_door *ft_door_new(const char *id, struct ft_error *e);

/* This process is another one than the one that has opened it. */
void ft_door_forget(struct ft_door *d);

/* come is given each connection, non-blocking, from now on. -1: no memory. */
int ft_door_open(struct ft_door *d, struct event_base *base, void (*come)(void *arg, int fd), void *arg);

/* Nobody is let in by this process any more; the socket stays. */
void ft_door_shut(struct ft_door *d);

/* Nobody finds it any more. */
void ft_door_remove(struct ft_door *d);

/* With its name. NULL: there is none. */
void ft_door_free(struct ft_door *d);

#endif
