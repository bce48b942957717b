/* SPDX-License-Identifier: BSD-3-Clause */
/* Intercommunicators: made in every way there is, messages and collectives between the two groups, merged again; what hangs on them; wrong
   arguments; many made and freed.

     intercommunicators [-n ROUNDS] [-p DIR] [-o]

   -n: so many are made and freed in a row (300). -o: also several duplicates under way at a time, and an error of its own */
#include "compat-tests/abi/members.h"

/* ---- who is in one ---- */

struct sides {
    int mine;
    struct side near, far;
};

static struct sides sides_of(MPI_Comm comm)
{
    struct sides s;
    MPI_Group group;
    int n, inter;

    OK(MPI_Comm_test_inter(comm, &inter));
    CHECK(inter, "no intercommunicator");
    OK(MPI_Comm_rank(comm, &s.mine));
    OK(MPI_Comm_group(comm, &group));
    s.near = side_of(group);
    OK(MPI_Comm_remote_group(comm, &group));
    s.far = side_of(group);
    OK(MPI_Comm_size(comm, &n));
    CHECK(n == s.near.n && s.near.world[s.mine] == me, "rank %d of %d", s.mine, n);
    OK(MPI_Comm_remote_size(comm, &n));
    CHECK(n == s.far.n, "%d of %d", n, s.far.n);
    return s;
}

/* ---- what is done with one ---- */

/* Everyone of each side to everyone of the other one. */
static void messages(MPI_Comm comm, const struct sides *s)
{
    int given[2] = {me, -me}, got[MOST][2], flag, from;
    MPI_Request requests[2 * MOST];
    MPI_Status status;

    for (int r = 0; r < s->far.n; r++)
        OK(MPI_Irecv(got[r], 2, MPI_INT, r, 4, comm, &requests[r]));
    for (int r = 0; r < s->far.n; r++)
        OK(MPI_Isend(given, 2, MPI_INT, r, 4, comm, &requests[s->far.n + r]));
    OK(MPI_Waitall(2 * s->far.n, requests, MPI_STATUSES_IGNORE));
    for (int r = 0; r < s->far.n; r++)
        CHECK(got[r][0] == s->far.world[r] && got[r][1] == -got[r][0], "from %d came %d", r, got[r][0]);
    if (s->mine == 0)
        for (int r = 0; r < s->far.n; r++)
            OK(MPI_Issend(given, 1, MPI_INT, r, 5, comm, &requests[r]));
    OK(MPI_Probe(MPI_ANY_SOURCE, 5, comm, &status));
    CHECK(status.MPI_SOURCE == 0, "probed rank %d", status.MPI_SOURCE);
    OK(MPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, 5, comm, &status));
    CHECK(status.MPI_SOURCE == 0 && from == s->far.world[0], "from rank %d", status.MPI_SOURCE);
    if (s->mine == 0)
        OK(MPI_Waitall(s->far.n, requests, MPI_STATUSES_IGNORE));
    OK(MPI_Iprobe(MPI_ANY_SOURCE, 6, comm, &flag, &status));
    CHECK(!flag, "there is none");
    OK(MPI_Sendrecv(given, 1, MPI_INT, MPI_PROC_NULL, 0, &from, 1, MPI_INT, MPI_PROC_NULL, 0, comm, &status));
    step();
}

static void broadcasts(MPI_Comm comm, const struct sides *s, bool gives)
{
    const struct side *roots = gives ? &s->near : &s->far;

    for (int root = 0; root < roots->n; root++) {
        int data[3] = {me, me * me, root};

        OK(MPI_Bcast(data, 3, MPI_INT, !gives ? root : s->mine == root ? MPI_ROOT : MPI_PROC_NULL, comm));
        CHECK(gives || (data[0] == roots->world[root] && data[1] == data[0] * data[0]), "root %d: %d", root, data[0]);
    }
    step();
}

static void reductions(MPI_Comm comm, const struct sides *s, bool gives)
{
    const struct side *roots = gives ? &s->far : &s->near;
    struct affine mine = affine_of(me), all, expected = all_composed(&s->far);

    for (int root = 0; root < roots->n; root++) {
        bool is = !gives && s->mine == root;

        memset(&all, 0, sizeof all);
        OK(MPI_Reduce(&mine, &all, 1, pair, composed, gives ? root : is ? MPI_ROOT : MPI_PROC_NULL, comm));
        CHECK(!is || !memcmp(&all, &expected, sizeof all), "root %d has another result", root);
    }
    OK(MPI_Allreduce(&mine, &all, 1, pair, composed, comm));
    CHECK(!memcmp(&all, &expected, sizeof all), "the result is another one");
    sum_of_many(comm, &s->far);
    step();
}

static void say_sides(const char *what, const struct sides *s)
{
    printf("%d %s: rank %d of", me, what, s->mine);
    for (int r = 0; r < s->near.n; r++)
        printf(" %d", s->near.world[r]);
    printf(", the others are");
    for (int r = 0; r < s->far.n; r++)
        printf(" %d", s->far.world[r]);
    putchar('\n');
}

