/* SPDX-License-Identifier: BSD-3-Clause */
/* What Fortran programs take straight from the MPI library: ready-made attribute functions and the clock, under the four
   spellings that compilers make of a name. As in C (attribute.c), but every argument is an address and the error the
   last of them. */
#include "mpi_shim/mpi.h"

/* In C these are macros for the functions of attribute.c. */
#undef MPI_COMM_DUP_FN
#undef MPI_COMM_NULL_COPY_FN
#undef MPI_COMM_NULL_DELETE_FN
#undef MPI_TYPE_DUP_FN
#undef MPI_TYPE_NULL_COPY_FN
#undef MPI_TYPE_NULL_DELETE_FN
#undef MPI_WIN_DUP_FN
#undef MPI_WIN_NULL_COPY_FN
#undef MPI_WIN_NULL_DELETE_FN
#undef MPI_DUP_FN
#undef MPI_NULL_COPY_FN
#undef MPI_NULL_DELETE_FN
#undef MPI_CONVERSION_FN_NULL

#define SAME(name, original, arguments) FTMPI_API void name arguments __attribute__((alias(#original)))
#define SPELLINGS(lower, upper, arguments)          \
    FTMPI_API void lower##_ arguments;              \
    SAME(lower, lower##_, arguments);               \
    SAME(lower##__, lower##_, arguments);           \
    SAME(upper, lower##_, arguments);               \
    void lower##_ arguments

#define CALLBACKS(lower, upper, value)                                                                              \
    SPELLINGS(mpi_##lower##dup_fn, MPI_##upper##DUP_FN,                                                             \
              (MPI_Fint *object, MPI_Fint *keyval, value *extra, value *in, value *out, MPI_Fint *flag, MPI_Fint *ierr)) \
    {                                                                                                               \
        (void)object, (void)keyval, (void)extra;                                                                    \
        *out = *in;                                                                                                 \
        *flag = 1;                                                                                                  \
        *ierr = MPI_SUCCESS;                                                                                        \
    }                                                                                                               \
    SPELLINGS(mpi_##lower##null_copy_fn, MPI_##upper##NULL_COPY_FN,                                                 \
              (MPI_Fint *object, MPI_Fint *keyval, value *extra, value *in, value *out, MPI_Fint *flag, MPI_Fint *ierr)) \
    {                                                                                                               \
        (void)object, (void)keyval, (void)extra, (void)in, (void)out;                                               \
        *flag = 0;                                                                                                  \
        *ierr = MPI_SUCCESS;                                                                                        \
    }                                                                                                               \
    SPELLINGS(mpi_##lower##null_delete_fn, MPI_##upper##NULL_DELETE_FN,                                             \
              (MPI_Fint *object, MPI_Fint *keyval, value *in, value *extra, MPI_Fint *ierr))                        \
    {                                                                                                               \
        (void)object, (void)keyval, (void)in, (void)extra;                                                          \
        *ierr = MPI_SUCCESS;                                                                                        \
    }
CALLBACKS(, , MPI_Fint)
CALLBACKS(comm_, COMM_, MPI_Aint)
CALLBACKS(type_, TYPE_, MPI_Aint)
CALLBACKS(win_, WIN_, MPI_Aint)

SPELLINGS(mpi_conversion_fn_null, MPI_CONVERSION_FN_NULL,
          (char *userbuf, MPI_Fint *type, MPI_Fint *count, char *filebuf, MPI_Offset *position, MPI_Aint *extra, MPI_Fint *ierr))
{
    (void)userbuf, (void)type, (void)count, (void)filebuf, (void)position, (void)extra;
    *ierr = MPI_SUCCESS;
}

SPELLINGS(mpi_wtime_f90, MPI_WTIME_F90, (double *time)) { *time = PMPI_Wtime(); }
SPELLINGS(mpi_wtick_f90, MPI_WTICK_F90, (double *tick)) { *tick = PMPI_Wtick(); }
SPELLINGS(mpi_aint_add_f90, MPI_AINT_ADD_F90, (MPI_Aint *base, MPI_Aint *disp, MPI_Aint *sum)) { *sum = *base + *disp; }
SPELLINGS(mpi_aint_diff_f90, MPI_AINT_DIFF_F90, (MPI_Aint *a, MPI_Aint *b, MPI_Aint *difference)) { *difference = *a - *b; }
