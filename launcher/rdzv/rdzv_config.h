/* SPDX-License-Identifier: BSD-3-Clause */
/* What one of the hosts of a job is told when they find each other, and what it begins with (rdzv.h). */
#ifndef LAUNCHER_RDZV_RDZV_CONFIG_H
#define LAUNCHER_RDZV_RDZV_CONFIG_H

#include <stdint.h>

#include "launcher/rdzv/doc.h"
#include "launcher/rdzv/settings.h"

struct event_base;
struct ft_say;

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

    /* Where the leader of this term can be reached, of the round that was joined last. */
    void (*controller)(void *arg, uint64_t term, const char *address);

    void (*closed)(void *arg, const struct ft_rdzv_state *state);  /* over; when, and the exit code of the job are in state */
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
    bool follows;                              /* it never leads */
    const struct ft_say *say;                  /* borrowed */
    struct ft_rdzv_calls calls;
};

#endif
