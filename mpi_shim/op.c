/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduction operations: the predefined objects and the program's own (MPI 3.1 section 5.9). */
#include <stdlib.h>

#include "mpi_shim/shim.h"

#define OP(id, what, text) \
    struct ompi_predefined_op_t ompi_mpi_op_##id = {.object = {.magic = SHIM_OP, .reduction = what, .commutative = true, .name = text}};
OP(max, FT_MAX, "MPI_MAX")
OP(min, FT_MIN, "MPI_MIN")
OP(sum, FT_SUM, "MPI_SUM")
OP(prod, FT_PROD, "MPI_PROD")
OP(land, FT_LAND, "MPI_LAND")
OP(band, FT_BAND, "MPI_BAND")
OP(lor, FT_LOR, "MPI_LOR")
OP(bor, FT_BOR, "MPI_BOR")
OP(lxor, FT_LXOR, "MPI_LXOR")
OP(bxor, FT_BXOR, "MPI_BXOR")
OP(maxloc, FT_MAXLOC, "MPI_MAXLOC")
OP(minloc, FT_MINLOC, "MPI_MINLOC")
OP(replace, FT_REPLACE, "MPI_REPLACE")
OP(no_op, FT_NO_OP, "MPI_NO_OP")
struct ompi_predefined_op_t ompi_mpi_op_null = {.object = {.name = "MPI_OP_NULL"}};

static MPI_Op unused;   /* freed operations, see handle.h */

static int check_op(const char *me, MPI_Op op)
{
    int err = shim_check_running(me);

    if (err)
        return err;
    return op && op->magic == SHIM_OP ? MPI_SUCCESS : shim_bad_op(NULL, me, op);
}

/* Commutative or not makes no difference to the engine: it reduces in rank order always (MPI asks for
   that of the others only), so that a result never depends on timing. */
SHIM_ALIAS(int, Op_create, (MPI_User_function *function, int commute, MPI_Op *op));
int PMPI_Op_create(MPI_User_function *function, int commute, MPI_Op *op)
{
    SHIM_ENTER();
    const char *me = "Op_create";
    MPI_Op made = unused;
    int err = shim_check_running(me);

    if (err)
        return err;
    if (!function || !op)
        return shim_raise(NULL, me, op ? MPI_ERR_ARG : MPI_ERR_OP, "%s is a null pointer", op ? "the function" : "op");
    if (made)
        unused = made->next_free;
    else
        made = malloc(sizeof *made);
    if (!made)
        return shim_raise(NULL, me, MPI_ERR_NO_MEM, "no memory for a reduction operation");
    *made = (struct ompi_op_t){.magic = SHIM_OP, .reduction = FT_USER, .commutative = commute != 0,
                               .function = function, .name = "the program's operation"};
    *op = made;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Op_free, (MPI_Op *op));
int PMPI_Op_free(MPI_Op *op)
{
    SHIM_ENTER();
    const char *me = "Op_free";
    int err = check_op(me, op ? *op : NULL);

    if (err)
        return err;
    if ((*op)->reduction != FT_USER)
        return shim_raise(NULL, me, MPI_ERR_OP, "%s is predefined; it cannot be freed", (*op)->name);
    shim_op_unnumber(*op);
    (*op)->magic = 0;
    (*op)->next_free = unused;
    unused = *op;
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Op_commutative, (MPI_Op op, int *commute));
int PMPI_Op_commutative(MPI_Op op, int *commute)
{
    SHIM_ENTER();
    const char *me = "Op_commutative";
    int err = check_op(me, op);

    if (err)
        return err;
    if (!commute)
        return shim_raise(NULL, me, MPI_ERR_ARG, "commute is a null pointer");
    *commute = op->commutative;
    return MPI_SUCCESS;
}