static void try_sides(const char *what, MPI_Comm comm)
{
    struct sides s;
    bool gives;

    if (comm == MPI_COMM_NULL) {
        SAY("%s: none", what);
        return;
    }
    s = sides_of(comm);
    gives = s.near.world[0] < s.far.world[0];
    OK(MPI_Barrier(comm));
    messages(comm, &s);
    broadcasts(comm, &s, gives);
    broadcasts(comm, &s, !gives);
    reductions(comm, &s, gives);
    gather(comm, &s.far, s.mine);
    step();
    OK(MPI_Barrier(comm));
    say_sides(what, &s);
}

/* ---- ways to make one ---- */

static void merge(const char *what, MPI_Comm inter, bool high)
{
    int n, rank, got[MOST], sum, inter_too;
    MPI_Comm merged;

    OK(MPI_Intercomm_merge(inter, high, &merged));
    OK(MPI_Comm_test_inter(merged, &inter_too));
    OK(MPI_Comm_size(merged, &n));
    OK(MPI_Comm_rank(merged, &rank));
    OK(MPI_Allgather(&me, 1, MPI_INT, got, 1, MPI_INT, merged));
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged));
    CHECK(got[rank] == me && sum == n * (n - 1) / 2 && !inter_too, "rank %d of %d", rank, n);
    printf("%d %s:", me, what);
    for (int r = 0; r < n; r++)
        printf(" %d", got[r]);
    putchar('\n');
    release(&merged);
}

static void every_second(MPI_Comm inter, MPI_Comm *made)
{
    int n, chosen[MOST], count = 0;
    MPI_Group group, some;

    OK(MPI_Comm_size(inter, &n));
    for (int r = 0; r < n; r += 2)
        chosen[count++] = r;
    OK(MPI_Comm_group(inter, &group));
    OK(MPI_Group_incl(group, count, chosen, &some));
    OK(MPI_Comm_create(inter, some, made));
    OK(MPI_Group_free(&some));
    OK(MPI_Group_free(&group));
}

static void others_of(MPI_Comm inter, bool low)
{
    MPI_Comm made, again;
    MPI_Request request;
    int rank;

    OK(MPI_Comm_rank(inter, &rank));
    OK(MPI_Comm_dup(inter, &made));
    show_compared("duplicate", inter, made);
    try_sides("duplicate", made);
    merge("its ranks in one", made, low);
    release(&made);
    OK(MPI_Comm_idup(inter, &made, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    try_sides("duplicate at leisure", made);
    every_second(made, &again);
    try_sides("every second", again);
    release(&again);
    release(&made);
    OK(MPI_Comm_split(inter, rank % 2, -rank, &made));
    if (made != MPI_COMM_NULL)
        show_compared("split", inter, made);
    try_sides("split", made);
    release(&made);
    OK(MPI_Comm_split(inter, rank ? MPI_UNDEFINED : 3, 0, &made));
    try_sides("the first two", made);
    release(&made);
}

static void leisure(MPI_Comm inter)
{
    MPI_Request requests[2];
    MPI_Comm made[2];

    OK(MPI_Comm_idup(inter, &made[0], &requests[0]));
    OK(MPI_Comm_idup(inter, &made[1], &requests[1]));
    OK(MPI_Barrier(inter));
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    try_sides("one of two at leisure", made[0]);
    try_sides("the other one", made[1]);
    release(&made[1]);
    release(&made[0]);
}

/* Of the halves of `of`, by their last ranks. */
static void make(const char *what, MPI_Comm of, bool low, MPI_Comm half)
{
    MPI_Comm inter;
    int n, mine, size;
    MPI_Group all, group;
    int leaders[2], first = 0;

    OK(MPI_Comm_size(half, &n));
    OK(MPI_Comm_group(of, &all));
    OK(MPI_Comm_group(half, &group));
    n--;
    OK(MPI_Group_translate_ranks(group, 1, &n, all, &mine));
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&all));
    OK(MPI_Comm_size(of, &size));
    leaders[low] = mine;
    leaders[!low] = -1;
    first = low ? mine : -1;
    OK(MPI_Allreduce(&first, &leaders[1], 1, MPI_INT, MPI_MAX, of));
    first = low ? -1 : mine;
    OK(MPI_Allreduce(&first, &leaders[0], 1, MPI_INT, MPI_MAX, of));
    OK(MPI_Intercomm_create(half, n, of, leaders[!low], 12, &inter));
    SAY("of %s", what);
    try_sides(what, inter);
    show_compared("itself", inter, inter);
    show_compared("its half", inter, half);
    merge("low ones first", inter, !low);
    merge("low ones last", inter, low);
    merge("neither", inter, false);
    merge("both", inter, true);
    others_of(inter, low);
    if (own)
        leisure(inter);
    release(&inter);
}

/* ---- what hangs on one ---- */

static int copies, deletes, handled;

