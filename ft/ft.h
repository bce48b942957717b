/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine as the shim sees it (DESIGN sections 2, 3). Collectives on streams; each call blocks until
   its result is in the user's buffer and can be rebuilt without this process (invariant 2). One thread
   at a time per process.

   Buffers have count elements of type.elem bytes, side by side or, if it has one, in the type's layout.
   `site` is where the program made the call (a number that two incarnations and two ranks share, from
   ft_site); it appears in messages only.

   Every collective returns 0, or fills e and returns
     FT_EMISMATCH  another rank called something else for the same unit (both named)
     FT_EDIVERGED  this rank is a restarted one and the log holds another call (both named), or, with --check-replay,
                   it has contributed other data
     FT_ENOMEM     no private memory for a temporary
     FT_ESYS       what is in the bootstrap cache cannot be read
   after which the job must be ended with ft_end: the stream cannot go on. */
#ifndef FT_FT_H
#define FT_FT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ft/base/err.h"
#include "ft/base/layout.h"
#include "ft/base/position.h"
#include "ft/base/reduce.h"
#include "ft/base/site.h"
#include "ft/base/value.h"

struct ft;          /* this process's part in the job */
struct ft_stream;

struct ft_type {
    uint32_t elem;  /* bytes from one element to the next; never split by a reduction */
    uint16_t kind;  /* enum ft_kind; FT_OPAQUE for derived types */
    uint16_t base;  /* with FT_OPAQUE, enum ft_kind: an element consists of so many of these */
    const struct ft_layout *layout; /* of data with gaps, whose elements are one or more of these; else NULL */
};

struct ft_op {
    uint8_t reduction;  /* enum ft_reduction */
    ft_fold *fold;      /* predefined: ft_reduce_find(...), never NULL */
    /* FT_USER: inout[i] = in[i] op inout[i] for n elements, which lie side by side whatever the type's layout; pure;
       ctx is the shim's. Neither buffer is shared memory that another rank reads. May be called for pieces of a large
       operation. */
    void (*user)(void *ctx, const void *in, void *inout, uint64_t n);
    void *ctx;
};

/* Joins the job whose agent started this process (environment FTMPI_FDS, FTMPI_RANK), or a world of one
   if there is none. FT_EJOB: the environment names a job that cannot be joined (also: a second MPI_Init in
   one rank slot); FT_ESYS. Does not wait for anybody (RULE 20).
   cache: this program wants a bootstrap cache, as with --bootstrap-cache, and so do all others of the job. It has one then if all nodes of
   the job are one: of several each must know before it starts. */
int ft_attach(struct ft **out, bool cache, struct ft_error *e);

/* The job has a bootstrap cache for calls without a key. */
bool ft_has_cache(const struct ft *ft);

/* After ft_finalize, or in a world of one. Frees what ft_attach made. */
void ft_detach(struct ft *ft);

/* The host, as the user knows it; also without a job. */
void ft_host(char *to, size_t size);

int ft_rank(const struct ft *ft);
int ft_size(const struct ft *ft);
int ft_node(const struct ft *ft);                  /* which of the job's this rank is on; 0 if there is one */
int ft_incarnation(const struct ft *ft);           /* restarts of this rank so far */
struct ft_stream *ft_world(struct ft *ft);
struct ft_stream *ft_self(struct ft *ft);          /* this rank alone; never logged, never waits */

/* True if the next collective on s will be answered out of the log: its input is not needed. Never with --check-replay, which
   looks at it. */
bool ft_replaying(struct ft_stream *s);

/* This rank has used the XGBoost engine (ftrun --rabit looks for it). */
void ft_mark_rabit(struct ft *ft);

/* send == recv is in place. recv of ft_reduce is used on the root only, and is its send in place. */
int ft_barrier(struct ft_stream *s, uint64_t site, struct ft_error *e);
int ft_bcast(struct ft_stream *s, void *buf, uint64_t count, struct ft_type type, int root, uint64_t site, struct ft_error *e);
int ft_allreduce(struct ft_stream *s, const void *send, void *recv, uint64_t count, struct ft_type type,
                 const struct ft_op *op, uint64_t site, struct ft_error *e);
int ft_reduce(struct ft_stream *s, const void *send, void *recv, uint64_t count, struct ft_type type,
              const struct ft_op *op, int root, uint64_t site, struct ft_error *e);
/* recv: rank r's part of count elements at r * count. In place: send == recv + own part. given: the layout of what is
   sent; type has that of recv. */
int ft_allgather(struct ft_stream *s, const void *send, const struct ft_layout *given, void *recv, uint64_t count,
                 struct ft_type type, uint64_t site, struct ft_error *e);
/* counts[r] elements of rank r go to recv + displs[r] elements. */
int ft_allgatherv(struct ft_stream *s, const void *send, const struct ft_layout *given, void *recv, const int *counts,
                  const int *displs, struct ft_type type, uint64_t site, struct ft_error *e);

