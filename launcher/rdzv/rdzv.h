/* SPDX-License-Identifier: BSD-3-Clause */
/* The hosts of a job find each other: one of these on each host (round.h says how they agree; docs/rendezvous.md what they promise). Everything is
   told by calls back, which come from the event loop, never from within a call to here. */
#ifndef LAUNCHER_RDZV_RDZV_H
#define LAUNCHER_RDZV_RDZV_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/base/err.h"
#include "launcher/rdzv/doc.h"
#include "launcher/rdzv/settings.h"
#include "launcher/rdzv/values.h"

struct event_base;
struct ft_say;
struct ft_rdzv;

struct ft_rdzv_calls {
    /* The round is final. list: its members by place, valid within the call (ft_rdzv_list_keep keeps it); place: its own, -1: a spare. */
    void (*joined)(void *arg, const struct ft_rdzv_state *state, struct ft_rdzv_list *list, int64_t place);

    /* Later: a place was lost or taken, perhaps its own (whoever had it ends what runs there), or there are more spares or fewer. */
    void (*changed)(void *arg, const struct ft_rdzv_state *state, struct ft_rdzv_list *list, int64_t place);

    /* The round that it has joined is over: what runs is ended; joined comes again. */
    void (*voided)(void *arg, const struct ft_rdzv_state *state);

    /* It is the leader from now on, under this term; 0: not any more. Whatever the leader orders carries the term, and who is ordered refuses
       older ones: a lease does not stop its former holder (RULE 30). */
    void (*led)(void *arg, uint64_t term);

    /* Where the leader of this term can be reached. Older terms than the last one are not told. */
    void (*controller)(void *arg, uint64_t term, const char *address);

    void (*closed)(void *arg);                     /* over */
    void (*failed)(void *arg, const char *line);   /* over */
    void (*left)(void *arg);                       /* after ft_rdzv_leave: to be freed */
    void *arg;
};

struct ft_rdzv_config {
    struct event_base *base;
    const struct ft_rdzv_settings *settings;   /* checked; borrowed */
    const char *secret_file;                   /* NULL: none */
    const char *password;                      /* NULL: that of the settings */
    const char *name, *address;                /* of this host; how the others reach it: no spaces. Copied */
    uint32_t slots;
    const struct ft_say *say;                  /* borrowed */
    struct ft_rdzv_calls calls;
};

/* FT_EINVAL, FT_ESYS, FT_ENOMEM: with a line. */
int ft_rdzv_open(struct ft_rdzv **out, const struct ft_rdzv_config *config, struct ft_error *e);

/* Where this host is reached if it becomes the leader. */
void ft_rdzv_publish(struct ft_rdzv *r, const char *address);

/* Of the leader, when it is final: a new round, with all who are there now. Of others it has no effect. */
void ft_rdzv_renew(struct ft_rdzv *r);

/* The job is over, for all; closed comes. */
void ft_rdzv_close(struct ft_rdzv *r);

/* Its place is free at once. The store stays, if it is in this process, until the others have gone or for a lease's time; left comes then. */
void ft_rdzv_leave(struct ft_rdzv *r);

/* At once, without a word to anybody: the others wait for the end of its lease. NULL: there is none. */
void ft_rdzv_free(struct ft_rdzv *r);

/* The store of the round that it has joined; NULL: it has joined none. Gone with the round. */
struct ft_rdzv_values *ft_rdzv_values(struct ft_rdzv *r);

bool ft_rdzv_serves(const struct ft_rdzv *r);  /* the store is in this process */

#endif
