/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators that the program makes (MPI 3.1 section 6.4). The engine says who is in one; what hangs on it is local. */
#include <stdlib.h>
#include <string.h>

#include "ft/intercomm.h"
#include "mpi_shim/request.h"
#include "mpi_shim/shim.h"

static MPI_Comm made;       /* all that there have been, see handle.h */
static MPI_Comm unused;     /* of them */

void shim_comm_open(MPI_Comm comm)
{
    comm->stream = comm->members.stream;
    comm->rank = (int)comm->members.me;
    comm->inter = comm->members.local != NULL;
    comm->size = (int)(comm->inter ? comm->members.local->n : comm->members.n);
}

int shim_comm_drop_attributes(MPI_Comm comm, const char *me)
{
    int err = shim_attributes_drop(1, comm, &comm->attributes);

    return err ? shim_raise(comm, me, shim_class_name(err) ? err : MPI_ERR_OTHER, "an attribute's delete function failed") : MPI_SUCCESS;
}

MPI_Comm shim_comm_new(void)
{
    struct ompi_predefined_communicator_t *more;
    MPI_Comm comm = unused, next_made;

    if (comm) {
        unused = comm->next_free;
        next_made = comm->next_made;
    } else {
        more = calloc(1, sizeof *more);
        if (!more)
            return NULL;
        comm = &more->object;
        next_made = made;
        made = comm;
    }
    *comm = (struct ompi_communicator_t){.name = "", .errhandler_kind = SHIM_OF_COMM, .next_made = next_made};
    return comm;
}

void shim_comm_put_back(MPI_Comm comm)
{
    comm->magic = 0;
    comm->stream = NULL;
    comm->next_free = unused;
    unused = comm;
}

/* What the program has no use for, or never got. */
static void drop(MPI_Comm comm)
{
    ft_comm_free(&comm->members);
    shim_errhandler_release(comm->errhandler);
    if (comm->info)
        PMPI_Info_free(&comm->info);
    shim_comm_unnumber(comm);
    shim_comm_put_back(comm);
}

void shim_comms_close(void)
{
    for (MPI_Comm comm = made; comm; comm = comm->next_made)
        if (comm->magic == SHIM_COMM)
            drop(comm);
}

/* It has comm's error handler. */
MPI_Comm shim_comm_finish(MPI_Comm comm, MPI_Comm new)
{
    shim_comm_open(new);
    new->errhandler = shim_errhandler_hold(comm->errhandler);
    new->magic = SHIM_COMM;
    return new;
}

int shim_comm_failed(MPI_Comm comm, const char *me, int err, const struct ft_error *e)
{
    return err == FT_EINVAL ? shim_raise(comm, me, MPI_ERR_OTHER, "%s", e->text) : shim_finish(err, e);
}

static int make(MPI_Comm comm, enum ft_call call, int64_t color, int64_t key, struct ft_comm *new, uint64_t site, struct ft_error *e)
{
    if (SHIM_LIKELY(!comm->inter))
        return ft_comm_split(shim.ft, &comm->members, call, color, key, new, site, e);
    return call == FT_CALL_COMM_DUP ? ft_intercomm_dup(shim.ft, &comm->members, new, site, e)
                                    : ft_intercomm_split(shim.ft, &comm->members, color, key, new, site, e);
}

/* All of comm call it. Those of one color get a communicator, which has comm's error handler; the others MPI_COMM_NULL. */
static int split(MPI_Comm comm, const char *me, enum ft_call call, int64_t color, int64_t key, MPI_Comm *newcomm, uint64_t site)
{
    MPI_Comm new = shim_comm_new();
    struct ft_error e;
    int err;

    *newcomm = MPI_COMM_NULL;
    if (!new)
        return shim_raise(comm, me, MPI_ERR_NO_MEM, "no memory for a communicator");
    err = make(comm, call, color, key, &new->members, site, &e);
    if (err == 0 && new->members.n > 0) {
        *newcomm = shim_comm_finish(comm, new);
        return MPI_SUCCESS;
    }
    shim_comm_put_back(new);
    return shim_comm_failed(comm, me, err, &e);
}

static int check(MPI_Comm comm, const char *me, MPI_Comm *newcomm)
{
    if (!shim_comm_ok(comm))
        return shim_bad_comm(comm, me);
    return newcomm ? MPI_SUCCESS : shim_raise(comm, me, MPI_ERR_ARG, "newcomm is a null pointer");
}

static int check_info(MPI_Comm comm, const char *me, MPI_Info info)
{
    return info == MPI_INFO_NULL || (info && info->magic == SHIM_INFO) ? MPI_SUCCESS : shim_bad_info(comm, me, info);
}

