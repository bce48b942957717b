/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI interface of ftmpi, binary compatible with Open MPI 4.1: a program compiled with either header
   runs with either library. Handles are the addresses of objects that the library exports; a program that is
   not position independent gets copies of them in its own memory, so their sizes belong to the interface too
   (compat-tests/abi compares all of it with an installed Open MPI).

   Declared with their arguments are the functions that ftmpi has. The library also has stubs of all the others, for the sake of
   programs that only mention them: errors of class MPI_ERR_UNSUPPORTED_OPERATION, whose texts name the function. They are declared
   without arguments (mpi_missing.h), so that the compiler tells of a call. Constants and types are complete, so that a feature test by
   #ifdef or a switch over all datatypes compiles. Meaning: the MPI 3.1 standard. */
#ifndef FTMPI_MPI_H
#define FTMPI_MPI_H
#define OMPI_MPI_H /* both headers in one translation unit would only disagree in spelling: the first one wins */

#include <stddef.h>

#define FTMPI 1
#define OPEN_MPI 1 /* programs ask this when they mean the binary interface */
#define OMPI_MAJOR_VERSION 4
#define OMPI_MINOR_VERSION 1
#define OMPI_RELEASE_VERSION 4

#define MPI_VERSION 3
#define MPI_SUBVERSION 1

