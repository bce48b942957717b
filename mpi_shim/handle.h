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

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ft/comm.h"
#include "ft/ft.h"
#define FTMPI_MISSING_UNDECLARED /* missing.c defines them */
#include "mpi_shim/mpi.h"

enum shim_magic {
    SHIM_COMM = 0x6d6d6f43,     /* "Comm", "Type", "Oper", "Errh" */
    SHIM_TYPE = 0x65707954,
    SHIM_OP = 0x7265704f,
    SHIM_ERRHANDLER = 0x68727245,
    SHIM_GROUP = 0x756f7247,    /* "Grou", "Info" */
    SHIM_INFO = 0x6f666e49,
    SHIM_REQUEST = 0x75716552,  /* "Requ", "Mess" */
    SHIM_MESSAGE = 0x7373654d
};

/* Debian's libmpi_cxx and libmpi_mpifh were compiled against the inside of Open MPI 4.1 and reach for a few members; these
   lie where they look. PLACE asserts it. */
#define PLACE(type, member, offset) _Static_assert(offsetof(struct type, member) == (offset), "the wrappers look there")

struct ompi_communicator_t {
    uint32_t magic;
    int rank, size;
    bool inter;                     /* an intercommunicator: rank and size are of this rank's group, `members` names the other one's */
    struct ft_stream *stream;       /* NULL before MPI_Init and after MPI_Finalize */
    const char *name;
    char label[MPI_MAX_OBJECT_NAME]; /* what MPI_Comm_set_name says; name then points here */
    struct ft_comm members;         /* rank, size and stream are its, too: every call wants them */
    MPI_Info info;                  /* hints, NULL: there are none */
    int fortran;                    /* as in a datatype; of created ones, as the next two */
    struct ompi_communicator_t *next_made, *next_free;
    char unused0[272 - 32 - MPI_MAX_OBJECT_NAME - sizeof(struct ft_comm) - 32];
    struct shim_attribute *attributes;
    char unused1[32];
    MPI_Errhandler errhandler;      /* NULL: MPI_ERRORS_ARE_FATAL; else one reference */
    int errhandler_kind;            /* SHIM_OF_COMM */
};
PLACE(ompi_communicator_t, attributes, 0x110);
PLACE(ompi_communicator_t, errhandler, 0x138);
PLACE(ompi_communicator_t, errhandler_kind, 0x140);

/* A piece of a derived type: so many blocks of so many elements each. */
struct shim_part {
    MPI_Datatype of;                /* one reference */
    int64_t at;                     /* bytes from where the type begins to the first block */
    int64_t stride;                 /* bytes from one block to the next */
    uint64_t blocks;
    uint64_t n;                     /* elements in a block, one extent apart */
};

/* A predefined type, or parts of others (layout.h). Side by side and in order its data are `packed`, as in a message: `per` elements of
   kind `base`. Predefined pairs of two kinds have parts, too. */
struct ompi_datatype_t {
    uint32_t magic;
    bool predefined, committed;
    uint8_t kind;                   /* enum ft_kind: what reductions see; FT_OPAQUE for derived types */
    uint8_t base;                   /* enum ft_kind: what calls that only move data see; one-byte kinds are FT_BYTE */
    uint32_t base_elem;             /* bytes from one base element to the next */
    int fortran;                    /* number of a derived type in Fortran, 0: none yet */
    uint64_t per;
    uint64_t size;                  /* bytes of data in it */
    int64_t extent;                 /* bytes from one to the next */
    const char *name;
    struct ompi_datatype_t *next_free;
    char label[MPI_MAX_OBJECT_NAME]; /* as in a communicator */
    bool contiguous;                /* many of them lie in memory as they are packed */
    bool lb_said, ub_said;          /* a program said where it, or a part, begins; where it ends */
    uint8_t align;
    uint32_t handles;               /* that the program has of a derived type */
    uint32_t references;            /* those together, and each use in another type */
    int64_t lb, true_lb, true_ub;
    uint64_t elements;              /* basic ones in it; a pair in a derived type is two */
    struct shim_made *made;         /* how a derived type was made (type_contents.c) */
    char unused[208 - 112 - MPI_MAX_OBJECT_NAME];
    struct shim_attribute *attributes;
    uint64_t n_parts;               /* of a derived type, or a pair of two kinds */
    struct shim_part *parts;
    struct ft_layout *layout;       /* the same for the engine, once it is committed; one reference. NULL: it is contiguous, or has no data */
};
PLACE(ompi_datatype_t, attributes, 0xd0);

enum { SHIM_FORTRAN_OP = 2, SHIM_CXX_OP = 4 };
struct ompi_op_t {
    uint32_t magic;
    uint8_t reduction;              /* enum ft_reduction */
    bool commutative;
    int fortran;                    /* as in a datatype */
    MPI_User_function *function;    /* FT_USER */
    void (*cxx)(void);              /* SHIM_CXX_OP: what `function` calls */
    const char *name;
    struct ompi_op_t *next_free;
    char unused[84 - 48];
    uint32_t language;              /* of the program's function: C's bits are 0 */
};
PLACE(ompi_op_t, language, 0x54);

