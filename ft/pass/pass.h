/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives of communicators that have no stream: they are messages, in a context that programs do not see
   (docs/internals/communicators.md). What a rank sends follows from the call, its data, and what it has received from named ranks, so a
   replay repeats it, and the operation survives as its messages do.

   Every rank of a communicator makes the same calls in the same order, and messages of two ranks keep theirs: the next message of a
   rank is always the one that is meant. Its tag says the call that it belongs to. One that is of another call, or of another length, is an
   error that names both. */
#ifndef FT_PASS_PASS_H
#define FT_PASS_PASS_H

#include "ft/core/op.h"
#include "ft/message.h"

/* Behind a stream that has no region. */
struct ft_passing {
    struct ft *ft;
    const char *name;             /* for messages */
    struct ft_comm all;           /* its ranks, in that context; of an intercommunicator those of the other group, ... */
    struct ft_comm local;         /* ... and this rank's own group */
};

/* One call. */
struct ft_pass {
    const struct ft_passing *on;
    const struct ft_comm *c;      /* whose ranks the functions below name */
    struct ft_sig sig;
    uint64_t site;
};

/* Errors of all that follows: FT_EMISMATCH, and those of ft_send and ft_recv. */

/* `bytes` at a place in memory to a rank, or from it: as many must come. NULL: none. */
int ft_pass_send(const struct ft_pass *p, uint32_t to, const void *bytes, uint64_t n, struct ft_error *e);
int ft_pass_receive(const struct ft_pass *p, uint32_t from, void *bytes, uint64_t n, struct ft_error *e);

int ft_pass_no_memory(const struct ft_pass *p, uint64_t n, struct ft_error *e);  /* FT_ENOMEM */

/* Any collective of a stream that passes messages: as ft_collective_perform. */
int ft_pass_run(const struct ft_coll *c, const struct ft_sig *sig, uint64_t site, struct ft_error *e);

/* ---- the algorithms, a file each ---- */

/* Without data: to rank 0 and back. */
int ft_pass_barrier(const struct ft_pass *p, struct ft_error *e);

/* n bytes at `data` of the root, to there on all others. */
int ft_pass_bcast(const struct ft_pass *p, uint32_t root, void *data, uint64_t n, struct ft_error *e);

/* own: n bytes of elements. On rank 0 `result`, which may be own, gets the fold of everybody's from the right, as streams make it; on others it is
   not looked at. */
int ft_pass_fold(const struct ft_pass *p, const struct ft_op *op, const void *own, void *result, uint64_t n, uint32_t elem, struct ft_error *e);

/* Everybody's `own` to its part of `all`. */
int ft_pass_allgather(const struct ft_pass *p, const struct ft_view *own, const struct ft_view *all, struct ft_error *e);

#endif