#ifdef __cplusplus
extern "C" {
#endif

/* Types of values. */
typedef ptrdiff_t MPI_Aint;
typedef long long MPI_Offset;
typedef long long MPI_Count;
#ifndef MPI_Fint
#define MPI_Fint int
#endif

/* Handles. The tags are part of C++ names, hence Open MPI's. */
typedef struct ompi_communicator_t *MPI_Comm;
typedef struct ompi_datatype_t *MPI_Datatype;
typedef struct ompi_errhandler_t *MPI_Errhandler;
typedef struct ompi_file_t *MPI_File;
typedef struct ompi_group_t *MPI_Group;
typedef struct ompi_info_t *MPI_Info;
typedef struct ompi_op_t *MPI_Op;
typedef struct ompi_request_t *MPI_Request;
typedef struct ompi_message_t *MPI_Message;
typedef struct ompi_win_t *MPI_Win;
typedef struct mca_base_var_enum_t *MPI_T_enum;
typedef struct ompi_mpit_cvar_handle_t *MPI_T_cvar_handle;
typedef struct mca_base_pvar_handle_t *MPI_T_pvar_handle;
typedef struct mca_base_pvar_session_t *MPI_T_pvar_session;

struct ompi_status_public_t {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int _cancelled;     /* these two are the library's; see MPI_Test_cancelled, MPI_Get_count */
    size_t _ucount;
};
typedef struct ompi_status_public_t MPI_Status;
typedef struct ompi_status_public_t ompi_status_public_t;

/* Functions of the program that the library calls. */
typedef void MPI_User_function(void *in, void *inout, int *len, MPI_Datatype *datatype);
typedef void MPI_Comm_errhandler_function(MPI_Comm *comm, int *code, ...);
typedef void MPI_Win_errhandler_function(MPI_Win *win, int *code, ...);
typedef void ompi_file_errhandler_fn(MPI_File *file, int *code, ...);
typedef ompi_file_errhandler_fn MPI_File_errhandler_function;
typedef MPI_Comm_errhandler_function MPI_Comm_errhandler_fn;
typedef ompi_file_errhandler_fn MPI_File_errhandler_fn;
typedef MPI_Win_errhandler_function MPI_Win_errhandler_fn;
typedef MPI_Comm_errhandler_function MPI_Handler_function;
typedef int MPI_Comm_copy_attr_function(MPI_Comm, int, void *, void *, void *, int *);
typedef int MPI_Comm_delete_attr_function(MPI_Comm, int, void *, void *);
typedef int MPI_Type_copy_attr_function(MPI_Datatype, int, void *, void *, void *, int *);
typedef int MPI_Type_delete_attr_function(MPI_Datatype, int, void *, void *);
typedef int MPI_Win_copy_attr_function(MPI_Win, int, void *, void *, void *, int *);
typedef int MPI_Win_delete_attr_function(MPI_Win, int, void *, void *);
typedef int MPI_Copy_function(MPI_Comm, int, void *, void *, void *, int *);
typedef int MPI_Delete_function(MPI_Comm, int, void *, void *);
typedef int MPI_Grequest_query_function(void *, MPI_Status *);
typedef int MPI_Grequest_free_function(void *);
typedef int MPI_Grequest_cancel_function(void *, int);
typedef int MPI_Datarep_extent_function(MPI_Datatype, MPI_Aint *, void *);
typedef int MPI_Datarep_conversion_function(void *, MPI_Datatype, int, void *, MPI_Offset, void *);

/* Error classes (MPI 3.1 section 8.4). MPI_T_* belong to the tools interface. */
#define MPI_SUCCESS                   0
#define MPI_ERR_BUFFER                1
#define MPI_ERR_COUNT                 2
#define MPI_ERR_TYPE                  3
#define MPI_ERR_TAG                   4
#define MPI_ERR_COMM                  5
#define MPI_ERR_RANK                  6
#define MPI_ERR_REQUEST               7
#define MPI_ERR_ROOT                  8
#define MPI_ERR_GROUP                 9
#define MPI_ERR_OP                    10
#define MPI_ERR_TOPOLOGY              11
#define MPI_ERR_DIMS                  12
#define MPI_ERR_ARG                   13
#define MPI_ERR_UNKNOWN               14
#define MPI_ERR_TRUNCATE              15
#define MPI_ERR_OTHER                 16
#define MPI_ERR_INTERN                17
#define MPI_ERR_IN_STATUS             18
#define MPI_ERR_PENDING               19
#define MPI_ERR_ACCESS                20
#define MPI_ERR_AMODE                 21
#define MPI_ERR_ASSERT                22
#define MPI_ERR_BAD_FILE              23
#define MPI_ERR_BASE                  24
#define MPI_ERR_CONVERSION            25
#define MPI_ERR_DISP                  26
#define MPI_ERR_DUP_DATAREP           27
#define MPI_ERR_FILE_EXISTS           28
#define MPI_ERR_FILE_IN_USE           29
#define MPI_ERR_FILE                  30
#define MPI_ERR_INFO_KEY              31
#define MPI_ERR_INFO_NOKEY            32
#define MPI_ERR_INFO_VALUE            33
#define MPI_ERR_INFO                  34
#define MPI_ERR_IO                    35
#define MPI_ERR_KEYVAL                36
#define MPI_ERR_LOCKTYPE              37
#define MPI_ERR_NAME                  38
#define MPI_ERR_NO_MEM                39
#define MPI_ERR_NOT_SAME              40
#define MPI_ERR_NO_SPACE              41
#define MPI_ERR_NO_SUCH_FILE          42
#define MPI_ERR_PORT                  43
#define MPI_ERR_QUOTA                 44
#define MPI_ERR_READ_ONLY             45
#define MPI_ERR_RMA_CONFLICT          46
#define MPI_ERR_RMA_SYNC              47
#define MPI_ERR_SERVICE               48
#define MPI_ERR_SIZE                  49
#define MPI_ERR_SPAWN                 50
#define MPI_ERR_UNSUPPORTED_DATAREP   51
#define MPI_ERR_UNSUPPORTED_OPERATION 52
#define MPI_ERR_WIN                   53
#define MPI_T_ERR_MEMORY              54
#define MPI_T_ERR_NOT_INITIALIZED     55
#define MPI_T_ERR_CANNOT_INIT         56
#define MPI_T_ERR_INVALID_INDEX       57
#define MPI_T_ERR_INVALID_ITEM        58
#define MPI_T_ERR_INVALID_HANDLE      59
#define MPI_T_ERR_OUT_OF_HANDLES      60
#define MPI_T_ERR_OUT_OF_SESSIONS     61
#define MPI_T_ERR_INVALID_SESSION     62
#define MPI_T_ERR_CVAR_SET_NOT_NOW    63
#define MPI_T_ERR_CVAR_SET_NEVER      64
#define MPI_T_ERR_PVAR_NO_STARTSTOP   65
#define MPI_T_ERR_PVAR_NO_WRITE       66
#define MPI_T_ERR_PVAR_NO_ATOMIC      67
#define MPI_ERR_RMA_RANGE             68
#define MPI_ERR_RMA_ATTACH            69
#define MPI_ERR_RMA_FLAVOR            70
#define MPI_ERR_RMA_SHARED            71
#define MPI_T_ERR_INVALID             72
#define MPI_T_ERR_INVALID_NAME        73
#define MPI_ERR_LASTCODE              92

/* Ranks, tags and other special arguments. */
#define MPI_ANY_SOURCE      (-1)
#define MPI_PROC_NULL       (-2)
#define MPI_ROOT            (-4)
#define MPI_ANY_TAG         (-1)
#define MPI_UNDEFINED       (-32766)
#define MPI_KEYVAL_INVALID  (-1)
#define MPI_BOTTOM          ((void *)0)
#define MPI_IN_PLACE        ((void *)1)
#define MPI_UNWEIGHTED      ((int *)2)
#define MPI_WEIGHTS_EMPTY   ((int *)3)
#define MPI_ARGV_NULL       ((char **)0)
#define MPI_ARGVS_NULL      ((char ***)0)
#define MPI_ERRCODES_IGNORE ((int *)0)
#define MPI_STATUS_IGNORE   ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE ((MPI_Status *)0)
#define MPI_BSEND_OVERHEAD  128

/* Sizes of texts, the final zero included. */
#define MPI_MAX_PROCESSOR_NAME         256
#define MPI_MAX_ERROR_STRING           256
#define MPI_MAX_OBJECT_NAME            64
#define MPI_MAX_LIBRARY_VERSION_STRING 256
#define MPI_MAX_INFO_KEY               36
#define MPI_MAX_INFO_VAL               256
#define MPI_MAX_PORT_NAME              1024
#define MPI_MAX_DATAREP_STRING         128

/* Topologies, arrays, files, windows. */
#define MPI_DIST_GRAPH           3
#define MPI_CART                 1
#define MPI_GRAPH                2
#define MPI_ORDER_C              0
#define MPI_ORDER_FORTRAN        1
#define MPI_DISTRIBUTE_BLOCK     0
#define MPI_DISTRIBUTE_CYCLIC    1
#define MPI_DISTRIBUTE_NONE      2
#define MPI_DISTRIBUTE_DFLT_DARG (-1)
#define MPI_MODE_CREATE          1
#define MPI_MODE_RDONLY          2
#define MPI_MODE_WRONLY          4
#define MPI_MODE_RDWR            8
#define MPI_MODE_DELETE_ON_CLOSE 16
#define MPI_MODE_UNIQUE_OPEN     32
#define MPI_MODE_EXCL            64
#define MPI_MODE_APPEND          128
#define MPI_MODE_SEQUENTIAL      256
#define MPI_DISPLACEMENT_CURRENT -54278278
#define MPI_SEEK_SET             600
#define MPI_SEEK_CUR             602
#define MPI_SEEK_END             604
#define MPI_MODE_NOCHECK         1
#define MPI_MODE_NOPRECEDE       2
#define MPI_MODE_NOPUT           4
#define MPI_MODE_NOSTORE         8
#define MPI_MODE_NOSUCCEED       16
#define MPI_LOCK_EXCLUSIVE       1
#define MPI_LOCK_SHARED          2
#define MPI_WIN_FLAVOR_CREATE    1
#define MPI_WIN_FLAVOR_ALLOCATE  2
#define MPI_WIN_FLAVOR_DYNAMIC   3
#define MPI_WIN_FLAVOR_SHARED    4
#define MPI_WIN_UNIFIED          0
#define MPI_WIN_SEPARATE         1
#define MPI_TYPECLASS_INTEGER    1
#define MPI_TYPECLASS_REAL       2
#define MPI_TYPECLASS_COMPLEX    3

enum { /* attributes that exist from the start */
    MPI_TAG_UB, MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_APPNUM, MPI_LASTUSEDCODE, MPI_UNIVERSE_SIZE, MPI_WIN_BASE,
    MPI_WIN_SIZE, MPI_WIN_DISP_UNIT, MPI_WIN_CREATE_FLAVOR, MPI_WIN_MODEL, IMPI_CLIENT_SIZE, IMPI_CLIENT_COLOR,
    IMPI_HOST_SIZE, IMPI_HOST_COLOR
};
enum { MPI_IDENT, MPI_CONGRUENT, MPI_SIMILAR, MPI_UNEQUAL };
enum { MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE };
enum { /* the three numbers left out belonged to functions that MPI 3.0 removed */
    MPI_COMBINER_NAMED, MPI_COMBINER_DUP, MPI_COMBINER_CONTIGUOUS, MPI_COMBINER_VECTOR, MPI_COMBINER_HVECTOR = 5,
    MPI_COMBINER_INDEXED, MPI_COMBINER_HINDEXED = 8, MPI_COMBINER_INDEXED_BLOCK, MPI_COMBINER_STRUCT = 11,
    MPI_COMBINER_SUBARRAY, MPI_COMBINER_DARRAY, MPI_COMBINER_F90_REAL, MPI_COMBINER_F90_COMPLEX,
    MPI_COMBINER_F90_INTEGER, MPI_COMBINER_RESIZED, MPI_COMBINER_HINDEXED_BLOCK
};
enum {
    MPI_COMM_TYPE_SHARED, OMPI_COMM_TYPE_HWTHREAD, OMPI_COMM_TYPE_CORE, OMPI_COMM_TYPE_L1CACHE, OMPI_COMM_TYPE_L2CACHE,
    OMPI_COMM_TYPE_L3CACHE, OMPI_COMM_TYPE_SOCKET, OMPI_COMM_TYPE_NUMA, OMPI_COMM_TYPE_BOARD, OMPI_COMM_TYPE_HOST,
    OMPI_COMM_TYPE_CU, OMPI_COMM_TYPE_CLUSTER
};
#define OMPI_COMM_TYPE_NODE MPI_COMM_TYPE_SHARED
enum {
    MPI_T_VERBOSITY_USER_BASIC, MPI_T_VERBOSITY_USER_DETAIL, MPI_T_VERBOSITY_USER_ALL, MPI_T_VERBOSITY_TUNER_BASIC,
    MPI_T_VERBOSITY_TUNER_DETAIL, MPI_T_VERBOSITY_TUNER_ALL, MPI_T_VERBOSITY_MPIDEV_BASIC,
    MPI_T_VERBOSITY_MPIDEV_DETAIL, MPI_T_VERBOSITY_MPIDEV_ALL
};
enum {
    MPI_T_SCOPE_CONSTANT, MPI_T_SCOPE_READONLY, MPI_T_SCOPE_LOCAL, MPI_T_SCOPE_GROUP, MPI_T_SCOPE_GROUP_EQ,
    MPI_T_SCOPE_ALL, MPI_T_SCOPE_ALL_EQ
};
enum {
    MPI_T_BIND_NO_OBJECT, MPI_T_BIND_MPI_COMM, MPI_T_BIND_MPI_DATATYPE, MPI_T_BIND_MPI_ERRHANDLER, MPI_T_BIND_MPI_FILE,
    MPI_T_BIND_MPI_GROUP, MPI_T_BIND_MPI_OP, MPI_T_BIND_MPI_REQUEST, MPI_T_BIND_MPI_WIN, MPI_T_BIND_MPI_MESSAGE,
    MPI_T_BIND_MPI_INFO
};
enum {
    MPI_T_PVAR_CLASS_STATE, MPI_T_PVAR_CLASS_LEVEL, MPI_T_PVAR_CLASS_SIZE, MPI_T_PVAR_CLASS_PERCENTAGE,
    MPI_T_PVAR_CLASS_HIGHWATERMARK, MPI_T_PVAR_CLASS_LOWWATERMARK, MPI_T_PVAR_CLASS_COUNTER,
    MPI_T_PVAR_CLASS_AGGREGATE, MPI_T_PVAR_CLASS_TIMER, MPI_T_PVAR_CLASS_GENERIC
};
#define MPI_T_ENUM_NULL         ((MPI_T_enum)0)
#define MPI_T_PVAR_ALL_HANDLES  ((MPI_T_pvar_handle)-1)
#define MPI_T_PVAR_HANDLE_NULL  ((MPI_T_pvar_handle)0)
#define MPI_T_PVAR_SESSION_NULL ((MPI_T_pvar_session)0)
#define MPI_T_CVAR_HANDLE_NULL  ((MPI_T_cvar_handle)0)

#define FTMPI_API __attribute__((visibility("default")))
#ifdef __cplusplus
#define FTMPI_HANDLE(type, object) (static_cast<type>(static_cast<void *>(&(object))))
#else
#define FTMPI_HANDLE(type, object) ((type)((void *)&(object)))
#endif

/* The objects behind the handles. */
FTMPI_API extern struct ompi_predefined_communicator_t ompi_mpi_comm_null, ompi_mpi_comm_world, ompi_mpi_comm_self;
FTMPI_API extern struct ompi_predefined_group_t ompi_mpi_group_null, ompi_mpi_group_empty;
FTMPI_API extern struct ompi_predefined_request_t ompi_request_null;
FTMPI_API extern struct ompi_predefined_message_t ompi_message_null, ompi_message_no_proc;
FTMPI_API extern struct ompi_predefined_errhandler_t ompi_mpi_errhandler_null, ompi_mpi_errors_are_fatal,
    ompi_mpi_errors_return;
FTMPI_API extern struct ompi_predefined_win_t ompi_mpi_win_null;
FTMPI_API extern struct ompi_predefined_file_t ompi_mpi_file_null;
FTMPI_API extern struct ompi_predefined_info_t ompi_mpi_info_null, ompi_mpi_info_env;
FTMPI_API extern struct ompi_predefined_op_t ompi_mpi_op_null, ompi_mpi_op_max, ompi_mpi_op_min, ompi_mpi_op_sum,
    ompi_mpi_op_prod, ompi_mpi_op_land, ompi_mpi_op_band, ompi_mpi_op_lor, ompi_mpi_op_bor, ompi_mpi_op_lxor,
    ompi_mpi_op_bxor, ompi_mpi_op_maxloc, ompi_mpi_op_minloc, ompi_mpi_op_replace, ompi_mpi_op_no_op;
FTMPI_API extern struct ompi_predefined_datatype_t ompi_mpi_datatype_null, ompi_mpi_byte, ompi_mpi_packed,
    ompi_mpi_char, ompi_mpi_short, ompi_mpi_int, ompi_mpi_long, ompi_mpi_float, ompi_mpi_double,
    ompi_mpi_long_double, ompi_mpi_unsigned_char, ompi_mpi_signed_char, ompi_mpi_unsigned_short,
    ompi_mpi_unsigned_long, ompi_mpi_unsigned, ompi_mpi_float_int, ompi_mpi_double_int, ompi_mpi_longdbl_int,
    ompi_mpi_long_int, ompi_mpi_short_int, ompi_mpi_2int, ompi_mpi_wchar, ompi_mpi_long_long_int,
    ompi_mpi_unsigned_long_long, ompi_mpi_2cplex, ompi_mpi_2dblcplex, ompi_mpi_character, ompi_mpi_logical,
    ompi_mpi_logical1, ompi_mpi_logical2, ompi_mpi_logical4, ompi_mpi_logical8, ompi_mpi_integer, ompi_mpi_integer1,
    ompi_mpi_integer2, ompi_mpi_integer4, ompi_mpi_integer8, ompi_mpi_real, ompi_mpi_real4, ompi_mpi_real8,
    ompi_mpi_real16, ompi_mpi_dblprec, ompi_mpi_cplex, ompi_mpi_complex8, ompi_mpi_complex16, ompi_mpi_complex32,
    ompi_mpi_dblcplex, ompi_mpi_2real, ompi_mpi_2dblprec, ompi_mpi_2integer, ompi_mpi_int8_t, ompi_mpi_uint8_t,
    ompi_mpi_int16_t, ompi_mpi_uint16_t, ompi_mpi_int32_t, ompi_mpi_uint32_t, ompi_mpi_int64_t, ompi_mpi_uint64_t,
    ompi_mpi_aint, ompi_mpi_offset, ompi_mpi_c_bool, ompi_mpi_c_float_complex, ompi_mpi_c_double_complex,
    ompi_mpi_c_long_double_complex, ompi_mpi_cxx_bool, ompi_mpi_cxx_cplex, ompi_mpi_cxx_dblcplex,
    ompi_mpi_cxx_ldblcplex, ompi_mpi_count;

/* Communicators. */
#define MPI_COMM_NULL  FTMPI_HANDLE(MPI_Comm, ompi_mpi_comm_null)
#define MPI_COMM_WORLD FTMPI_HANDLE(MPI_Comm, ompi_mpi_comm_world)
#define MPI_COMM_SELF  FTMPI_HANDLE(MPI_Comm, ompi_mpi_comm_self)

/* Groups. */
#define MPI_GROUP_NULL  FTMPI_HANDLE(MPI_Group, ompi_mpi_group_null)
#define MPI_GROUP_EMPTY FTMPI_HANDLE(MPI_Group, ompi_mpi_group_empty)

/* Requests. */
#define MPI_REQUEST_NULL FTMPI_HANDLE(MPI_Request, ompi_request_null)

/* Matched messages. */
#define MPI_MESSAGE_NULL    FTMPI_HANDLE(MPI_Message, ompi_message_null)
#define MPI_MESSAGE_NO_PROC FTMPI_HANDLE(MPI_Message, ompi_message_no_proc)

/* Error handlers. */
#define MPI_ERRHANDLER_NULL  FTMPI_HANDLE(MPI_Errhandler, ompi_mpi_errhandler_null)
#define MPI_ERRORS_ARE_FATAL FTMPI_HANDLE(MPI_Errhandler, ompi_mpi_errors_are_fatal)
#define MPI_ERRORS_RETURN    FTMPI_HANDLE(MPI_Errhandler, ompi_mpi_errors_return)

/* Windows. */
#define MPI_WIN_NULL FTMPI_HANDLE(MPI_Win, ompi_mpi_win_null)

/* Files. */
#define MPI_FILE_NULL FTMPI_HANDLE(MPI_File, ompi_mpi_file_null)

/* Info objects. */
#define MPI_INFO_NULL FTMPI_HANDLE(MPI_Info, ompi_mpi_info_null)
#define MPI_INFO_ENV  FTMPI_HANDLE(MPI_Info, ompi_mpi_info_env)

/* Reductions. */
#define MPI_OP_NULL FTMPI_HANDLE(MPI_Op, ompi_mpi_op_null)
#define MPI_MAX     FTMPI_HANDLE(MPI_Op, ompi_mpi_op_max)
#define MPI_MIN     FTMPI_HANDLE(MPI_Op, ompi_mpi_op_min)
#define MPI_SUM     FTMPI_HANDLE(MPI_Op, ompi_mpi_op_sum)
#define MPI_PROD    FTMPI_HANDLE(MPI_Op, ompi_mpi_op_prod)
#define MPI_LAND    FTMPI_HANDLE(MPI_Op, ompi_mpi_op_land)
#define MPI_BAND    FTMPI_HANDLE(MPI_Op, ompi_mpi_op_band)
#define MPI_LOR     FTMPI_HANDLE(MPI_Op, ompi_mpi_op_lor)
#define MPI_BOR     FTMPI_HANDLE(MPI_Op, ompi_mpi_op_bor)
#define MPI_LXOR    FTMPI_HANDLE(MPI_Op, ompi_mpi_op_lxor)
#define MPI_BXOR    FTMPI_HANDLE(MPI_Op, ompi_mpi_op_bxor)
#define MPI_MAXLOC  FTMPI_HANDLE(MPI_Op, ompi_mpi_op_maxloc)
#define MPI_MINLOC  FTMPI_HANDLE(MPI_Op, ompi_mpi_op_minloc)
#define MPI_REPLACE FTMPI_HANDLE(MPI_Op, ompi_mpi_op_replace)
#define MPI_NO_OP   FTMPI_HANDLE(MPI_Op, ompi_mpi_op_no_op)

/* Datatypes. Fortran's INTEGER*16 and REAL*2 do not exist here; MPI_LB and MPI_UB left in MPI 3.0. */
#define MPI_DATATYPE_NULL           FTMPI_HANDLE(MPI_Datatype, ompi_mpi_datatype_null)
#define MPI_BYTE                    FTMPI_HANDLE(MPI_Datatype, ompi_mpi_byte)
#define MPI_PACKED                  FTMPI_HANDLE(MPI_Datatype, ompi_mpi_packed)
#define MPI_CHAR                    FTMPI_HANDLE(MPI_Datatype, ompi_mpi_char)
#define MPI_SHORT                   FTMPI_HANDLE(MPI_Datatype, ompi_mpi_short)
#define MPI_INT                     FTMPI_HANDLE(MPI_Datatype, ompi_mpi_int)
#define MPI_LONG                    FTMPI_HANDLE(MPI_Datatype, ompi_mpi_long)
#define MPI_FLOAT                   FTMPI_HANDLE(MPI_Datatype, ompi_mpi_float)
#define MPI_DOUBLE                  FTMPI_HANDLE(MPI_Datatype, ompi_mpi_double)
#define MPI_LONG_DOUBLE             FTMPI_HANDLE(MPI_Datatype, ompi_mpi_long_double)
#define MPI_UNSIGNED_CHAR           FTMPI_HANDLE(MPI_Datatype, ompi_mpi_unsigned_char)
#define MPI_SIGNED_CHAR             FTMPI_HANDLE(MPI_Datatype, ompi_mpi_signed_char)
#define MPI_UNSIGNED_SHORT          FTMPI_HANDLE(MPI_Datatype, ompi_mpi_unsigned_short)
#define MPI_UNSIGNED_LONG           FTMPI_HANDLE(MPI_Datatype, ompi_mpi_unsigned_long)
#define MPI_UNSIGNED                FTMPI_HANDLE(MPI_Datatype, ompi_mpi_unsigned)
#define MPI_FLOAT_INT               FTMPI_HANDLE(MPI_Datatype, ompi_mpi_float_int)
#define MPI_DOUBLE_INT              FTMPI_HANDLE(MPI_Datatype, ompi_mpi_double_int)
#define MPI_LONG_DOUBLE_INT         FTMPI_HANDLE(MPI_Datatype, ompi_mpi_longdbl_int)
#define MPI_LONG_INT                FTMPI_HANDLE(MPI_Datatype, ompi_mpi_long_int)
#define MPI_SHORT_INT               FTMPI_HANDLE(MPI_Datatype, ompi_mpi_short_int)
#define MPI_2INT                    FTMPI_HANDLE(MPI_Datatype, ompi_mpi_2int)
#define MPI_WCHAR                   FTMPI_HANDLE(MPI_Datatype, ompi_mpi_wchar)
#define MPI_LONG_LONG_INT           FTMPI_HANDLE(MPI_Datatype, ompi_mpi_long_long_int)
#define MPI_LONG_LONG               FTMPI_HANDLE(MPI_Datatype, ompi_mpi_long_long_int)
#define MPI_UNSIGNED_LONG_LONG      FTMPI_HANDLE(MPI_Datatype, ompi_mpi_unsigned_long_long)
#define MPI_2COMPLEX                FTMPI_HANDLE(MPI_Datatype, ompi_mpi_2cplex)
#define MPI_2DOUBLE_COMPLEX         FTMPI_HANDLE(MPI_Datatype, ompi_mpi_2dblcplex)
#define MPI_CHARACTER               FTMPI_HANDLE(MPI_Datatype, ompi_mpi_character)
#define MPI_LOGICAL                 FTMPI_HANDLE(MPI_Datatype, ompi_mpi_logical)
#define MPI_LOGICAL1                FTMPI_HANDLE(MPI_Datatype, ompi_mpi_logical1)
#define MPI_LOGICAL2                FTMPI_HANDLE(MPI_Datatype, ompi_mpi_logical2)
#define MPI_LOGICAL4                FTMPI_HANDLE(MPI_Datatype, ompi_mpi_logical4)
#define MPI_LOGICAL8                FTMPI_HANDLE(MPI_Datatype, ompi_mpi_logical8)
#define MPI_INTEGER                 FTMPI_HANDLE(MPI_Datatype, ompi_mpi_integer)
#define MPI_INTEGER1                FTMPI_HANDLE(MPI_Datatype, ompi_mpi_integer1)
#define MPI_INTEGER2                FTMPI_HANDLE(MPI_Datatype, ompi_mpi_integer2)
#define MPI_INTEGER4                FTMPI_HANDLE(MPI_Datatype, ompi_mpi_integer4)
#define MPI_INTEGER8                FTMPI_HANDLE(MPI_Datatype, ompi_mpi_integer8)
#define MPI_REAL                    FTMPI_HANDLE(MPI_Datatype, ompi_mpi_real)
#define MPI_REAL4                   FTMPI_HANDLE(MPI_Datatype, ompi_mpi_real4)
#define MPI_REAL8                   FTMPI_HANDLE(MPI_Datatype, ompi_mpi_real8)
#define MPI_REAL16                  FTMPI_HANDLE(MPI_Datatype, ompi_mpi_real16)
#define MPI_DOUBLE_PRECISION        FTMPI_HANDLE(MPI_Datatype, ompi_mpi_dblprec)
#define MPI_COMPLEX                 FTMPI_HANDLE(MPI_Datatype, ompi_mpi_cplex)
#define MPI_COMPLEX8                FTMPI_HANDLE(MPI_Datatype, ompi_mpi_complex8)
#define MPI_COMPLEX16               FTMPI_HANDLE(MPI_Datatype, ompi_mpi_complex16)
#define MPI_COMPLEX32               FTMPI_HANDLE(MPI_Datatype, ompi_mpi_complex32)
#define MPI_DOUBLE_COMPLEX          FTMPI_HANDLE(MPI_Datatype, ompi_mpi_dblcplex)
#define MPI_2REAL                   FTMPI_HANDLE(MPI_Datatype, ompi_mpi_2real)
#define MPI_2DOUBLE_PRECISION       FTMPI_HANDLE(MPI_Datatype, ompi_mpi_2dblprec)
#define MPI_2INTEGER                FTMPI_HANDLE(MPI_Datatype, ompi_mpi_2integer)
#define MPI_INT8_T                  FTMPI_HANDLE(MPI_Datatype, ompi_mpi_int8_t)
#define MPI_UINT8_T                 FTMPI_HANDLE(MPI_Datatype, ompi_mpi_uint8_t)
#define MPI_INT16_T                 FTMPI_HANDLE(MPI_Datatype, ompi_mpi_int16_t)
#define MPI_UINT16_T                FTMPI_HANDLE(MPI_Datatype, ompi_mpi_uint16_t)
#define MPI_INT32_T                 FTMPI_HANDLE(MPI_Datatype, ompi_mpi_int32_t)
#define MPI_UINT32_T                FTMPI_HANDLE(MPI_Datatype, ompi_mpi_uint32_t)
#define MPI_INT64_T                 FTMPI_HANDLE(MPI_Datatype, ompi_mpi_int64_t)
#define MPI_UINT64_T                FTMPI_HANDLE(MPI_Datatype, ompi_mpi_uint64_t)
#define MPI_AINT                    FTMPI_HANDLE(MPI_Datatype, ompi_mpi_aint)
#define MPI_OFFSET                  FTMPI_HANDLE(MPI_Datatype, ompi_mpi_offset)
#define MPI_C_BOOL                  FTMPI_HANDLE(MPI_Datatype, ompi_mpi_c_bool)
#define MPI_C_COMPLEX               FTMPI_HANDLE(MPI_Datatype, ompi_mpi_c_float_complex)
#define MPI_C_FLOAT_COMPLEX         FTMPI_HANDLE(MPI_Datatype, ompi_mpi_c_float_complex)
#define MPI_C_DOUBLE_COMPLEX        FTMPI_HANDLE(MPI_Datatype, ompi_mpi_c_double_complex)
#define MPI_C_LONG_DOUBLE_COMPLEX   FTMPI_HANDLE(MPI_Datatype, ompi_mpi_c_long_double_complex)
#define MPI_CXX_BOOL                FTMPI_HANDLE(MPI_Datatype, ompi_mpi_cxx_bool)
#define MPI_CXX_COMPLEX             FTMPI_HANDLE(MPI_Datatype, ompi_mpi_cxx_cplex)
#define MPI_CXX_FLOAT_COMPLEX       FTMPI_HANDLE(MPI_Datatype, ompi_mpi_cxx_cplex)
#define MPI_CXX_DOUBLE_COMPLEX      FTMPI_HANDLE(MPI_Datatype, ompi_mpi_cxx_dblcplex)
#define MPI_CXX_LONG_DOUBLE_COMPLEX FTMPI_HANDLE(MPI_Datatype, ompi_mpi_cxx_ldblcplex)
#define MPI_COUNT                   FTMPI_HANDLE(MPI_Datatype, ompi_mpi_count)

/* Ready-made attribute functions; renamed, because Fortran has functions with the standard's names. */
#define MPI_TYPE_NULL_DELETE_FN OMPI_C_MPI_TYPE_NULL_DELETE_FN
#define MPI_TYPE_NULL_COPY_FN   OMPI_C_MPI_TYPE_NULL_COPY_FN
#define MPI_TYPE_DUP_FN         OMPI_C_MPI_TYPE_DUP_FN
#define MPI_COMM_NULL_DELETE_FN OMPI_C_MPI_COMM_NULL_DELETE_FN
#define MPI_COMM_NULL_COPY_FN   OMPI_C_MPI_COMM_NULL_COPY_FN
#define MPI_COMM_DUP_FN         OMPI_C_MPI_COMM_DUP_FN
#define MPI_WIN_NULL_DELETE_FN  OMPI_C_MPI_WIN_NULL_DELETE_FN
#define MPI_WIN_NULL_COPY_FN    OMPI_C_MPI_WIN_NULL_COPY_FN
#define MPI_WIN_DUP_FN          OMPI_C_MPI_WIN_DUP_FN
#define MPI_NULL_DELETE_FN      OMPI_C_MPI_NULL_DELETE_FN
#define MPI_NULL_COPY_FN        OMPI_C_MPI_NULL_COPY_FN
#define MPI_DUP_FN              OMPI_C_MPI_DUP_FN
#define MPI_CONVERSION_FN_NULL  ((MPI_Datarep_conversion_function *)0)
FTMPI_API int OMPI_C_MPI_TYPE_NULL_DELETE_FN(MPI_Datatype, int, void *, void *);
FTMPI_API int OMPI_C_MPI_TYPE_NULL_COPY_FN(MPI_Datatype, int, void *, void *, void *, int *);
FTMPI_API int OMPI_C_MPI_TYPE_DUP_FN(MPI_Datatype, int, void *, void *, void *, int *);
FTMPI_API int OMPI_C_MPI_NULL_DELETE_FN(MPI_Comm, int, void *, void *);
FTMPI_API int OMPI_C_MPI_NULL_COPY_FN(MPI_Comm, int, void *, void *, void *, int *);
FTMPI_API int OMPI_C_MPI_DUP_FN(MPI_Comm, int, void *, void *, void *, int *);
FTMPI_API int OMPI_C_MPI_COMM_NULL_DELETE_FN(MPI_Comm, int, void *, void *);
FTMPI_API int OMPI_C_MPI_COMM_NULL_COPY_FN(MPI_Comm, int, void *, void *, void *, int *);
FTMPI_API int OMPI_C_MPI_COMM_DUP_FN(MPI_Comm, int, void *, void *, void *, int *);
FTMPI_API int OMPI_C_MPI_WIN_NULL_DELETE_FN(MPI_Win, int, void *, void *);
FTMPI_API int OMPI_C_MPI_WIN_NULL_COPY_FN(MPI_Win, int, void *, void *, void *, int *);
FTMPI_API int OMPI_C_MPI_WIN_DUP_FN(MPI_Win, int, void *, void *, void *, int *);

FTMPI_API extern MPI_Fint *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE;

#define MPI_Aint_add(base, disp) ((MPI_Aint)((char *)(base) + (disp)))
#define MPI_Aint_diff(a, b)      ((MPI_Aint)((char *)(a) - (char *)(b)))
#define PMPI_Aint_add(base, disp) MPI_Aint_add(base, disp)
#define PMPI_Aint_diff(a, b)      MPI_Aint_diff(a, b)

/* Start and end, threads (MPI 3.1 sections 8.7, 12.4). A rank that is started again runs all of them again. */
FTMPI_API int MPI_Init(int *argc, char ***argv);
FTMPI_API int MPI_Init_thread(int *argc, char ***argv, int required, int *provided);
FTMPI_API int MPI_Query_thread(int *provided);
FTMPI_API int MPI_Is_thread_main(int *flag);
FTMPI_API int MPI_Initialized(int *flag);
FTMPI_API int MPI_Finalize(void);
FTMPI_API int MPI_Finalized(int *flag);
FTMPI_API int MPI_Abort(MPI_Comm comm, int errorcode);

/* Where we are (8.1, 8.6). */
FTMPI_API int MPI_Get_version(int *version, int *subversion);
FTMPI_API int MPI_Get_library_version(char *version, int *resultlen);
FTMPI_API int MPI_Get_processor_name(char *name, int *resultlen);
FTMPI_API double MPI_Wtime(void);
FTMPI_API double MPI_Wtick(void);
FTMPI_API int MPI_Pcontrol(const int level, ...);

/* Communicators (6.4). */
FTMPI_API int MPI_Comm_rank(MPI_Comm comm, int *rank);
FTMPI_API int MPI_Comm_size(MPI_Comm comm, int *size);
FTMPI_API int MPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result);
FTMPI_API int MPI_Comm_test_inter(MPI_Comm comm, int *flag);
FTMPI_API int MPI_Comm_remote_size(MPI_Comm comm, int *size);
FTMPI_API int MPI_Comm_remote_group(MPI_Comm comm, MPI_Group *group);
FTMPI_API int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm);
FTMPI_API int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm);
FTMPI_API int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request);
FTMPI_API int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm);
FTMPI_API int MPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm);
FTMPI_API int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm);
FTMPI_API int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm);
FTMPI_API int MPI_Comm_disconnect(MPI_Comm *comm);
FTMPI_API int MPI_Comm_free(MPI_Comm *comm);
FTMPI_API int MPI_Comm_set_info(MPI_Comm comm, MPI_Info info);
FTMPI_API int MPI_Comm_get_info(MPI_Comm comm, MPI_Info *info_used);
FTMPI_API int MPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
                                   MPI_Comm *newintercomm);
