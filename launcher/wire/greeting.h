/* SPDX-License-Identifier: BSD-3-Clause */
/* What agents of two nodes say to each other on a proved connection, before it is a link or a transfer of the log: the caller who it is, whom
   it means and what it wants, the answerer whether. Pure, of fixed sizes, little endian; nothing is believed that is not checked. */
#ifndef LAUNCHER_WIRE_GREETING_H
#define LAUNCHER_WIRE_GREETING_H

#include <stdbool.h>
#include <stdint.h>

enum { FT_GREETING_BYTES = 48, FT_ANSWER_BYTES = 40, FT_PIECE_HEAD = 32, FT_PIECE_MOST = 1 << 20 };

enum ft_greeting_want {
    FT_WANT_LINK = 1,    /* this connection is to be the link */
    FT_WANT_CALL,        /* you are to connect to me: you have the higher number */
    FT_WANT_LOG,         /* the log from `position` on */
    FT_WANT_KEEP,        /* you are to keep a checkpoint of mine: it follows (parcel.h); the answer's position: the version that you have */
    FT_WANT_KEPT,        /* the checkpoint of mine that you have kept */
    FT_WANT_UNIT,        /* what the unit `position` is (ft/shm/doubt.h); the answer's position: enum ft_known's `what` */
    FT_WANTS
};

struct ft_greeting {
    enum ft_greeting_want want;
    uint32_t from, from_incarnation, to, to_incarnation;  /* nodes */
    uint64_t position;
    uint32_t stream;      /* whose link it is to be; of what is no link 0 */
};

enum ft_verdict {
    FT_VERDICT_YES = 1,
    FT_VERDICT_NODE,     /* that is not for me, or not from you */
    FT_VERDICT_STALE,    /* one of us two has been replaced */
    FT_VERDICT_LEFT,     /* my representative has left MPI_Finalize: it needs no link */
    FT_VERDICT_RELEASED, /* the log does not begin there any more; there is no checkpoint, or no place for one now */
    FT_VERDICT_DOUBT,    /* all ranks here ask what the unit is */
    FT_VERDICT_UNKNOWN,  /* nobody here knows the unit, yet */
    FT_VERDICTS
};

struct ft_answer {
    enum ft_verdict verdict;
    uint32_t node, incarnation;  /* the answerer */
    uint64_t extent_bytes;       /* of its log */
    uint64_t position;           /* how far its log is for sure */
};

/* One piece of the log; its bytes follow. The last one has none. */
struct ft_piece {
    uint64_t position;
    uint32_t length;
    uint64_t hash;       /* of the bytes, and of the position */
};

void ft_greeting_put(const struct ft_greeting *g, uint8_t to[FT_GREETING_BYTES]);
bool ft_greeting_get(const uint8_t from[FT_GREETING_BYTES], struct ft_greeting *g);  /* false: it is none */
void ft_answer_put(const struct ft_answer *a, uint8_t to[FT_ANSWER_BYTES]);
bool ft_answer_get(const uint8_t from[FT_ANSWER_BYTES], struct ft_answer *a);
void ft_piece_put(const struct ft_piece *p, uint8_t to[FT_PIECE_HEAD]);
bool ft_piece_get(const uint8_t from[FT_PIECE_HEAD], struct ft_piece *p);

uint64_t ft_piece_hash(uint64_t position, const void *bytes, uint32_t length);

const char *ft_verdict_text(enum ft_verdict v);

#endif
