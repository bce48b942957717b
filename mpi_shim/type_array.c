/* SPDX-License-Identifier: BSD-3-Clause */
/* Types of arrays: a part of one, and what a process has of a distributed one (MPI 3.1 sections 4.1.3, 4.1.4). Dimension by dimension,
   the one that varies fastest first, each a type of the one before, as long as the whole array is in that dimension. */
#include "mpi_shim/type_contents.h"

/* What there is of a dimension: some of `size` elements. */
struct slice {
    int size;
    struct shim_part parts[2];  /* places and strides in elements; `of` is not set */
};

/* *type becomes the slice of it; the old one is released. */
static int cut(MPI_Datatype *type, const struct slice *slice)
{
    int64_t step = (*type)->extent, extent;
    struct shim_part parts[2];
    MPI_Datatype made, bounded;
    int err;

    for (int i = 0; i < 2; i++) {
        parts[i] = slice->parts[i];
        parts[i].of = *type;
        if (__builtin_mul_overflow(parts[i].at, step, &parts[i].at) || __builtin_mul_overflow(parts[i].stride, step, &parts[i].stride))
            return MPI_ERR_COUNT;
    }
    if (__builtin_mul_overflow((int64_t)slice->size, step, &extent))
        return MPI_ERR_COUNT;
    err = shim_layout_make(parts, 2, *type, &made);
    if (err)
        return err;
    err = shim_layout_bound(made, 0, extent, &bounded);
    shim_type_release(made);
    if (err)
        return err;
    shim_type_release(*type);
    *type = bounded;
    return MPI_SUCCESS;
}

static int build(int ndims, const struct slice *slices, int order, MPI_Datatype oldtype, MPI_Datatype *made)
{
    int err = MPI_SUCCESS;

    /* An element begins where the array does: the old type's lower bound does not move it. */
    *made = shim_type_hold(oldtype);
    for (int i = 0; i < ndims && !err; i++)
        err = cut(made, &slices[order == MPI_ORDER_C ? ndims - 1 - i : i]);
    if (err) {
        shim_type_release(*made);
        *made = NULL;
    }
    return err;
}

enum { MOST_DIMENSIONS = 32 }; /* an array of more has too many elements, or dimensions of one */

static int check(const char *me, int ndims, const void *arrays_there, int order, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    int err = shim_check_running(me);

    if (err)
        return err;
    if (ndims < 1 || ndims > MOST_DIMENSIONS)
        return shim_raise(NULL, me, ndims < 0 ? MPI_ERR_COUNT : MPI_ERR_ARG, "ndims is %d; it must be 1 to %d", ndims, MOST_DIMENSIONS);
    if (!arrays_there)
        return shim_raise(NULL, me, MPI_ERR_ARG, "an array of %d dimensions is a null pointer", ndims);
    if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN)
        return shim_raise(NULL, me, MPI_ERR_ARG, "the order is %d; it must be MPI_ORDER_C or MPI_ORDER_FORTRAN", order);
    if (!shim_type_known(oldtype))
        return shim_bad_type(NULL, me, oldtype);
    return newtype ? MPI_SUCCESS : shim_raise(NULL, me, MPI_ERR_TYPE, "newtype is a null pointer");
}

SHIM_ALIAS(int, Type_create_subarray, (int ndims, const int sizes[], const int subsizes[], const int starts[], int order,
                                       MPI_Datatype oldtype, MPI_Datatype *newtype));
int PMPI_Type_create_subarray(int ndims, const int sizes[], const int subsizes[], const int starts[], int order, MPI_Datatype oldtype,
                              MPI_Datatype *newtype)
{
    SHIM_ENTER();
    const char *me = "Type_create_subarray";
    int err = check(me, ndims, sizes && subsizes ? starts : NULL, order, oldtype, newtype);
    struct slice slices[MOST_DIMENSIONS];
    MPI_Datatype made;

    if (err)
        return err;
    for (int i = 0; i < ndims; i++) {
        if (subsizes[i] < 1 || starts[i] < 0 || starts[i] > sizes[i] - subsizes[i])
            return shim_raise(NULL, me, MPI_ERR_ARG, "dimension %d: the part of size %d from %d on is not in an array of size %d", i,
                              subsizes[i], starts[i], sizes[i]);
        slices[i] = (struct slice){.size = sizes[i], .parts = {{.at = starts[i], .blocks = 1, .n = (uint64_t)subsizes[i]}}};
    }
    err = build(ndims, slices, order, oldtype, &made);
    return shim_type_give(me, err, made, &(struct shim_recipe){.combiner = MPI_COMBINER_SUBARRAY,
                                                               .ints = {{1, &ndims}, {ndims, sizes}, {ndims, subsizes}, {ndims, starts},
                                                                        {1, &order}}, .n_types = 1, .types = &oldtype}, newtype);
}

