/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank was told of its messages that nothing else decides (RULE 32): which message a receive with an open
   source has taken, and what functions have answered that may say "not yet" or choose. A replay is told the same again.

   Written into the rank's channel to itself. A match is a unit; so are questions that were answered "no", any number in a row, and the
   answer that ended that: the number counts up in the slot, where it is published, and all of it goes into the log with the answer.

   So is, of a rank whose threads call at the same time, which of them did (ft/order.h): a unit where that is another one than before. */
#ifndef FT_MSG_ANSWERS_H
#define FT_MSG_ANSWERS_H

#include "ft/msg/channel.h"
#include "ft/msg/match.h"

enum { FT_MATCH_NOBODY = -1 };

struct ft_answer_run {
    uint64_t no;       /* so many times */
    uint64_t answer;   /* enum below, or an answer + FT_RUN_ANSWERED */
};
enum { FT_RUN_OPEN, FT_RUN_BROKEN /* something else came in between, or death */, FT_RUN_ANSWERED };

/* From this step of the rank's on it was this thread that did them. */
struct ft_turn {
    uint64_t step;
    uint32_t thread;
};

struct ft_answers {
    struct ft_msg_channel log;
    struct ft_match *match;          /* is told what has been decided */
    struct ft_answer_run *again;     /* [nagain]: to be given again, from [given] on */
    uint64_t nagain, given, room;
    struct ft_turn *turns;           /* [nturns] in the order in which they were said: of one step the last one holds */
    uint64_t nturns, turns_room;
    bool open;                       /* a run of this incarnation is in the slot ... */
    uint64_t said;                   /* ... in which it has said no so many times */
};

/* Where the rank is in its answers: between two of them, or in a run in which it has said no so many times. */
struct ft_answers_place {
    uint64_t unit, end, said;
};

/* Reads what earlier incarnations were told from that place on. 0, FT_ENOMEM, FT_ESPACE. */
int ft_answers_open_at(struct ft_answers *a, const struct ft_answers_place *at, const struct ft_region *region, uint32_t rank, struct ft_match *match,
                       const struct ft_patience *patience, int kick_fd, int spill_fd, struct ft_error *e);
struct ft_answers_place ft_answers_at(const struct ft_answers *a);

/* From the beginning on. */
int ft_answers_open(struct ft_answers *a, const struct ft_region *region, uint32_t rank, struct ft_match *match, const struct ft_patience *patience,
                    int kick_fd, int spill_fd, struct ft_error *e);
int ft_answers_resume(struct ft_answers *a, struct ft_error *e);  /* in a forked copy that becomes the rank */
void ft_answers_close(struct ft_answers *a);

/* Receive `receive` has taken message `number` of `source`; of FT_MATCH_NOBODY: it is cancelled. */
void ft_answers_match(struct ft_answers *a, uint64_t receive, int32_t source, uint64_t number);

/* A question has been answered before: *yes, and with what. False: it has not, and this rank answers it. */
bool ft_answers_again(struct ft_answers *a, bool *yes, uint64_t *answer);

/* It answers no, or yes, with a number. A message as such a number, and back. */
uint64_t ft_answer_of(int32_t source, uint64_t number);
void ft_answer_is(uint64_t answer, int32_t *source, uint64_t *number);
void ft_answers_no(struct ft_answers *a);
void ft_answers_yes(struct ft_answers *a, uint64_t answer);

/* Steps are another thread's from now on. */
void ft_answers_turn(struct ft_answers *a, const struct ft_turn *turn);

#endif
