/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators: made in every way there is, of MPI_COMM_WORLD, MPI_COMM_SELF and each other; what each collective computes on them;
   what hangs on them; wrong arguments; thousands made and freed; calls on several in turn. Each line begins with the rank. Plain MPI:
   with any other it prints the same, whoever was killed.

     communicators [-n ROUNDS] [-m MANY] [-p DIR] [-o]

   -n  so many duplicates are made and freed in a row (3000), and a sixth of that splits
   -m  so many duplicates and splits come and go, and memory stays as it is; nothing else
   -p  keeps DIR/rank.N up to date, see compat-tests/chaos/progress.h
   -o  also what is ftmpi's own: stale handles, groups that disagree. Open MPI drops hints, too */
#include <getopt.h>
#include <stdbool.h>

#include "compat-tests/abi/world.h"
#include "compat-tests/chaos/progress.h"
#ifdef FTMPI_API
#include "mpi_shim/ftmpi.h"
#endif

enum { MOST = 64, LARGE = 40000 };

static int me, ranks;
static bool own;
static uint64_t done;
static MPI_Datatype pair;
static MPI_Op composed;

static void step(void) { progress_advance(++done); }

#define SAY(...) do { printf("%d ", me); printf(__VA_ARGS__); putchar('\n'); } while (0)

/* ---- one communicator ---- */

struct members {
    int n, mine, world[MOST];   /* world[r]: who is rank r */
};

static struct members members_of(MPI_Comm comm)
{
    struct members m;
    MPI_Group group, all;
    int order[MOST];

    OK(MPI_Comm_size(comm, &m.n));
    OK(MPI_Comm_rank(comm, &m.mine));
    OK(MPI_Comm_group(comm, &group));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    for (int r = 0; r < m.n; r++)
        order[r] = r;
    OK(MPI_Group_translate_ranks(group, m.n, order, all, m.world));
    CHECK(m.world[m.mine] == me, "rank %d is world rank %d", m.mine, m.world[m.mine]);
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&all));
    return m;
}

/* x -> a x + b modulo 2^32: composing two is associative and not commutative. */
struct affine { uint32_t a, b; };
static void compose(void *in, void *inout, int *len, MPI_Datatype *type)
{
    struct affine *first = in, *then = inout;

    (void)type;
    for (int i = 0; i < *len; i++) {
        then[i].b += then[i].a * first[i].b;
        then[i].a *= first[i].a;
    }
}
static struct affine affine_of(int rank) { return (struct affine){2 * (uint32_t)rank + 3, (uint32_t)rank + 7}; }

static void broadcasts(MPI_Comm comm, const struct members *m)
{
    for (int root = 0; root < m->n; root++) {
        int data[3] = {me, me * me, root};

        OK(MPI_Bcast(data, 3, MPI_INT, root, comm));
        CHECK(data[0] == m->world[root] && data[1] == data[0] * data[0] && data[2] == root, "root %d", root);
    }
}

static void reductions(MPI_Comm comm, const struct members *m)
{
    int mine[2] = {me + 1, -me}, got[2] = {0, 0}, sum = 0, least = 0;
    struct affine a = affine_of(me), all, expected = affine_of(m->world[0]);
    int root = m->n - 1;
    static int large[LARGE], larger[LARGE];

    for (int r = 0; r < m->n; r++) {
        struct affine next = affine_of(m->world[r]);

        sum += m->world[r] + 1;
        least = m->world[r] > least ? m->world[r] : least;
        if (r > 0)
            compose(&expected, &next, &(int){1}, NULL), expected = next;
    }
    OK(MPI_Allreduce(mine, got, 2, MPI_INT, MPI_MIN, comm));
    CHECK(got[1] == -least, "the least is %d", got[1]);
    OK(MPI_Reduce(mine, got, 1, MPI_INT, MPI_SUM, root, comm));
    CHECK(m->mine != root || got[0] == sum, "the sum is %d, not %d", got[0], sum);
    OK(MPI_Allreduce(MPI_IN_PLACE, mine, 1, MPI_INT, MPI_SUM, comm));
    CHECK(mine[0] == sum, "the sum is %d, not %d", mine[0], sum);
    OK(MPI_Allreduce(&a, &all, 1, pair, composed, comm));
    CHECK(!memcmp(&all, &expected, sizeof all), "functions are composed in another order");
    for (int i = 0; i < LARGE; i++)
        large[i] = (me + 1) * (i % 1000);
    OK(MPI_Allreduce(large, larger, LARGE, MPI_INT, MPI_SUM, comm));
    for (int i = 0; i < LARGE; i++)
        CHECK(larger[i] == sum * (i % 1000), "element %d is %d", i, larger[i]);
}

