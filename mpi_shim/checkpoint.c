/* SPDX-License-Identifier: BSD-3-Clause */
/* Checkpoints and snapshots at will: see ftmpi.h. */
#include <limits.h>

#include "mpi_shim/ftmpi.h"
#include "ft/message.h"
#include "mpi_shim/shim.h"

/* After no memory, and after what can be finished first, a program may go on. */
static int finish(const char *me, int err, const struct ft_error *e)
{
    if (err == FT_ENOMEM)
        return shim_raise(NULL, me, MPI_ERR_NO_MEM, "%s", e->text);
    if (err == FT_EINVAL)
        return shim_raise(NULL, me, MPI_ERR_OTHER, "%s", e->text);
    return shim_finish(err, e);
}

static int check_known(const char *me)
{
    if (ft_checkpoint_carries(shim.ft))
        return MPI_SUCCESS;
    if (ft_comm_any(shim.ft))
        return shim_raise(NULL, me, MPI_ERR_OTHER, "checkpoints do not know of created communicators yet in a job on several hosts");
    return ft_messages_any(shim.ft) ? shim_raise(NULL, me, MPI_ERR_OTHER, "checkpoints do not know of messages yet in a job on several hosts")
                                    : MPI_SUCCESS;
}

static int check_model(const char *me, const char *what, const char *length, const void *model, MPI_Count n)
{
    int err = shim_check_count(NULL, me, length, n);

    return err ? err : shim_check_buffer(NULL, me, what, model, (uint64_t)n);
}

int MPIX_Checkpoint(const void *global, MPI_Count nglobal, const void *local, MPI_Count nlocal)
{
    SHIM_ENTER();
    const char *me = "X_Checkpoint";
    struct ft_models m = {.global = global, .nglobal = (uint64_t)nglobal, .local = local, .nlocal = (uint64_t)nlocal};
    int err = shim_check_running(me);
    struct ft_error e;

    if (!err)
        err = check_known(me);
    if (!err)
        err = check_model(me, "global", "nglobal", global, nglobal);
    if (!err)
        err = check_model(me, "local", "nlocal", local, nlocal);
    return err ? err : finish(me, ft_checkpoint(shim.ft, &m, SHIM_SITE(), &e), &e);
}

/* The program's function in the engine's terms. */
struct serializer {
    MPIX_Serialize_function *function;
    void *state;
};

static int serialize(void *arg, const void **bytes, uint64_t *n)
{
    struct serializer *s = arg;
    MPI_Count count = -1;

    if (s->function(s->state, bytes, &count) != 0 || count < 0 || (count > 0 && !*bytes))
        return -1;
    *n = (uint64_t)count;
    return 0;
}

int MPIX_Checkpoint_lazy(MPIX_Serialize_function *function, void *state)
{
    SHIM_ENTER();
    const char *me = "X_Checkpoint_lazy";
    struct serializer s = {function, state};
    int err = shim_check_running(me);
    struct ft_error e;

    if (!err && !function)
        err = shim_raise(NULL, me, MPI_ERR_ARG, "serialize is a null pointer");
    if (!err)
        err = check_known(me);
    return err ? err : finish(me, ft_checkpoint_lazy(shim.ft, serialize, &s, SHIM_SITE(), &e), &e);
}

int MPIX_Checkpoint_load(void **global, MPI_Count *nglobal, void **local, MPI_Count *nlocal, int *version)
{
    SHIM_ENTER();
    const char *me = "X_Checkpoint_load";
    struct ft_models m;
    int err = shim_check_running(me);
    struct ft_error e;

    if (!err && !version)
        err = shim_raise(NULL, me, MPI_ERR_ARG, "version is a null pointer");
    if (!err && (!global != !nglobal || !local != !nlocal))
        err = shim_raise(NULL, me, MPI_ERR_ARG, "a model and its length are wanted together, or neither");
    if (!err)
        err = finish(me, ft_load(shim.ft, &m, SHIM_SITE(), &e), &e);
    if (err)
        return err;
    if (global) {
        *global = (void *)m.global;
        *nglobal = (MPI_Count)m.nglobal;
    }
    if (local) {
        *local = (void *)m.local;
        *nlocal = (MPI_Count)m.nlocal;
    }
    *version = (int)ft_version(shim.ft);
    return MPI_SUCCESS;
}

int MPIX_Checkpoint_version(int *version)
{
    SHIM_ENTER();
    const char *me = "X_Checkpoint_version";
    int err = shim_check_running(me);

    if (err)
        return err;
    if (!version)
        return shim_raise(NULL, me, MPI_ERR_ARG, "version is a null pointer");
    *version = (int)ft_version(shim.ft);
    return MPI_SUCCESS;
}

int MPIX_Snapshot(int *taken)
{
    SHIM_ENTER();
    const char *me = "X_Snapshot";
    int err = shim_check_running(me);

    if (err)
        return err;
    if (!taken)
        return shim_raise(NULL, me, MPI_ERR_ARG, "taken is a null pointer");
    *taken = ft_snapshot_now(shim.ft);
    return MPI_SUCCESS;
}
