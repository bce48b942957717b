/* SPDX-License-Identifier: BSD-3-Clause */
#include "compat-tests/abi/members.h"

enum { LARGE = 40000 };

MPI_Datatype pair;
MPI_Op composed;

static void compose(void *in, void *inout, int *len, MPI_Datatype *type)
{
    struct affine *first = in, *then = inout;

    (void)type;
    for (int i = 0; i < *len; i++) {
        then[i].b += then[i].a * first[i].b;
        then[i].a *= first[i].a;
    }
}

void members_start(void)
{
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Type_commit(&pair));
    OK(MPI_Op_create(compose, 0, &composed));
}

void members_end(void)
{
    OK(MPI_Op_free(&composed));
    OK(MPI_Type_free(&pair));
}

struct affine affine_of(int rank) { return (struct affine){2 * (uint32_t)rank + 3, (uint32_t)rank + 7}; }

struct affine all_composed(const struct side *s)
{
    struct affine all = affine_of(s->world[0]);

    for (int r = 1; r < s->n; r++) {
        struct affine next = affine_of(s->world[r]);

        compose(&all, &next, &(int){1}, NULL);
        all = next;
    }
    return all;
}

struct side side_of(MPI_Group group)
{
    struct side s;
    int order[MOST];
    MPI_Group all;

    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    OK(MPI_Group_size(group, &s.n));
    for (int r = 0; r < s.n; r++)
        order[r] = r;
    OK(MPI_Group_translate_ranks(group, s.n, order, all, s.world));
    OK(MPI_Group_free(&all));
    OK(MPI_Group_free(&group));
    return s;
}

struct members members_of(MPI_Comm comm)
{
    struct members m;
    MPI_Group group;
    int n;

    OK(MPI_Comm_size(comm, &n));
    OK(MPI_Comm_rank(comm, &m.mine));
    OK(MPI_Comm_group(comm, &group));
    m.all = side_of(group);
    CHECK(n == m.all.n && m.all.world[m.mine] == me, "rank %d of %d is world rank %d", m.mine, n, m.all.world[m.mine]);
    return m;
}

static void broadcast(MPI_Comm comm, const struct side *all)
{
    for (int root = 0; root < all->n; root++) {
        int data[3] = {me, me * me, root};

        OK(MPI_Bcast(data, 3, MPI_INT, root, comm));
        CHECK(data[0] == all->world[root] && data[1] == data[0] * data[0] && data[2] == root, "root %d", root);
    }
}

static int sum_of(const struct side *s)
{
    int sum = 0;

    for (int r = 0; r < s->n; r++)
        sum += s->world[r] + 1;
    return sum;
}

void sum_of_many(MPI_Comm comm, const struct side *from)
{
    static int large[LARGE], larger[LARGE];
    int sum = sum_of(from);

    for (int i = 0; i < LARGE; i++)
        large[i] = (me + 1) * (i % 1000);
    OK(MPI_Allreduce(large, larger, LARGE, MPI_INT, MPI_SUM, comm));
    for (int i = 0; i < LARGE; i++)
        CHECK(larger[i] == sum * (i % 1000), "element %d is %d", i, larger[i]);
}

static void reduce(MPI_Comm comm, const struct members *m)
{
    int mine[2] = {me + 1, -me}, got[2] = {0, 0}, sum = sum_of(&m->all), most = 0, root = m->all.n - 1;
    struct affine a = affine_of(me), all, expected = all_composed(&m->all);

    for (int r = 0; r < m->all.n; r++)
        most = m->all.world[r] > most ? m->all.world[r] : most;
    OK(MPI_Allreduce(mine, got, 2, MPI_INT, MPI_MIN, comm));
    CHECK(got[1] == -most, "the least is %d", got[1]);
    OK(MPI_Reduce(mine, got, 1, MPI_INT, MPI_SUM, root, comm));
    CHECK(m->mine != root || got[0] == sum, "the sum is %d, not %d", got[0], sum);
    OK(MPI_Allreduce(MPI_IN_PLACE, mine, 1, MPI_INT, MPI_SUM, comm));
    CHECK(mine[0] == sum, "the sum is %d, not %d", mine[0], sum);
    OK(MPI_Allreduce(&a, &all, 1, pair, composed, comm));
    CHECK(!memcmp(&all, &expected, sizeof all), "functions are composed in another order");
    sum_of_many(comm, &m->all);
}

void gather(MPI_Comm comm, const struct side *from, int mine)
{
    int two[2] = {me, me * 10}, got[2 * MOST], counts[MOST], displs[MOST], parts[MOST * (MOST + 1)], given[2 * MOST], at = 0;

    OK(MPI_Allgather(two, 1, pair, got, 1, pair, comm));
    for (int r = 0; r < from->n; r++)
        CHECK(got[2 * r] == from->world[r] && got[2 * r + 1] == 10 * from->world[r], "part %d", r);
    for (int r = from->n - 1; r >= 0; r--) {
        counts[r] = r + 1;
        displs[r] = at;
        at += r + 2;
    }
    memset(parts, -1, sizeof parts);
    for (int i = 0; i <= mine; i++)
        given[i] = 100 * me + i;
    OK(MPI_Allgatherv(given, mine + 1, MPI_INT, parts, counts, displs, MPI_INT, comm));
    for (int r = 0; r < from->n; r++) {
        for (int i = 0; i <= r; i++)
            CHECK(parts[displs[r] + i] == 100 * from->world[r] + i, "part %d, element %d", r, i);
        CHECK(parts[displs[r] + r + 1] == -1, "the gap after part %d", r);
    }
}

void compute(MPI_Comm comm, const struct members *m)
{
    OK(MPI_Barrier(comm));
    broadcast(comm, &m->all);
    step();
    reduce(comm, m);
    step();
    gather(comm, &m->all, m->mine);
    step();
}

void try(const char *what, MPI_Comm comm)
{
    struct members m;

    if (comm == MPI_COMM_NULL) {
        SAY("%s: none", what);
        return;
    }
    m = members_of(comm);
    compute(comm, &m);
    printf("%d %s: rank %d of", me, what, m.mine);
    for (int r = 0; r < m.all.n; r++)
        printf(" %d", m.all.world[r]);
    putchar('\n');
}

void release(MPI_Comm *comm)
{
    if (*comm == MPI_COMM_NULL)
        return;
    OK(MPI_Comm_free(comm));
    CHECK(*comm == MPI_COMM_NULL, "the handle is not null");
    step();
}

void show_compared(const char *what, MPI_Comm a, MPI_Comm b)
{
    int result;

    if (a == MPI_COMM_NULL || b == MPI_COMM_NULL)
        return;
    OK(MPI_Comm_compare(a, b, &result));
    SAY("%s: %s", what, result == MPI_IDENT ? "ident" : result == MPI_CONGRUENT ? "congruent" : result == MPI_SIMILAR ? "similar"
                                                                                                                  : "unequal");
}