FTMPI_API int MPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm *newcomm);
FTMPI_API int MPI_Comm_get_parent(MPI_Comm *parent);
FTMPI_API int MPI_Topo_test(MPI_Comm comm, int *status);
FTMPI_API int MPI_Comm_get_name(MPI_Comm comm, char *name, int *resultlen);
FTMPI_API int MPI_Comm_set_name(MPI_Comm comm, const char *name);

/* Sends and receives (3.2, 3.4, 3.6, 3.7.2, 3.10). */
FTMPI_API int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
FTMPI_API int MPI_Bsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
FTMPI_API int MPI_Ssend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
FTMPI_API int MPI_Rsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
FTMPI_API int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                       MPI_Status *status);
FTMPI_API int MPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                        MPI_Request *request);
FTMPI_API int MPI_Ibsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                         MPI_Request *request);
FTMPI_API int MPI_Issend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                         MPI_Request *request);
FTMPI_API int MPI_Irsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                         MPI_Request *request);
FTMPI_API int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                        MPI_Request *request);
FTMPI_API int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                           void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                           MPI_Comm comm, MPI_Status *status);
FTMPI_API int MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source,
                                   int recvtag, MPI_Comm comm, MPI_Status *status);
FTMPI_API int MPI_Buffer_attach(void *buffer, int size);
FTMPI_API int MPI_Buffer_detach(void *buffer, int *size);