/* Process `mine` of n has blocks of `block` elements in turn with the others. The last one may be cut. */
static struct slice deal(int size, int64_t block, int n, int mine)
{
    int64_t at = mine * block, round = n * block, whole, rest;

    whole = size < at + block ? 0 : (size - at - block) / round + 1;
    rest = size - at - whole * round;
    rest = rest < 0 ? 0 : rest > block ? block : rest;
    return (struct slice){.size = size,
                          .parts = {{.at = at, .blocks = (uint64_t)whole, .stride = round, .n = (uint64_t)block},
                                    {.at = at + whole * round, .blocks = 1, .n = (uint64_t)rest}}};
}

static int check_dimension(const char *me, int i, int size, int distribution, int argument, int n)
{
    if (size < 1 || n < 1)
        return shim_raise(NULL, me, MPI_ERR_ARG, "dimension %d: its size is %d, the grid's is %d; both must be 1 or more", i, size, n);
    if (distribution != MPI_DISTRIBUTE_BLOCK && distribution != MPI_DISTRIBUTE_CYCLIC && distribution != MPI_DISTRIBUTE_NONE)
        return shim_raise(NULL, me, MPI_ERR_ARG, "dimension %d: the distribution is %d; it must be one of MPI_DISTRIBUTE_", i,
                          distribution);
    if (distribution == MPI_DISTRIBUTE_NONE)
        return n == 1 ? MPI_SUCCESS
                      : shim_raise(NULL, me, MPI_ERR_ARG, "dimension %d: the grid's size is %d; it must be 1 for MPI_DISTRIBUTE_NONE", i, n);
    if (argument < 1 && argument != MPI_DISTRIBUTE_DFLT_DARG)
        return shim_raise(NULL, me, MPI_ERR_ARG, "dimension %d: the argument is %d; it must be 1 or more, or MPI_DISTRIBUTE_DFLT_DARG", i,
                          argument);
    if (distribution == MPI_DISTRIBUTE_BLOCK && argument != MPI_DISTRIBUTE_DFLT_DARG && (int64_t)argument * n < size)
        return shim_raise(NULL, me, MPI_ERR_ARG, "dimension %d: blocks of size %d, %d in the grid, do not cover the size %d", i, argument,
                          n, size);
    return MPI_SUCCESS;
}

static int64_t block_of(int size, int distribution, int argument, int n)
{
    if (distribution == MPI_DISTRIBUTE_NONE)
        return size;
    if (argument != MPI_DISTRIBUTE_DFLT_DARG)
        return argument;
    return distribution == MPI_DISTRIBUTE_CYCLIC ? 1 : ((int64_t)size + n - 1) / n;
}

SHIM_ALIAS(int, Type_create_darray, (int size, int rank, int ndims, const int gsizes[], const int distribs[], const int dargs[],
                                     const int psizes[], int order, MPI_Datatype oldtype, MPI_Datatype *newtype));
int PMPI_Type_create_darray(int size, int rank, int ndims, const int gsizes[], const int distribs[], const int dargs[],
                            const int psizes[], int order, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    SHIM_ENTER();
    const char *me = "Type_create_darray";
    int err = check(me, ndims, gsizes && distribs && dargs ? psizes : NULL, order, oldtype, newtype), left = rank;
    struct slice slices[MOST_DIMENSIONS];
    int64_t processes = 1;
    MPI_Datatype made;

    if (err)
        return err;
    if (rank < 0 || rank >= size)
        return shim_raise(NULL, me, MPI_ERR_ARG, "the rank is %d of %d", rank, size);
    for (int i = 0; i < ndims && !err; i++) {
        err = check_dimension(me, i, gsizes[i], distribs[i], dargs[i], psizes[i]);
        if (!err && processes <= size)
            processes *= psizes[i];
    }
    if (err)
        return err;
    if (processes != size)
        return shim_raise(NULL, me, MPI_ERR_ARG, "the grid's sizes do not multiply to %d", size);
    for (int i = ndims - 1; i >= 0; i--) { /* the last dimension of the grid varies fastest, whatever the order */
        slices[i] = deal(gsizes[i], block_of(gsizes[i], distribs[i], dargs[i], psizes[i]), psizes[i], left % psizes[i]);
        left /= psizes[i];
    }
    err = build(ndims, slices, order, oldtype, &made);
    return shim_type_give(me, err, made, &(struct shim_recipe){.combiner = MPI_COMBINER_DARRAY,
                                                               .ints = {{1, &size}, {1, &rank}, {1, &ndims}, {ndims, gsizes},
                                                                        {ndims, distribs}, {ndims, dargs}, {ndims, psizes}, {1, &order}},
                                                               .n_types = 1, .types = &oldtype}, newtype);
}
