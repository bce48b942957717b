/* SPDX-License-Identifier: BSD-3-Clause */
/* What hangs on communicators: attributes, also those of duplicates that nobody waits for, names, error handlers, hints; wrong arguments;
   stale handles.

     attributes [-n ROUNDS] [-p DIR] [-o]

   -n: so often everything (1). -o: also stale handles, what is kept. Open MPI drops hints, too */
#include "compat-tests/abi/members.h"
#ifdef FTMPI_API
#include "mpi_shim/ftmpi.h"
#endif

/* ---- what hangs on one ---- */

static int copies, deletes, handled;

static int copy_next(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key;
    copies++;
    if (!in)
        return MPI_ERR_UNKNOWN;
    *(char **)out = (char *)in + *(int *)extra;
    *flag = 1;
    return MPI_SUCCESS;
}

static int count_delete(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    return deletes++ < 0 ? MPI_ERR_INTERN : MPI_SUCCESS;
}

static void show_attribute(const char *what, MPI_Comm comm, int key, char *from)
{
    char *value = NULL;
    int there = 0;

    OK(MPI_Comm_get_attr(comm, key, &value, &there));
    SAY("%s: there %d, %d further", what, there, there ? (int)(value - from) : 0);
}

static void attributes(void)
{
    static char from[8];
    int copied, kept, extra = 2, there = 0, class = -1, *most;
    MPI_Comm dup, next, split;

    OK(MPI_Comm_create_keyval(copy_next, count_delete, &copied, &extra));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_delete, &kept, NULL));
    OK(MPI_Comm_set_attr(MPI_COMM_WORLD, copied, from));
    OK(MPI_Comm_set_attr(MPI_COMM_WORLD, kept, from));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    show_attribute("copied", dup, copied, from);
    show_attribute("not copied", dup, kept, from);
    OK(MPI_Comm_get_attr(dup, MPI_TAG_UB, &most, &there));
    SAY("the standard's own: there %d", there && *most >= 32767);
    OK(MPI_Comm_dup(dup, &next));
    show_attribute("copied twice", next, copied, from);
    OK(MPI_Comm_split(dup, 0, 0, &split));
    show_attribute("after a split", split, copied, from);
    SAY("%d copied, %d deleted", copies, deletes);
    release(&split);
    release(&next);
    SAY("%d copied, %d deleted", copies, deletes);
    OK(MPI_Comm_set_attr(dup, copied, NULL));
    SAY("%d copied, %d deleted", copies, deletes);
    OK(MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN));
    next = MPI_COMM_WORLD;
    MPI_Error_class(MPI_Comm_dup(dup, &next), &class);
    SAY("cannot be copied: %d", class == MPI_ERR_UNKNOWN);
    deletes = -1;
    class = MPI_SUCCESS;
    if (MPI_Comm_free(&dup) != MPI_SUCCESS)
        OK(MPI_Comm_free(&dup));
    SAY("freed at last: %d, %d copied, %d deleted", dup == MPI_COMM_NULL, copies, deletes);
    OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, copied));
    OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, kept));
    OK(MPI_Comm_free_keyval(&copied));
    OK(MPI_Comm_free_keyval(&kept));
    step();
}

/* ---- duplicates that nobody waits for ---- */

/* The first rank is through before others have called it; each has what comm had when it called. */
static void duplicates_at_leisure(const char *what, MPI_Comm comm)
{
    static char from[8];
    int rank, n, key, extra = 1, flag = 0, spark = 5;
    MPI_Comm made[3];
    MPI_Request requests[3];
    MPI_Status status;

    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &n));
    OK(MPI_Comm_create_keyval(copy_next, count_delete, &key, &extra));
    OK(MPI_Comm_set_attr(comm, key, from));
    if (rank == 0)
        OK(MPI_Comm_idup(comm, &made[0], &requests[0]));
    for (int r = 1; r < n && rank == 0; r++)
        OK(MPI_Send(&spark, 1, MPI_INT, r, 3, comm));
    if (rank > 0) {
        OK(MPI_Recv(&spark, 1, MPI_INT, 0, 3, comm, &status));
        OK(MPI_Comm_idup(comm, &made[0], &requests[0]));
    }
    if (!own) /* Open MPI hangs with several of them */
        OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    OK(MPI_Comm_set_attr(comm, key, from + 4));
    OK(MPI_Comm_idup(comm, &made[1], &requests[1]));
    if (!own)
        OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    OK(MPI_Comm_delete_attr(comm, key));
    OK(MPI_Barrier(comm));
    OK(MPI_Comm_idup(comm, &made[2], &requests[2]));
    OK(MPI_Bcast(&spark, 1, MPI_INT, n - 1, comm));
    if (rank % 2) {
        OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    } else {
        OK(MPI_Wait(&requests[2], MPI_STATUS_IGNORE));
        while (!flag)
            OK(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    }
    SAY("%s, at leisure: %d", what, requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL && requests[2] == MPI_REQUEST_NULL);
    for (int i = 0; i < 3; i++) {
        show_compared("at leisure", comm, made[i]);
        show_attribute("what it had then", made[i], key, from);
        try("at leisure", made[i]);
        release(&made[i]);
    }
    OK(MPI_Comm_free_keyval(&key));
    step();
}