/* Requests (3.7.3 to 3.7.6, 3.8.4, 3.9). */
FTMPI_API int MPI_Wait(MPI_Request *request, MPI_Status *status);
FTMPI_API int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status);
FTMPI_API int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]);
FTMPI_API int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]);
FTMPI_API int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status);
FTMPI_API int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status);
FTMPI_API int MPI_Waitsome(int incount, MPI_Request requests[], int *outcount, int indices[],
                           MPI_Status statuses[]);
FTMPI_API int MPI_Testsome(int incount, MPI_Request requests[], int *outcount, int indices[],
                           MPI_Status statuses[]);
FTMPI_API int MPI_Request_free(MPI_Request *request);
FTMPI_API int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status);
FTMPI_API int MPI_Cancel(MPI_Request *request);
FTMPI_API int MPI_Send_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                            MPI_Request *request);
FTMPI_API int MPI_Bsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                             MPI_Request *request);
FTMPI_API int MPI_Ssend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                             MPI_Request *request);
FTMPI_API int MPI_Rsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                             MPI_Request *request);
FTMPI_API int MPI_Recv_init(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                            MPI_Request *request);
FTMPI_API int MPI_Start(MPI_Request *request);
FTMPI_API int MPI_Startall(int count, MPI_Request requests[]);

