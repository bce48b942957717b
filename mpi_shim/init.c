/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting and ending MPI, and threads (MPI 3.1 sections 8.7, 12.4). */
#include <pthread.h>
#include <sched.h>

#include "mpi_shim/layout.h"
#include "mpi_shim/request.h"
#include "mpi_shim/shim.h"
#include "mpi_shim/wrappers.h"

static void open_comm(MPI_Comm comm, const char *me, int (*members)(struct ft *, struct ft_comm *, struct ft_error *))
{
    struct ft_error e;

    if (members(shim.ft, &comm->members, &e) != 0)
        shim_end(MPI_ERR_NO_MEM, "MPI_%s: %s", me, e.text);
    shim_comm_open(comm);
    comm->errhandler = NULL;
}

static void close_comm(MPI_Comm comm)
{
    comm->stream = NULL;
    ft_comm_close(&comm->members);
    shim_errhandler_release(comm->errhandler);
    comm->errhandler = NULL;
    if (comm->info)
        PMPI_Info_free(&comm->info);
    comm->info = NULL;
}

static int start(const char *me, int required, int *provided)
{
    struct ft_error e;

    if (shim.stage != SHIM_BEFORE)
        return shim_raise(NULL, me, MPI_ERR_OTHER, shim.stage == SHIM_RUNNING ? "MPI is initialized already"
                                                                             : "MPI cannot be started again after MPI_Finalize");
    if (required < MPI_THREAD_SINGLE || required > MPI_THREAD_MULTIPLE)
        return shim_raise(NULL, me, MPI_ERR_ARG, "%d is no level of thread support", required);
    if (ft_attach(&shim.ft, shim.wants_cache, &e) != 0)
        shim_end(MPI_ERR_OTHER, "MPI_%s: %s", me, e.text);
    shim.rank = ft_rank(shim.ft);
    shim.main_thread = (unsigned long)pthread_self();
    shim.order = required == MPI_THREAD_MULTIPLE ? ft_order_open(shim.ft) : NULL;
    shim.thread_level = required == MPI_THREAD_MULTIPLE && !shim.order ? MPI_THREAD_SERIALIZED : required;
    open_comm(MPI_COMM_WORLD, me, ft_comm_world);
    open_comm(MPI_COMM_SELF, me, ft_comm_self);
    if (shim_attributes_predefine(&MPI_COMM_WORLD->attributes, MPI_COMM_WORLD->size))
        shim_end(MPI_ERR_NO_MEM, "MPI_%s: no memory for the predefined attributes", me);
    if (shim_types_open())
        shim_end(MPI_ERR_NO_MEM, "MPI_%s: no memory for the predefined datatypes", me);
    shim.stage = SHIM_RUNNING;
    ompi_mpi_state = OMPI_INIT_COMPLETED;
    if (provided)
        *provided = shim.thread_level;
    return MPI_SUCCESS;
}

void shim_give_way(void)
{
    if (shim.order)
        ft_order_give_way(shim.order);
    else
        sched_yield();
}

SHIM_ALIAS(int, Init, (int *argc, char ***argv));
int PMPI_Init(int *argc, char ***argv)
{
    (void)argc, (void)argv;  /* nothing of ours is in there */
    return start("Init", MPI_THREAD_SINGLE, NULL);
}

SHIM_ALIAS(int, Init_thread, (int *argc, char ***argv, int required, int *provided));
int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    (void)argc, (void)argv;
    return start("Init_thread", required, provided);
}

static int answer(const char *me, bool any_time, int *flag, int value)
{
    int err = any_time ? MPI_SUCCESS : shim_check_running(me);

    if (err)
        return err;
    if (!flag)
        return shim_raise(NULL, me, MPI_ERR_ARG, "a null pointer to write the answer to");
    *flag = value;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Query_thread, (int *provided));
int PMPI_Query_thread(int *provided)
{
    return answer("Query_thread", false, provided, shim.thread_level);
}

SHIM_ALIAS(int, Is_thread_main, (int *flag));
int PMPI_Is_thread_main(int *flag)
{
    return answer("Is_thread_main", false, flag, shim.main_thread == (unsigned long)pthread_self());
}

SHIM_ALIAS(int, Initialized, (int *flag));
int PMPI_Initialized(int *flag)
{
    return answer("Initialized", true, flag, shim.stage != SHIM_BEFORE);
}

SHIM_ALIAS(int, Finalized, (int *flag));
int PMPI_Finalized(int *flag)
{
    return answer("Finalized", true, flag, shim.stage == SHIM_FINISHED);
}

SHIM_ALIAS(int, Finalize, (void));
int PMPI_Finalize(void)
{
    SHIM_ENTER();
    const char *me = "Finalize";
    struct ft_error e;
    int err = shim_check_running(me);

    /* The delete functions may still use MPI, and run in every incarnation that gets here (8.7.1). */
    if (!err)
        err = shim_comm_drop_attributes(MPI_COMM_SELF, me);
    if (!err)
        err = shim_comm_drop_attributes(MPI_COMM_WORLD, me);
    if (err)
        return err;
    shim_bsend_finish(SHIM_SITE());
    shim_finish(ft_finalize(shim.ft, SHIM_SITE(), &e), &e);
    shim_comms_close();
    close_comm(MPI_COMM_WORLD);
    close_comm(MPI_COMM_SELF);
    ft_detach(shim.ft);
    shim.ft = NULL;
    if (in_)
        ft_order_close(in_);
    in_ = shim.order = NULL;
    shim.stage = SHIM_FINISHED;
    ompi_mpi_state = OMPI_FINALIZE_COMPLETED;
    return MPI_SUCCESS;
}
