/* SPDX-License-Identifier: BSD-3-Clause */
/* The signature of an operation: what every rank must agree on, and what a replay must repeat
   (DESIGN section 2, "unit"; RULES 8, 9). */
#ifndef FT_BASE_SIG_H
#define FT_BASE_SIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The order is part of the log's format. */
#define FT_CALLS(X)                             \
    X(FT_CALL_NONE, "no call")                  \
    X(FT_CALL_BARRIER, "MPI_Barrier")           \
    X(FT_CALL_BCAST, "MPI_Bcast")               \
    X(FT_CALL_REDUCE, "MPI_Reduce")             \
    X(FT_CALL_ALLREDUCE, "MPI_Allreduce")       \
    X(FT_CALL_ALLGATHER, "MPI_Allgather")       \
    X(FT_CALL_ALLGATHERV, "MPI_Allgatherv")     \
    X(FT_CALL_FINALIZE, "MPI_Finalize")         \
    X(FT_CALL_CHECKPOINT, "MPIX_Checkpoint")    \
    X(FT_CALL_LAZY, "MPIX_Checkpoint_lazy")     \
    X(FT_CALL_LOAD, "MPIX_Checkpoint_load")     \
    X(FT_CALL_COMM_DUP, "MPI_Comm_dup")         \
    X(FT_CALL_COMM_SPLIT, "MPI_Comm_split")     \
    X(FT_CALL_COMM_TYPE, "MPI_Comm_split_type") \
    X(FT_CALL_COMM_CREATE, "MPI_Comm_create")   \
    X(FT_CALL_SEND, "MPI_Send")                 \
    X(FT_CALL_RECV, "MPI_Recv")                 \
    X(FT_CALL_MATCH, "a match")                 \
    X(FT_CALL_ANSWER, "an answer")              \
    X(FT_CALL_TURN, "a turn of a thread")

enum ft_call {
#define X(name, text) name,
    FT_CALLS(X)
#undef X
    FT_NCALLS
};

enum ft_cached {
    FT_CACHED_DECLARED = 1,  /* the program says that it is done once */
    FT_CACHED_REPEATED       /* done once more, since all ranks asked for it again */
};

/* 32 bytes; compared and hashed as four words, so no padding. */
struct ft_sig {
    uint8_t call;       /* enum ft_call */
    uint8_t reduction;  /* enum ft_reduction */
    uint8_t kind;       /* enum ft_kind; for calls that only move data all one-byte kinds are FT_BYTE */
    uint8_t cached;     /* enum ft_cached: of the bootstrap cache, or 0 */
    int32_t root;       /* rank in the stream, -1 where there is none; of a message: its tag */
    uint32_t elem;      /* bytes of one element */
    uint32_t length;    /* 0; in the log: bytes of the unit's result (ft/shm/walk.h) */
    uint64_t count;     /* elements per rank (allgatherv: in all; a checkpoint: bytes of the global model; a message: bytes in all) */
    uint64_t shape;     /* allgatherv: hash of the counts; FT_CACHED_DECLARED: of the key; a message: its context; else 0 */
};

/* Units by which ranks agree on something that is the engine's: what counts is what was contributed first. */
static inline bool ft_sig_agrees(const struct ft_sig *sig) { return sig->call >= FT_CALL_CHECKPOINT && sig->call <= FT_CALL_COMM_CREATE; }

/* ... on one word (ft/agree.h). */
static inline bool ft_sig_is_word(const struct ft_sig *sig) { return ft_sig_agrees(sig) && sig->call <= FT_CALL_LOAD; }

bool ft_sig_equal(const struct ft_sig *a, const struct ft_sig *b);

/* The hash of a sequence of signatures: chain a call on to what came before. */
uint64_t ft_sig_chain(uint64_t before, const struct ft_sig *sig);

/* "MPI_Allreduce(sum, 1024 x float)", "MPI_Bcast(4 x byte, root 2)". Returns text. */
const char *ft_sig_print(const struct ft_sig *sig, char *text, size_t size);

#endif