enum shim_errhandler_does { SHIM_FATAL, SHIM_RETURN, SHIM_CALL };
enum shim_language { SHIM_C, SHIM_CXX, SHIM_FORTRAN };
enum shim_handled { SHIM_OF_COMM = 1, SHIM_OF_WIN, SHIM_OF_FILE };
struct ompi_errhandler_t {
    uint32_t magic;
    uint8_t does;                   /* enum shim_errhandler_does */
    bool predefined;
    uint32_t references;            /* of created ones: the handle's and one per communicator and "get" */
    int fortran;                    /* as in a datatype */
    struct ompi_errhandler_t *next_free;
    char unused[84 - 24];
    int language;                   /* enum shim_language */
    MPI_Comm_errhandler_function *function;
    ompi_file_errhandler_fn *of_file;
    MPI_Win_errhandler_function *of_win;
    void (*in_fortran)(MPI_Fint *object, MPI_Fint *code, ...);
    void (*cxx)(void *object, int *code, const char *message, void (*function)(void)); /* calls `function` */
};
PLACE(ompi_errhandler_t, function, 0x58);
PLACE(ompi_errhandler_t, of_file, 0x60);
PLACE(ompi_errhandler_t, of_win, 0x68);
PLACE(ompi_errhandler_t, in_fortran, 0x70);
PLACE(ompi_errhandler_t, cxx, 0x78);

struct ompi_group_t {
    uint32_t magic;
    int n;
    int fortran;                    /* as in a datatype */
    int *processes;                 /* their ranks in MPI_COMM_WORLD */
    struct ompi_group_t *next_free;
};

struct ompi_info_t {
    uint32_t magic;
    int fortran;                    /* as in a datatype */
    struct shim_hint *first;
    struct ompi_info_t *next_free;
};

struct ompi_file_t {
    uint32_t magic;
    char unused[128 - 4];
    MPI_Errhandler errhandler;
    int errhandler_kind;
};
PLACE(ompi_file_t, errhandler, 0x80);
PLACE(ompi_file_t, errhandler_kind, 0x88);

struct ompi_win_t {
    uint32_t magic;
    char unused[240 - 4];
    struct shim_attribute *attributes;
};
PLACE(ompi_win_t, attributes, 0xf0);

/* Of this process. A persistent one is started again and again; all others are active until they are freed. What is over without the
   engine has no request there: what is sent to MPI_PROC_NULL, or received from it, and what is sent from the attached buffer. */
enum shim_request_kind { SHIM_SENDS, SHIM_SENDS_SYNCHRONOUSLY, SHIM_SENDS_BUFFERED, SHIM_RECEIVES, SHIM_GENERALIZED,
                         SHIM_DUPLICATES /* MPI_Comm_idup: `buffer` is the new communicator */ };
struct ompi_request_t {
    uint32_t magic;
    uint8_t kind;                   /* enum shim_request_kind */
    bool persistent, active;
    bool freed;                     /* a generalized one, before it was complete */
    int peer, tag;                  /* from here to n, and type: what to start */
    void *buffer;
    uint64_t n;                     /* base elements */
    MPI_Comm comm;
    struct ft_request *engine;
    struct ompi_request_t *next_free;
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *free;
    MPI_Grequest_cancel_function *cancel;
    void *extra;
    _Atomic bool complete;          /* a generalized one: MPI_Grequest_complete was called */
    char unused0[15];
    int fortran;                    /* as in a datatype; 0 is also the number of MPI_REQUEST_NULL */
    struct ft_type type;            /* of what is sent or received; one reference to its layout */
    char unused1[0xc0 - 0x80];
    bool in_c;                      /* the three functions; else in Fortran */
};
PLACE(ompi_request_t, fortran, 0x68);
PLACE(ompi_request_t, in_c, 0xc0);

struct ompi_message_t {
    uint32_t magic;
    int fortran;                    /* as in a datatype */
    MPI_Comm comm;
    struct ft_message *engine;
    struct ompi_message_t *next_free;
};

/* X(handle type's tag, exported size): the sizes are Open MPI's. Windows and files have what the wrappers reach for. */
#define SHIM_OBJECTS(X)                                                             \
    X(communicator, 512) X(datatype, 512) X(op, 2048) X(errhandler, 1024)           \
    X(group, 256) X(request, 256) X(message, 256) X(info, 256) X(win, 512) X(file, 1536)

#define X(tag, bytes)                                   \
    struct ompi_predefined_##tag##_t {                  \
        struct ompi_##tag##_t object;                   \
        char rest[bytes - sizeof(struct ompi_##tag##_t)]; \
    };                                                  \
    _Static_assert(sizeof(struct ompi_predefined_##tag##_t) == bytes, "size is part of the binary interface");
SHIM_OBJECTS(X)
#undef X

#endif
