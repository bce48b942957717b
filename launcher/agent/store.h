/* SPDX-License-Identifier: BSD-3-Clause */
/* The job's store on one host: what is in the ranks' boxes is answered here. On one of several hosts the controller does (node/store.h). */
#ifndef LAUNCHER_AGENT_STORE_H
#define LAUNCHER_AGENT_STORE_H

#include "ft/base/err.h"

struct ft_agent;
struct ft_store;

/* Before the first fork. FT_ENOMEM. NULL and 0: another process answers. */
int ft_store_new(struct ft_agent *a, struct ft_error *e);
void ft_store_free(struct ft_store *s);

/* In each process that becomes the agent: what a copy of another one brings along is not its own. */
void ft_store_forget(struct ft_store *s);

/* From now on it answers, also what a dead agent was asked. -1: no memory. */
int ft_store_serve(struct ft_store *s);

/* The bell has rung. */
void ft_store_look(struct ft_store *s);

void ft_store_leave(struct ft_store *s);

#endif
