/* SPDX-License-Identifier: BSD-3-Clause */
/* Where --events writes: a file, to whose end each line is put, or a Unix socket on which somebody listens. Lines lie in a spool
   (stdio/spool.h), whose position is exact whoever dies; a thread writes them, so neither a disk nor a reader holds up the job.
   What cannot be written for now, as on a full disk, is tried again; a reader that goes away does not come back. */
#ifndef LAUNCHER_EVENTS_OUTLET_H
#define LAUNCHER_EVENTS_OUTLET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ft/base/err.h"

struct ft_outlet;

/* Opens it, before the first fork. where: a file's name, or "unix:" and a socket's. FT_ESYS, FT_EINVAL or FT_ENOMEM with a line. */
int ft_outlet_new(struct ft_outlet **o, const char *where, struct ft_error *e);

/* This process is another one than the one that wrote. */
void ft_outlet_forget(struct ft_outlet *o);

/* This process writes from now on, what is below this place first. -1: errno. */
int ft_outlet_run(struct ft_outlet *o, uint64_t tail);

/* Puts bytes at a place, which is not below the last tail. False: errno. */
bool ft_outlet_put(struct ft_outlet *o, uint64_t at, const char *data, size_t len);

/* What is below this place is to be written. */
void ft_outlet_up_to(struct ft_outlet *o, uint64_t tail);

/* So much has been. */
uint64_t ft_outlet_written(struct ft_outlet *o);

/* Why nothing can be written: errno, once each time that it is another one than the last. *gone: for good. 0: nothing new. */
int ft_outlet_trouble(struct ft_outlet *o, bool *gone);

/* Writes what is left as long as that gets on, and ends the thread: a few seconds at most. */
void ft_outlet_stop(struct ft_outlet *o);

void ft_outlet_free(struct ft_outlet *o);

#endif
