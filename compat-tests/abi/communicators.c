/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators: made in every way there is, of MPI_COMM_WORLD, MPI_COMM_SELF and each other; what each collective computes on them;
   thousands made and freed; calls on several in turn. attributes.c: what hangs on them.

     communicators [-n ROUNDS] [-p DIR] [-o]

   -n: so many duplicates are made and freed in a row (3000), and a sixth of that splits. -o: also a sum's last bit, groups that disagree */
#include "compat-tests/abi/members.h"

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

/* ---- what another MPI need not do ---- */

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

    if (!own || m->all.n != ranks || m->all.world[0] != 0)
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

        compute(made[i], &m);
        sums_of_doubles(made[i], &m);
        for (int r = 0; r < m.all.n; r++)
            sum = sum * 31 + (unsigned)m.all.world[r];
    }
    while (n > 0)
        release(&made[--n]);
    SAY("%d at once: %08x", ALIVE, sum);
    try("after so many", MPI_COMM_WORLD);
}

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
int main(int argc, char **argv)
{
    int rounds = 3000;

    start(argc, argv, &rounds);
    members_start();
    make("MPI_COMM_WORLD", MPI_COMM_WORLD);
    make("MPI_COMM_SELF", MPI_COMM_SELF);
    if (ranks > 1)
        disjoint_groups();
    groups_alone();
    if (own)
        wrong_groups();
    alive_at_once();
    duplicates(rounds);
    splits(rounds / 6);
    groups(rounds / 6);
    in_turn(rounds / 2);
    try("MPI_COMM_WORLD", MPI_COMM_WORLD);
    members_end();
    end();
    return 0;
}