/* Once the others have the duplicate this one can only free its own, if something fails. */
static int duplicate(MPI_Comm comm, const char *me, MPI_Info info, MPI_Comm *newcomm, uint64_t site)
{
    int err = split(comm, me, FT_CALL_COMM_DUP, 0, 0, newcomm, site), copied;

    if (err)
        return err;
    err = shim_info_hints(info, &(*newcomm)->info);
    if (!err) {
        copied = shim_attributes_copy(1, comm, comm->attributes, *newcomm, &(*newcomm)->attributes);
        if (copied)
            err = shim_raise(comm, me, shim_class_name(copied) ? copied : MPI_ERR_OTHER, "an attribute's copy function failed");
    }
    if (err) {
        shim_attributes_drop(1, *newcomm, &(*newcomm)->attributes);
        drop(*newcomm);
        *newcomm = MPI_COMM_NULL;
    }
    return err;
}

SHIM_ALIAS(int, Comm_dup, (MPI_Comm comm, MPI_Comm *newcomm));
int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
    SHIM_ENTER();
    int err = check(comm, "Comm_dup", newcomm);

    return err ? err : duplicate(comm, "Comm_dup", comm->info, newcomm, SHIM_SITE());
}

SHIM_ALIAS(int, Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm));
int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    SHIM_ENTER();
    const char *me = "Comm_dup_with_info";
    int err = check(comm, me, newcomm);

    if (!err)
        err = check_info(comm, me, info);
    return err ? err : duplicate(comm, me, info, newcomm, SHIM_SITE());
}

/* What hangs on comm goes along as it is now. If it cannot, the others have the duplicate all the same; what the first rank says of it
   comes into an object that is there until the end. */
static int start_duplicate(MPI_Comm comm, const char *me, MPI_Comm new, MPI_Request r, uint64_t site)
{
    struct ft_error e;
    int err = ft_comm_idup(shim.ft, &comm->members, &new->members, &r->engine, site, &e), copied;

    if (err) {
        shim_comm_put_back(new);
        return shim_comm_failed(comm, me, err, &e);
    }
    shim_comm_finish(comm, new);
    err = shim_info_hints(comm->info, &new->info);
    if (err)
        return err;
    copied = shim_attributes_copy(1, comm, comm->attributes, new, &new->attributes);
    return copied ? shim_raise(comm, me, shim_class_name(copied) ? copied : MPI_ERR_OTHER, "an attribute's copy function failed") : MPI_SUCCESS;
}

SHIM_ALIAS(int, Comm_idup, (MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request));
int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
    SHIM_ENTER();
    const char *me = "Comm_idup";
    int err = check(comm, me, newcomm);
    MPI_Request r;
    MPI_Comm new;

    if (!err && !request)
        err = shim_raise(comm, me, MPI_ERR_REQUEST, "request is a null pointer");
    if (err)
        return err;
    *newcomm = MPI_COMM_NULL;
    r = shim_request_new(SHIM_DUPLICATES, comm);
    new = shim_comm_new();
    if (!r || !new)
        return shim_raise(comm, me, MPI_ERR_NO_MEM, "no memory for a communicator");
    r->buffer = new;
    err = start_duplicate(comm, me, new, r, SHIM_SITE());
    if (err) {
        if (new->magic)
            shim_attributes_drop(1, new, &new->attributes);
        if (r->engine)
            ft_request_end(shim.ft, r->engine);
        else if (new->magic)
            drop(new);
        shim_request_drop(r);
        return err;
    }
    r->active = true;
    *newcomm = new;
    *request = r;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *newcomm));
int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
    SHIM_ENTER();
    const char *me = "Comm_split";
    int err = check(comm, me, newcomm);

    if (!err && color < 0 && color != MPI_UNDEFINED)
        err = shim_raise(comm, me, MPI_ERR_ARG, "the color is %d; it must be 0 or more, or MPI_UNDEFINED", color);
    return err ? err : split(comm, me, FT_CALL_COMM_SPLIT, color == MPI_UNDEFINED ? -1 : color, key, newcomm, SHIM_SITE());
}

static int check_split_type(MPI_Comm comm, const char *me, int type)
{
    if (type == MPI_COMM_TYPE_SHARED || type == MPI_UNDEFINED)
        return MPI_SUCCESS;
    if (type > MPI_COMM_TYPE_SHARED && type <= OMPI_COMM_TYPE_CLUSTER)
        return shim_raise(comm, me, MPI_ERR_ARG, "split_type is %d, one of Open MPI's own; MPI_COMM_TYPE_SHARED is the one there is", type);
    return shim_raise(comm, me, MPI_ERR_ARG, "split_type is %d; it must be MPI_COMM_TYPE_SHARED or MPI_UNDEFINED", type);
}

SHIM_ALIAS(int, Comm_split_type, (MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm));
int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm)
{
    SHIM_ENTER();
    const char *me = "Comm_split_type";
    int err = check(comm, me, newcomm);

    if (!err)
        err = check_split_type(comm, me, split_type);
    if (!err)
        err = check_info(comm, me, info);
    if (!err)
        err = split(comm, me, FT_CALL_COMM_TYPE, split_type == MPI_UNDEFINED ? -1 : ft_node(shim.ft), key, newcomm, SHIM_SITE());
    if (err || *newcomm == MPI_COMM_NULL)
        return err;
    err = shim_info_hints(info, &(*newcomm)->info);
    if (err) {
        drop(*newcomm);
        *newcomm = MPI_COMM_NULL;
    }
    return err;
}

