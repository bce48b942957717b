/* SPDX-License-Identifier: BSD-3-Clause */
/* Rabit's C API over MPI_COMM_WORLD (librabit.so): the calls, numbers and meanings of dmlc/rabit's, so that its Python binding and programs
   made with its header run on it unchanged; docs/rabit.md tells where it does better. Programs that come new should use ftmpi.h.

   Before RabitInit and after RabitFinalize, and in a process that ftrun did not start, this is a world of one. No call may be made
   from two threads at once. Errors are those of the MPI functions underneath: they end the job with one line on stderr, unless the program
   gave MPI_COMM_WORLD another error handler; then those that return an int for it return -1. */
#ifndef RABIT_C_API_H_
#define RABIT_C_API_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef RABIT_DLL
#define RABIT_DLL __attribute__((visibility("default")))
#endif

typedef unsigned long rbt_ulong;

/* The arguments are not looked at: upstream's are for finding a tracker. Returns 1; 0, and says why on stderr, after MPI_Finalize.
   Blocks until the job's ranks can communicate. */
RABIT_DLL int RabitInit(int argc, char *argv[]);

/* Returns 1. Does not wait for others: the normal end of the process does. RabitInit may follow. */
RABIT_DLL int RabitFinalize(void);

/* Local calls. The rank before rank 0 is the last one. */
RABIT_DLL int RabitGetRingPrevRank(void);
RABIT_DLL int RabitGetRank(void);
RABIT_DLL int RabitGetWorldSize(void);
RABIT_DLL int RabitIsDistributed(void);

/* One line to ftrun's standard output. 0; -1: msg is NULL. */
RABIT_DLL int RabitTrackerPrint(const char *msg);

/* The host's name, cut to max_len - 1 bytes, with a zero after it; *out_len does not count that. */
RABIT_DLL void RabitGetProcessorName(char *out_name, rbt_ulong *out_len, rbt_ulong max_len);

/* Collective; size bytes, the same on all ranks, may be 0. 0 or -1. */
RABIT_DLL int RabitBroadcast(void *sendrecv_data, rbt_ulong size, int root);

/* Collective. Positions and sizes are elements of the type: this rank gives size_node_slice of them from begin on. 0 or -1. */
RABIT_DLL int RabitAllgather(void *sendrecvbuf, size_t total_size, size_t begin, size_t size_node_slice, size_t size_prev_slice,
                             int enum_dtype);

/* Collective, in place; count elements, may be 0.
     enum_dtype   0 int8, 1 uint8, 2 int32, 3 uint32, 4 int64, 5 uint64, 6 float, 7 double, 8 long long, 9 unsigned long long
     enum_op      0 max, 1 min, 2 sum, 3 bitwise or (of integers)
     prepare_fun  NULL, or fills the buffer: called before the operation, but not if its result is known already
   0 or -1. */
RABIT_DLL int RabitAllreduce(void *sendrecvbuf, size_t count, int enum_dtype, int enum_op, void (*prepare_fun)(void *arg),
                             void *prepare_arg);

/* MPIX_Checkpoint_load. Returns the version: 0, and NULL with length 0, if there is none; -1. The local pair may be NULL. What is
   given stays the library's, until the next load. */
RABIT_DLL int RabitLoadCheckPoint(char **out_global_model, rbt_ulong *out_global_len, char **out_local_model, rbt_ulong *out_local_len);

/* MPIX_Checkpoint: collective; local_model may be NULL. 0 or -1. */
RABIT_DLL int RabitCheckPoint(const char *global_model, rbt_ulong global_len, const char *local_model, rbt_ulong local_len);

/* How many checkpoints were made or loaded. A local call. */
RABIT_DLL int RabitVersionNumber(void);

/* 0. */
RABIT_DLL int RabitLinkTag(void);

#ifdef __cplusplus
}
#endif

#endif
