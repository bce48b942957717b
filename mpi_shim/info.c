/* SPDX-License-Identifier: BSD-3-Clause */
/* Info objects (MPI 3.1 chapter 9): keys with values, in the order in which they were set. Hints, also those
   of communicators (6.4.4); nobody here takes one yet. */
#include <stdlib.h>
#include <string.h>

#include "mpi_shim/shim.h"

struct shim_hint {
    struct shim_hint *next;
    char key[MPI_MAX_INFO_KEY], value[MPI_MAX_INFO_VAL];
};

static MPI_Info unused;     /* freed objects, see handle.h */

int shim_bad_info(MPI_Comm comm, const char *me, MPI_Info info)
{
    return shim_raise(comm, me, MPI_ERR_INFO, info == MPI_INFO_NULL ? "the object is MPI_INFO_NULL"
                                                                    : "this is not an info object; was it freed?");
}

static bool is_info(MPI_Info info) { return info && info->magic == SHIM_INFO; }

static int check(const char *me, MPI_Info info, bool results)
{
    int err = shim_check_running(me);

    if (!err && !is_info(info))
        err = shim_bad_info(NULL, me, info);
    if (!err && !results)
        err = shim_raise(NULL, me, MPI_ERR_ARG, "a null pointer argument");
    return err;
}

/* Length 1 to most - 1. */
static int check_text(const char *me, int class, const char *what, const char *text, size_t most)
{
    if (text && *text && strlen(text) < most)
        return MPI_SUCCESS;
    return shim_raise(NULL, me, class, "the %s %s; it must have 1 to %zu characters", what,
                      !text ? "is a null pointer" : *text ? "is too long" : "is empty", most - 1);
}

static int check_key(const char *me, MPI_Info info, const char *key, bool results)
{
    int err = check(me, info, results);

    return err ? err : check_text(me, MPI_ERR_INFO_KEY, "key", key, MPI_MAX_INFO_KEY);
}

/* Where the key is hung up, or the end. */
static struct shim_hint **find(MPI_Info info, const char *key)
{
    struct shim_hint **place = &info->first;

    while (*place && strcmp((*place)->key, key) != 0)
        place = &(*place)->next;
    return place;
}

SHIM_ALIAS(int, Info_create, (MPI_Info *info));
int PMPI_Info_create(MPI_Info *info)
{
    SHIM_ENTER();
    const char *me = "Info_create";
    MPI_Info made = unused;
    int err = shim_check_running(me);

    if (err)
        return err;
    if (!info)
        return shim_raise(NULL, me, MPI_ERR_INFO, "info is a null pointer");
    if (made)
        unused = made->next_free;
    else
        made = malloc(sizeof *made);
    if (!made)
        return shim_raise(NULL, me, MPI_ERR_NO_MEM, "no memory for an info object");
    *made = (struct ompi_info_t){.magic = SHIM_INFO};
    *info = made;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Info_set, (MPI_Info info, const char *key, const char *value));
int PMPI_Info_set(MPI_Info info, const char *key, const char *value)
{
    SHIM_ENTER();
    const char *me = "Info_set";
    struct shim_hint **place;
    int err = check_key(me, info, key, true);

    if (!err)
        err = check_text(me, MPI_ERR_INFO_VALUE, "value", value, MPI_MAX_INFO_VAL);
    if (err)
        return err;
    place = find(info, key);
    if (!*place) {
        *place = calloc(1, sizeof **place);
        if (!*place)
            return shim_raise(NULL, me, MPI_ERR_NO_MEM, "no memory for a key");
        strcpy((*place)->key, key);
    }
    strcpy((*place)->value, value);
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Info_get, (MPI_Info info, const char *key, int valuelen, char *value, int *flag));
int PMPI_Info_get(MPI_Info info, const char *key, int valuelen, char *value, int *flag)
{
    SHIM_ENTER();
    const char *me = "Info_get";
    struct shim_hint *hint;
    int err = check_key(me, info, key, value && flag);

    if (!err && valuelen < 0)
        err = shim_raise(NULL, me, MPI_ERR_ARG, "valuelen is %d; it must be 0 or more", valuelen);
    if (err)
        return err;
    hint = *find(info, key);
    *flag = hint != NULL;
    if (hint) { /* value has room for one more */
        size_t n = strnlen(hint->value, (size_t)valuelen);

        memcpy(value, hint->value, n);
        value[n] = '\0';
    }
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Info_get_valuelen, (MPI_Info info, const char *key, int *valuelen, int *flag));
int PMPI_Info_get_valuelen(MPI_Info info, const char *key, int *valuelen, int *flag)
{
    SHIM_ENTER();
    struct shim_hint *hint;
    int err = check_key("Info_get_valuelen", info, key, valuelen && flag);

    if (err)
        return err;
    hint = *find(info, key);
    *flag = hint != NULL;
    if (hint)
        *valuelen = (int)strlen(hint->value);
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Info_delete, (MPI_Info info, const char *key));
int PMPI_Info_delete(MPI_Info info, const char *key)
{
    SHIM_ENTER();
    const char *me = "Info_delete";
    struct shim_hint **place, *hint;
    int err = check_key(me, info, key, true);

    if (err)
        return err;
    place = find(info, key);
    hint = *place;
    if (!hint)
        return shim_raise(NULL, me, MPI_ERR_INFO_NOKEY, "there is no key \"%s\"", key);
    *place = hint->next;
    free(hint);
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Info_get_nkeys, (MPI_Info info, int *nkeys));
int PMPI_Info_get_nkeys(MPI_Info info, int *nkeys)
{
    SHIM_ENTER();
    int err = check("Info_get_nkeys", info, nkeys != NULL);

    if (err)
        return err;
    *nkeys = 0;
    for (struct shim_hint *hint = info->first; hint; hint = hint->next)
        ++*nkeys;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Info_get_nthkey, (MPI_Info info, int n, char *key));
