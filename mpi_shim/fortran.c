/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles and statuses in Fortran (MPI 3.1 section 17.2). A handle is a number there: that of mpif.h for predefined
   objects, and the next free one for those that the program creates and asks the number of. */
#include <stdlib.h>
#include <string.h>

#include "mpi_shim/shim.h"

/* Named by Open MPI's library, Fortran and C++, not by its C header. */
extern struct ompi_predefined_datatype_t ompi_mpi_lb, ompi_mpi_ub, ompi_mpi_integer16, ompi_mpi_real2;
extern struct ompi_predefined_errhandler_t ompi_mpi_errors_throw_exceptions;

/* In the order of mpif.h. */
static const MPI_Comm comms[] = {MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL};
static const MPI_Errhandler errhandlers[] = {MPI_ERRHANDLER_NULL, MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN,
                                             FTMPI_HANDLE(MPI_Errhandler, ompi_mpi_errors_throw_exceptions)};
static const MPI_Group groups[] = {MPI_GROUP_NULL, MPI_GROUP_EMPTY};
static const MPI_Request requests[] = {MPI_REQUEST_NULL};
static const MPI_Message messages[] = {MPI_MESSAGE_NULL, MPI_MESSAGE_NO_PROC};
static const MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_ENV};
static const MPI_Win wins[] = {MPI_WIN_NULL};
static const MPI_File files[] = {MPI_FILE_NULL};
static const MPI_Op ops[] = {MPI_OP_NULL, MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR,
                             MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP};
static const MPI_Datatype types[] = {
    MPI_DATATYPE_NULL, MPI_BYTE, MPI_PACKED, FTMPI_HANDLE(MPI_Datatype, ompi_mpi_ub),
    FTMPI_HANDLE(MPI_Datatype, ompi_mpi_lb), MPI_CHARACTER, MPI_LOGICAL, MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2,
    MPI_INTEGER4, MPI_INTEGER8, FTMPI_HANDLE(MPI_Datatype, ompi_mpi_integer16), MPI_REAL, MPI_REAL4, MPI_REAL8,
    MPI_REAL16, MPI_DOUBLE_PRECISION, MPI_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16, MPI_COMPLEX32, MPI_DOUBLE_COMPLEX,
    MPI_2REAL, MPI_2DOUBLE_PRECISION, MPI_2INTEGER, MPI_2COMPLEX, MPI_2DOUBLE_COMPLEX,
    FTMPI_HANDLE(MPI_Datatype, ompi_mpi_real2), MPI_LOGICAL1, MPI_LOGICAL2, MPI_LOGICAL4, MPI_LOGICAL8, MPI_WCHAR,
    MPI_CHAR, MPI_UNSIGNED_CHAR, MPI_SIGNED_CHAR, MPI_SHORT, MPI_UNSIGNED_SHORT, MPI_INT, MPI_UNSIGNED, MPI_LONG,
    MPI_UNSIGNED_LONG, MPI_LONG_LONG_INT, MPI_UNSIGNED_LONG_LONG, MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE,
    MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_DOUBLE_INT, MPI_LONG_INT, MPI_2INT, MPI_SHORT_INT, MPI_CXX_BOOL,
    MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX, MPI_INT8_T, MPI_UINT8_T,
    MPI_INT16_T, MPI_UINT16_T, MPI_INT32_T, MPI_UINT32_T, MPI_INT64_T, MPI_UINT64_T, MPI_AINT, MPI_OFFSET,
    MPI_C_BOOL, MPI_C_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX, MPI_COUNT,
};
enum { NO_HANDLE = -1 };
#define LENGTH(array) (int)(sizeof(array) / sizeof *(array))

/* The program's own, from number `first` on; NULL is a free place, and there is none before `taken`. */
struct numbers {
    int first, n, taken;
    const void **made;
};
static struct numbers made_comms = {.first = LENGTH(comms)}, made_types = {.first = LENGTH(types)}, made_ops = {.first = LENGTH(ops)},
                      made_errhandlers = {.first = LENGTH(errhandlers)}, made_groups = {.first = LENGTH(groups)},
                      made_infos = {.first = LENGTH(infos)}, made_requests = {.first = LENGTH(requests)},
                      made_messages = {.first = LENGTH(messages)};

static const void *find(const struct numbers *numbers, int number)
{
    return number >= numbers->first && number - numbers->first < numbers->n ? numbers->made[number - numbers->first] : NULL;
}

static int enter(struct numbers *numbers, const void *object)
{
    int i = numbers->taken;

    while (i < numbers->n && numbers->made[i])
        i++;
    if (i == numbers->n) {
        const void **more = realloc(numbers->made, (size_t)(2 * i + 16) * sizeof *more);

        if (!more)
            return 0;
        memset(more + i, 0, (size_t)(i + 16) * sizeof *more);
        numbers->made = more;
        numbers->n = 2 * i + 16;
    }
    numbers->made[i] = object;
    numbers->taken = i + 1;
    return numbers->first + i;
}

static void leave(struct numbers *numbers, int *number)
{
    int i = *number - numbers->first;

    if (!*number)
        return;
    numbers->made[i] = NULL;
    if (i < numbers->taken)
        numbers->taken = i;
    *number = 0;
}