static void gathers(MPI_Comm comm, const struct members *m)
{
    int mine[2] = {me, me * 10}, got[2 * MOST], counts[MOST], displs[MOST], parts[MOST * (MOST + 1)], given[2 * MOST], at = 0;

    OK(MPI_Allgather(mine, 1, pair, got, 1, pair, comm));
    for (int r = 0; r < m->n; r++)
        CHECK(got[2 * r] == m->world[r] && got[2 * r + 1] == 10 * m->world[r], "part %d", r);
    for (int r = 0; r < m->n; r++) {
        counts[r] = r + 1;
        displs[r] = at;
        at += r + 2;
    }
    memset(parts, -1, sizeof parts);
    for (int i = 0; i <= m->mine; i++)
        given[i] = 100 * me + i;
    OK(MPI_Allgatherv(given, m->mine + 1, MPI_INT, parts, counts, displs, MPI_INT, comm));
    for (int r = 0; r < m->n; r++) {
        for (int i = 0; i <= r; i++)
            CHECK(parts[displs[r] + i] == 100 * m->world[r] + i, "part %d, element %d", r, i);
        CHECK(parts[displs[r] + r + 1] == -1, "the gap after part %d", r);
    }
}

static void try(const char *what, MPI_Comm comm)
{
    struct members m;

    if (comm == MPI_COMM_NULL) {
        SAY("%s: none", what);
        return;
    }
    m = members_of(comm);
    OK(MPI_Barrier(comm));
    broadcasts(comm, &m);
    step();
    reductions(comm, &m);
    step();
    gathers(comm, &m);
    step();
    printf("%d %s: rank %d of", me, what, m.mine);
    for (int r = 0; r < m.n; r++)
        printf(" %d", m.world[r]);
    putchar('\n');
}

static void release(MPI_Comm *comm)
{
    if (*comm == MPI_COMM_NULL)
        return;
    OK(MPI_Comm_free(comm));
    CHECK(*comm == MPI_COMM_NULL, "the handle is not null");
    step();
}

static void show_compared(const char *what, MPI_Comm a, MPI_Comm b)
{
    int result;

    if (a == MPI_COMM_NULL || b == MPI_COMM_NULL)
        return;
    OK(MPI_Comm_compare(a, b, &result));
    SAY("%s: %s", what, result == MPI_IDENT ? "ident" : result == MPI_CONGRUENT ? "congruent" : result == MPI_SIMILAR ? "similar"
                                                                                                                  : "unequal");
}

/* ---- all ways to make one ---- */

static void every_second(MPI_Comm comm, bool backwards, MPI_Comm *made)
{
    int n, chosen[MOST], count = 0;
    MPI_Group group, some;

    OK(MPI_Comm_size(comm, &n));
    for (int r = 0; r < n; r += 2)
        chosen[count++] = backwards ? n - 1 - (n - 1) % 2 - r : r;
    OK(MPI_Comm_group(comm, &group));
    OK(MPI_Group_incl(group, count, chosen, &some));
    OK(MPI_Comm_create(comm, some, made));
    OK(MPI_Group_free(&some));
    OK(MPI_Group_free(&group));
}

