/* SPDX-License-Identifier: BSD-3-Clause */
/* What every rank of the world is doing, read by the agent out of what ranks publish anyway: state, the call in
   progress, how far it is, whom it waits for (`ftrun status`, --hang-timeout). Reads only; a rank notices nothing. Values may be
   a moment old, but what is said of one rank belongs together: the call, its unit and its call site are of one
   operation.

   A rank may be in one call of each of its streams at the same time (ft_coll_finish_all). Then it can go on with each, and needs
   all. Shown is the call that its last word about waiting is of: whom it waits for there is known, and what it waits for in the
   others is not. Of calls that it has not waited in one is shown, the world's if that is among them. */
#ifndef FT_SHM_INSPECT_H
#define FT_SHM_INSPECT_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/shm/await.h"
#include "ft/shm/region.h"

/* A rank's messages, as it has said when it last began to wait for one, and when it left (struct ft_message_words). */
struct ft_inspect_messages {
    uint64_t unexpected, unexpected_bytes, most_unexpected;  /* that no receive had taken; at once, at most */
    uint32_t oldest_source; /* of these: in the job */
    int32_t oldest_tag;
    uint64_t receives, requests;
    uint64_t sent, sent_bytes, received, received_bytes;
    uint64_t unseen;        /* now: messages, or pieces of long ones, that have come and that it has not looked at */
};

/* One rank. Units count operations, or segments of large ones, of one stream, from the start of the job: where nothing is said of a
   stream, of the world's. */
struct ft_inspect {
    uint32_t state;         /* enum ft_rank_state */
    uint32_t incarnation;   /* 0, 1, ... */
    uint32_t pid;           /* that called MPI_Init; 0 before */
    bool in_call;           /* in an MPI call that communicates; else in the program's own code */
    bool in_store;          /* with in_call: a function of checkpoints, busy with models, or waiting to be: the unit is not called yet */
    bool store_pinned;      /* ... and the slot it is to write is still being copied to disk */
    bool in_doubt;          /* with in_call: asks whether this is the call of `unit` or one that the bootstrap cache has: the unit is not called yet */
    bool asks_all;          /* ... and has asked all others */
    bool in_join;           /* with in_call: waits for others to come into `stream`; which call does so is not known (FT_CALL_NONE) */
    bool in_message;        /* with in_call: waits for a message, or for one to be taken, or for memory for one (wants_memory); which call does so is said by `sig`: FT_CALL_RECV, FT_CALL_SEND */
    bool replaying;         /* has not come to the end of what earlier incarnations had finished with: ... */
    uint64_t replayed, replay_to;  /* ... units of all streams that it has come into, so many of so many */
    uint64_t unit;          /* the world's call in progress begins with it, or its next one will */
    uint64_t done;          /* units finished with by this or an earlier incarnation, never less than before */
    uint64_t progress;      /* another number whenever it gets on with anything, in any stream */

    /* with in_call: ft_sig_print and ft_site_print turn them into text */
    uint32_t stream;        /* 0: the world's */
    uint64_t first;         /* the stream's unit that the call begins with */
    struct ft_sig sig;      /* call, reduction, element kind and size, count, root */
    uint64_t site;

    /* What waiting is judged by; any incarnation's. */
    uint64_t called;        /* units below have been called ... */
    uint64_t shown;         /* ... contributed on the short path ... */
    uint64_t contributed;   /* ... or on the standard one, where there is something to reduce */
    uint64_t consumed;      /* version of the newest checkpoint it has finished with, or loaded */
    struct ft_await awaits; /* ... which it waits for, or waited for last, as it says itself */
    struct ft_inspect_messages messages;
    bool wants_memory;      /* it is at the end of the log memory there is, of the world's stream or of a call's or a channel, and has asked for more */
};

/* Fills ranks[0..nranks-1]. A rank that is not FT_RANK_ATTACHED is in no call. A dead one is what it was when it died, until
   its successor's block is made ready: whoever knows that it is dead sets state to FT_RANK_ABSENT and in_call to false.
   A few cache lines per rank, and per other stream that it has come into: some 100 us for 512 ranks in the world's alone. */
void ft_inspect_read(const struct ft_region *r, struct ft_inspect *ranks);

/* Whom `rank` waits for, as it has said before it began to wait (await.h), as far as they are still behind in the stream that it
   has named, and in it: `ranks` says so of the world's, of another one the region, now. Of those who are yet to come into one it is the
   one that it has named: who else is to come no shared word says. Sets awaited[0..nranks-1] (may be NULL), returns how many are
   set: 0 if it waits for nobody. */
uint32_t ft_inspect_awaits(const struct ft_region *r, const struct ft_inspect *ranks, uint32_t rank, bool *awaited);

/* It waits for a message that any of them may send: for one of these, not all. */
static inline bool ft_inspect_awaits_any(const struct ft_inspect *ranks, uint32_t rank)
{
    return ranks[rank].in_message && ranks[rank].awaits.kind == FT_AWAIT_MESSAGE && ranks[rank].awaits.rank == rank;
}

/* Whether rank waits for the agent: the log is at its limit, or memory is slow to come. */
bool ft_inspect_awaits_memory(const struct ft_region *r, const struct ft_inspect *ranks, uint32_t rank);

/* Whether rank waits for the disk: a checkpoint that is being written has the slot for the next one. Pure. */
bool ft_inspect_awaits_disk(const struct ft_inspect *ranks, uint32_t rank);

/* The rank that everyone else waits for, directly or through others: exactly one rank of the world waits for nobody (it is
   outside MPI, or has something to do in its call, or is not there), and all others wait for somebody. -1 if there
   is none, or nobody waits, or somebody waits for the agent. Finalized and ended ranks do not count. */
int64_t ft_inspect_awaited(const struct ft_region *r, const struct ft_inspect *ranks);

/* What a rank is in that is in a call: "MPI_Barrier", "message from rank 1, tag 5". Returns text. Pure. */
const char *ft_inspect_print(const struct ft_inspect *i, char *text, size_t size);

#endif