static int rank_in(const int *processes, int n, int process)
{
    for (int r = 0; r < n; r++)
        if (processes[r] == process)
            return r;
    return -1;
}

static int check_group(MPI_Comm comm, const char *me, MPI_Group group)
{
    if (!group || group->magic != SHIM_GROUP)
        return shim_raise(comm, me, MPI_ERR_GROUP, group == MPI_GROUP_NULL ? "the group is MPI_GROUP_NULL"
                                                                            : "this is not a group; was it freed?");
    for (int r = 0; r < group->n; r++)
        if (rank_in(shim_comm_ranks(comm), comm->size, group->processes[r]) < 0)
            return shim_raise(comm, me, MPI_ERR_GROUP, "rank %d of the group, %d in MPI_COMM_WORLD, is not in the communicator", r,
                              group->processes[r]);
    return MPI_SUCCESS;
}

/* A group is a color by its first rank, so groups that have no rank in common may be given in one call; of an intercommunicator there is one on
   each side. That all in it gave the same
   is seen by what comes of it. */
SHIM_ALIAS(int, Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm));
int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
{
    SHIM_ENTER();
    const char *me = "Comm_create";
    int err = check(comm, me, newcomm), key, color;

    if (!err)
        err = check_group(comm, me, group);
    if (err)
        return err;
    key = rank_in(group->processes, group->n, shim.rank);
    color = key < 0 ? -1 : comm->inter ? 0 : rank_in(shim_comm_ranks(comm), comm->size, group->processes[0]);
    err = split(comm, me, FT_CALL_COMM_CREATE, color, key, newcomm, SHIM_SITE());
    if (err || *newcomm == MPI_COMM_NULL ||
        ((*newcomm)->size == group->n && !memcmp(shim_comm_ranks(*newcomm), group->processes, (size_t)group->n * sizeof(int))))
        return err;
    drop(*newcomm);
    *newcomm = MPI_COMM_NULL;
    return shim_raise(comm, me, MPI_ERR_GROUP, "the ranks of the group did not all give the same group");
}

/* Only the ranks of the group call it. */
SHIM_ALIAS(int, Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm));
int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
{
    SHIM_ENTER();
    const char *me = "Comm_create_group";
    int err = check(comm, me, newcomm);
    struct ft_error e;
    uint32_t *ranks;
    MPI_Comm new;

    if (!err && comm->inter)
        err = shim_raise(comm, me, MPI_ERR_COMM, "the communicator is an intercommunicator");
    if (!err)
        err = check_group(comm, me, group);
    if (!err && tag < 0)
        err = shim_bad_tag(comm, me, tag, false);
    if (err)
        return err;
    *newcomm = MPI_COMM_NULL;
    if (rank_in(group->processes, group->n, shim.rank) < 0)
        return MPI_SUCCESS;
    new = shim_comm_new();
    ranks = malloc((size_t)group->n * sizeof *ranks);
    for (int r = 0; ranks && r < group->n; r++)
        ranks[r] = (uint32_t)rank_in(shim_comm_ranks(comm), comm->size, group->processes[r]);
    err = new && ranks ? ft_comm_create_group(shim.ft, &comm->members, ranks, (uint32_t)group->n, tag, &new->members, SHIM_SITE(), &e) : FT_ENOMEM;
    free(ranks);
    if (err) {
        if (!new || !ranks)
            err = shim_raise(comm, me, MPI_ERR_NO_MEM, "no memory for a communicator");
        else
            err = shim_comm_failed(comm, me, err, &e);
        if (new)
            shim_comm_put_back(new);
        return err;
    }
    *newcomm = shim_comm_finish(comm, new);
    return MPI_SUCCESS;
}

static int free_comm(const char *me, MPI_Comm *comm)
{
    int err;

    if (!comm || !shim_comm_ok(*comm))
        return shim_bad_comm(comm ? *comm : NULL, me);
    if (*comm == MPI_COMM_WORLD || *comm == MPI_COMM_SELF)
        return shim_raise(*comm, me, MPI_ERR_COMM, "%s is predefined; it cannot be freed", (*comm)->name);
    err = shim_comm_drop_attributes(*comm, me);
    if (err)
        return err;
    drop(*comm);
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Comm_free, (MPI_Comm *comm));
int PMPI_Comm_free(MPI_Comm *comm)
{
    SHIM_ENTER();

    return free_comm("Comm_free", comm);
}

/* What is under way on it is its own business, as after MPI_Comm_free: nothing of it is in the communicator. */
SHIM_ALIAS(int, Comm_disconnect, (MPI_Comm *comm));
int PMPI_Comm_disconnect(MPI_Comm *comm)
{
    SHIM_ENTER();

    return free_comm("Comm_disconnect", comm);
}
