/* SPDX-License-Identifier: BSD-3-Clause */
/* Which receive gets which message (MPI 3.1 section 3.5). Private memory, no shared word, no waiting:
   a snapshot has it, and a replay makes it again.

   Messages of one source come in the order of their numbers, and receives are posted in the order of theirs. A message goes to the
   first receive in that order that fits it; a receive takes the first message of a source that fits it. Of several sources that fit
   any may be taken; here it is the one whose message was kept first.

   Decided pairs: a predecessor's receive with an open source has taken a certain message. In a replay that receive takes this message and
   no other, whatever else has come, and no other receive takes it. A predecessor's receive that was cancelled takes none. All this
   is said before its message comes (ft_match_decide, ft_match_decide_none).

   What is posted is in one list: of its communicator and source, or of its communicator and those that leave the source open. What is kept
   is in one of its communicator and source, in one of its communicator, and in one of its source. Lists are searched from the front,
   where in most programs the right one is; what other communicators have is not looked at. */
#ifndef FT_MSG_MATCH_H
#define FT_MSG_MATCH_H

#include <stdbool.h>
#include <stdint.h>

/* What receives go by. */
struct ft_envelope {
    uint64_t context;     /* of a communicator, and what it is used for */
    int32_t source;       /* number of the sender on this node; of a receive that leaves it open: FT_MATCH_ANY */
    int32_t tag;          /* FT_MATCH_ANY: any */
};
enum { FT_MATCH_ANY = -1 };

/* A receive that has no message yet. Part of something of the caller's, which keeps it where it is while it is posted. */
struct ft_posted {
    struct ft_envelope wants;
    uint64_t number;      /* of all that the rank ever posted: 1, 2, ... */
    bool decided;         /* match.c's, as what follows; may be read: its message has been decided before, ... */
    int32_t source;       /* ... and is of that source; FT_MATCH_ANY: there is none */
    struct ft_posted *next, *before;
};

/* A message that has no receive yet. Likewise. */
struct ft_arrived {
    struct ft_envelope is;
    uint64_t number;      /* of those of its source: 0, 1, ... */
    uint64_t order;                        /* match.c's, as what follows: of all that were kept */
    struct ft_arrived *next, *before;      /* of its source, in the order of their numbers */
    struct ft_arrived *after, *ahead;      /* of its communicator and source, likewise */
    struct ft_arrived *later, *earlier;    /* of its communicator, in the order in which they were kept */
};

struct ft_match;

/* For sources 0 to n - 1. NULL: no memory. */
struct ft_match *ft_match_open(uint32_t n);
void ft_match_close(struct ft_match *m);  /* what is posted and kept is the caller's; NULL is fine */

/* The receive of that number takes message `number` of `source`, which has not been received. Once for each. Whether the message fits what
   the receive wants is for the caller to see: a program that has changed may want another. Not 0: no memory. */
int ft_match_decide(struct ft_match *m, uint64_t receive, int32_t source, uint64_t number);

/* ... takes none, and stays posted until it is withdrawn. */
int ft_match_decide_none(struct ft_match *m, uint64_t receive);

/* A receive: the message that it takes, which is kept no more; or NULL, and it is posted. p->next NULL then: it is not, there is no memory. */
struct ft_arrived *ft_match_post(struct ft_match *m, struct ft_posted *p);

/* A message, with `is` and `number` as in struct ft_arrived: the receive that takes it, which is posted no more; or NULL, and the caller
   keeps it next (ft_match_keep; not 0: no memory). */
struct ft_posted *ft_match_arrive(struct ft_match *m, const struct ft_envelope *is, uint64_t number);
int ft_match_keep(struct ft_match *m, struct ft_arrived *a);

/* A probe: the first message kept that fits. It stays. Also one that has been decided for a receive: that is posted later, and the
   predecessor's probe saw the message, too. */
struct ft_arrived *ft_match_look(const struct ft_match *m, const struct ft_envelope *wants);

/* ... or that very one, if it is kept; and takes it away from all others. */
struct ft_arrived *ft_match_find(const struct ft_match *m, int32_t source, uint64_t number);
void ft_match_take(struct ft_match *m, struct ft_arrived *a);

/* The receive is posted no more: it is cancelled. */
void ft_match_withdraw(struct ft_match *m, struct ft_posted *p);

/* The first message of the source that is kept, NULL: none. So far its log is needed. */
struct ft_arrived *ft_match_oldest(const struct ft_match *m, int32_t source);

/* The one after `a` of its source, NULL: that was the last. */
struct ft_arrived *ft_match_next(const struct ft_match *m, const struct ft_arrived *a);

/* For people: so many receives are posted, so many messages are kept; the one of all that was kept first, NULL: none. */
uint64_t ft_match_posted(const struct ft_match *m);
uint64_t ft_match_kept(const struct ft_match *m);
const struct ft_arrived *ft_match_first(const struct ft_match *m);

#endif