int PMPI_Info_get_nthkey(MPI_Info info, int n, char *key)
{
    SHIM_ENTER();
    const char *me = "Info_get_nthkey";
    struct shim_hint *hint;
    int err = check(me, info, key != NULL);

    if (err)
        return err;
    hint = info->first;
    for (int i = 0; hint && i < n; i++)
        hint = hint->next;
    if (n < 0 || !hint)
        return shim_raise(NULL, me, n < 0 ? MPI_ERR_ARG : MPI_ERR_INFO_KEY, "there is no key number %d", n);
    strcpy(key, hint->key);
    return MPI_SUCCESS;
}

static void empty(MPI_Info info)
{
    while (info->first) {
        struct shim_hint *hint = info->first;

        info->first = hint->next;
        free(hint);
    }
}

SHIM_ALIAS(int, Info_free, (MPI_Info *info));
int PMPI_Info_free(MPI_Info *info)
{
    SHIM_ENTER();
    const char *me = "Info_free";
    int err = check(me, info ? *info : NULL, true);

    if (err)
        return err;
    if (*info == MPI_INFO_ENV)
        return shim_raise(NULL, me, MPI_ERR_INFO, "MPI_INFO_ENV is predefined; it cannot be freed");
    empty(*info);
    shim_info_unnumber(*info);
    (*info)->magic = 0;
    (*info)->next_free = unused;
    unused = *info;
    *info = MPI_INFO_NULL;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Info_dup, (MPI_Info info, MPI_Info *newinfo));
int PMPI_Info_dup(MPI_Info info, MPI_Info *newinfo)
{
    SHIM_ENTER();
    const char *me = "Info_dup";
    int err = check(me, info, newinfo != NULL);

    if (!err)
        err = PMPI_Info_create(newinfo);
    if (err)
        return err;
    for (struct shim_hint *hint = info->first; hint && !err; hint = hint->next)
        err = PMPI_Info_set(*newinfo, hint->key, hint->value);
    if (err)
        PMPI_Info_free(newinfo);
    return err;
}

int shim_info_hints(MPI_Info info, MPI_Info *hints)
{
    *hints = NULL;
    return is_info(info) ? PMPI_Info_dup(info, hints) : MPI_SUCCESS;
}

/* What was said before and is not said now stays. */
SHIM_ALIAS(int, Comm_set_info, (MPI_Comm comm, MPI_Info info));
int PMPI_Comm_set_info(MPI_Comm comm, MPI_Info info)
{
    SHIM_ENTER();
    const char *me = "Comm_set_info";
    int err = MPI_SUCCESS;

    if (!shim_comm_ok(comm))
        return shim_bad_comm(comm, me);
    if (!is_info(info))
        return shim_bad_info(comm, me, info);
    if (!comm->info)
        return shim_info_hints(info, &comm->info);
    for (struct shim_hint *hint = info->first; hint && !err; hint = hint->next)
        err = PMPI_Info_set(comm->info, hint->key, hint->value);
    return err;
}

SHIM_ALIAS(int, Comm_get_info, (MPI_Comm comm, MPI_Info *info_used));
int PMPI_Comm_get_info(MPI_Comm comm, MPI_Info *info_used)
{
    SHIM_ENTER();
    const char *me = "Comm_get_info";

    if (!shim_comm_ok(comm))
        return shim_bad_comm(comm, me);
    if (!info_used)
        return shim_raise(comm, me, MPI_ERR_INFO, "info_used is a null pointer");
    return comm->info ? PMPI_Info_dup(comm->info, info_used) : PMPI_Info_create(info_used);
}
