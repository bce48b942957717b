/* SPDX-License-Identifier: BSD-3-Clause */
/* Extensions of ftmpi to MPI. Errors are raised and returned as those of MPI functions are. A program that
   uses them only where FTMPI is defined runs with any MPI. */
#ifndef FTMPI_FTMPI_H
#define FTMPI_FTMPI_H

#include "mpi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* MPIX_Replaying(comm, flag)
     IN  comm  communicator (handle)
     OUT flag  true if the next collective on comm will be answered out of the log (logical)
   A local call. A rank that was restarted runs from the beginning and repeats what it did; as long as flag is
   true the results of its collectives are known already and its own input is not needed, so that a costly
   computation of the input may be left out. flag is false in a rank that was never restarted. It may also be
   false although the results are known: the last operation before the restart is always done again.
   Errors: MPI_ERR_COMM, MPI_ERR_ARG. */
FTMPI_API int MPIX_Replaying(MPI_Comm comm, int *flag);

/* MPIX_Incarnation(n)
     OUT n  how often this rank was restarted, 0 in its first life (integer)
   A local call. A program whose results must be the same with and without failures must not let them depend on n.
   Errors: MPI_ERR_ARG. */
FTMPI_API int MPIX_Incarnation(int *n);

/* MPIX_Mark_rabit()
   A local call, for XGBoost's plug-in: tells ftrun --rabit that this rank's communication comes through here.
   A job in which no rank ever said so trained nothing in common, and ftrun reports that as an error. */
FTMPI_API int MPIX_Mark_rabit(void);

/* MPIX_Call_site(address)
     IN  address  of an instruction in the program, or NULL
   A local call, for libraries that make MPI calls on behalf of a program: those that follow count as made at address, in messages and
   where operations are found by the place of their call (MPIX_Allreduce_cached). NULL: each at its own place again. No errors. */
FTMPI_API int MPIX_Call_site(const void *address);

/* ---- checkpoints: a cut that the program makes itself ----

   A program that wants to go on from where it was, and not to be replayed from its start, loads a checkpoint near the beginning of its
   main, and makes one whenever it likes:

     MPIX_Checkpoint_load(&model, &n, NULL, NULL, &version);    version 0: a fresh start, nothing is loaded
     for (int i = version; i < rounds; i++) {
         ...
         MPIX_Checkpoint(model, n, NULL, 0);                    version i + 1
     }

   All of these are calls on MPI_COMM_WORLD. Memory for checkpoints is held by ftrun, one copy of the global model for all ranks of a
   host; the last two versions are there. What the program calls before it loads must be the same in each of its lives. */

/* MPIX_Checkpoint(global, nglobal, local, nlocal)
     IN  global   the model that all ranks have alike, nglobal bytes; what rank 0 gives is kept
     IN  nglobal  non-negative; the same on all ranks
     IN  local    this rank's own model, nlocal bytes; NULL and 0: none
     IN  nlocal   non-negative; may differ between ranks and versions
   Collective. Returns when every rank has handed over its models: from then on, no rank goes back before this call, unless all start
   again from an earlier durable checkpoint. C's stdio is flushed. The buffers may be reused at once.
   Messages that were sent before and not received are in it, and are received after it. Requests must be finished, what a matching probe has
   taken must be received, and the communicators must be those that there were at the load (MPI_ERR_OTHER on every rank; nothing is done).
   Errors: MPI_ERR_COUNT, MPI_ERR_BUFFER; no memory for the models: MPI_ERR_NO_MEM on every rank, and the last checkpoint stays. */
FTMPI_API int MPIX_Checkpoint(const void *global, MPI_Count nglobal, const void *local, MPI_Count nlocal);

/* Gives the bytes of a model: *bytes stays the program's, and must be readable until the next call of a function of this library.
   Returns 0, or something else: there are none, which ends the job with an error. */
typedef int MPIX_Serialize_function(void *state, const void **bytes, MPI_Count *n);

/* MPIX_Checkpoint_lazy(serialize, state)
   Collective. As MPIX_Checkpoint with the global model that serialize(state, ...) gives, but the function is called on rank 0 (with several
   hosts: on the first rank of each, since each keeps the model), and before this call returns, only if somebody needs the bytes: because
   there is much to be replayed since the last version that was kept, or a durable checkpoint is due. A rank that is restarted goes on
   from the last version that was kept, so its version number may be smaller than the one before.
   Errors: as MPIX_Checkpoint; MPI_ERR_ARG. */
FTMPI_API int MPIX_Checkpoint_lazy(MPIX_Serialize_function *serialize, void *state);

/* MPIX_Checkpoint_load(global, nglobal, local, nlocal, version)
     OUT global, nglobal  the global model of the last checkpoint; NULL and 0 if version is 0. The memory is the library's, and good until
                          the next load or MPI_Finalize. Both may be NULL: not wanted
     OUT local, nlocal    this rank's own one, likewise
     OUT version          how many checkpoints were made before (integer), 0: none
   Collective the first time that all ranks call it; in a rank that was restarted it does not wait for others. What this rank calls next is
   what it called after that checkpoint was made. Messages that were sent before must be received, and requests finished (MPI_ERR_OTHER).
   Errors: MPI_ERR_ARG (version is NULL, or a model without its length), MPI_ERR_NO_MEM. */
