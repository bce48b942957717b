/* SPDX-License-Identifier: BSD-3-Clause */
/* What Debian's libmpi_cxx and libmpi_mpifh import from the inside of Open MPI 4.1's library, so that C++ and Fortran
   programs run on those wrappers over ours. Sizes and meaning are Open MPI's; handle.h has the members they reach for. */
#include <stdlib.h>
#include <string.h>

#include "mpi_shim/shim.h"
#include "mpi_shim/wrappers.h"

/* Fortran's special arguments are common blocks, known by their address: a Fortran program's own stand in for these. */
FTMPI_API extern MPI_Fint mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_errcodes_ignore_, mpi_fortran_unweighted_,
    mpi_fortran_weights_empty_, mpi_fortran_status_ignore_[2], mpi_fortran_statuses_ignore_[2];
FTMPI_API extern char mpi_fortran_argv_null_, mpi_fortran_argvs_null_;
MPI_Fint mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_errcodes_ignore_, mpi_fortran_unweighted_,
    mpi_fortran_weights_empty_, mpi_fortran_status_ignore_[2], mpi_fortran_statuses_ignore_[2];
char mpi_fortran_argv_null_, mpi_fortran_argvs_null_;
MPI_Fint *MPI_F_STATUS_IGNORE = mpi_fortran_status_ignore_, *MPI_F_STATUSES_IGNORE = mpi_fortran_statuses_ignore_;

int ompi_mpi_state = OMPI_NOT_INITIALIZED;
bool ompi_mpi_param_check = true;
ompi_status_public_t ompi_status_empty = {.MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG};

/* Internal error codes, negative ones, are Open MPI's own; there are none here. */
FTMPI_API extern int ompi_errcode_intern_lastused;
FTMPI_API extern char ompi_errcodes_intern[120];
int ompi_errcode_intern_lastused;
char ompi_errcodes_intern[120];

/* A list, empty: libmpi_cxx appends the state of its callbacks. */
struct item {
    void *class;
    uint64_t references;
    struct item *next, *prev;
    uint64_t unused;
};
FTMPI_API extern struct list { void *class; uint64_t references; struct item end; uint64_t length; } ompi_registered_datareps;
struct list ompi_registered_datareps = {.references = 1,
                                        .end = {.next = &ompi_registered_datareps.end, .prev = &ompi_registered_datareps.end}};
_Static_assert(sizeof(struct list) == 64, "size is part of the binary interface");

/* NULL without memory, as there. `function` is called with what its language passes (error.c). */
MPI_Errhandler ompi_errhandler_create(int kind, void (*function)(void), int language)
{
    MPI_Errhandler made = shim_errhandler_new(language);

    if (!made)
        return MPI_ERRHANDLER_NULL;
    if (language == SHIM_FORTRAN)
        made->in_fortran = (void (*)(MPI_Fint *, MPI_Fint *, ...))function;
    else if (kind == SHIM_OF_COMM)
        made->function = (MPI_Comm_errhandler_function *)function;
    else if (kind == SHIM_OF_WIN)
        made->of_win = (MPI_Win_errhandler_function *)function;
    else
        made->of_file = (ompi_file_errhandler_fn *)function;
    return made;
}

/* A wrapper found an error; `where` is its name with MPI_. There are no windows and files that could have a handler. */
int ompi_errhandler_invoke(MPI_Errhandler handler, void *object, int kind, int code, const char *where)
{
    MPI_Comm comm = kind == SHIM_OF_COMM ? object : MPI_COMM_WORLD;

    if (!shim_class_name(code))
        code = MPI_ERR_UNKNOWN;
    if (!handler)
        handler = kind == SHIM_OF_FILE ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL;
    if (!where)
        where = "MPI";
    if (!strncmp(where, "MPI_", 4))
        where += 4;
    return shim_raise_to(handler, comm, where, code, "%s", shim_error_text(code));
}

/* Called by wrappers outside of MPI_Init and MPI_Finalize, with the name of the function as the third argument. */
void ompi_mpi_errors_are_fatal_comm_handler(MPI_Comm *comm, int *code, const char *where, ...)
{
    int class = code && shim_class_name(*code) ? *code : MPI_ERR_OTHER;

    (void)comm;
    if (where && !strncmp(where, "MPI_", 4))
        where += 4;
    shim_raise_to(MPI_ERRORS_ARE_FATAL, MPI_COMM_WORLD, where ? where : "function", class, "%s",
                  shim.stage == SHIM_BEFORE ? "called before MPI_Init" : shim.stage == SHIM_FINISHED ? "called after MPI_Finalize"
                                                                                                  : shim_error_text(class));
}

