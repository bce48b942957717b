/* SPDX-License-Identifier: BSD-3-Clause */
/* Constructors of derived types (MPI 3.1 section 4.1.2), of one old type and of several. Arrays are in type_array.c. */
#include <stdlib.h>

#include "mpi_shim/type_contents.h"

static int check(const char *me, int count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    int err = shim_check_running(me);

    if (!err)
        err = shim_check_count(NULL, me, "count", count);
    if (err)
        return err;
    if (!shim_type_known(oldtype))
        return shim_bad_type(NULL, me, oldtype);
    return newtype ? MPI_SUCCESS : shim_raise(NULL, me, MPI_ERR_TYPE, "newtype is a null pointer");
}

static int check_length(const char *me, int blocklength)
{
    return blocklength >= 0 ? MPI_SUCCESS
                            : shim_raise(NULL, me, MPI_ERR_ARG, "a block's length is %d; it must be 0 or more", blocklength);
}

SHIM_ALIAS(int, Type_contiguous, (int count, MPI_Datatype oldtype, MPI_Datatype *newtype));
int PMPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    SHIM_ENTER();
    const char *me = "Type_contiguous";
    int err = check(me, count, oldtype, newtype);
    struct shim_part part = {.of = oldtype, .blocks = 1, .n = (uint64_t)count};
    MPI_Datatype made;

    if (err)
        return err;
    err = shim_layout_make(&part, 1, oldtype, &made);
    return shim_type_give(me, err, made, &(struct shim_recipe){.combiner = MPI_COMBINER_CONTIGUOUS, .ints = {{1, &count}}, .n_types = 1,
                                                               .types = &oldtype}, newtype);
}

SHIM_ALIAS(int, Type_vector, (int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype *newtype));
int PMPI_Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    SHIM_ENTER();
    const char *me = "Type_vector";
    int err = check(me, count, oldtype, newtype);
    struct shim_part part = {.of = oldtype, .blocks = (uint64_t)count, .n = (uint64_t)blocklength};
    MPI_Datatype made = NULL;

    if (!err)
        err = check_length(me, blocklength);
    if (err)
        return err;
    err = __builtin_mul_overflow(stride, oldtype->extent, &part.stride) ? MPI_ERR_COUNT : shim_layout_make(&part, 1, oldtype, &made);
    return shim_type_give(me, err, made, &(struct shim_recipe){.combiner = MPI_COMBINER_VECTOR,
                                                               .ints = {{1, &count}, {1, &blocklength}, {1, &stride}}, .n_types = 1,
                                                               .types = &oldtype}, newtype);
}

static int hvector(const char *me, int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    int err = check(me, count, oldtype, newtype);
    struct shim_part part = {.of = oldtype, .blocks = (uint64_t)count, .n = (uint64_t)blocklength, .stride = stride};
    MPI_Datatype made;

    if (!err)
        err = check_length(me, blocklength);
    if (err)
        return err;
    err = shim_layout_make(&part, 1, oldtype, &made);
    return shim_type_give(me, err, made, &(struct shim_recipe){.combiner = MPI_COMBINER_HVECTOR, .ints = {{1, &count}, {1, &blocklength}},
                                                               .n_addresses = 1, .addresses = &stride, .n_types = 1, .types = &oldtype},
                          newtype);
}

SHIM_ALIAS(int, Type_create_hvector, (int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype));
int PMPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    SHIM_ENTER();

    return hvector("Type_create_hvector", count, blocklength, stride, oldtype, newtype);
}

SHIM_ALIAS(int, Type_hvector, (int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype));
int PMPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    SHIM_ENTER();

    return hvector("Type_hvector", count, blocklength, stride, oldtype, newtype);
}

/* ---- blocks here and there. NULL stands for arrays that a constructor does not have ---- */

struct blocks {
    const int *lengths;         /* NULL: all of `length` */
    int length;
    const int *in_elements;     /* where they begin: in extents of the old type, or */
    const MPI_Aint *in_bytes;
    const MPI_Datatype *types;  /* NULL: all of `type` */
    MPI_Datatype type;
};

static int check_blocks(const char *me, int count, const struct blocks *b)
{
    int err = MPI_SUCCESS;

    for (int i = 0; i < count && !err; i++) {
        if (b->lengths)
            err = check_length(me, b->lengths[i]);
        if (!err && b->types && !shim_type_known(b->types[i]))
            err = shim_bad_type(NULL, me, b->types[i]);
    }
    return err;
}