/* Of those of half of the ranks, and of one that was made so. */
static void leisure_of_others(void)
{
    MPI_Comm half, made, next;
    MPI_Request request;

    OK(MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &half));
    duplicates_at_leisure("half", half);
    OK(MPI_Comm_idup(half, &made, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    release(&half);
    duplicates_at_leisure("half's duplicate", made);
    OK(MPI_Comm_split(made, 0, me, &next));
    try("split of that", next);
    release(&made);
    release(&next);
}

static void names(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm dup, next;
    int n = -1;

    OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    OK(MPI_Comm_get_name(dup, name, &n));
    SAY("name \"%s\", %d", name, n);
    OK(MPI_Comm_set_name(dup, "a pair"));
    OK(MPI_Comm_get_name(dup, name, &n));
    SAY("name \"%s\", %d", name, n);
    OK(MPI_Comm_dup(dup, &next));
    OK(MPI_Comm_get_name(next, name, &n));
    SAY("name \"%s\", %d", name, n);
    release(&next);
    release(&dup);
}

static void handle(MPI_Comm *comm, int *code, ...)
{
    int n = -1;

    MPI_Comm_size(*comm, &n);
    handled += 100 * n + (*code != MPI_SUCCESS);
}

static void error_handlers(void)
{
    MPI_Errhandler mine, got;
    MPI_Comm dup, half;

    OK(MPI_Comm_create_errhandler(handle, &mine));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    OK(MPI_Comm_set_errhandler(dup, mine));
    OK(MPI_Errhandler_free(&mine));
    OK(MPI_Comm_split(dup, me % 2, 0, &half));
    OK(MPI_Comm_call_errhandler(half, MPI_ERR_OTHER));
    SAY("handled %d", handled);
    release(&dup);
    OK(MPI_Comm_get_errhandler(half, &got));
    OK(MPI_Comm_call_errhandler(half, MPI_ERR_OTHER));
    SAY("handled %d", handled);
    SAY("no negative count: %d", MPI_Bcast(&handled, -1, MPI_INT, 0, half) != MPI_SUCCESS);
    SAY("handled %d", handled);
    SAY("no color: %d", MPI_Comm_split(half, -2, 0, &dup) != MPI_SUCCESS);
    SAY("handled %d", handled);
    if (own) /* Open MPI tells MPI_COMM_WORLD's */
        SAY("no hints: %d", MPI_Comm_set_info(half, MPI_INFO_NULL) != MPI_SUCCESS);
    SAY("handled %d", handled);
    SAY("no group: %d", MPI_Comm_create(half, MPI_GROUP_NULL, &dup) != MPI_SUCCESS);
    SAY("handled %d", handled);
    OK(MPI_Errhandler_free(&got));
    release(&half);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    OK(MPI_Comm_get_errhandler(dup, &got));
    SAY("as MPI_COMM_WORLD: %d", got == MPI_ERRORS_RETURN);
    OK(MPI_Errhandler_free(&got));
    release(&dup);
}

static void show_info(const char *what, MPI_Comm comm)
{
    char value[32] = "";
    int there = 0;
    MPI_Info info;

    OK(MPI_Comm_get_info(comm, &info));
    OK(MPI_Info_get(info, "mpi_assert_no_any_tag", 31, value, &there));
    SAY("%s: hint %d %s", what, there, there ? value : "");
    OK(MPI_Info_free(&info));
}

static void hints(void)
{
    MPI_Comm dup, next, other;
    MPI_Info info;

    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &dup));
    show_info("given", dup);
    OK(MPI_Comm_dup(dup, &next));
    if (own)
        show_info("copied", next);
    OK(MPI_Comm_dup_with_info(next, MPI_INFO_NULL, &other));
    show_info("left out", other);
    OK(MPI_Comm_set_info(other, info));
    if (own)
        show_info("set", other);
    OK(MPI_Info_free(&info));
    release(&other);
    release(&next);
    release(&dup);
}

/* ---- wrong arguments ---- */

