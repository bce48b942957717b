/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between two ranks (MPI 3.1 chapter 3), as the shim sees them; docs/internals/messages.md.

   What a program is told of a message is the same in a replay. That is so of itself where the sender is named; where the
   program leaves it open, or asks whether something is over yet, the answer is written down (RULE 32).

   Ranks are those of the communicator. Buffers are as in ft.h. Of calls that return int: 0, or e is filled and

     FT_EINVAL     this cannot be done, nothing was: the other rank is on another host, the job has --survive host, or the
                   rank exchanges messages with more others than it can
     FT_EDIVERGED  this rank is a restarted one, and sends something else than it did before (both named)
     FT_ENOMEM, FT_ESPACE

   after all of which but FT_EINVAL the job must be ended with ft_end. No request is made where there is an error.

   Calls may take a snapshot when they begin, so they may return once more in the copy that goes on from it. */
#ifndef FT_MESSAGE_H
#define FT_MESSAGE_H

#include "ft/comm.h"

enum { FT_ANY_SOURCE = -1, FT_ANY_TAG = -1 };

enum ft_send_mode {
    FT_SEND_STANDARD,     /* over when the bytes are where a successor of this rank finds them: when it is started. ft_send waits while
                             the receiver is far behind */
    FT_SEND_SYNCHRONOUS   /* over when a receive has been matched with it */
};

/* What a receive or a probe tells. */
struct ft_told {
    int source, tag;
    bool truncated;       /* more came than there was room for: the buffer has what fits */
    bool cancelled;
    uint64_t bytes;       /* that came, or that there was room for */
    uint64_t sent;        /* that came; of a receive, as what follows */
    uint64_t site;        /* where it was sent; of a message of the rank to itself: 0 */
};

/* A send or a receive under way. Of the engine; good until ft_request_end. */
struct ft_request;

/* A message that a probe has taken: it is received by ft_mrecv_start, once, and by nothing else. */
struct ft_message;

/* Start. *r: the request, also if it is over already. */
int ft_send_start(struct ft *ft, const struct ft_comm *c, const void *buffer, uint64_t count, struct ft_type type, int dest, int tag,
                  enum ft_send_mode mode, uint64_t site, struct ft_request **r, struct ft_error *e);
int ft_recv_start(struct ft *ft, const struct ft_comm *c, void *buffer, uint64_t count, struct ft_type type, int source, int tag,
                  uint64_t site, struct ft_request **r, struct ft_error *e);
int ft_mrecv_start(struct ft *ft, struct ft_message *m, void *buffer, uint64_t count, struct ft_type type, uint64_t site,
                   struct ft_request **r, struct ft_error *e);

/* Start and wait, without a request. */
int ft_send(struct ft *ft, const struct ft_comm *c, const void *buffer, uint64_t count, struct ft_type type, int dest, int tag,
            enum ft_send_mode mode, uint64_t site, struct ft_error *e);
int ft_recv(struct ft *ft, const struct ft_comm *c, void *buffer, uint64_t count, struct ft_type type, int source, int tag,
            struct ft_told *told, uint64_t site, struct ft_error *e);

/* Of n requests, of which some may be NULL: those are over. all: returns when all are. some: when at least one is, or all are NULL;
   which[*nwhich]: their numbers in rising order; at most `most` of them (1: MPI_Waitany). */
int ft_wait_all(struct ft *ft, struct ft_request *const *r, uint32_t n, uint64_t site, struct ft_error *e);
int ft_wait_some(struct ft *ft, struct ft_request *const *r, uint32_t n, uint32_t most, uint32_t *which, uint32_t *nwhich,
                 uint64_t site, struct ft_error *e);

/* The same without waiting: the answer is written down. *over: all are; *nwhich 0: none is. */
int ft_test_all(struct ft *ft, struct ft_request *const *r, uint32_t n, bool *over, uint64_t site, struct ft_error *e);
int ft_test_some(struct ft *ft, struct ft_request *const *r, uint32_t n, uint32_t most, uint32_t *which, uint32_t *nwhich,
                 uint64_t site, struct ft_error *e);

/* Of a request that one of these said is over. */
struct ft_told ft_request_told(const struct ft_request *r);

/* The program refers to it no more. One that is not over goes on. */
void ft_request_end(struct ft *ft, struct ft_request *r);

/* A receive that no message has been matched with is over then, and cancelled. Nothing else can be cancelled. Whether it was is told
   when it is over, and written down. */
int ft_request_cancel(struct ft *ft, struct ft_request *r, uint64_t site, struct ft_error *e);

/* It has sent or received any, or has looked for one: checkpoints know nothing of them yet. */
bool ft_messages_any(const struct ft *ft);

/* Is there a message? waits: until there is; else *found says so, and that is written down. m: not NULL: it is taken. */
int ft_probe(struct ft *ft, const struct ft_comm *c, int source, int tag, bool waits, bool *found, struct ft_told *told,
             struct ft_message **m, uint64_t site, struct ft_error *e);

#endif
