/* SPDX-License-Identifier: BSD-3-Clause */
/* The predefined objects other than datatypes (predefined_types.c) and reductions (op.c). */
#include "mpi_shim/handle.h"

#define NAMED(text) {.object = {.magic = SHIM_COMM, .rank = -1, .name = text, .errhandler_kind = SHIM_OF_COMM}}
struct ompi_predefined_communicator_t ompi_mpi_comm_world = NAMED("MPI_COMM_WORLD");
struct ompi_predefined_communicator_t ompi_mpi_comm_self = NAMED("MPI_COMM_SELF");
struct ompi_predefined_communicator_t ompi_mpi_comm_null = {.object = {.name = "MPI_COMM_NULL", .errhandler_kind = SHIM_OF_COMM}};

#define HANDLER(what) {.object = {.magic = SHIM_ERRHANDLER, .does = what, .predefined = true}}
struct ompi_predefined_errhandler_t ompi_mpi_errors_are_fatal = HANDLER(SHIM_FATAL);
struct ompi_predefined_errhandler_t ompi_mpi_errors_return = HANDLER(SHIM_RETURN);
struct ompi_predefined_errhandler_t ompi_mpi_errhandler_null = {.object = {.magic = 0}};

/* Debian's libmpi_cxx.so refers to this one and puts functions of its own in, which note the error in MPI::mpi_errno. */
static void note_nothing(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code; }
FTMPI_API extern struct ompi_predefined_errhandler_t ompi_mpi_errors_throw_exceptions;
struct ompi_predefined_errhandler_t ompi_mpi_errors_throw_exceptions = {
    .object = {.magic = SHIM_ERRHANDLER, .does = SHIM_CALL, .predefined = true, .function = note_nothing}};

struct ompi_predefined_group_t ompi_mpi_group_null = {.object = {.magic = 0}};
struct ompi_predefined_group_t ompi_mpi_group_empty = {.object = {.magic = SHIM_GROUP}};
struct ompi_predefined_info_t ompi_mpi_info_null = {.object = {.magic = 0}};
struct ompi_predefined_info_t ompi_mpi_info_env = {.object = {.magic = SHIM_INFO}};

/* For chapters to come: the names and sizes are what programs link to. */
struct ompi_predefined_request_t ompi_request_null;
struct ompi_predefined_message_t ompi_message_null, ompi_message_no_proc;
struct ompi_predefined_win_t ompi_mpi_win_null;
struct ompi_predefined_file_t ompi_mpi_file_null = {.object = {.errhandler_kind = SHIM_OF_FILE}};