static int layout(int count, const struct blocks *b, MPI_Datatype *made)
{
    struct shim_part *parts = malloc((count ? (size_t)count : 1) * sizeof *parts);
    bool fits = true;
    int err;

    *made = NULL;
    if (!parts)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < count && fits; i++) {
        MPI_Datatype of = b->types ? b->types[i] : b->type;

        parts[i] = (struct shim_part){.of = of, .blocks = 1, .n = (uint64_t)(b->lengths ? b->lengths[i] : b->length)};
        if (b->in_bytes)
            parts[i].at = b->in_bytes[i];
        else
            fits = !__builtin_mul_overflow(b->in_elements[i], of->extent, &parts[i].at);
    }
    err = fits ? shim_layout_make(parts, (uint64_t)count, b->type, made) : MPI_ERR_COUNT;
    free(parts);
    return err;
}

static int indexed(const char *me, int combiner, int count, const struct blocks *b, MPI_Datatype *newtype)
{
    int err = check(me, count, b->type, newtype);
    struct shim_recipe recipe = {.combiner = combiner, .ints = {{1, &count}}, .n_types = 1, .types = &b->type};
    MPI_Datatype made;

    if (err)
        return err;
    if (count > 0 && ((!b->in_bytes && !b->in_elements) || (b->length < 0 && !b->lengths)))
        return shim_raise(NULL, me, MPI_ERR_ARG, "an array of %d blocks' lengths or displacements is a null pointer", count);
    err = check_blocks(me, count, b);
    if (err)
        return err;
    err = layout(count, b, &made);
    recipe.ints[1].n = b->lengths ? count : b->length >= 0;
    recipe.ints[1].from = b->lengths ? b->lengths : &b->length;
    if (b->in_elements) {
        recipe.ints[2].n = count;
        recipe.ints[2].from = b->in_elements;
    } else {
        recipe.n_addresses = count;
        recipe.addresses = b->in_bytes;
    }
    return shim_type_give(me, err, made, &recipe, newtype);
}

enum { LENGTHS = -1 }; /* blocks.length of those that have an array of lengths */

SHIM_ALIAS(int, Type_indexed, (int count, const int blocklengths[], const int displacements[], MPI_Datatype oldtype,
                               MPI_Datatype *newtype));
int PMPI_Type_indexed(int count, const int blocklengths[], const int displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    SHIM_ENTER();
    struct blocks b = {.lengths = blocklengths, .length = LENGTHS, .in_elements = displacements, .type = oldtype};

    return indexed("Type_indexed", MPI_COMBINER_INDEXED, count, &b, newtype);
}

SHIM_ALIAS(int, Type_create_hindexed, (int count, const int blocklengths[], const MPI_Aint displacements[], MPI_Datatype oldtype,
                                       MPI_Datatype *newtype));
int PMPI_Type_create_hindexed(int count, const int blocklengths[], const MPI_Aint displacements[], MPI_Datatype oldtype,
                              MPI_Datatype *newtype)
{
    SHIM_ENTER();
    struct blocks b = {.lengths = blocklengths, .length = LENGTHS, .in_bytes = displacements, .type = oldtype};

    return indexed("Type_create_hindexed", MPI_COMBINER_HINDEXED, count, &b, newtype);
}

SHIM_ALIAS(int, Type_hindexed, (int count, int blocklengths[], MPI_Aint displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype));
int PMPI_Type_hindexed(int count, int blocklengths[], MPI_Aint displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    SHIM_ENTER();
    struct blocks b = {.lengths = blocklengths, .length = LENGTHS, .in_bytes = displacements, .type = oldtype};

    return indexed("Type_hindexed", MPI_COMBINER_HINDEXED, count, &b, newtype);
}

SHIM_ALIAS(int, Type_create_indexed_block, (int count, int blocklength, const int displacements[], MPI_Datatype oldtype,
                                            MPI_Datatype *newtype));
int PMPI_Type_create_indexed_block(int count, int blocklength, const int displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    SHIM_ENTER();
    const char *me = "Type_create_indexed_block";
    struct blocks b = {.length = blocklength, .in_elements = displacements, .type = oldtype};
    int err = check(me, count, oldtype, newtype);

    if (!err)
        err = check_length(me, blocklength);
    return err ? err : indexed(me, MPI_COMBINER_INDEXED_BLOCK, count, &b, newtype);
}

