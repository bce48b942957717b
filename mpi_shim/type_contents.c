/* SPDX-License-Identifier: BSD-3-Clause */
/* See type_contents.h. */
#include "mpi_shim/type_contents.h"

#include <stdlib.h>
#include <string.h>

struct shim_made {
    int combiner, n_ints, n_addresses, n_types;
    MPI_Datatype *types;        /* one reference each; the others lie behind them */
    MPI_Aint *addresses;
    int *ints;
};

void shim_made_drop(struct shim_made *made)
{
    if (!made)
        return;
    for (int i = 0; i < made->n_types; i++)
        shim_type_release(made->types[i]);
    free(made);
}

static struct shim_made *note(const struct shim_recipe *recipe)
{
    size_t n_ints = 0, types = (size_t)recipe->n_types, addresses = (size_t)recipe->n_addresses;
    struct shim_made *made;
    int *to;

    for (int k = 0; k < SHIM_MADE_PIECES; k++)
        n_ints += (size_t)recipe->ints[k].n;
    made = malloc(sizeof *made + types * sizeof *made->types + addresses * sizeof *made->addresses + n_ints * sizeof *made->ints);
    if (!made)
        return NULL;
    *made = (struct shim_made){.combiner = recipe->combiner, .n_ints = (int)n_ints, .n_addresses = recipe->n_addresses,
                               .n_types = recipe->n_types, .types = (MPI_Datatype *)(made + 1)};
    made->addresses = (MPI_Aint *)(made->types + types);
    made->ints = to = (int *)(made->addresses + addresses);
    for (size_t i = 0; i < types; i++)
        made->types[i] = shim_type_hold(recipe->types[i]);
    if (addresses)
        memcpy(made->addresses, recipe->addresses, addresses * sizeof *made->addresses);
    for (int k = 0; k < SHIM_MADE_PIECES; k++) {
        if (recipe->ints[k].n > 0)
            memcpy(to, recipe->ints[k].from, (size_t)recipe->ints[k].n * sizeof *to);
        to += recipe->ints[k].n;
    }
    return made;
}

int shim_type_give(const char *me, int err, MPI_Datatype made, const struct shim_recipe *recipe, MPI_Datatype *newtype)
{
    if (!err && !(made->made = note(recipe))) {
        shim_type_release(made);
        err = MPI_ERR_NO_MEM;
    }
    if (err)
        return shim_raise(NULL, me, err, err == MPI_ERR_NO_MEM ? "no memory for a datatype" : "its size or extent exceeds 63 bits");
    made->handles = 1;
    *newtype = made;
    return MPI_SUCCESS;
}

static const struct shim_made *made_of(MPI_Datatype type)
{
    static const struct shim_made named = {.combiner = MPI_COMBINER_NAMED};

    return type->made ? type->made : &named;
}

static int check(const char *me, MPI_Datatype type)
{
    int err = shim_check_running(me);

    return err ? err : shim_type_known(type) ? MPI_SUCCESS : shim_bad_type(NULL, me, type);
}

SHIM_ALIAS(int, Type_get_envelope, (MPI_Datatype datatype, int *num_integers, int *num_addresses, int *num_datatypes, int *combiner));
int PMPI_Type_get_envelope(MPI_Datatype datatype, int *num_integers, int *num_addresses, int *num_datatypes, int *combiner)
{
    SHIM_ENTER();
    const char *me = "Type_get_envelope";
    int err = check(me, datatype);
    const struct shim_made *made;

    if (err)
        return err;
    if (!num_integers || !num_addresses || !num_datatypes || !combiner)
        return shim_raise(NULL, me, MPI_ERR_ARG, "a null pointer to write the answer to");
    made = made_of(datatype);
    *num_integers = made->n_ints;
    *num_addresses = made->n_addresses;
    *num_datatypes = made->n_types;
    *combiner = made->combiner;
    return MPI_SUCCESS;
}

/* The types that come out are the program's to free, so each is one handle more. */
SHIM_ALIAS(int, Type_get_contents, (MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes, int integers[],
                                    MPI_Aint addresses[], MPI_Datatype datatypes[]));
int PMPI_Type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes, int integers[],
                           MPI_Aint addresses[], MPI_Datatype datatypes[])
{
    SHIM_ENTER();
    const char *me = "Type_get_contents";
    int err = check(me, datatype);
    const struct shim_made *made;

    if (err)
        return err;
    made = made_of(datatype);
    if (made->combiner == MPI_COMBINER_NAMED)
        return shim_raise(NULL, me, MPI_ERR_TYPE, "%s is predefined; it has no contents", datatype->name);
    if (max_integers < made->n_ints || max_addresses < made->n_addresses || max_datatypes < made->n_types)
        return shim_raise(NULL, me, MPI_ERR_ARG, "the arrays' sizes are %d, %d and %d; they must be %d, %d and %d or more", max_integers,
                          max_addresses, max_datatypes, made->n_ints, made->n_addresses, made->n_types);
    if ((made->n_ints && !integers) || (made->n_addresses && !addresses) || (made->n_types && !datatypes))
        return shim_raise(NULL, me, MPI_ERR_ARG, "a null pointer to write the answer to");
    if (made->n_ints)
        memcpy(integers, made->ints, (size_t)made->n_ints * sizeof *integers);
    if (made->n_addresses)
        memcpy(addresses, made->addresses, (size_t)made->n_addresses * sizeof *addresses);
    for (int i = 0; i < made->n_types; i++) {
        MPI_Datatype type = shim_type_hold(made->types[i]);

        if (!type->predefined) {
            type->handles++;
            type->magic = SHIM_TYPE;
        }
        datatypes[i] = type;
    }
    return MPI_SUCCESS;
}
