/* SPDX-License-Identifier: BSD-3-Clause */
/* What Rabit's two interfaces, the C++ engine of libxgboost 1.7 (engine.cc) and the C API (capi.c), make of MPI_COMM_WORLD.

   Between start and stop this is the job; outside of it, as upstream, a world of one in which collectives have nothing to do. The
   pair may come many times in a program, MPI_Init and MPI_Finalize only once in a process: the first start does the one, the
   normal end of the process the other. Sizes and positions are bytes unless said otherwise. One call at a time.

   Those that return an int return MPI_SUCCESS, or the class of an MPI error if the handler of MPI_COMM_WORLD lets it pass: the one
   that it starts with ends the job. */
#ifndef FTMPI_RABIT_WORLD_H
#define FTMPI_RABIT_WORLD_H

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Upstream's numbers. */
enum rabit_op { RABIT_MAX = 0, RABIT_MIN, RABIT_SUM, RABIT_BITOR };
enum rabit_type {
    RABIT_CHAR = 0, RABIT_UCHAR, RABIT_INT, RABIT_UINT, RABIT_LONG, RABIT_ULONG, RABIT_FLOAT, RABIT_DOUBLE, RABIT_LONGLONG, RABIT_ULONGLONG
};

typedef void rabit_prepare(void *arg);

/* false, and said why on stderr: MPI was finalized before. A no-op while started. */
bool rabit_start(void);
void rabit_stop(void);
bool rabit_active(void);
int rabit_rank(void);
int rabit_size(void);

/* MPI's, or a null handle: no such number. */
MPI_Datatype rabit_type(int type);
MPI_Op rabit_op(int op);

/* In place over count elements of type_nbytes each. prepare, if it is not NULL, fills the buffer before, unless the result is known
   already and comes out of the log. */
int rabit_allreduce(void *buf, size_t type_nbytes, size_t count, MPI_Datatype type, MPI_Op op, rabit_prepare *prepare, void *arg);
int rabit_broadcast(void *buf, size_t size, int root);

/* This rank's slice is [begin, end) of total. One that is not ends the job with a line. */
int rabit_allgather(void *buf, size_t total, size_t begin, size_t end);

/* Upstream's tracker prints a message as a line. Here ftrun does, and knows which lines it had already. */
void rabit_print(const char *text);

/* The host's name, cut to size - 1 characters. */
void rabit_host(char *name, size_t size);

#ifdef __cplusplus
}
#endif

#endif
