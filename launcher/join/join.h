/* SPDX-License-Identifier: BSD-3-Clause */
/* ftrun --rdzv: on each host of a job, in the process that the user started. It holds the host's place in the rendezvous. When the round is final,
   the leader's runs the controller (lead.h), and the others' are given nodes by that one (host.h).

     has had a place from the beginning, and leads -> the controller is started, once; it says where it is reached, and that is published
     came later, leads, and has heard of no controller -> all who began are gone: a new round
     hears of a controller                 -> holds a connection with it, proved by a key that only this round and this leader's term give
     hears of one of another term          -> what was started for the first one is ended
     its place is another's, or the round is over -> likewise
     the controller cannot be reached for a lease -> the job is over here
     the controller says that the job is over     -> ends with its exit code
     the controller of this host has ended -> the round is closed

   A controller that lives is never replaced by another one in the same round: who becomes the leader while it lives, or after it, starts none. */
#ifndef LAUNCHER_JOIN_JOIN_H
#define LAUNCHER_JOIN_JOIN_H

#include "launcher/options/options.h"

/* o->rendezvous is there. ftrun's exit code; whatever went wrong has been told. */
int ft_join_run(struct ft_options *o);

#endif