/* Messages that have come (3.8). */
FTMPI_API int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status);
FTMPI_API int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status);
FTMPI_API int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status);
FTMPI_API int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status);
FTMPI_API int MPI_Mrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status);
FTMPI_API int MPI_Imrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request);

/* Statuses (3.2.5, 3.8.4, 12.3) and generalized requests (12.2). */
FTMPI_API int MPI_Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count);
FTMPI_API int MPI_Get_elements(const MPI_Status *status, MPI_Datatype datatype, int *count);
FTMPI_API int MPI_Get_elements_x(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count);
FTMPI_API int MPI_Test_cancelled(const MPI_Status *status, int *flag);
FTMPI_API int MPI_Status_set_elements(MPI_Status *status, MPI_Datatype datatype, int count);
FTMPI_API int MPI_Status_set_elements_x(MPI_Status *status, MPI_Datatype datatype, MPI_Count count);
FTMPI_API int MPI_Status_set_cancelled(MPI_Status *status, int flag);
FTMPI_API int MPI_Grequest_start(MPI_Grequest_query_function *query, MPI_Grequest_free_function *free_function,
                                 MPI_Grequest_cancel_function *cancel, void *extra, MPI_Request *request);
FTMPI_API int MPI_Grequest_complete(MPI_Request request);

/* Collectives (5). */
FTMPI_API int MPI_Barrier(MPI_Comm comm);
FTMPI_API int MPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm);
FTMPI_API int MPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                         MPI_Comm comm);
FTMPI_API int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                            MPI_Comm comm);
FTMPI_API int MPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                            int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
FTMPI_API int MPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                             const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm);
FTMPI_API int MPI_Reduce_local(const void *inbuf, void *inoutbuf, int count, MPI_Datatype datatype, MPI_Op op);

/* Reductions (5.9). A user function must be pure: it may be called again for the same input. */
FTMPI_API int MPI_Op_create(MPI_User_function *function, int commute, MPI_Op *op);
FTMPI_API int MPI_Op_free(MPI_Op *op);
FTMPI_API int MPI_Op_commutative(MPI_Op op, int *commute);

/* Datatypes (4.1). */
FTMPI_API int MPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype *newtype);
FTMPI_API int MPI_Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype *newtype);
FTMPI_API int MPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype
                                      *newtype);
FTMPI_API int MPI_Type_indexed(int count, const int blocklengths[], const int displacements[], MPI_Datatype oldtype,
                               MPI_Datatype *newtype);
FTMPI_API int MPI_Type_create_hindexed(int count, const int blocklengths[], const MPI_Aint displacements[],
                                       MPI_Datatype oldtype, MPI_Datatype *newtype);
FTMPI_API int MPI_Type_create_indexed_block(int count, int blocklength, const int displacements[], MPI_Datatype
                                            oldtype, MPI_Datatype *newtype);
FTMPI_API int MPI_Type_create_hindexed_block(int count, int blocklength, const MPI_Aint displacements[], MPI_Datatype
                                             oldtype, MPI_Datatype *newtype);
FTMPI_API int MPI_Type_create_struct(int count, const int blocklengths[], const MPI_Aint displacements[], const
                                     MPI_Datatype types[], MPI_Datatype *newtype);
FTMPI_API int MPI_Type_create_subarray(int ndims, const int sizes[], const int subsizes[], const int starts[], int
                                       order, MPI_Datatype oldtype, MPI_Datatype *newtype);
FTMPI_API int MPI_Type_create_darray(int size, int rank, int ndims, const int gsizes[], const int distribs[], const
                                     int dargs[], const int psizes[], int order, MPI_Datatype oldtype, MPI_Datatype
                                     *newtype);
FTMPI_API int MPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype *newtype);
FTMPI_API int MPI_Type_create_f90_integer(int r, MPI_Datatype *newtype);
FTMPI_API int MPI_Type_create_f90_real(int p, int r, MPI_Datatype *newtype);
FTMPI_API int MPI_Type_create_f90_complex(int p, int r, MPI_Datatype *newtype);
FTMPI_API int MPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype *newtype);
FTMPI_API int MPI_Type_get_true_extent(MPI_Datatype datatype, MPI_Aint *true_lb, MPI_Aint *true_extent);
FTMPI_API int MPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent);
FTMPI_API int MPI_Type_get_envelope(MPI_Datatype datatype, int *num_integers, int *num_addresses, int *num_datatypes,
                                    int *combiner);
