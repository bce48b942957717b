/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPI handles point to. The predefined objects are exported under Open MPI's names with Open MPI's
   sizes, and a program that is not position independent has its own copy of them (a copy relocation), made
   before any code of ours runs. Hence:
     - the library reaches them by their exported names only, through the global offset table;
     - what they hold at start is constant data; what changes at run time is written through the handle.
   `magic` tells a live object of the right kind from everything else in one comparison: it is 0 in null
   handles and in freed objects. Freed objects are kept for reuse, never unmapped, so that a stale handle
   is an error and not a crash. */
#ifndef FTMPI_HANDLE_H
#define FTMPI_HANDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/ft.h"
#include "mpi_shim/mpi.h"

enum shim_magic {
    SHIM_COMM = 0x6d6d6f43,     /* "Comm", "Type", "Oper", "Errh" */
    SHIM_TYPE = 0x65707954,
    SHIM_OP = 0x7265704f,
    SHIM_ERRHANDLER = 0x68727245
};

struct ompi_communicator_t {
    uint32_t magic;
    int rank, size;
    struct ft_stream *stream;       /* NULL before MPI_Init and after MPI_Finalize */
    MPI_Errhandler errhandler;      /* NULL: MPI_ERRORS_ARE_FATAL; else one reference */
    const char *name;
};

/* Contiguous, or a predefined pair with padding in it. `per` elements of kind `base` make up one of it. */
struct ompi_datatype_t {
    uint32_t magic;
    bool predefined, committed;
    uint8_t kind;                   /* enum ft_kind: what reductions see; FT_OPAQUE for derived types */
    uint8_t base;                   /* enum ft_kind: what calls that only move data see; one-byte kinds are FT_BYTE */
    uint32_t base_elem;             /* bytes from one base element to the next */
    uint64_t per;
    uint64_t size;                  /* bytes of data in it */
    uint64_t extent;                /* bytes from one to the next */
    const char *name;
    struct ompi_datatype_t *next_free;
};

struct ompi_op_t {
    uint32_t magic;
    uint8_t reduction;              /* enum ft_reduction */
    bool commutative;
    MPI_User_function *function;    /* FT_USER */
    const char *name;
    struct ompi_op_t *next_free;
};

enum shim_errhandler_does { SHIM_FATAL, SHIM_RETURN, SHIM_CALL };

struct ompi_errhandler_t {
    uint32_t magic;
    uint8_t does;                   /* enum shim_errhandler_does */
    bool predefined;
    uint32_t references;            /* of created ones: the handle's and one per communicator and "get" */
    MPI_Comm_errhandler_function *function;
    struct ompi_errhandler_t *next_free;
};

/* X(handle type's tag, exported size): the sizes are Open MPI's. The last five have no contents yet. */
#define SHIM_OBJECTS(X)                                                             \
    X(communicator, 512) X(datatype, 512) X(op, 2048) X(errhandler, 1024)           \
    X(group, 256) X(request, 256) X(message, 256) X(info, 256) X(win, 512) X(file, 1536)

struct ompi_group_t { uint32_t magic; };
struct ompi_request_t { uint32_t magic; };
struct ompi_message_t { uint32_t magic; };
struct ompi_info_t { uint32_t magic; };
struct ompi_win_t { uint32_t magic; };
struct ompi_file_t { uint32_t magic; };

#define X(tag, bytes)                                   \
    struct ompi_predefined_##tag##_t {                  \
        struct ompi_##tag##_t object;                   \
        char rest[bytes - sizeof(struct ompi_##tag##_t)]; \
    };                                                  \
    _Static_assert(sizeof(struct ompi_predefined_##tag##_t) == bytes, "size is part of the binary interface");
SHIM_OBJECTS(X)
#undef X

#endif
