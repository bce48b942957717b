/* SPDX-License-Identifier: BSD-3-Clause */
/* The process that runs the controller if this host becomes the leader. It is made before anything else, while there are no threads and no
   connections that it would have copies of, and waits for its order. */
#ifndef LAUNCHER_JOIN_LEAD_H
#define LAUNCHER_JOIN_LEAD_H

#include <sys/types.h>

#include "ft/base/err.h"
#include "launcher/controller/lead.h"
#include "launcher/options/options.h"
#include "launcher/rdzv/doc.h"
#include "launcher/rdzv/settings.h"

struct ft_leading {
    pid_t pid;                 /* 0: there is none */
    int order;                 /* its end ends a process that has none; -1: closed */
    int told;                  /* it says there where it is reached */
};

/* o is used there as it is now. FT_ESYS with a line. */
int ft_leading_fork(struct ft_leading *l, struct ft_options *o, struct ft_error *e);

/* The controller begins, with the members of the list. lead->tell is its own business. FT_ESYS, FT_ENOMEM with a line. */
int ft_leading_order(struct ft_leading *l, const struct ft_lead *lead, const struct ft_rdzv_list *list, struct ft_error *e);

/* Where the other hosts are: where the store is; len 0: it is on this host alone, for all that is known. May wait for a name server. */
struct ft_address ft_leading_towards(const struct ft_rdzv_settings *s);

/* It is the round's controller, and the job begins. */
void ft_leading_go(struct ft_leading *l);

/* It will get no order any more; one that may not go on yet ends. */
void ft_leading_close(struct ft_leading *l);

#endif