static int copy_next(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra;
    copies++;
    *(char **)out = (char *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int count_delete(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

static void handle(MPI_Comm *comm, int *code, ...)
{
    int n = -1;

    MPI_Comm_remote_size(*comm, &n);
    handled += 100 * n + (*code != MPI_SUCCESS);
}

static void what_hangs_on(MPI_Comm inter)
{
    static char from[8];
    char name[MPI_MAX_OBJECT_NAME], *value = NULL;
    MPI_Errhandler mine;
    MPI_Comm dup;
    int key, n, there = 0, x = 0;

    OK(MPI_Comm_create_keyval(copy_next, count_delete, &key, NULL));
    OK(MPI_Comm_set_attr(inter, key, from));
    OK(MPI_Comm_set_name(inter, "two groups"));
    OK(MPI_Comm_get_name(inter, name, &n));
    SAY("name \"%s\"", name);
    OK(MPI_Comm_create_errhandler(handle, &mine));
    OK(MPI_Comm_set_errhandler(inter, mine));
    OK(MPI_Errhandler_free(&mine));
    OK(MPI_Comm_dup(inter, &dup));
    OK(MPI_Comm_get_attr(dup, key, &value, &there));
    SAY("copied: there %d, %d further", there, there ? (int)(value - from) : 0);
    SAY("no such rank: %d", MPI_Send(&x, 1, MPI_INT, 60, 0, dup) != MPI_SUCCESS);
    SAY("no such root: %d", MPI_Bcast(&x, 1, MPI_INT, 60, dup) != MPI_SUCCESS);
    SAY("handled %d", handled);
    release(&dup);
    OK(MPI_Comm_delete_attr(inter, key));
    OK(MPI_Comm_free_keyval(&key));
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    SAY("%d copied, %d deleted; the same in Fortran and back: %d", copies, deletes, MPI_Comm_f2c(MPI_Comm_c2f(inter)) == inter);
}

static void errors(MPI_Comm inter, MPI_Comm half)
{
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Group group;
    int x = 0, y = 0, n;

    CASE(MPI_Intercomm_create(MPI_COMM_NULL, 0, MPI_COMM_WORLD, 0, 1, &made));
    CASE(MPI_Intercomm_create(half, -1, MPI_COMM_WORLD, 0, 1, &made));
    CASE(MPI_Intercomm_create(half, 77, MPI_COMM_WORLD, 0, 1, &made));
    CASE(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 0, 1, NULL));
    CASE(MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_NULL, 0, 1, &made));
    CASE(MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 77, 1, &made));
    CASE(MPI_Intercomm_create(inter, 0, MPI_COMM_WORLD, 0, 1, &made));
    CASE(MPI_Intercomm_merge(MPI_COMM_NULL, 0, &made));
    CASE(MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &made));
    CASE(MPI_Intercomm_merge(inter, 0, NULL));
    if (own) /* it is 0 with Open MPI */
        CASE(MPI_Comm_remote_size(MPI_COMM_WORLD, &n));
    CASE(MPI_Comm_remote_size(inter, NULL));
    CASE(MPI_Comm_remote_group(MPI_COMM_WORLD, &group));
    CASE(MPI_Comm_remote_group(inter, NULL));
    CASE(MPI_Bcast(&x, 1, MPI_INT, 77, inter));
    CASE(MPI_Reduce(&x, &y, 1, MPI_INT, MPI_SUM, 77, inter));
    CASE(MPI_Send(&x, 1, MPI_INT, 77, 1, inter));
    CASE(MPI_Recv(&x, 1, MPI_INT, 77, 1, inter, MPI_STATUS_IGNORE));
    step();
}

static void many(MPI_Comm half, int rounds)
{
    int leader = me % 2 ? 0 : 1;
    unsigned sum = 0;

    for (int i = 0; i < rounds; i++) {
        MPI_Comm inter, dup, merged;
        int got = -1, mine = me * 7 + i;

        OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, leader, i % 50, &inter));
        OK(MPI_Comm_dup(inter, &dup));
        OK(MPI_Intercomm_merge(inter, me % 2, &merged));
        OK(MPI_Comm_free(&inter));
        OK(MPI_Allreduce(&mine, &got, 1, MPI_INT, MPI_SUM, dup));
        sum = sum * 31 + (unsigned)got;
        OK(MPI_Allreduce(&mine, &got, 1, MPI_INT, MPI_SUM, merged));
        sum = sum * 31 + (unsigned)got;
        OK(MPI_Comm_free(&merged));
        OK(MPI_Comm_free(&dup));
        step();
    }
    SAY("%d made: %08x", rounds, sum);
}

int main(int argc, char **argv)
{
    int rounds = 300;
    MPI_Comm half, inter, dup;

    start(argc, argv, &rounds);
    CHECK(ranks > 1, "at least two ranks");
    members_start();
    OK(MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    make("halves", dup, me % 2 == 0, half);
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, me % 2 ? 0 : 1, 0, &inter));
    what_hangs_on(inter);
    errors(inter, half);
    try_sides("after errors", inter);
    OK(MPI_Comm_disconnect(&inter));
    release(&half);
    OK(MPI_Comm_split(dup, me > 0, -me, &half));
    make("the first and the others", dup, me == 0, half);
    release(&half);
    release(&dup);
    OK(MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half));
    many(half, rounds);
    release(&half);
    members_end();
    end();
    return 0;
}
