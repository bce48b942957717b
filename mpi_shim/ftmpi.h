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

#ifdef __cplusplus
}
#endif

#endif
