/* SPDX-License-Identifier: BSD-3-Clause */
/* What is behind message.h: a rank's messages. message.c starts, requests.c waits and asks, arrivals.c takes what has come, probe.c looks. */
#ifndef FT_MESSAGES_H
#define FT_MESSAGES_H

#include "ft/core/view.h"
#include "ft/handle.h"
#include "ft/message.h"
#include "ft/msg/acks.h"
#include "ft/msg/answers.h"
#include "ft/msg/channel.h"
#include "ft/msg/match.h"

/* How a message is marked in its signature. */
enum { FT_MESSAGE_FIRST, FT_MESSAGE_GOES_ON };        /* sig.cached: its first piece, another one */
enum { FT_MESSAGE_PLAIN, FT_MESSAGE_SYNCHRONOUS };    /* sig.reduction */

#define FT_NOT_HERE "rank %d is on another host, and ftmpi has no messages between hosts yet"

struct ft_request {
    struct ft_posted posted;     /* of a receive */
    bool receives, matched, over, settled /* it was over when it began: nobody has to be told when */, ended /* the program refers to it no more */;
    struct ft_view view;         /* of a receive; its layout is held */
    uint64_t room;               /* bytes, of a receive */
    uint64_t come;               /* bytes of its message that it has, or that did not fit */
    int *ranks;                  /* of the communicator, of a receive with an open source; held */
    uint32_t n;
    struct ft_told told;
    uint64_t site;
    uint32_t to;                 /* of a synchronous send: to this rank of the node ... */
    uint64_t synchronous;        /* ... as so many synchronous ones before it */
    struct ft_request *next;     /* in the list of those that are free, or of those that are given up */
    struct ft_request *made;     /* the one that was made before it */
};

/* A message that no receive has taken yet. */
struct ft_message {
    struct ft_arrived arrived;
    struct ft_unit first;        /* its first piece */
    uint64_t log_before;         /* where the record before that ends in the channel's log */
    uint64_t come;               /* bytes of it that have come */
    uint64_t synchronous;        /* as in the request */
    bool apart;                  /* its bytes are here and in no log: one of the rank to itself, or one that was under way at the checkpoint loaded */
    char *own;                   /* then: its bytes, or NULL with none, ... */
    struct ft_request *sender;   /* ... and the send that is over when it is matched; or NULL */
    int *ranks;                  /* of one that a probe has taken: of its communicator; held */
    uint32_t n;
    struct ft_message *next, *before;  /* in a ring of these, or (next) a list of those that are free */
    struct ft_message *made;     /* the one that was made before it */
};

struct ft_outgoing {
    struct ft_msg_channel c;
    _Atomic uint64_t *acks;
    uint64_t nsynchronous;
};

/* Messages of one sender come one after the other. Of the one that is on its way: who gets it, or where it is kept, or neither: a receive that the
   program has given up. */
struct ft_incoming {
    struct ft_msg_channel c;
    struct ft_acks acks;
    struct ft_request *into;
    struct ft_message *kept;
    uint64_t come, total;
    uint64_t nsynchronous;
    uint64_t said;               /* what ft_msg_need was told last */
    struct ft_message probed;    /* the head of a ring: those taken by probes, and not received yet, the oldest first */
};

struct ft_messages {
    struct ft *ft;
    uint32_t n, me;              /* ranks of this node */
    struct ft_match *match;
    bool writes;                 /* answers are written down: there are others */
    struct ft_answers answers;
    struct ft_outgoing **out;    /* [n], NULL: nothing was ever sent there */
    struct ft_incoming **in;     /* [n], NULL: nothing was ever heard from there */
    uint32_t *heard, nheard;     /* the others of these */
    uint32_t nout;
    uint64_t posts;              /* receives ever posted */
    uint64_t nunder;             /* receives that are under way */
    uint64_t nself;              /* messages to itself */
    uint64_t nprobed;            /* messages that a probe has taken, and that are not received */
    uint64_t nopen;              /* requests that the program still refers to */
    uint64_t kept_bytes, most_kept;  /* of messages that no receive has taken: bytes; how many at once, at most */
    uint64_t sent, sent_bytes, received, received_bytes;  /* messages; for people, as what is kept */
    bool woken;                  /* what its predecessor was told is to be read, before anything else */
    bool again;                  /* what its predecessor has taken may not all be taken again yet */
    bool busy;                   /* a call of messages is under way. Waits inside of it must take nothing: one may be for memory for an
                                    answer */
    bool holds;                  /* other threads of the rank stay out of this one's waits, which are for what has been there before */
    int failed;                  /* found in a wait for something else; told by the next call */
    struct ft_error why;
    struct ft_request *unused, *made;
    struct ft_request *given_up; /* synchronous sends that the program refers to no more, and that may not be over yet */
    struct ft_message *unused_messages, *made_messages;
};

/* As the next one, which is there then, but it goes on from where a predecessor was in its answers. */
struct ft_messages *ft_messages_begin(struct ft *ft, const struct ft_answers_place *at, int *err, struct ft_error *e);

/* Of the process; made with the first call. NULL: no memory, or the log cannot be read; *err says which. */
struct ft_messages *ft_messages_of(struct ft *ft, int *err, struct ft_error *e);

int ft_messages_no_memory(const struct ft *ft, struct ft_error *e);  /* FT_ENOMEM, with a line */

