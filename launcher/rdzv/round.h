/* SPDX-License-Identifier: BSD-3-Clause */
/* One host's part in bringing the hosts of a job together. A pure state machine: events with their time in, effects out; no clock, no socket.
   The same on each host; what they know of each other is what stands in the store (doc.h).

     it has a lease                          -> its MEMBER is written, bound to the lease; renewed at half of it
     its name is another living process's    -> waited for; after three leases: failed
     the LEADER is one with another secret   -> likewise, unless this one has joined already: then that is a stranger
     STATE is, and closed                    -> likewise; of another phase: nothing is written before nobody has led that for three leases
     there is no LEADER                      -> one of the members is: who wrote it first. Spares wait one lease longer
     STATE is frozen, and it is in the LIST  -> its MEMBER is written again, with the version: confirmed
     STATE is final                          -> joined: with its place in the LIST, or as a spare
     fewer than min have come in time        -> failed
     STATE is closed                         -> closed, whenever it comes

   The leader alone writes STATE, LIST and CONTROLLER, compared with its own entry, so who has lost that writes nothing any more. CONTROLLER is written
   once in a round; who becomes the leader has seen it as it was at that moment:

     there is no STATE                       -> joinable, the next version; or, if the leader has joined a round before, that round again
     joinable, min have come                 -> frozen after the last call, at once with max; the LIST is in the order of names
     frozen, and one of the LIST is gone     -> joinable, the next version: nobody waits for the dead
     frozen, and all have confirmed          -> final
     final, and one of the LIST is gone      -> its place is lost, and the spare that came first takes it; places never move
     final, and all of the LIST are gone     -> joinable, the next version; but spares take the places if there is a CONTROLLER, which may live */
#ifndef LAUNCHER_RDZV_ROUND_H
#define LAUNCHER_RDZV_ROUND_H

#include "launcher/rdzv/round_events.h"

struct ft_rdzv_round;

/* now_ms: when waiting begins. NULL: no memory. */
struct ft_rdzv_round *ft_rdzv_round_new(const struct ft_rdzv_round_config *config, uint64_t now_ms);
void ft_rdzv_round_free(struct ft_rdzv_round *r);

/* After CLOSED, FAILED or LEFT nothing is done any more. Events may come twice, and late. */
struct ft_rdzv_round_effects ft_rdzv_round_step(struct ft_rdzv_round *r, const struct ft_rdzv_round_event *event);

/* When the next step is due though nothing happens; UINT64_MAX: never. */
uint64_t ft_rdzv_round_due(const struct ft_rdzv_round *r);

/* For who asks. */
uint64_t ft_rdzv_round_term(const struct ft_rdzv_round *r);       /* 0: it is not the leader */
bool ft_rdzv_round_is_over(const struct ft_rdzv_round *r);
uint64_t ft_rdzv_round_version(const struct ft_rdzv_round *r);    /* that was joined; 0: none */

#endif
