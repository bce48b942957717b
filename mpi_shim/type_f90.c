/* SPDX-License-Identifier: BSD-3-Clause */
/* Types by what Fortran wants of them: so many decimal digits, such a range of exponents (MPI 3.1 section 17.1.9). They are predefined:
   the same arguments give the same handle, which cannot be freed. */
#include <stdlib.h>

#include "mpi_shim/type_contents.h"

/* In the order of their size. */
struct choice {
    int digits, range;
    MPI_Datatype type;
};
static const struct choice integers[] = {{0, 2, MPI_INTEGER1}, {0, 4, MPI_INTEGER2}, {0, 9, MPI_INTEGER4}, {0, 18, MPI_INTEGER8}};
static const struct choice reals[] = {{6, 37, MPI_REAL4}, {15, 307, MPI_REAL8}, {33, 4931, MPI_REAL16}};
static const struct choice complexes[] = {{6, 37, MPI_COMPLEX8}, {15, 307, MPI_COMPLEX16}, {33, 4931, MPI_COMPLEX32}};

/* Those that were asked for. */
static struct given {
    struct given *next;
    int combiner, digits, range;
    struct ompi_predefined_datatype_t type;
} *given;

static MPI_Datatype give(int combiner, int digits, int range, MPI_Datatype like)
{
    struct given *g = given;

    while (g && (g->combiner != combiner || g->digits != digits || g->range != range))
        g = g->next;
    if (g)
        return &g->type.object;
    g = malloc(sizeof *g);
    if (!g)
        return NULL;
    *g = (struct given){.next = given, .combiner = combiner, .digits = digits, .range = range, .type.object = *like};
    g->type.object.attributes = NULL;
    g->type.object.fortran = 0;
    given = g;
    return &g->type.object;
}

static int find(const char *me, int combiner, const struct choice *from, size_t n, int digits, int range, MPI_Datatype *newtype)
{
    int err = shim_check_running(me), *asked = combiner == MPI_COMBINER_F90_INTEGER ? &range : &digits;
    const struct choice *c = from;
    MPI_Datatype type;

    if (err)
        return err;
    if (!newtype)
        return shim_raise(NULL, me, MPI_ERR_ARG, "newtype is a null pointer");
    while (c < from + n && ((digits != MPI_UNDEFINED && digits > c->digits) || (range != MPI_UNDEFINED && range > c->range)))
        c++;
    if (c == from + n)
        return shim_raise(NULL, me, MPI_ERR_ARG, "there is no such type (digits %d, range %d)", digits, range);
    type = give(combiner, digits, range, c->type);
    if (type && !type->made) {
        struct shim_recipe recipe = {.combiner = combiner, .ints = {{1, asked}, {combiner != MPI_COMBINER_F90_INTEGER, &range}}};

        return shim_type_give(me, MPI_SUCCESS, type, &recipe, newtype);
    }
    if (!type)
        return shim_raise(NULL, me, MPI_ERR_NO_MEM, "no memory for a datatype");
    *newtype = type;
    return MPI_SUCCESS;
}

#define LENGTH(array) (sizeof(array) / sizeof *(array))

SHIM_ALIAS(int, Type_create_f90_integer, (int r, MPI_Datatype *newtype));
int PMPI_Type_create_f90_integer(int r, MPI_Datatype *newtype)
{
    SHIM_ENTER();

    return find("Type_create_f90_integer", MPI_COMBINER_F90_INTEGER, integers, LENGTH(integers), MPI_UNDEFINED, r, newtype);
}

SHIM_ALIAS(int, Type_create_f90_real, (int p, int r, MPI_Datatype *newtype));
int PMPI_Type_create_f90_real(int p, int r, MPI_Datatype *newtype)
{
    SHIM_ENTER();

    return find("Type_create_f90_real", MPI_COMBINER_F90_REAL, reals, LENGTH(reals), p, r, newtype);
}

SHIM_ALIAS(int, Type_create_f90_complex, (int p, int r, MPI_Datatype *newtype));
int PMPI_Type_create_f90_complex(int p, int r, MPI_Datatype *newtype)
{
    SHIM_ENTER();

    return find("Type_create_f90_complex", MPI_COMBINER_F90_COMPLEX, complexes, LENGTH(complexes), p, r, newtype);
}