static void make(const char *of, MPI_Comm parent)
{
    MPI_Comm dup, nested, half, reversed, some, again;
    int rank, inter = -1;

    SAY("of %s", of);
    OK(MPI_Comm_rank(parent, &rank));
    OK(MPI_Comm_dup(parent, &dup));
    try("duplicate", dup);
    OK(MPI_Comm_dup(dup, &nested));
    try("its duplicate", nested);
    OK(MPI_Comm_split(parent, rank % 2, rank, &half));
    try("half", half);
    OK(MPI_Comm_split(dup, 0, -rank, &reversed));
    try("reversed", reversed);
    show_compared("itself", dup, dup);
    show_compared("its duplicate", parent, nested);
    show_compared("its half", parent, half);
    show_compared("reversed", reversed, nested);
    show_compared("this one alone", reversed, MPI_COMM_SELF);
    OK(MPI_Comm_test_inter(half, &inter));
    SAY("between groups: %d; the same in Fortran and back: %d", inter, MPI_Comm_f2c(MPI_Comm_c2f(half)) == half);
    OK(MPI_Comm_split(reversed, 5, 0, &again));
    try("reversed, split with one key", again);
    release(&again);
    release(&nested);
    OK(MPI_Comm_split(half, MPI_UNDEFINED, 0, &again));
    try("nobody", again);
    OK(MPI_Comm_split(parent, rank ? 3 : MPI_UNDEFINED, rank * rank - 3 * rank, &some));
    try("all but the first", some);
    release(&some);
    every_second(parent, false, &some);
    try("every second", some);
    release(&some);
    every_second(reversed, true, &some);
    try("every second, reversed twice", some);
    release(&some);
    OK(MPI_Comm_create(dup, MPI_GROUP_EMPTY, &some));
    try("the empty group", some);
    release(&reversed);
    OK(MPI_Comm_split_type(half, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &some));
    try("half, those of one host, reversed", some);
    release(&some);
    OK(MPI_Comm_split_type(parent, rank == 0 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &some));
    try("those of one host without the first", some);
    release(&some);
    release(&half);
    try("duplicate", dup);
    release(&dup);
}

/* A group is given by those that are in it only if others give others that have no rank in common. */
static void disjoint_groups(void)
{
    MPI_Group all, mine;
    MPI_Comm made;
    int range[1][3] = {{me % 2, ranks - 1, 2}};

    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    OK(MPI_Group_range_incl(all, 1, range, &mine));
    OK(MPI_Comm_create(MPI_COMM_WORLD, mine, &made));
    try("one of two groups", made);
    release(&made);
    OK(MPI_Group_free(&mine));
    OK(MPI_Group_free(&all));
}

/* Of ranks that leave the same rest, from the last to the first: they alone call it. */
static void create_group(MPI_Comm comm, int modulus, int tag, MPI_Comm *made)
{
    int rank, n, chosen[MOST], count = 0;
    MPI_Group all, mine;

    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &n));
    for (int r = n - 1; r >= 0; r--)
        if (r % modulus == rank % modulus)
            chosen[count++] = r;
    OK(MPI_Comm_group(comm, &all));
    OK(MPI_Group_incl(all, count, chosen, &mine));
    OK(MPI_Comm_create_group(comm, mine, tag, made));
    OK(MPI_Group_free(&mine));
    OK(MPI_Group_free(&all));
}

/* One after the other and one in the other; a rank that is in no group does not call, or gets none. */
static void groups_alone(void)
{
    MPI_Comm halves, thirds, nested, none;
    MPI_Group first, all;
    int zero = 0;

    create_group(MPI_COMM_WORLD, 2, 7, &halves);
    try("a group of its own making", halves);
    create_group(MPI_COMM_WORLD, 3, 0, &thirds);
    try("another one", thirds);
    create_group(halves, 1, 7, &nested);
    try("all of that, reversed again", nested);
    show_compared("reversed twice", halves, nested);
    OK(MPI_Comm_disconnect(&nested));
    CHECK(nested == MPI_COMM_NULL, "a communicator that is disconnected is null");
    release(&thirds);
    OK(MPI_Comm_disconnect(&halves));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    OK(MPI_Group_incl(all, 1, &zero, &first));
    none = MPI_COMM_SELF;
    OK(MPI_Comm_create_group(MPI_COMM_WORLD, first, 3, &none));
    try("the first alone", none);
    release(&none);
    OK(MPI_Group_free(&first));
    OK(MPI_Group_free(&all));
}

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

static int class_of(int code)
{
    int class = -1;

    MPI_Error_class(code, &class);
    return class;
}
#define CASE(call) SAY("%s -> %d", #call, class_of(call))

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

#define RAISES(class, call) CHECK(class_of(call) == (class), "wrong class")

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

static void wrong_groups(void)
{
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Group all, fewer;
    int last = ranks - 1;

    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    if (ranks > 1) {
        RAISES(MPI_ERR_GROUP, MPI_Comm_create(MPI_COMM_SELF, all, &made));
        OK(MPI_Group_excl(all, 1, &last, &fewer));
        RAISES(me == 0 ? MPI_ERR_GROUP : MPI_SUCCESS, MPI_Comm_create(MPI_COMM_WORLD, me == 0 ? fewer : all, &made));
        CHECK((made == MPI_COMM_NULL) == (me == 0), "who got one");
        release(&made);
        OK(MPI_Group_free(&fewer));
    }
    RAISES(MPI_ERR_ARG, MPI_Comm_split_type(MPI_COMM_WORLD, OMPI_COMM_TYPE_NUMA, 0, MPI_INFO_NULL, &made));
    OK(MPI_Group_free(&all));
}