/* Takes what has come. 1: something has, 0, or an error. */
int ft_messages_progress(struct ft_messages *m, struct ft_error *e);

/* One message, or piece, of those that its predecessor has taken, of the sender that is waited for: 1, 0: there is none, or an error. In a replay
   all of them have come. But one that answers what the rank has sent must not be in the program's buffer before it sends that: a program that has posted
   the buffer that it sends is wrong (MPI 3.1 section 3.7.2), and is safe nevertheless anywhere else (BLACS). */
int ft_messages_again(struct ft_messages *m, const struct ft_await *what, struct ft_error *e);

/* What its predecessor was told is read, if there was one. 0 or an error. */
int ft_messages_ready(struct ft_messages *m, struct ft_error *e);

/* Says what there is of messages, for people. */
void ft_messages_tell(const struct ft_messages *m);

/* Answers a question: no, or yes, with what. */
void ft_messages_say(struct ft_messages *m, bool yes, uint64_t answer);

/* Posts a receive; it may be over by then. 0 or an error. */
int ft_messages_post(struct ft_messages *m, struct ft_request *r, struct ft_error *e);

/* This message is that receive's. 0 or an error. */
int ft_messages_give(struct ft_messages *m, struct ft_request *r, struct ft_message *a, struct ft_error *e);

/* The receive has no message, and gets none. */
void ft_messages_nobody(struct ft_messages *m, const struct ft_request *r);

/* Requests that the program has not finished, or given up before they were over, and messages that a probe has taken. */
void ft_messages_open(const struct ft_messages *m, uint64_t *receives, uint64_t *sends, uint64_t *probed);

/* A message that was kept when a checkpoint was made is kept again: that number of that source, and, plus one, of its synchronous ones: 0: it is none
   that anybody waits for. 0 or FT_ENOMEM. */
int ft_messages_restore(struct ft_messages *m, const struct ft_envelope *is, uint64_t number, uint64_t synchronous, const void *bytes, uint64_t n,
                        struct ft_error *e);
uint64_t ft_messages_synchronous(const struct ft_arrived *a);

/* A message that is kept: its bytes. A probe takes it: nothing else will. Then it is received. A receive that has none is over, and cancelled. */
uint64_t ft_messages_bytes(const struct ft_arrived *a);
struct ft_message *ft_messages_take(struct ft_messages *m, struct ft_arrived *a, const struct ft_comm *c);
int ft_messages_receive(struct ft_messages *m, struct ft_request *r, struct ft_message *a, struct ft_error *e);
void ft_messages_withdraw(struct ft_messages *m, struct ft_request *r);

/* From this rank to itself: it is given to a receive, or kept. sender: is over when it is matched; or NULL. 0 or an error. */
int ft_messages_to_self(struct ft_messages *m, const struct ft_comm *c, const struct ft_view *v, uint64_t bytes, int tag,
                        struct ft_request *sender, struct ft_error *e);

/* A new request, of zeros. NULL: no memory. */
struct ft_request *ft_request_new(struct ft_messages *m);

/* Until it is over. */
int ft_messages_wait(struct ft_messages *m, struct ft_request *r, struct ft_error *e);

/* Which rank of this node, -1: none; which of the communicator. */
int64_t ft_messages_local(const struct ft_messages *m, const struct ft_comm *c, int rank);
int ft_messages_rank(const struct ft_messages *m, const int *ranks, uint32_t n, int32_t local);

/* Its end of the channel to that rank of the node, or from it. NULL; 0 or an error: e says why. */
struct ft_outgoing *ft_messages_outgoing(struct ft_messages *m, uint32_t to, struct ft_error *e);
int ft_messages_hear(struct ft_messages *m, uint32_t source, struct ft_error *e);

/* All bytes of one that is kept and has come as a whole. 0 or an error. */
int ft_messages_copy(struct ft_messages *m, const struct ft_arrived *kept, void *bytes, struct ft_error *e);

struct ft_message *ft_messages_new(struct ft_messages *m);
void ft_messages_drop(struct ft_messages *m, struct ft_message *a);

/* What an earlier incarnation of this rank has sent next to that rank of the node, if it has: its first n bytes. 1, 0: it has not, or an error. */
int ft_messages_sent_before(struct ft_messages *m, uint32_t to, void *bytes, uint64_t n, struct ft_error *e);

/* Begins a call: a snapshot, if one is due. Returns what is to be said when it is over. */
bool ft_messages_enter(struct ft *ft);
void ft_messages_leave(struct ft *ft, bool says);

/* Waits until is(arg) or something goes wrong, and takes what comes meanwhile. what: what is waited for now, asked when is(arg) was false. */
int ft_messages_until(struct ft_messages *m, bool (*is)(struct ft_messages *m, void *arg), struct ft_await (*what)(struct ft_messages *m, void *arg),
                      void *arg, struct ft_error *e);
/* The same, until this thread may answer what is asked there. With threads that call at the same time that is a step of its own (ft/order.h);
   what it waits for after that was there before, or is there. */
int ft_messages_until_answer(struct ft_messages *m, bool (*is)(struct ft_messages *m, void *arg),
                             struct ft_await (*what)(struct ft_messages *m, void *arg), void *arg, struct ft_error *e);
/* What a wait for a message of that rank of this node is for, or of any. */
struct ft_await ft_messages_await(const struct ft_messages *m, int64_t source);

#endif