FTMPI_API int MPI_Type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes, int
                                    integers[], MPI_Aint addresses[], MPI_Datatype datatypes[]);
FTMPI_API int MPI_Pack(const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize, int
                       *position, MPI_Comm comm);
FTMPI_API int MPI_Unpack(const void *inbuf, int insize, int *position, void *outbuf, int outcount, MPI_Datatype
                         datatype, MPI_Comm comm);
FTMPI_API int MPI_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int *size);
FTMPI_API int MPI_Pack_external(const char datarep[], const void *inbuf, int incount, MPI_Datatype datatype, void
                                *outbuf, MPI_Aint outsize, MPI_Aint *position);
FTMPI_API int MPI_Unpack_external(const char datarep[], const void *inbuf, MPI_Aint insize, MPI_Aint *position, void
                                  *outbuf, int outcount, MPI_Datatype datatype);
FTMPI_API int MPI_Pack_external_size(const char datarep[], int incount, MPI_Datatype datatype, MPI_Aint *size);
FTMPI_API int MPI_Type_commit(MPI_Datatype *datatype);
FTMPI_API int MPI_Type_free(MPI_Datatype *datatype);
FTMPI_API int MPI_Type_size(MPI_Datatype datatype, int *size);
FTMPI_API int MPI_Type_size_x(MPI_Datatype datatype, MPI_Count *size);
FTMPI_API int MPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent);
FTMPI_API int MPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent);
FTMPI_API int MPI_Get_address(const void *location, MPI_Aint *address);
FTMPI_API int MPI_Type_get_name(MPI_Datatype datatype, char *name, int *resultlen);
FTMPI_API int MPI_Type_set_name(MPI_Datatype datatype, const char *name);
FTMPI_API int MPI_Type_match_size(int typeclass, int size, MPI_Datatype *datatype);

/* Errors (8.3 to 8.5). */
FTMPI_API int MPI_Comm_create_errhandler(MPI_Comm_errhandler_function *function, MPI_Errhandler *errhandler);
FTMPI_API int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler);
FTMPI_API int MPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler);
FTMPI_API int MPI_Comm_call_errhandler(MPI_Comm comm, int errorcode);
FTMPI_API int MPI_Errhandler_free(MPI_Errhandler *errhandler);
FTMPI_API int MPI_Error_class(int errorcode, int *errorclass);
FTMPI_API int MPI_Error_string(int errorcode, char *string, int *resultlen);
FTMPI_API int MPI_Add_error_class(int *errorclass);
FTMPI_API int MPI_Add_error_code(int errorclass, int *errorcode);
FTMPI_API int MPI_Add_error_string(int errorcode, const char *string);

/* Fortran (17.2): what the numbers stand for. */
FTMPI_API MPI_Fint MPI_Comm_c2f(MPI_Comm comm);
FTMPI_API MPI_Comm MPI_Comm_f2c(MPI_Fint comm);
FTMPI_API MPI_Fint MPI_Errhandler_c2f(MPI_Errhandler errhandler);
FTMPI_API MPI_Errhandler MPI_Errhandler_f2c(MPI_Fint errhandler);
FTMPI_API MPI_Fint MPI_File_c2f(MPI_File file);
FTMPI_API MPI_File MPI_File_f2c(MPI_Fint file);
FTMPI_API MPI_Fint MPI_Group_c2f(MPI_Group group);
FTMPI_API MPI_Group MPI_Group_f2c(MPI_Fint group);
FTMPI_API MPI_Fint MPI_Info_c2f(MPI_Info info);
FTMPI_API MPI_Info MPI_Info_f2c(MPI_Fint info);
FTMPI_API MPI_Fint MPI_Message_c2f(MPI_Message message);
FTMPI_API MPI_Message MPI_Message_f2c(MPI_Fint message);
FTMPI_API MPI_Fint MPI_Op_c2f(MPI_Op op);
FTMPI_API MPI_Op MPI_Op_f2c(MPI_Fint op);
FTMPI_API MPI_Fint MPI_Request_c2f(MPI_Request request);
FTMPI_API MPI_Request MPI_Request_f2c(MPI_Fint request);
FTMPI_API MPI_Fint MPI_Type_c2f(MPI_Datatype datatype);
FTMPI_API MPI_Datatype MPI_Type_f2c(MPI_Fint datatype);
FTMPI_API MPI_Fint MPI_Win_c2f(MPI_Win win);
FTMPI_API MPI_Win MPI_Win_f2c(MPI_Fint win);
FTMPI_API int MPI_Status_c2f(const MPI_Status *c_status, MPI_Fint *f_status);
FTMPI_API int MPI_Status_f2c(const MPI_Fint *f_status, MPI_Status *c_status);

/* Attributes (6.7). */
FTMPI_API int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function
                                     *delete_function, int *keyval, void *extra);
FTMPI_API int MPI_Comm_free_keyval(int *keyval);
FTMPI_API int MPI_Comm_set_attr(MPI_Comm comm, int keyval, void *value);
FTMPI_API int MPI_Comm_get_attr(MPI_Comm comm, int keyval, void *value, int *flag);
FTMPI_API int MPI_Comm_delete_attr(MPI_Comm comm, int keyval);
FTMPI_API int MPI_Type_create_keyval(MPI_Type_copy_attr_function *copy, MPI_Type_delete_attr_function
                                     *delete_function, int *keyval, void *extra);
FTMPI_API int MPI_Type_free_keyval(int *keyval);
FTMPI_API int MPI_Type_set_attr(MPI_Datatype datatype, int keyval, void *value);
FTMPI_API int MPI_Type_get_attr(MPI_Datatype datatype, int keyval, void *value, int *flag);
FTMPI_API int MPI_Type_delete_attr(MPI_Datatype datatype, int keyval);
FTMPI_API int MPI_Win_create_keyval(MPI_Win_copy_attr_function *copy, MPI_Win_delete_attr_function *delete_function,
                                    int *keyval, void *extra);
FTMPI_API int MPI_Win_free_keyval(int *keyval);
FTMPI_API int MPI_Keyval_create(MPI_Copy_function *copy, MPI_Delete_function *delete_function, int *keyval, void
                                *extra);
FTMPI_API int MPI_Keyval_free(int *keyval);
FTMPI_API int MPI_Attr_put(MPI_Comm comm, int keyval, void *value);
FTMPI_API int MPI_Attr_get(MPI_Comm comm, int keyval, void *value, int *flag);
FTMPI_API int MPI_Attr_delete(MPI_Comm comm, int keyval);

/* Groups (6.3). */
FTMPI_API int MPI_Comm_group(MPI_Comm comm, MPI_Group *group);
FTMPI_API int MPI_Group_size(MPI_Group group, int *size);
FTMPI_API int MPI_Group_rank(MPI_Group group, int *rank);
FTMPI_API int MPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int
                                        ranks2[]);
FTMPI_API int MPI_Group_compare(MPI_Group group1, MPI_Group group2, int *result);
FTMPI_API int MPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup);
FTMPI_API int MPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup);
FTMPI_API int MPI_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup);
FTMPI_API int MPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup);
FTMPI_API int MPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup);
FTMPI_API int MPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup);
FTMPI_API int MPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup);
FTMPI_API int MPI_Group_free(MPI_Group *group);

/* Info objects (9) and memory (8.2). */
FTMPI_API int MPI_Info_create(MPI_Info *info);
FTMPI_API int MPI_Info_dup(MPI_Info info, MPI_Info *newinfo);
FTMPI_API int MPI_Info_set(MPI_Info info, const char *key, const char *value);
FTMPI_API int MPI_Info_get(MPI_Info info, const char *key, int valuelen, char *value, int *flag);
FTMPI_API int MPI_Info_get_valuelen(MPI_Info info, const char *key, int *valuelen, int *flag);
FTMPI_API int MPI_Info_get_nkeys(MPI_Info info, int *nkeys);
FTMPI_API int MPI_Info_get_nthkey(MPI_Info info, int n, char *key);
FTMPI_API int MPI_Info_delete(MPI_Info info, const char *key);
FTMPI_API int MPI_Info_free(MPI_Info *info);
FTMPI_API int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr);
FTMPI_API int MPI_Free_mem(void *base);

/* Removed in MPI 3.0; Open MPI's library still has them (the names of today are above). */
FTMPI_API int MPI_Errhandler_create(MPI_Handler_function *function, MPI_Errhandler *errhandler);
FTMPI_API int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler);
FTMPI_API int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler);
FTMPI_API int MPI_Address(void *location, MPI_Aint *address);
FTMPI_API int MPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent);
FTMPI_API int MPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype
                               *newtype);
FTMPI_API int MPI_Type_hindexed(int count, int blocklengths[], MPI_Aint displacements[], MPI_Datatype oldtype,
                                MPI_Datatype *newtype);
FTMPI_API int MPI_Type_struct(int count, int blocklengths[], MPI_Aint displacements[], MPI_Datatype types[],
                              MPI_Datatype *newtype);
FTMPI_API int MPI_Type_lb(MPI_Datatype datatype, MPI_Aint *lb);
FTMPI_API int MPI_Type_ub(MPI_Datatype datatype, MPI_Aint *ub);