/* To the last bit as on MPI_COMM_WORLD, however it is made. */
static void sums_of_doubles(MPI_Comm comm, const struct members *m)
{
    double mine[3] = {1.0 / (me + 3), 1e17 / (me * me + 1), -1e-9 * me}, theirs[3], ours[3];

    if (!own || m->n != ranks || m->world[0] != 0)
        return;
    OK(MPI_Allreduce(mine, theirs, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    OK(MPI_Allreduce(mine, ours, 3, MPI_DOUBLE, MPI_SUM, comm));
    CHECK(!memcmp(theirs, ours, sizeof ours), "the sums differ");
}

/* More than there are streams: the others are on messages, and nobody can tell. */
static void alive_at_once(void)
{
    enum { ALIVE = 300 };
    static MPI_Comm made[ALIVE];
    unsigned sum = 0;
    int n;

    for (n = 0; n < ALIVE / 2; n++)
        OK(MPI_Comm_dup(n % 7 ? MPI_COMM_WORLD : n ? made[n - 1] : MPI_COMM_SELF, &made[n]));
    for (; n < ALIVE; n++)
        OK(MPI_Comm_split(n % 5 ? MPI_COMM_WORLD : made[n - ALIVE / 2], (me + n) % 2, (me * n) % 3, &made[n]));
    for (int i = 0; i < ALIVE; i += i % 10 == 8 ? 2 : 1) {
        struct members m = members_of(made[i]);

        broadcasts(made[i], &m);
        reductions(made[i], &m);
        gathers(made[i], &m);
        OK(MPI_Barrier(made[i]));
        sums_of_doubles(made[i], &m);
        for (int r = 0; r < m.n; r++)
            sum = sum * 31 + (unsigned)m.world[r];
        step();
    }
    while (n > 0)
        release(&made[--n]);
    SAY("%d at once: %08x", ALIVE, sum);
    try("after so many", MPI_COMM_WORLD);
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

/* ---- many ---- */

static int sum_over(MPI_Comm comm, int value)
{
    int sum;

    OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm));
    return sum;
}

static void duplicates(int rounds)
{
    unsigned sum = 0;

    for (int i = 0; i < rounds; i++) {
        MPI_Comm made;

        OK(MPI_Comm_dup(MPI_COMM_WORLD, &made));
        sum = sum * 31 + (unsigned)sum_over(made, me + i);
        OK(MPI_Comm_free(&made));
        step();
    }
    SAY("%d duplicates: %08x", rounds, sum);
}

/* In halves that are others each time, in an order that is another one each time. */
static void splits(int rounds)
{
    unsigned sum = 0;

    for (int i = 0; i < rounds; i++) {
        MPI_Comm made;
        int first;

        OK(MPI_Comm_split(MPI_COMM_WORLD, (me >> i % 2) & 1, (me * 7 + i) % 5, &made));
        first = me;
        OK(MPI_Bcast(&first, 1, MPI_INT, 0, made));
        sum = sum * 31 + (unsigned)(sum_over(made, me + i) + 100 * first);
        OK(MPI_Comm_free(&made));
        step();
    }
    SAY("%d splits: %08x", rounds, sum);
}

/* Made without the others, who are busy with theirs. */
static void groups(int rounds)
{
    unsigned sum = 0;

    for (int i = 0; i < rounds; i++) {
        MPI_Comm made;
        int first = me;

        create_group(MPI_COMM_WORLD, 1 + i % 3, i % 100, &made);
        OK(MPI_Bcast(&first, 1, MPI_INT, 0, made));
        sum = sum * 31 + (unsigned)(sum_over(made, me + i) + 100 * first);
        OK(MPI_Comm_free(&made));
        step();
    }
    SAY("%d groups: %08x", rounds, sum);
}

/* What one hears it says in the next, whichever communicator that is. */
static void in_turn(int rounds)
{
    MPI_Comm comms[5];
    unsigned sum = (unsigned)me;

    comms[0] = MPI_COMM_WORLD;
    OK(MPI_Comm_dup(comms[0], &comms[1]));
    OK(MPI_Comm_split(comms[1], me % 2, -me, &comms[2]));
    OK(MPI_Comm_split(comms[0], me / 2, me, &comms[3]));
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comms[4]));
    for (int i = 0; i < rounds; i++) {
        MPI_Comm comm = comms[(i * i + i / 3) % 5];
        unsigned heard[MOST], n;
        int size;

        OK(MPI_Comm_size(comm, &size));
        n = (unsigned)size;
        OK(MPI_Allgather(&sum, 1, MPI_UNSIGNED, heard, 1, MPI_UNSIGNED, comm));
        for (unsigned r = 0; r < n; r++)
            sum = sum * 33 + heard[r];
        if (i % 4 == 0)
            OK(MPI_Bcast(&sum, 1, MPI_UNSIGNED, i % size, comm));
        sum += (unsigned)me;
        if (i % 4 == 1)
            OK(MPI_Barrier(comm));
        step();
    }
    SAY("%d rounds on five in turn: %08x", rounds, sum);
    for (int c = 4; c > 0; c--)
        release(&comms[c]);
}

