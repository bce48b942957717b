/* SPDX-License-Identifier: BSD-3-Clause */
/* Ready-made attribute callbacks (MPI 3.1 section 6.7): copy nothing, copy the value, do nothing. */
#include "mpi_shim/mpi.h"

#define CALLBACKS(prefix, handle)                                                                           \
    int OMPI_C_MPI_##prefix##NULL_DELETE_FN(handle object, int keyval, void *value, void *extra)            \
    {                                                                                                       \
        (void)object, (void)keyval, (void)value, (void)extra;                                               \
        return MPI_SUCCESS;                                                                                 \
    }                                                                                                       \
    int OMPI_C_MPI_##prefix##NULL_COPY_FN(handle object, int keyval, void *extra, void *in, void *out, int *flag) \
    {                                                                                                       \
        (void)object, (void)keyval, (void)extra, (void)in, (void)out;                                       \
        *flag = 0;                                                                                          \
        return MPI_SUCCESS;                                                                                 \
    }                                                                                                       \
    int OMPI_C_MPI_##prefix##DUP_FN(handle object, int keyval, void *extra, void *in, void *out, int *flag) \
    {                                                                                                       \
        (void)object, (void)keyval, (void)extra;                                                            \
        *(void **)out = in;                                                                                 \
        *flag = 1;                                                                                          \
        return MPI_SUCCESS;                                                                                 \
    }
CALLBACKS(, MPI_Comm)
CALLBACKS(COMM_, MPI_Comm)
CALLBACKS(TYPE_, MPI_Datatype)
CALLBACKS(WIN_, MPI_Win)