/* The profiling names: the same functions, out of reach of whoever replaces the ones above (14.2). */
FTMPI_API int PMPI_Init(int *argc, char ***argv);
FTMPI_API int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided);
FTMPI_API int PMPI_Query_thread(int *provided);
FTMPI_API int PMPI_Is_thread_main(int *flag);
FTMPI_API int PMPI_Initialized(int *flag);
FTMPI_API int PMPI_Finalize(void);
FTMPI_API int PMPI_Finalized(int *flag);
FTMPI_API int PMPI_Abort(MPI_Comm comm, int errorcode);
FTMPI_API int PMPI_Get_version(int *version, int *subversion);
FTMPI_API int PMPI_Get_library_version(char *version, int *resultlen);
FTMPI_API int PMPI_Get_processor_name(char *name, int *resultlen);
FTMPI_API double PMPI_Wtime(void);
FTMPI_API double PMPI_Wtick(void);
FTMPI_API int PMPI_Pcontrol(const int level, ...);
FTMPI_API int PMPI_Comm_rank(MPI_Comm comm, int *rank);
FTMPI_API int PMPI_Comm_size(MPI_Comm comm, int *size);
FTMPI_API int PMPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
FTMPI_API int PMPI_Bsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
FTMPI_API int PMPI_Ssend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
FTMPI_API int PMPI_Rsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
FTMPI_API int PMPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                        MPI_Status *status);
FTMPI_API int PMPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                         MPI_Request *request);
FTMPI_API int PMPI_Ibsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                          MPI_Request *request);
FTMPI_API int PMPI_Issend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                          MPI_Request *request);
FTMPI_API int PMPI_Irsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                          MPI_Request *request);
FTMPI_API int PMPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                         MPI_Request *request);
FTMPI_API int PMPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                            void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                            MPI_Comm comm, MPI_Status *status);
FTMPI_API int PMPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source,
                                    int recvtag, MPI_Comm comm, MPI_Status *status);
FTMPI_API int PMPI_Buffer_attach(void *buffer, int size);
FTMPI_API int PMPI_Buffer_detach(void *buffer, int *size);
FTMPI_API int PMPI_Wait(MPI_Request *request, MPI_Status *status);
FTMPI_API int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status);
FTMPI_API int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]);
FTMPI_API int PMPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]);
FTMPI_API int PMPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status);
FTMPI_API int PMPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status);
FTMPI_API int PMPI_Waitsome(int incount, MPI_Request requests[], int *outcount, int indices[],
                            MPI_Status statuses[]);
FTMPI_API int PMPI_Testsome(int incount, MPI_Request requests[], int *outcount, int indices[],
                            MPI_Status statuses[]);
FTMPI_API int PMPI_Request_free(MPI_Request *request);
FTMPI_API int PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status);
FTMPI_API int PMPI_Cancel(MPI_Request *request);
FTMPI_API int PMPI_Send_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                             MPI_Request *request);
FTMPI_API int PMPI_Bsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                              MPI_Request *request);
FTMPI_API int PMPI_Ssend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                              MPI_Request *request);
FTMPI_API int PMPI_Rsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                              MPI_Request *request);
FTMPI_API int PMPI_Recv_init(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                             MPI_Request *request);
FTMPI_API int PMPI_Start(MPI_Request *request);
FTMPI_API int PMPI_Startall(int count, MPI_Request requests[]);
FTMPI_API int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status);
FTMPI_API int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status);
FTMPI_API int PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status);
FTMPI_API int PMPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                           MPI_Status *status);
FTMPI_API int PMPI_Mrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status);
FTMPI_API int PMPI_Imrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request);
FTMPI_API int PMPI_Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count);
FTMPI_API int PMPI_Get_elements(const MPI_Status *status, MPI_Datatype datatype, int *count);
FTMPI_API int PMPI_Get_elements_x(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count);
FTMPI_API int PMPI_Test_cancelled(const MPI_Status *status, int *flag);
FTMPI_API int PMPI_Status_set_elements(MPI_Status *status, MPI_Datatype datatype, int count);
FTMPI_API int PMPI_Status_set_elements_x(MPI_Status *status, MPI_Datatype datatype, MPI_Count count);
FTMPI_API int PMPI_Status_set_cancelled(MPI_Status *status, int flag);
FTMPI_API int PMPI_Grequest_start(MPI_Grequest_query_function *query, MPI_Grequest_free_function *free_function,
                                  MPI_Grequest_cancel_function *cancel, void *extra, MPI_Request *request);
FTMPI_API int PMPI_Grequest_complete(MPI_Request request);
FTMPI_API int PMPI_Barrier(MPI_Comm comm);
FTMPI_API int PMPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm);
FTMPI_API int PMPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                          int root, MPI_Comm comm);
FTMPI_API int PMPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                             MPI_Comm comm);
FTMPI_API int PMPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                             int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
FTMPI_API int PMPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                              const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm);
FTMPI_API int PMPI_Reduce_local(const void *inbuf, void *inoutbuf, int count, MPI_Datatype datatype, MPI_Op op);
FTMPI_API int PMPI_Op_create(MPI_User_function *function, int commute, MPI_Op *op);
FTMPI_API int PMPI_Op_free(MPI_Op *op);
FTMPI_API int PMPI_Op_commutative(MPI_Op op, int *commute);
FTMPI_API int PMPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype *newtype);
FTMPI_API int PMPI_Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype *newtype);
FTMPI_API int PMPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype
                                       *newtype);
FTMPI_API int PMPI_Type_indexed(int count, const int blocklengths[], const int displacements[], MPI_Datatype oldtype,
                                MPI_Datatype *newtype);
FTMPI_API int PMPI_Type_create_hindexed(int count, const int blocklengths[], const MPI_Aint displacements[],
                                        MPI_Datatype oldtype, MPI_Datatype *newtype);
FTMPI_API int PMPI_Type_create_indexed_block(int count, int blocklength, const int displacements[], MPI_Datatype
                                             oldtype, MPI_Datatype *newtype);
FTMPI_API int PMPI_Type_create_hindexed_block(int count, int blocklength, const MPI_Aint displacements[], MPI_Datatype
                                              oldtype, MPI_Datatype *newtype);
FTMPI_API int PMPI_Type_create_struct(int count, const int blocklengths[], const MPI_Aint displacements[], const
                                      MPI_Datatype types[], MPI_Datatype *newtype);
FTMPI_API int PMPI_Type_create_subarray(int ndims, const int sizes[], const int subsizes[], const int starts[], int
                                        order, MPI_Datatype oldtype, MPI_Datatype *newtype);
FTMPI_API int PMPI_Type_create_darray(int size, int rank, int ndims, const int gsizes[], const int distribs[], const
                                      int dargs[], const int psizes[], int order, MPI_Datatype oldtype, MPI_Datatype
                                      *newtype);
FTMPI_API int PMPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype *newtype);
FTMPI_API int PMPI_Type_create_f90_integer(int r, MPI_Datatype *newtype);
FTMPI_API int PMPI_Type_create_f90_real(int p, int r, MPI_Datatype *newtype);
FTMPI_API int PMPI_Type_create_f90_complex(int p, int r, MPI_Datatype *newtype);
FTMPI_API int PMPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype *newtype);
FTMPI_API int PMPI_Type_get_true_extent(MPI_Datatype datatype, MPI_Aint *true_lb, MPI_Aint *true_extent);
FTMPI_API int PMPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent);
FTMPI_API int PMPI_Type_get_envelope(MPI_Datatype datatype, int *num_integers, int *num_addresses, int *num_datatypes,
                                     int *combiner);
FTMPI_API int PMPI_Type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes,
                                     int integers[], MPI_Aint addresses[], MPI_Datatype datatypes[]);
FTMPI_API int PMPI_Pack(const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize, int
                        *position, MPI_Comm comm);
FTMPI_API int PMPI_Unpack(const void *inbuf, int insize, int *position, void *outbuf, int outcount, MPI_Datatype
                          datatype, MPI_Comm comm);
FTMPI_API int PMPI_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int *size);
FTMPI_API int PMPI_Pack_external(const char datarep[], const void *inbuf, int incount, MPI_Datatype datatype, void
                                 *outbuf, MPI_Aint outsize, MPI_Aint *position);
FTMPI_API int PMPI_Unpack_external(const char datarep[], const void *inbuf, MPI_Aint insize, MPI_Aint *position, void
                                   *outbuf, int outcount, MPI_Datatype datatype);
