/* SPDX-License-Identifier: BSD-3-Clause */
/* Rabit's C API: c_api.h says what each function does. */
#include "mpi_shim/rabit/c_api.h"

#include <stdio.h>
#include <string.h>

#include "mpi_shim/ftmpi.h"
#include "mpi_shim/rabit/world.h"

/* Checkpoints are the job's, not RabitInit's: a rank that is restarted would find those of a later RabitInit when it comes to an
   earlier one's load, and go on at the wrong place. So only one of them may have any. */
static struct {
    int sessions;  /* RabitInit so far */
    int keeper;    /* the one that has checkpoints, 0: none yet */
} use;

static void claim(const char *function)
{
    if (use.keeper == 0)
        use.keeper = use.sessions;
    if (use.keeper == use.sessions)
        return;
    fprintf(stderr, "ftmpi: %s: an earlier RabitInit ... RabitFinalize of this program has checkpoints; a second one cannot\n", function);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Collectives count as made where the program calls this library. */
#define HERE() MPIX_Call_site(__builtin_return_address(0))

static int finish(int err)
{
    MPIX_Call_site(NULL);
    return err ? -1 : 0;
}

int RabitInit(int argc, char *argv[])
{
    (void)argc, (void)argv;
    if (rabit_active())
        return 1;
    if (!rabit_start())
        return 0;
    use.sessions++;
    return 1;
}

int RabitFinalize(void)
{
    rabit_stop();
    return 1;
}

int RabitGetRingPrevRank(void)
{
    return (rabit_rank() + rabit_size() - 1) % rabit_size();
}

int RabitGetRank(void)
{
    return rabit_rank();
}

int RabitGetWorldSize(void)
{
    return rabit_size();
}

int RabitIsDistributed(void)
{
    return rabit_active();
}

int RabitTrackerPrint(const char *msg)
{
    if (!msg)
        return -1;
    rabit_print(msg);
    return 0;
}

void RabitGetProcessorName(char *out_name, rbt_ulong *out_len, rbt_ulong max_len)
{
    *out_len = 0;
    if (max_len == 0)
        return;
    rabit_host(out_name, max_len);
    *out_len = strlen(out_name);
}

int RabitBroadcast(void *sendrecv_data, rbt_ulong size, int root)
{
    HERE();
    return finish(rabit_broadcast(sendrecv_data, size, root));
}

int RabitAllgather(void *sendrecvbuf, size_t total_size, size_t begin, size_t size_node_slice, size_t size_prev_slice, int enum_dtype)
{
    int size = 0, err;

    (void)size_prev_slice;
    if (!rabit_active())
        return 0;
    HERE();
    err = MPI_Type_size(rabit_type(enum_dtype), &size);
    if (!err)
        err = rabit_allgather(sendrecvbuf, total_size * (size_t)size, begin * (size_t)size, (begin + size_node_slice) * (size_t)size);
    return finish(err);
}

int RabitAllreduce(void *sendrecvbuf, size_t count, int enum_dtype, int enum_op, void (*prepare_fun)(void *arg), void *prepare_arg)
{
    MPI_Datatype type = rabit_type(enum_dtype);
    int size = 0, err = 0;

    HERE();
    if (rabit_active())
        err = MPI_Type_size(type, &size);
    if (!err)
        err = rabit_allreduce(sendrecvbuf, (size_t)size, count, type, rabit_op(enum_op), prepare_fun, prepare_arg);
    return finish(err);
}

int RabitLoadCheckPoint(char **out_global_model, rbt_ulong *out_global_len, char **out_local_model, rbt_ulong *out_local_len)
{
    void *global = NULL, *local = NULL;
    MPI_Count nglobal = 0, nlocal = 0;
    int version = 0, err = 0;

    if (rabit_active()) {
        claim("RabitLoadCheckPoint");
        HERE();
        err = MPIX_Checkpoint_load(&global, &nglobal, out_local_model ? &local : NULL, out_local_model ? &nlocal : NULL, &version);
    }
    *out_global_model = global;
    *out_global_len = (rbt_ulong)nglobal;
    if (out_local_model) {
        *out_local_model = local;
        *out_local_len = (rbt_ulong)nlocal;
    }
    return finish(err) ? -1 : version;
}

int RabitCheckPoint(const char *global_model, rbt_ulong global_len, const char *local_model, rbt_ulong local_len)
{
    if (!rabit_active())
        return 0;
    claim("RabitCheckPoint");
    HERE();
    return finish(MPIX_Checkpoint(global_model, (MPI_Count)global_len, local_model, local_model ? (MPI_Count)local_len : 0));
}

int RabitVersionNumber(void)
{
    int version = 0;

    if (rabit_active())
        MPIX_Checkpoint_version(&version);
    return version;
}

int RabitLinkTag(void)
{
    return 0;
}
