/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts that come by themselves (--rdzv): an ftrun on each holds a connection with the controller, and starts what it is told to. Who has
   come and has no node is a spare. The policy hears of who comes and who leaves.

   A host that comes has an entry in o->map->hosts, where there is room for more than began; its name is in shared memory, so that a
   successor knows it, too. */
#ifndef LAUNCHER_CONTROLLER_COMERS_H
#define LAUNCHER_CONTROLLER_COMERS_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/base/err.h"

struct ft_comers;
struct ft_controller;
struct ft_host;

/* Makes room in o->map: before whatever knows how many hosts there are. */
int ft_comers_make(struct ft_controller *c, struct ft_error *e);

/* What has started an agent there has ended, or has said something. */
struct ft_comers_calls {
    void (*ended)(struct ft_controller *c, uint32_t node, int status, const char *said, const struct ft_host *from);
    void (*line)(const struct ft_controller *c, uint32_t node, const char *line);
};
int ft_comers_open(struct ft_controller *c, const struct ft_comers_calls *calls, struct ft_error *e);
void ft_comers_close(struct ft_controller *c);
void ft_comers_free(struct ft_controller *c);

/* So many entries are of hosts that have not come yet. */
uint32_t ft_comers_later(const struct ft_controller *c);

/* Of a successor, when the policy goes on. */
void ft_comers_recover(struct ft_comers *s);

/* A proved connection. */
void ft_comers_add(struct ft_comers *s, int fd);

/* An agent of node is to run on host; text, freed here, is its description. */
void ft_comers_start(struct ft_comers *s, uint32_t node, uint32_t incarnation, uint32_t host, char *text);

/* The job is over: all are told, and whoever comes. */
void ft_comers_over(struct ft_comers *s, int code);

/* Some of them have not heard it. */
bool ft_comers_busy(const struct ft_comers *s);

/* They are not waited for any longer. */
void ft_comers_drop(struct ft_comers *s);

#endif