/* KiB of private memory and of address space. */
static void measure(long *memory, long *space)
{
    char line[128];
    FILE *f = fopen("/proc/self/status", "r");

    CHECK(f, "no /proc");
    while (fgets(line, sizeof line, f)) {
        sscanf(line, "RssAnon: %ld", memory);
        sscanf(line, "VmSize: %ld", space);
    }
    fclose(f);
}

/* Nothing is left of them: of those with a stream, and of others. */
static void many(int rounds)
{
    MPI_Comm crowd[16], of[2] = {MPI_COMM_WORLD};
    long memory[2], space[2];

    for (int i = 0; i < 16; i++)
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &crowd[i]));
    of[1] = crowd[15];
    for (int i = 0; i < 15; i++)
        OK(MPI_Comm_free(&crowd[i]));
    for (int i = 0; i < rounds; i++) {
        MPI_Comm made, half;

        OK(MPI_Comm_dup(of[i / 2 % 2], &made));
        OK(MPI_Comm_split(of[i % 2], me % 2, 0, &half));
        if (i % 16 == 0)
            sum_over(half, sum_over(made, i));
        OK(MPI_Comm_free(&made));
        OK(MPI_Comm_free(&half));
        if (i == rounds / 4)
            measure(&memory[0], &space[0]);
    }
    measure(&memory[1], &space[1]);
    OK(MPI_Comm_free(&crowd[15]));
    CHECK(memory[1] < memory[0] + 1024 && space[1] < space[0] + 1024, "memory %ld to %ld KiB, address space %ld to %ld KiB", memory[0], memory[1],
          space[0], space[1]);
    SAY("%d and %d come and gone", rounds, rounds);
}

int main(int argc, char **argv)
{
    int rounds = 3000, come_and_go = 0;

    for (int c; (c = getopt(argc, argv, "n:m:p:o")) != -1;) {
        if (c == 'n')
            rounds = atoi(optarg);
        else if (c == 'm')
            come_and_go = atoi(optarg);
        else if (c == 'o')
            own = true;
        else if (c != 'p' || progress_open(optarg))
            return 2;
    }
    progress_phase(PROGRESS_IN_INIT);
    MPI_Init(&argc, &argv);
    progress_phase(PROGRESS_RUNS);
    setvbuf(stdout, NULL, _IOLBF, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Type_commit(&pair));
    OK(MPI_Op_create(compose, 0, &composed));

    if (come_and_go) {
        many(come_and_go);
        goto end;
    }
    make("MPI_COMM_WORLD", MPI_COMM_WORLD);
    make("MPI_COMM_SELF", MPI_COMM_SELF);
    if (ranks > 1)
        disjoint_groups();
    groups_alone();
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
        wrong_groups();
        what_is_kept();
    }
    alive_at_once();
    duplicates(rounds);
    splits(rounds / 6);
    groups(rounds / 6);
    in_turn(rounds / 2);
    try("MPI_COMM_WORLD", MPI_COMM_WORLD);
end:
    OK(MPI_Op_free(&composed));
    OK(MPI_Type_free(&pair));
    progress_phase(PROGRESS_IN_FINALIZE);
    MPI_Finalize();
    progress_phase(PROGRESS_OVER);
    return 0;
}