/* As ft_allreduce, ft_bcast; the result is kept for ranks that come back (docs/internals/bootstrap-cache.md). key: of 1 to 255 bytes, used
   once in this life of the rank, the same on all ranks; "": the place of the call and how often it was called. Beyond the errors above
   FT_EINVAL, with a line: the key was used before, or the result that is kept is of another call. The call was not made then, and the
   stream can go on. */
int ft_allreduce_cached(struct ft_stream *s, const void *send, void *recv, uint64_t count, struct ft_type type,
                        const struct ft_op *op, const char *key, uint64_t site, struct ft_error *e);
int ft_bcast_cached(struct ft_stream *s, void *buf, uint64_t count, struct ft_type type, int root, const char *key, uint64_t site,
                    struct ft_error *e);

/* ---- checkpoints (mpi_shim/ftmpi.h says what they are for) ---- */

struct ft_models {
    const void *global, *local;  /* the model that all ranks have alike, this rank's own one */
    uint64_t nglobal, nlocal;    /* bytes */
};

/* Gives the bytes of a model, which stay its own. 0, or something else: it cannot. */
typedef int ft_serialize(void *state, const void **bytes, uint64_t *n);

/* Collective. Flushes stdio. Rank 0's global model is kept, and each rank's local one. After FT_ENOMEM, which all ranks get, the
   program may go on: the last checkpoint stays. So it is after FT_EINVAL: a rank has requests that are not finished, or communicators that a
   checkpoint cannot have; all are told. */
int ft_checkpoint(struct ft *ft, const struct ft_models *m, uint64_t site, struct ft_error *e);

/* Collective. The same with what `serialize` gives on rank 0 (of each node, by its local index), if it is worth it; else only the version counts up. FT_ESYS: it has
   failed. */
int ft_checkpoint_lazy(struct ft *ft, ft_serialize *serialize, void *state, uint64_t site, struct ft_error *e);

/* Collective in a program's first life. The last checkpoint; the memory is good until the next load or ft_detach. FT_ENOMEM: nothing has
   happened yet; FT_EINVAL: nor has it, but the program has messages or requests that are not received or finished; FT_ESYS: models cannot be read. */
int ft_load(struct ft *ft, struct ft_models *m, uint64_t site, struct ft_error *e);

/* Checkpoints know of messages and communicators in this job. */
bool ft_checkpoint_carries(const struct ft *ft);

uint64_t ft_version(const struct ft *ft);  /* checkpoints made or loaded */

/* ---- the job's store (docs/store.md) ---- */

/* Sets ask->number. *answer's value is good until the next call. 0: status is DONE, LATE, NO_NUMBER or FULL. FT_ENOMEM: whether it was done is
   not known. After FT_EDIVERGED, FT_EJOB the job must be ended with ft_end. */
int ft_value(struct ft *ft, struct ft_value_ask *ask, struct ft_value_answer *answer, struct ft_error *e);

/* Has a snapshot made now, and waits for it. False: there is none. Returns once more in the copy that goes on from it: true. */
bool ft_snapshot_now(struct ft *ft);

/* MPI_Finalize: a unit with everybody's participation (RULE 20). */
int ft_finalize(struct ft *ft, uint64_t site, struct ft_error *e);

/* ---- snapshots: a forked copy of this process that waits between two calls, to go on if this one dies ---- */

/* Where this rank is now, between two calls: the cut of a snapshot taken now (ft_cut_register). Zeros in a world of one. */
void ft_positions(const struct ft *ft, struct ft_positions *p);

/* CLOCK_MONOTONIC, for the program: what it is told is an outcome (docs/outcomes.md), so a restarted rank is told the same again. */
struct timespec;
void ft_clock(struct timespec *now);

/* Around a function of the program's that an operation calls (MPI_Op_create). What it asks of the system is not recorded: a replay has
   the operation's result, and does not call it. */
void ft_function(bool begins);

/* Around the fork that makes a snapshot: with `keep` the child has the job's memory too, at the same address. Both
   processes turn it off again, or a child of the program's would have it (RULE 15). FT_ESYS: there must be no fork. */
int ft_fork_keeps(struct ft *ft, bool keep, struct ft_error *e);

/* In the snapshot, woken because its rank is dead and reaped, after the agent's ft_region_start_rank: this process is the rank
   now. What the dead one had finished with comes out of the log from here on, the rest is live; it may be the copy of
   a rank that was itself replaying. The snapshot before it, if any, is used up: take another before the program goes on. */
void ft_resume(struct ft *ft);

/* Ends the whole job: `line` (one line, cut at 447 bytes) and the code reach the user through ftrun, which ends the
   other ranks; without ftrun the line goes to stderr. Does not return, flushes no stdio. code: the job's exit
   code, 1-255. */
void ft_end(struct ft *ft, int code, const char *line) __attribute__((noreturn));

#endif