static int number_of(struct numbers *numbers, const void *object, int *number, const char *me)
{
    if (!*number)
        *number = enter(numbers, object);
    if (*number)
        return *number;
    shim_raise(NULL, me, MPI_ERR_NO_MEM, "no memory for the table of handles");
    return NO_HANDLE;
}

void shim_comm_unnumber(MPI_Comm comm) { leave(&made_comms, &comm->fortran); }
void shim_type_unnumber(MPI_Datatype type) { leave(&made_types, &type->fortran); }
void shim_op_unnumber(MPI_Op op) { leave(&made_ops, &op->fortran); }
void shim_errhandler_unnumber(MPI_Errhandler errhandler) { leave(&made_errhandlers, &errhandler->fortran); }
void shim_group_unnumber(MPI_Group group) { leave(&made_groups, &group->fortran); }
void shim_info_unnumber(MPI_Info info) { leave(&made_infos, &info->fortran); }
void shim_request_unnumber(MPI_Request request) { leave(&made_requests, &request->fortran); }
void shim_message_unnumber(MPI_Message message) { leave(&made_messages, &message->fortran); }

/* What no handle has the number of is a null pointer, which every function refuses; likewise the other way round. */
#define PREDEFINED(name, type, table)                               \
    static int predefined_##table(type handle)                      \
    {                                                               \
        for (int i = 0; i < LENGTH(table); i++)                     \
            if (table[i] == handle)                                 \
                return i;                                           \
        return NO_HANDLE;                                           \
    }
#define ONLY_PREDEFINED(name, type, table)                          \
    PREDEFINED(name, type, table)                                   \
    SHIM_ALIAS(type, name##_f2c, (MPI_Fint number));                \
    type PMPI_##name##_f2c(MPI_Fint number)                         \
    {                                                               \
        return number >= 0 && number < LENGTH(table) ? table[number] : NULL; \
    }                                                               \
    SHIM_ALIAS(MPI_Fint, name##_c2f, (type handle));                \
    MPI_Fint PMPI_##name##_c2f(type handle) { return predefined_##table(handle); }
#define ALSO_MADE(name, type, table, its_magic)                     \
    PREDEFINED(name, type, table)                                   \
    SHIM_ALIAS(type, name##_f2c, (MPI_Fint number));                \
    type PMPI_##name##_f2c(MPI_Fint number)                         \
    {                                                               \
        SHIM_ENTER();                                               \
                                                                    \
        return number >= 0 && number < LENGTH(table) ? table[number] : (type)find(&made_##table, number); \
    }                                                               \
    SHIM_ALIAS(MPI_Fint, name##_c2f, (type handle));                \
    MPI_Fint PMPI_##name##_c2f(type handle)                         \
    {                                                               \
        SHIM_ENTER();                                               \
        int number = predefined_##table(handle);                    \
                                                                    \
        if (number != NO_HANDLE || !handle || handle->magic != its_magic) \
            return number;                                          \
        return number_of(&made_##table, handle, &handle->fortran, #name "_c2f"); \
    }

ONLY_PREDEFINED(Win, MPI_Win, wins)
ONLY_PREDEFINED(File, MPI_File, files)
ALSO_MADE(Comm, MPI_Comm, comms, SHIM_COMM)
ALSO_MADE(Type, MPI_Datatype, types, SHIM_TYPE)
ALSO_MADE(Op, MPI_Op, ops, SHIM_OP)
ALSO_MADE(Errhandler, MPI_Errhandler, errhandlers, SHIM_ERRHANDLER)
ALSO_MADE(Group, MPI_Group, groups, SHIM_GROUP)
ALSO_MADE(Info, MPI_Info, infos, SHIM_INFO)
ALSO_MADE(Request, MPI_Request, requests, SHIM_REQUEST)
ALSO_MADE(Message, MPI_Message, messages, SHIM_MESSAGE)

/* A status in Fortran is the same bytes in an array of integers. */
static int copy_status(const char *me, void *to, const void *from, const void *ignored)
{
    int err = shim_check_running(me);

    if (err)
        return err;
    if (!to || !from || from == ignored || from == MPI_F_STATUSES_IGNORE)
        return shim_raise(NULL, me, MPI_ERR_ARG, !to ? "a null pointer to write to" : "there is no status to read");
    memcpy(to, from, sizeof(MPI_Status));
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Status_f2c, (const MPI_Fint *f_status, MPI_Status *c_status));
int PMPI_Status_f2c(const MPI_Fint *f_status, MPI_Status *c_status)
{
    SHIM_ENTER();

    return copy_status("Status_f2c", c_status, f_status, MPI_F_STATUS_IGNORE);
}

SHIM_ALIAS(int, Status_c2f, (const MPI_Status *c_status, MPI_Fint *f_status));
int PMPI_Status_c2f(const MPI_Status *c_status, MPI_Fint *f_status)
{
    SHIM_ENTER();

    return copy_status("Status_c2f", f_status, c_status, MPI_STATUS_IGNORE);
}