/* For C++ bindings, ours (mpicxx.h) and libmpi_cxx, whose functions have another type than C's: MPI_Op_create was given a function
   of the binding, which is from now on called with the program's as a fifth argument. */
void ompi_op_set_cxx_callback(MPI_Op op, MPI_User_function *function)
{
    if (!op || op->magic != SHIM_OP || op->reduction != FT_USER)
        return;
    op->language |= SHIM_CXX_OP;
    op->cxx = (void (*)(void))function;
}

/* The Fortran type of so many bytes, MPI_DATATYPE_NULL if there is none. kind: integer, real or complex. */
MPI_Datatype ompi_datatype_match_size(int size, uint16_t kind, uint16_t language)
{
    static const struct {
        uint16_t kind;
        int size;
        MPI_Datatype type;
    } table[] = {
        {OMPI_INTEGER, 1, MPI_INTEGER1}, {OMPI_INTEGER, 2, MPI_INTEGER2}, {OMPI_INTEGER, 4, MPI_INTEGER},
        {OMPI_INTEGER, 8, MPI_INTEGER8},
        {OMPI_REAL, 4, MPI_REAL}, {OMPI_REAL, 8, MPI_REAL8}, {OMPI_REAL, 16, MPI_REAL16},
        {OMPI_COMPLEX, 8, MPI_COMPLEX}, {OMPI_COMPLEX, 16, MPI_COMPLEX16}, {OMPI_COMPLEX, 32, MPI_COMPLEX32},
    };

    (void)language; /* Fortran is the only one that asks */
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].kind == kind && table[i].size == size)
            return table[i].type;
    return MPI_DATATYPE_NULL;
}

/* Texts: blanks at both ends are Fortran's padding. The caller frees. 0, or -2 without memory. */
int ompi_fortran_string_f2c(const char *text, int length, char **out)
{
    while (length > 0 && *text == ' ')
        text++, length--;
    while (length > 0 && text[length - 1] == ' ')
        length--;
    *out = strndup(text, (size_t)length);
    return *out ? 0 : -2;
}

int ompi_fortran_string_c2f(const char *text, char *out, int length)
{
    size_t room = length > 0 ? (size_t)length : 0, used = strnlen(text, room);

    memcpy(out, text, used);
    memset(out + used, ' ', room - used);
    return 0;
}

/* `count` texts, `advance` bytes apart, as an argument vector: an array and texts that free() takes. */
int ompi_fortran_argv_count_f2c(char *array, int count, int length, int advance, char ***argv)
{
    char **made = calloc((size_t)count + 1, sizeof *made);

    for (int i = 0; made && i < count; i++)
        if (ompi_fortran_string_f2c(array + (ptrdiff_t)i * advance, length, &made[i]) != 0) {
            while (i > 0)
                free(made[--i]);
            free(made);
            made = NULL;
        }
    *argv = made;
    return made ? 0 : -2;
}

/* Likewise, up to the first blank one. */
int ompi_fortran_argv_blank_f2c(char *array, int length, int advance, char ***argv)
{
    int count = 0;

    for (;; count++) {
        const char *text = array + (ptrdiff_t)count * advance;
        int i = 0;

        while (i < length && text[i] == ' ')
            i++;
        if (i == length)
            break;
    }
    return ompi_fortran_argv_count_f2c(array, count, length, advance, argv);
}

/* `commands` argument vectors, stored as Fortran stores an array (commands, arguments). */
int ompi_fortran_multiple_argvs_f2c(int commands, char *array, int length, char ****argvs)
{
    char ***made = calloc((size_t)commands + 1, sizeof *made);

    for (int i = 0; made && i < commands; i++)
        if (ompi_fortran_argv_blank_f2c(array + (ptrdiff_t)i * length, length, commands * length, &made[i]) != 0) {
            while (i > 0) {
                char **argv = made[--i];

                for (char **text = argv; *text; text++)
                    free(*text);
                free(argv);
            }
            free(made);
            made = NULL;
        }
    *argvs = made;
    return made ? 0 : -2;
}