FTMPI_API int MPIX_Checkpoint_load(void **global, MPI_Count *nglobal, void **local, MPI_Count *nlocal, int *version);

/* MPIX_Checkpoint_version(version)
     OUT version  checkpoints that this rank has made or loaded (integer)
   A local call. Errors: MPI_ERR_ARG. */
FTMPI_API int MPIX_Checkpoint_version(int *version);

/* MPIX_Allreduce_cached(sendbuf, recvbuf, count, datatype, op, comm, key), MPIX_Bcast_cached(buffer, count, datatype, root, comm, key)
   MPI_Allreduce, MPI_Bcast of what is done once in a job's life, but again by each rank that is restarted, which may come to it when the
   others are far beyond: the result is kept for the whole job, and found by key.
     IN  key  a string of 1 to 255 bytes, the same on all ranks, used once; or NULL: the place of the call in the program, what is
              called, and how often it was called before in this life of the rank, are the key; all such calls of one place belong into one version
   Errors: as the MPI functions'; MPI_ERR_ARG: the key is empty or too long, was used for another call before, or the cached
   result is of another size or type. */
FTMPI_API int MPIX_Allreduce_cached(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                    const char *key);
FTMPI_API int MPIX_Bcast_cached(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, const char *key);

/* MPIX_Bootstrap_cache(there)
     OUT there  true if results of calls without a key are kept, too, those of the first version (logical); NULL: not wanted
   A local call. Before MPI_Init, in all ranks of the job: turns that on, as ftrun --bootstrap-cache does, if the job is on one host;
   `there` is false then, for nobody knows yet. After MPI_Init it only asks. Errors: after MPI_Finalize. */
FTMPI_API int MPIX_Bootstrap_cache(int *there);

/* MPIX_Snapshot(taken)
     OUT taken  true if this rank has a snapshot of this moment now (logical); false if it cannot have one, or snapshots are off
   A local call that waits until ftrun has it: some milliseconds. If the rank dies it goes on from here, and returns from this call
   again, with the same result.
   Errors: MPI_ERR_ARG. */
FTMPI_API int MPIX_Snapshot(int *taken);

/* ---- the job's store: keys and values that all ranks share ----

   A key is a string of 1 to 1024 bytes, a value any bytes, up to 1 MiB. These are calls of one rank alone, each done as a whole
   (docs/store.md). Whatever is killed, each call of the program is done exactly once: a rank that comes back is answered as its
   predecessor was. What is found is good until this rank's next call of the store. A world of one without ftrun has a store of its own.

   Errors of all: before MPI_Init, after MPI_Finalize; MPI_ERR_ARG: the key is a null pointer, empty or too long, or another is null;
   MPI_ERR_COUNT: a length is negative, or more than 1 MiB; MPI_ERR_BUFFER; MPI_ERR_NO_MEM: the store is full, and nothing has changed:
   its calls may take 1 GiB together (64 bytes each, and the keys and values that they write), of 1048576 keys. */

#define MPIX_STORE_FOREVER (-1.0)
#define MPIX_STORE_NONE (-1)

/* MPIX_Store_set(key, value, n)
     IN  key, value, n   what is under the key from now on, n bytes */
FTMPI_API int MPIX_Store_set(const char *key, const void *value, MPI_Count n);

/* MPIX_Store_get(key, value, n, there)
     OUT value, n   what is under the key now; NULL and 0: nothing. Both may be NULL: not wanted
     OUT there      true if there is something (logical) */
FTMPI_API int MPIX_Store_get(const char *key, const void **value, MPI_Count *n, int *there);

/* MPIX_Store_wait(key, seconds, value, n, there)
     IN  seconds    how long to wait until there is something: 0 or more, or MPIX_STORE_FOREVER
     OUT            as MPIX_Store_get; there is false if the time was up. In a world of one without ftrun it is at once */
FTMPI_API int MPIX_Store_wait(const char *key, double seconds, const void **value, MPI_Count *n, int *there);

/* MPIX_Store_add(key, by, sum)
     IN  by    added to the number under the key, which is there in decimal digits; nothing counts as 0
     OUT sum   what is there then; may be NULL
   MPI_ERR_ARG, too: what is there is no such number, or the sum is beyond 64 bits. Nothing has changed then. */
FTMPI_API int MPIX_Store_add(const char *key, long long by, long long *sum);

/* MPIX_Store_compare_and_swap(key, expected, nexpected, value, n, swapped)
     IN  expected, nexpected   what must be under the key; MPIX_STORE_NONE as nexpected: nothing
     IN  value, n              if it is, this is from now on; expected and value have 1 MiB together, at most
     OUT swapped               whether it was (logical) */
FTMPI_API int MPIX_Store_compare_and_swap(const char *key, const void *expected, MPI_Count nexpected, const void *value, MPI_Count n,
                                          int *swapped);

#ifdef __cplusplus
}
#endif

#endif
