/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of Open MPI's inside that wrappers of other languages use (wrappers.c, keyval.c). Nothing here is for programs. */
#ifndef FTMPI_WRAPPERS_H
#define FTMPI_WRAPPERS_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi_shim/mpi.h"

/* Where MPI is between its start and its end: the wrappers take 2 to 4 for running. */
enum { OMPI_NOT_INITIALIZED = 0, OMPI_INIT_COMPLETED = 2, OMPI_FINALIZE_COMPLETED = 5 };
FTMPI_API extern int ompi_mpi_state;
FTMPI_API extern bool ompi_mpi_param_check;
FTMPI_API extern ompi_status_public_t ompi_status_empty;

FTMPI_API MPI_Errhandler ompi_errhandler_create(int kind, void (*function)(void), int language);
FTMPI_API int ompi_errhandler_invoke(MPI_Errhandler handler, void *object, int kind, int code, const char *where);
FTMPI_API void ompi_mpi_errors_are_fatal_comm_handler(MPI_Comm *comm, int *code, const char *where, ...);
FTMPI_API void ompi_op_set_cxx_callback(MPI_Op op, MPI_User_function *function);
/* Kinds of types. */
enum { OMPI_INTEGER = 0x1000, OMPI_REAL = 0x2000, OMPI_COMPLEX = 0x3000 };
FTMPI_API MPI_Datatype ompi_datatype_match_size(int size, uint16_t kind, uint16_t language);
FTMPI_API int ompi_fortran_string_f2c(const char *text, int length, char **out);
FTMPI_API int ompi_fortran_string_c2f(const char *text, char *out, int length);
FTMPI_API int ompi_fortran_argv_count_f2c(char *array, int count, int length, int advance, char ***argv);
FTMPI_API int ompi_fortran_argv_blank_f2c(char *array, int length, int advance, char ***argv);
FTMPI_API int ompi_fortran_multiple_argvs_f2c(int commands, char *array, int length, char ****argvs);

struct shim_attribute;
FTMPI_API int ompi_attr_create_keyval(int kind, void (*copy)(void), void (*delete)(void), int *key, void *extra, int flags, void *unused);
FTMPI_API int ompi_attr_create_keyval_fint(int kind, void (*copy)(void), void (*delete)(void), int *key, MPI_Fint extra,
                                           int flags, void *unused);
FTMPI_API int ompi_attr_create_keyval_aint(int kind, void (*copy)(void), void (*delete)(void), int *key, MPI_Aint extra,
                                           int flags, void *unused);
FTMPI_API int ompi_attr_set_fint(int kind, void *object, struct shim_attribute **list, int key, MPI_Fint value, bool predefined);
FTMPI_API int ompi_attr_set_aint(int kind, void *object, struct shim_attribute **list, int key, MPI_Aint value, bool predefined);
FTMPI_API int ompi_attr_get_fint(struct shim_attribute *list, int key, MPI_Fint *value, int *flag);
FTMPI_API int ompi_attr_get_aint(struct shim_attribute *list, int key, MPI_Aint *value, int *flag);

#endif
