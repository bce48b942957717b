/* SPDX-License-Identifier: BSD-3-Clause */
/* The job's store: see ftmpi.h. */
#include <string.h>

#include "ft/base/util.h"
#include "mpi_shim/ftmpi.h"
#include "mpi_shim/shim.h"

/* A program may go on after all of these. */
static int finish(const char *me, const struct ft_value_ask *ask, const struct ft_value_answer *answer, int err, const struct ft_error *e)
{
    int shown = (int)ft_min(ask->nkey, 64);

    if (err == FT_ENOMEM)
        return shim_raise(NULL, me, MPI_ERR_NO_MEM, "%s", e->text);
    if (err)
        return shim_finish(err, e);
    if (answer->status == FT_VALUE_NO_NUMBER)
        return shim_raise(NULL, me, MPI_ERR_ARG, "the value of \"%.*s\" is no number in decimal digits, or the sum is beyond 64 bits",
                          shown, ask->key);
    if (answer->status == FT_VALUE_FULL)
        return shim_raise(NULL, me, MPI_ERR_NO_MEM,
                          "the job's store is full, and \"%.*s\" is as it was: all its calls together may take 1 GiB "
                          "(less where memory is short), of 1048576 keys", shown, ask->key);
    return MPI_SUCCESS;
}

static int check_key(const char *me, const char *key, struct ft_value_ask *ask)
{
    size_t n;
    int err = shim_check_running(me);

    if (err)
        return err;
    if (!key)
        return shim_raise(NULL, me, MPI_ERR_ARG, "key is a null pointer");
    n = strnlen(key, FT_VALUE_KEY + 1);
    if (n == 0 || n > FT_VALUE_KEY)
        return shim_raise(NULL, me, MPI_ERR_ARG, "the key is %s; it has to have 1 to 1024 bytes", n ? "too long" : "empty");
    ask->key = key;
    ask->nkey = (uint32_t)n;
    return MPI_SUCCESS;
}

static int check_value(const char *me, const char *what, const char *length, const void *value, MPI_Count n)
{
    int err = shim_check_count(NULL, me, length, n);

    if (!err)
        err = shim_check_buffer(NULL, me, what, value, (uint64_t)n);
    if (!err && n > FT_VALUE_BYTES)
        err = shim_raise(NULL, me, MPI_ERR_COUNT, "%s has a length of %lld; a value may have 1 MiB", what, (long long)n);
    return err;
}

/* What get and wait give. */
static int give(const char *me, struct ft_value_ask *ask, const void **value, MPI_Count *n, int *there)
{
    struct ft_value_answer answer = {0};
    struct ft_error e;
    int err;

    if (!there)
        return shim_raise(NULL, me, MPI_ERR_ARG, "there is a null pointer");
    if (!value != !n)
        return shim_raise(NULL, me, MPI_ERR_ARG, "a value and its length are wanted together, or neither");
    err = ft_value(shim.ft, ask, &answer, &e);
    err = finish(me, ask, &answer, err, &e);
    if (err)
        return err;
    *there = answer.there;
    if (value) {
        *value = answer.there ? answer.value : NULL;
        *n = answer.there ? answer.nvalue : 0;
    }
    return MPI_SUCCESS;
}

int MPIX_Store_set(const char *key, const void *value, MPI_Count n)
{
    SHIM_ENTER();
    const char *me = "X_Store_set";
    struct ft_value_ask ask = {.op = FT_VALUE_SET, .value = value, .nvalue = (uint32_t)n};
    struct ft_value_answer answer = {0};
    int err = check_key(me, key, &ask);
    struct ft_error e;

    if (!err)
        err = check_value(me, "value", "n", value, n);
    if (err)
        return err;
    err = ft_value(shim.ft, &ask, &answer, &e);
    return finish(me, &ask, &answer, err, &e);
}

int MPIX_Store_get(const char *key, const void **value, MPI_Count *n, int *there)
{
    SHIM_ENTER();
    const char *me = "X_Store_get";
    struct ft_value_ask ask = {.op = FT_VALUE_GET};
    int err = check_key(me, key, &ask);

    return err ? err : give(me, &ask, value, n, there);
}

int MPIX_Store_wait(const char *key, double seconds, const void **value, MPI_Count *n, int *there)
{
    SHIM_ENTER();
    const char *me = "X_Store_wait";
    struct ft_value_ask ask = {.op = FT_VALUE_WAIT, .wait_ms = UINT64_MAX};
    int err = check_key(me, key, &ask);

    if (err)
        return err;
    if (!(seconds >= 0 || seconds == MPIX_STORE_FOREVER))
        return shim_raise(NULL, me, MPI_ERR_ARG, "seconds is %g; 0 or more, or MPIX_STORE_FOREVER", seconds);
    if (seconds >= 0 && seconds < 1e15)
        ask.wait_ms = (uint64_t)(seconds * 1000);
    return give(me, &ask, value, n, there);
}

int MPIX_Store_add(const char *key, long long by, long long *sum)
{
    SHIM_ENTER();
    const char *me = "X_Store_add";
    struct ft_value_ask ask = {.op = FT_VALUE_ADD, .by = by};
    struct ft_value_answer answer = {0};
    int err = check_key(me, key, &ask);
    struct ft_error e;

    if (err)
        return err;
    err = ft_value(shim.ft, &ask, &answer, &e);
    err = finish(me, &ask, &answer, err, &e);
    if (!err && sum)
        *sum = answer.sum;
    return err;
}

int MPIX_Store_compare_and_swap(const char *key, const void *expected, MPI_Count nexpected, const void *value, MPI_Count n, int *swapped)
{
    SHIM_ENTER();
    const char *me = "X_Store_compare_and_swap";
    bool none = nexpected == MPIX_STORE_NONE;
    struct ft_value_ask ask = {.op = FT_VALUE_COMPARE, .none_expected = none, .expected = expected,
                               .nexpected = none ? 0 : (uint32_t)nexpected,
                               .value = value, .nvalue = (uint32_t)n};
    struct ft_value_answer answer = {0};
    int err = check_key(me, key, &ask);
    struct ft_error e;

    if (!err && !none)
        err = check_value(me, "expected", "nexpected", expected, nexpected);
    if (!err)
        err = check_value(me, "value", "n", value, n);
    if (!err && !none && nexpected + n > FT_VALUE_BYTES)
        err = shim_raise(NULL, me, MPI_ERR_COUNT, "expected and value are too large; they may have 1 MiB together");
    if (!err && !swapped)
        err = shim_raise(NULL, me, MPI_ERR_ARG, "swapped is a null pointer");
    if (err)
        return err;
    err = ft_value(shim.ft, &ask, &answer, &e);
    err = finish(me, &ask, &answer, err, &e);
    if (!err)
        *swapped = answer.swapped;
    return err;
}