FTMPI_API int PMPI_Pack_external_size(const char datarep[], int incount, MPI_Datatype datatype, MPI_Aint *size);
FTMPI_API int PMPI_Type_commit(MPI_Datatype *datatype);
FTMPI_API int PMPI_Type_free(MPI_Datatype *datatype);
FTMPI_API int PMPI_Type_size(MPI_Datatype datatype, int *size);
FTMPI_API int PMPI_Type_size_x(MPI_Datatype datatype, MPI_Count *size);
FTMPI_API int PMPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent);
FTMPI_API int PMPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent);
FTMPI_API int PMPI_Get_address(const void *location, MPI_Aint *address);
FTMPI_API int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function *function, MPI_Errhandler *errhandler);
FTMPI_API int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler);
FTMPI_API int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler);
FTMPI_API int PMPI_Comm_call_errhandler(MPI_Comm comm, int errorcode);
FTMPI_API int PMPI_Errhandler_free(MPI_Errhandler *errhandler);
FTMPI_API int PMPI_Error_class(int errorcode, int *errorclass);
FTMPI_API int PMPI_Error_string(int errorcode, char *string, int *resultlen);
FTMPI_API int PMPI_Add_error_class(int *errorclass);
FTMPI_API int PMPI_Add_error_code(int errorclass, int *errorcode);
FTMPI_API int PMPI_Add_error_string(int errorcode, const char *string);
FTMPI_API int PMPI_Errhandler_create(MPI_Handler_function *function, MPI_Errhandler *errhandler);
FTMPI_API int PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler);
FTMPI_API int PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler);
FTMPI_API int PMPI_Address(void *location, MPI_Aint *address);
FTMPI_API int PMPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent);
FTMPI_API int PMPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype
                                *newtype);
FTMPI_API int PMPI_Type_hindexed(int count, int blocklengths[], MPI_Aint displacements[], MPI_Datatype oldtype,
                                 MPI_Datatype *newtype);
FTMPI_API int PMPI_Type_struct(int count, int blocklengths[], MPI_Aint displacements[], MPI_Datatype types[],
                               MPI_Datatype *newtype);
FTMPI_API int PMPI_Type_lb(MPI_Datatype datatype, MPI_Aint *lb);
FTMPI_API int PMPI_Type_ub(MPI_Datatype datatype, MPI_Aint *ub);
FTMPI_API MPI_Fint PMPI_Comm_c2f(MPI_Comm comm);
FTMPI_API MPI_Comm PMPI_Comm_f2c(MPI_Fint comm);
FTMPI_API MPI_Fint PMPI_Errhandler_c2f(MPI_Errhandler errhandler);
FTMPI_API MPI_Errhandler PMPI_Errhandler_f2c(MPI_Fint errhandler);
FTMPI_API MPI_Fint PMPI_File_c2f(MPI_File file);
FTMPI_API MPI_File PMPI_File_f2c(MPI_Fint file);
FTMPI_API MPI_Fint PMPI_Group_c2f(MPI_Group group);
FTMPI_API MPI_Group PMPI_Group_f2c(MPI_Fint group);
FTMPI_API MPI_Fint PMPI_Info_c2f(MPI_Info info);
FTMPI_API MPI_Info PMPI_Info_f2c(MPI_Fint info);
FTMPI_API MPI_Fint PMPI_Message_c2f(MPI_Message message);
FTMPI_API MPI_Message PMPI_Message_f2c(MPI_Fint message);
FTMPI_API MPI_Fint PMPI_Op_c2f(MPI_Op op);
FTMPI_API MPI_Op PMPI_Op_f2c(MPI_Fint op);
FTMPI_API MPI_Fint PMPI_Request_c2f(MPI_Request request);
FTMPI_API MPI_Request PMPI_Request_f2c(MPI_Fint request);
FTMPI_API MPI_Fint PMPI_Type_c2f(MPI_Datatype datatype);
FTMPI_API MPI_Datatype PMPI_Type_f2c(MPI_Fint datatype);
FTMPI_API MPI_Fint PMPI_Win_c2f(MPI_Win win);
FTMPI_API MPI_Win PMPI_Win_f2c(MPI_Fint win);
FTMPI_API int PMPI_Status_c2f(const MPI_Status *c_status, MPI_Fint *f_status);
FTMPI_API int PMPI_Status_f2c(const MPI_Fint *f_status, MPI_Status *c_status);
FTMPI_API int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function
                                      *delete_function, int *keyval, void *extra);
FTMPI_API int PMPI_Comm_free_keyval(int *keyval);
FTMPI_API int PMPI_Comm_set_attr(MPI_Comm comm, int keyval, void *value);
FTMPI_API int PMPI_Comm_get_attr(MPI_Comm comm, int keyval, void *value, int *flag);
FTMPI_API int PMPI_Comm_delete_attr(MPI_Comm comm, int keyval);
FTMPI_API int PMPI_Type_create_keyval(MPI_Type_copy_attr_function *copy, MPI_Type_delete_attr_function
                                      *delete_function, int *keyval, void *extra);
FTMPI_API int PMPI_Type_free_keyval(int *keyval);
FTMPI_API int PMPI_Type_set_attr(MPI_Datatype datatype, int keyval, void *value);
FTMPI_API int PMPI_Type_get_attr(MPI_Datatype datatype, int keyval, void *value, int *flag);
FTMPI_API int PMPI_Type_delete_attr(MPI_Datatype datatype, int keyval);
FTMPI_API int PMPI_Win_create_keyval(MPI_Win_copy_attr_function *copy, MPI_Win_delete_attr_function
                                     *delete_function, int *keyval, void *extra);
FTMPI_API int PMPI_Win_free_keyval(int *keyval);
FTMPI_API int PMPI_Keyval_create(MPI_Copy_function *copy, MPI_Delete_function *delete_function, int *keyval, void
                                 *extra);
FTMPI_API int PMPI_Keyval_free(int *keyval);
FTMPI_API int PMPI_Attr_put(MPI_Comm comm, int keyval, void *value);
FTMPI_API int PMPI_Attr_get(MPI_Comm comm, int keyval, void *value, int *flag);
FTMPI_API int PMPI_Attr_delete(MPI_Comm comm, int keyval);
FTMPI_API int PMPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result);
FTMPI_API int PMPI_Comm_test_inter(MPI_Comm comm, int *flag);
FTMPI_API int PMPI_Comm_remote_size(MPI_Comm comm, int *size);
FTMPI_API int PMPI_Comm_remote_group(MPI_Comm comm, MPI_Group *group);
FTMPI_API int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm);
FTMPI_API int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm);
FTMPI_API int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request);
FTMPI_API int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm);
FTMPI_API int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm);
FTMPI_API int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm);
FTMPI_API int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm);
FTMPI_API int PMPI_Comm_disconnect(MPI_Comm *comm);
FTMPI_API int PMPI_Comm_free(MPI_Comm *comm);
FTMPI_API int PMPI_Comm_set_info(MPI_Comm comm, MPI_Info info);
FTMPI_API int PMPI_Comm_get_info(MPI_Comm comm, MPI_Info *info_used);
FTMPI_API int PMPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
                                   MPI_Comm *newintercomm);
FTMPI_API int PMPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm *newcomm);
FTMPI_API int PMPI_Comm_get_parent(MPI_Comm *parent);
FTMPI_API int PMPI_Topo_test(MPI_Comm comm, int *status);
FTMPI_API int PMPI_Comm_get_name(MPI_Comm comm, char *name, int *resultlen);
FTMPI_API int PMPI_Comm_set_name(MPI_Comm comm, const char *name);
FTMPI_API int PMPI_Type_get_name(MPI_Datatype datatype, char *name, int *resultlen);
FTMPI_API int PMPI_Type_set_name(MPI_Datatype datatype, const char *name);
FTMPI_API int PMPI_Comm_group(MPI_Comm comm, MPI_Group *group);
FTMPI_API int PMPI_Group_size(MPI_Group group, int *size);
FTMPI_API int PMPI_Group_rank(MPI_Group group, int *rank);
FTMPI_API int PMPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int
                                         ranks2[]);
FTMPI_API int PMPI_Group_compare(MPI_Group group1, MPI_Group group2, int *result);
FTMPI_API int PMPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup);
FTMPI_API int PMPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup);
FTMPI_API int PMPI_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup);
FTMPI_API int PMPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup);
FTMPI_API int PMPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup);
FTMPI_API int PMPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup);
FTMPI_API int PMPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup);
FTMPI_API int PMPI_Group_free(MPI_Group *group);
FTMPI_API int PMPI_Info_create(MPI_Info *info);
FTMPI_API int PMPI_Info_dup(MPI_Info info, MPI_Info *newinfo);
FTMPI_API int PMPI_Info_set(MPI_Info info, const char *key, const char *value);
FTMPI_API int PMPI_Info_get(MPI_Info info, const char *key, int valuelen, char *value, int *flag);
FTMPI_API int PMPI_Info_get_valuelen(MPI_Info info, const char *key, int *valuelen, int *flag);
FTMPI_API int PMPI_Info_get_nkeys(MPI_Info info, int *nkeys);
FTMPI_API int PMPI_Info_get_nthkey(MPI_Info info, int n, char *key);
FTMPI_API int PMPI_Info_delete(MPI_Info info, const char *key);
FTMPI_API int PMPI_Info_free(MPI_Info *info);
FTMPI_API int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr);
FTMPI_API int PMPI_Free_mem(void *base);
FTMPI_API int PMPI_Type_match_size(int typeclass, int size, MPI_Datatype *datatype);

#ifdef __cplusplus
}
#endif

#include "mpi_missing.h"

/* Programs say OMPI_SKIP_MPICXX or MPICH_SKIP_MPICXX when they do not want the names of the C++ binding. */
#if defined(__cplusplus) && !defined(OMPI_SKIP_MPICXX) && !defined(MPICH_SKIP_MPICXX)
#include "mpicxx.h"
#endif

#endif