static void errors(void)
{
    MPI_Comm world = MPI_COMM_WORLD, null = MPI_COMM_NULL, made = MPI_COMM_NULL;
    MPI_Request request;
    MPI_Group group;
    int n;

    CASE(MPI_Comm_dup(MPI_COMM_NULL, &made));
    CASE(MPI_Comm_dup(MPI_COMM_WORLD, NULL));
    CASE(MPI_Comm_dup_with_info(MPI_COMM_NULL, MPI_INFO_NULL, &made));
    CASE(MPI_Comm_dup_with_info(MPI_COMM_WORLD, NULL, &made));
    CASE(MPI_Comm_idup(MPI_COMM_NULL, &made, &request));
    CASE(MPI_Comm_idup(MPI_COMM_WORLD, NULL, &request));
    CASE(MPI_Comm_split(MPI_COMM_NULL, 0, 0, &made));
    CASE(MPI_Comm_split(MPI_COMM_WORLD, -5, 0, &made));
    CASE(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, NULL));
    CASE(MPI_Comm_split_type(MPI_COMM_NULL, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made));
    CASE(MPI_Comm_split_type(MPI_COMM_WORLD, 99, 0, MPI_INFO_NULL, &made));
    CASE(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, NULL));
    CASE(MPI_Comm_create(MPI_COMM_NULL, MPI_GROUP_EMPTY, &made));
    CASE(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &made));
    CASE(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, NULL));
    CASE(MPI_Comm_free(&null));
    CASE(MPI_Comm_free(&world));
    SAY("still there: %d", world == MPI_COMM_WORLD);
    CASE(MPI_Comm_set_info(MPI_COMM_WORLD, MPI_INFO_NULL));
    CASE(MPI_Comm_get_info(MPI_COMM_WORLD, NULL));
    CASE(MPI_Comm_remote_group(MPI_COMM_WORLD, &group));
    CASE(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_NULL, &n));
    CASE(MPI_Comm_group(MPI_COMM_NULL, &group));
    step();
}

/* ---- what another MPI need not do ---- */

static void stale_handles(void)
{
    MPI_Comm made, stale, again;
    int n;

    OK(MPI_Comm_dup(MPI_COMM_WORLD, &made));
    stale = made;
    release(&made);
    RAISES(MPI_ERR_COMM, MPI_Comm_size(stale, &n));
    RAISES(MPI_ERR_COMM, MPI_Barrier(stale));
    RAISES(MPI_ERR_COMM, MPI_Comm_dup(stale, &made));
    RAISES(MPI_ERR_COMM, MPI_Comm_free(&stale));
    RAISES(MPI_ERR_COMM, MPI_Comm_compare(MPI_COMM_WORLD, stale, &n));
    RAISES(MPI_ERR_COMM, MPI_Comm_set_info(stale, MPI_INFO_NULL));
    RAISES(MPI_ERR_COMM, MPI_Comm_remote_size(MPI_COMM_WORLD, &n));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &again));
    CHECK(again == stale, "its memory is not used again");
    release(&again);
}

static void requests_of_collectives(void)
{
    MPI_Request request, stale;
    MPI_Comm made;

    OK(MPI_Comm_idup(MPI_COMM_WORLD, &made, &request));
    stale = request;
    RAISES(MPI_ERR_REQUEST, MPI_Request_free(&request));
    RAISES(MPI_ERR_REQUEST, MPI_Cancel(&request));
    CHECK(request == stale, "it is there");
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    release(&made);
}

#ifdef FTMPI_API
/* Called after a communicator of several ranks was made: a checkpoint can have it. Cached results know only of the two predefined ones. */
static void what_is_kept(void)
{
    int one = 1, sum;
    MPI_Comm made;

    OK(MPIX_Checkpoint(&one, sizeof one, NULL, 0));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &made));
    RAISES(MPI_ERR_COMM, MPIX_Allreduce_cached(&one, &sum, 1, MPI_INT, MPI_SUM, made, "key"));
    RAISES(MPI_ERR_COMM, MPIX_Bcast_cached(&one, 1, MPI_INT, 0, made, NULL));
    release(&made);
}
#else
static void what_is_kept(void) {}
#endif

int main(int argc, char **argv)
{
    int rounds = 1;

    start(argc, argv, &rounds);
    members_start();
    for (int i = 0; i < rounds; i++) {
        attributes();
        duplicates_at_leisure("MPI_COMM_WORLD", MPI_COMM_WORLD);
        duplicates_at_leisure("MPI_COMM_SELF", MPI_COMM_SELF);
        leisure_of_others();
        names();
        error_handlers();
        hints();
        errors();
        if (own) {
            stale_handles();
            requests_of_collectives();
            what_is_kept();
        }
    }
    SAY("%d rounds", rounds);
    members_end();
    end();
    return 0;
}
