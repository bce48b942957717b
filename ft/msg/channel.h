/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank's end of a channel (docs/internals/messages.md, ft/shm/channels.h; the model is ft/model/channel.pml).

   A message, or a piece of a large one, is a unit. The sender writes it into its slot first, which publishes it, and then from there into
   the log. Then `done` goes up: it is logged. A receiver that is slow finds it there. Of a long unit only the head is in the slot:
   its bytes are in the log before it is published.

   A successor of the sender does not send what is logged. What is published and not logged yet it logs out of the slot: the receiver may
   have it. So a snapshot is made between calls only, when all is logged.

   `done` of the receiver is what it has taken; what lies below `done_at` it needs no more, as far as it knows. Its
   successor may: the log is released below cuts. */
#ifndef FT_MSG_CHANNEL_H
#define FT_MSG_CHANNEL_H

#include "ft/core/view.h"
#include "ft/shm/await.h"
#include "ft/shm/channels.h"
#include "ft/shm/log.h"

enum { FT_CHANNEL_AHEAD = 64 << 20 };  /* bytes of log that a sender is ahead of its receiver, at most */

struct ft_msg_channel {
    const struct ft_region *region;
    const struct ft_patience *patience;
    uint32_t number;                       /* ft_channel_of */
    struct ft_member *member;              /* of this end, as what follows */
    struct ft_counters *mine;
    const struct ft_counters *theirs;      /* of the other end */
    struct ft_message_slot *slots;
    char *cells;
    struct ft_log log;
    uint64_t unit;        /* the next one */
    uint64_t end;         /* where the record before it ends */
    uint64_t logged;      /* of the sender: units below were logged by earlier incarnations */
    uint64_t taken_at;    /* of the sender: the receiver needs nothing below, as far as we have seen */
};

/* What there is at its place of the order. */
struct ft_unit {
    struct ft_sig sig;    /* sig.length: its bytes */
    uint64_t site;
    uint64_t unit;
    uint64_t at;          /* its record's position in the log */
    char bytes[FT_CHANNEL_INLINE];  /* all of them, if they are no more */
};

/* The bytes of a unit, at most. */
uint64_t ft_msg_piece(const struct ft_msg_channel *c);

/* The end of rank, one of sender and receiver (ranks of this node), who may be one and the same. A new one begins with the first message. */
void ft_msg_open(struct ft_msg_channel *c, const struct ft_region *region, uint32_t sender, uint32_t receiver, uint32_t rank,
                     const struct ft_patience *patience, int kick_fd, int spill_fd);

/* It goes on at that unit, where the record before it ends: nothing of it is published only. */
void ft_msg_go_to(struct ft_msg_channel *c, uint64_t unit, uint64_t end);

/* In a forked copy of the process that becomes the rank: what its predecessor has come to is read again. */
void ft_msg_resume(struct ft_msg_channel *c);

/* ---- sender ---- */

/* An earlier incarnation has logged the next unit. */
static inline bool ft_msg_replays(const struct ft_msg_channel *c) { return c->unit < c->logged; }

/* Sends bytes [from, from + n) of v; sig.length is n. Waits for memory. 0; FT_EDIVERGED: an
   earlier incarnation sent something else, *said is that; FT_ESPACE: the log cannot be read, e says why. */
int ft_msg_send(struct ft_msg_channel *c, const struct ft_sig *sig, uint64_t site, const struct ft_view *v, uint64_t from,
                    struct ft_unit *said, struct ft_error *e);

/* The same in steps: it is in its slot, and others see it; it is in the log, as the slot has it by then. */
void ft_msg_publish(struct ft_msg_channel *c, const struct ft_sig *sig, uint64_t site, const struct ft_view *v, uint64_t from);
void ft_msg_log(struct ft_msg_channel *c);

/* The next unit is in its slot already: an earlier incarnation has done that. Its slot. */
bool ft_msg_is_published(const struct ft_msg_channel *c);
struct ft_message_slot *ft_msg_slot(const struct ft_msg_channel *c);

/* An earlier incarnation has sent the next unit: *u is that (ft_msg_read). 1, 0: it has not, or FT_ESPACE. */
int ft_msg_sent(struct ft_msg_channel *c, struct ft_unit *u, struct ft_error *e);

/* So many bytes of the log the receiver still needs. */
uint64_t ft_msg_ahead(struct ft_msg_channel *c);

/* ---- receiver ---- */

/* True: the next unit has come, and is *u. */
bool ft_msg_look(struct ft_msg_channel *c, struct ft_unit *u);

/* Bytes [from, from + n) of a unit that has come, into v from byte `to` on. 0 or FT_ESPACE. */
int ft_msg_read(struct ft_msg_channel *c, const struct ft_unit *u, uint64_t from, uint64_t n, const struct ft_view *v, uint64_t to,
                    struct ft_error *e);

/* Finds the unit whose predecessor's record ends at *position, one that has come, in its slot or in the log, and goes behind it. 0 or FT_ESPACE. */
int ft_msg_walk(struct ft_msg_channel *c, uint64_t unit, uint64_t *position, struct ft_unit *u, struct ft_error *e);

/* Behind the unit that has come. needs: where the log begins that is still needed; c->end: only what follows. */
void ft_msg_pass(struct ft_msg_channel *c, const struct ft_unit *u);
void ft_msg_need(struct ft_msg_channel *c, uint64_t needs);

#endif