SHIM_ALIAS(int, Type_create_hindexed_block, (int count, int blocklength, const MPI_Aint displacements[], MPI_Datatype oldtype,
                                             MPI_Datatype *newtype));
int PMPI_Type_create_hindexed_block(int count, int blocklength, const MPI_Aint displacements[], MPI_Datatype oldtype,
                                    MPI_Datatype *newtype)
{
    SHIM_ENTER();
    const char *me = "Type_create_hindexed_block";
    struct blocks b = {.length = blocklength, .in_bytes = displacements, .type = oldtype};
    int err = check(me, count, oldtype, newtype);

    if (!err)
        err = check_length(me, blocklength);
    return err ? err : indexed(me, MPI_COMBINER_HINDEXED_BLOCK, count, &b, newtype);
}

static int of_several(const char *me, int count, const int lengths[], const MPI_Aint displacements[], const MPI_Datatype types[],
                      MPI_Datatype *newtype)
{
    struct blocks b = {.lengths = lengths, .in_bytes = displacements, .types = types};
    int err = check(me, count, MPI_BYTE, newtype);
    MPI_Datatype made;

    if (err)
        return err;
    if (count > 0 && (!lengths || !displacements || !types))
        return shim_raise(NULL, me, MPI_ERR_ARG, "the array of %d blocks' lengths, displacements or types is a null pointer", count);
    err = check_blocks(me, count, &b);
    if (err)
        return err;
    err = layout(count, &b, &made);
    return shim_type_give(me, err, made, &(struct shim_recipe){.combiner = MPI_COMBINER_STRUCT, .ints = {{1, &count}, {count, lengths}},
                                                               .n_addresses = count, .addresses = displacements, .n_types = count,
                                                               .types = types}, newtype);
}

SHIM_ALIAS(int, Type_create_struct, (int count, const int blocklengths[], const MPI_Aint displacements[], const MPI_Datatype types[],
                                     MPI_Datatype *newtype));
int PMPI_Type_create_struct(int count, const int blocklengths[], const MPI_Aint displacements[], const MPI_Datatype types[],
                            MPI_Datatype *newtype)
{
    SHIM_ENTER();

    return of_several("Type_create_struct", count, blocklengths, displacements, types, newtype);
}

SHIM_ALIAS(int, Type_struct, (int count, int blocklengths[], MPI_Aint displacements[], MPI_Datatype types[], MPI_Datatype *newtype));
int PMPI_Type_struct(int count, int blocklengths[], MPI_Aint displacements[], MPI_Datatype types[], MPI_Datatype *newtype)
{
    SHIM_ENTER();

    return of_several("Type_struct", count, blocklengths, displacements, types, newtype);
}

/* ---- the same data again ---- */

SHIM_ALIAS(int, Type_create_resized, (MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype *newtype));
int PMPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype *newtype)
{
    SHIM_ENTER();
    const char *me = "Type_create_resized";
    int err = check(me, 0, oldtype, newtype);
    MPI_Aint bounds[2] = {lb, extent}, ub;
    MPI_Datatype made = NULL;

    if (err)
        return err;
    err = __builtin_add_overflow(lb, extent, &ub) ? MPI_ERR_COUNT : shim_layout_bound(oldtype, lb, extent, &made);
    return shim_type_give(me, err, made, &(struct shim_recipe){.combiner = MPI_COMBINER_RESIZED, .n_addresses = 2, .addresses = bounds,
                                                               .n_types = 1, .types = &oldtype}, newtype);
}

SHIM_ALIAS(int, Type_dup, (MPI_Datatype oldtype, MPI_Datatype *newtype));
int PMPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    SHIM_ENTER();
    const char *me = "Type_dup";
    int err = check(me, 0, oldtype, newtype), copied;
    MPI_Datatype made;

    if (err)
        return err;
    err = shim_layout_copy(oldtype, &made);
    err = shim_type_give(me, err, made, &(struct shim_recipe){.combiner = MPI_COMBINER_DUP, .n_types = 1, .types = &oldtype}, newtype);
    if (err)
        return err;
    made->committed = oldtype->committed;
    made->layout = ft_layout_hold(oldtype->layout);
    copied = shim_attributes_copy(2, oldtype, oldtype->attributes, made, &made->attributes);
    if (!copied)
        return MPI_SUCCESS;
    PMPI_Type_free(newtype);
    return shim_raise(NULL, me, shim_class_name(copied) ? copied : MPI_ERR_OTHER, "an attribute's copy function failed");
}
