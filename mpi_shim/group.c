/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups (MPI 3.1 section 6.3): ordered sets of processes, local to this one. A process is its rank in MPI_COMM_WORLD. */
#include <stdlib.h>
#include <string.h>

#include "mpi_shim/shim.h"

static MPI_Group unused;    /* freed groups, see handle.h */

static int check(const char *me, MPI_Group group, bool results)
{
    int err = shim_check_running(me);

    if (!err && (!group || group->magic != SHIM_GROUP))
        err = shim_raise(NULL, me, MPI_ERR_GROUP, group == MPI_GROUP_NULL ? "the group is MPI_GROUP_NULL"
                                                                           : "this is not a group; was it freed?");
    if (!err && !results)
        err = shim_raise(NULL, me, MPI_ERR_ARG, "a null pointer to write to");
    return err;
}

static int check_two(const char *me, MPI_Group a, MPI_Group b, bool results)
{
    int err = check(me, a, results);

    return err ? err : check(me, b, true);
}

static int rank_of(MPI_Group group, int process)
{
    for (int r = 0; r < group->n; r++)
        if (group->processes[r] == process)
            return r;
    return MPI_UNDEFINED;
}

/* For up to `most` processes. */
static int *room(const char *me, int most, int *err)
{
    int *processes = malloc(((size_t)most + 1) * sizeof *processes);

    *err = processes ? MPI_SUCCESS : shim_raise(NULL, me, MPI_ERR_NO_MEM, "no memory for a group of %d", most);
    return processes;
}

/* Takes the array over. */
static int make(const char *me, int *processes, int n, MPI_Group *group)
{
    MPI_Group made = unused;

    if (n == 0) {
        free(processes);
        *group = MPI_GROUP_EMPTY;
        return MPI_SUCCESS;
    }
    if (made)
        unused = made->next_free;
    else
        made = malloc(sizeof *made);
    if (!made) {
        free(processes);
        return shim_raise(NULL, me, MPI_ERR_NO_MEM, "no memory for a group");
    }
    *made = (struct ompi_group_t){.magic = SHIM_GROUP, .n = n, .processes = processes};
    *group = made;
    return MPI_SUCCESS;
}

static int group_of(const char *me, const int *ranks, int n, MPI_Group *group)
{
    int err, *processes = room(me, n, &err);

    if (err)
        return err;
    memcpy(processes, ranks, (size_t)n * sizeof *processes);
    return make(me, processes, n, group);
}

SHIM_ALIAS(int, Comm_group, (MPI_Comm comm, MPI_Group *group));
int PMPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
    SHIM_ENTER();
    const char *me = "Comm_group";

    if (!shim_comm_ok(comm))
        return shim_bad_comm(comm, me);
    if (!group)
        return shim_raise(comm, me, MPI_ERR_ARG, "group is a null pointer");
    return group_of(me, shim_comm_ranks(comm), comm->size, group);
}

SHIM_ALIAS(int, Comm_remote_group, (MPI_Comm comm, MPI_Group *group));
int PMPI_Comm_remote_group(MPI_Comm comm, MPI_Group *group)
{
    SHIM_ENTER();
    const char *me = "Comm_remote_group";

    if (!shim_comm_ok(comm))
        return shim_bad_comm(comm, me);
    if (!comm->inter)
        return shim_raise(comm, me, MPI_ERR_COMM, "the communicator has no remote group: it is no intercommunicator");
    if (!group)
        return shim_raise(comm, me, MPI_ERR_ARG, "group is a null pointer");
    return group_of(me, comm->members.ranks, shim_comm_peers(comm), group);
}

SHIM_ALIAS(int, Group_size, (MPI_Group group, int *size));
int PMPI_Group_size(MPI_Group group, int *size)
{
    SHIM_ENTER();
    int err = check("Group_size", group, size != NULL);

    if (!err)
        *size = group->n;
    return err;
}

SHIM_ALIAS(int, Group_rank, (MPI_Group group, int *rank));
int PMPI_Group_rank(MPI_Group group, int *rank)
{
    SHIM_ENTER();
    int err = check("Group_rank", group, rank != NULL);

    if (!err)
        *rank = rank_of(group, shim.rank);
    return err;
}

static int bad_rank(const char *me, MPI_Group group, int rank)
{
    return shim_raise(NULL, me, MPI_ERR_RANK, "the rank is %d; the group has %d", rank, group->n);
}

SHIM_ALIAS(int, Group_translate_ranks, (MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[]));
int PMPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[])
{
    SHIM_ENTER();
    const char *me = "Group_translate_ranks";
    int err = check_two(me, group1, group2, n <= 0 || (ranks1 && ranks2));

    if (!err)
        err = shim_check_count(NULL, me, "n", n);
    for (int i = 0; i < n && !err; i++) {
        if (ranks1[i] == MPI_PROC_NULL)
            ranks2[i] = MPI_PROC_NULL;
        else if (ranks1[i] < 0 || ranks1[i] >= group1->n)
            err = bad_rank(me, group1, ranks1[i]);
        else
            ranks2[i] = rank_of(group2, group1->processes[ranks1[i]]);
    }
    return err;
}

SHIM_ALIAS(int, Group_compare, (MPI_Group group1, MPI_Group group2, int *result));
int PMPI_Group_compare(MPI_Group group1, MPI_Group group2, int *result)
{
    SHIM_ENTER();
    int err = check_two("Group_compare", group1, group2, result != NULL);

    if (err)
        return err;
    *result = group1->n == group2->n ? MPI_IDENT : MPI_UNEQUAL;
    for (int r = 0; r < group1->n && *result != MPI_UNEQUAL; r++) {
        int other = rank_of(group2, group1->processes[r]);

        if (other != r)
            *result = other == MPI_UNDEFINED ? MPI_UNEQUAL : MPI_SIMILAR;
    }
    return MPI_SUCCESS;
}

/* Those of a that are in b, too, and those that are not; then those of b that are not in a. */
static int combine(const char *me, MPI_Group a, MPI_Group b, bool with_common, bool with_rest, bool with_second, MPI_Group *group)
{
    int n = 0, err = check_two(me, a, b, group != NULL), *processes = err ? NULL : room(me, a->n + b->n, &err);

    if (err)
        return err;
    for (int r = 0; r < a->n; r++)
        if (rank_of(b, a->processes[r]) == MPI_UNDEFINED ? with_rest : with_common)
            processes[n++] = a->processes[r];
    for (int r = 0; r < b->n && with_second; r++)
        if (rank_of(a, b->processes[r]) == MPI_UNDEFINED)
            processes[n++] = b->processes[r];
    return make(me, processes, n, group);
}

SHIM_ALIAS(int, Group_union, (MPI_Group group1, MPI_Group group2, MPI_Group *newgroup));
int PMPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    SHIM_ENTER();

    return combine("Group_union", group1, group2, true, true, true, newgroup);
}

SHIM_ALIAS(int, Group_intersection, (MPI_Group group1, MPI_Group group2, MPI_Group *newgroup));
int PMPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    SHIM_ENTER();

    return combine("Group_intersection", group1, group2, true, false, false, newgroup);
}

SHIM_ALIAS(int, Group_difference, (MPI_Group group1, MPI_Group group2, MPI_Group *newgroup));
int PMPI_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    SHIM_ENTER();

    return combine("Group_difference", group1, group2, false, true, false, newgroup);
}

/* A choice out of a group: ranks as given, each once, or all the others in their order. */
struct choice {
    int *processes, n;
    char *taken;        /* by rank in the group */
};

static int start(struct choice *c, const char *me, MPI_Group group)
{
    int err;

    *c = (struct choice){.processes = room(me, group->n, &err)};
    if (err)
        return err;
    c->taken = calloc((size_t)group->n + 1, 1);
    if (c->taken)
        return MPI_SUCCESS;
    free(c->processes);
    return shim_raise(NULL, me, MPI_ERR_NO_MEM, "no memory for a group of %d", group->n);
}

static int take(struct choice *c, const char *me, MPI_Group group, int rank)
{
    if (rank < 0 || rank >= group->n)
        return bad_rank(me, group, rank);
    if (c->taken[rank])
        return shim_raise(NULL, me, MPI_ERR_RANK, "rank %d is named twice", rank);
    c->taken[rank] = 1;
    c->processes[c->n++] = group->processes[rank];
    return MPI_SUCCESS;
}

static int end(struct choice *c, const char *me, MPI_Group group, int err, bool others, MPI_Group *newgroup)
{
    if (err) {
        free(c->processes);
    } else {
        if (others)
            c->n = 0;
        for (int r = 0; r < group->n && others; r++)
            if (!c->taken[r])
                c->processes[c->n++] = group->processes[r];
        err = make(me, c->processes, c->n, newgroup);
    }
    free(c->taken);
    return err;
}

static int choose(const char *me, MPI_Group group, int n, const int *ranks, bool others, MPI_Group *newgroup)
{
    struct choice c;
    int err = check(me, group, newgroup && (ranks || n <= 0));

    if (!err)
        err = shim_check_count(NULL, me, "n", n);
    if (!err)
        err = start(&c, me, group);
    if (err)
        return err;
    for (int i = 0; i < n && !err; i++)
        err = take(&c, me, group, ranks[i]);
    return end(&c, me, group, err, others, newgroup);
}

/* {first, last, stride}: last may not be hit. */
static int choose_ranges(const char *me, MPI_Group group, int n, int ranges[][3], bool others, MPI_Group *newgroup)
{
    struct choice c;
    int err = check(me, group, newgroup && (ranges || n <= 0));

    if (!err)
        err = shim_check_count(NULL, me, "n", n);
    if (!err)
        err = start(&c, me, group);
    if (err)
        return err;
    for (int i = 0; i < n && !err; i++) {
        long long first = ranges[i][0], last = ranges[i][1], stride = ranges[i][2];

        if (last < 0 || last >= group->n)
            err = bad_rank(me, group, ranges[i][1]);
        else if (stride == 0 || (stride > 0 ? first > last : first < last))
            err = shim_raise(NULL, me, MPI_ERR_RANK, "range %d goes from %lld to %lld in steps of %lld", i, first, last, stride);
        for (long long rank = first; !err && (stride > 0 ? rank <= last : rank >= last); rank += stride)
            err = take(&c, me, group, (int)rank);
    }
    return end(&c, me, group, err, others, newgroup);
}

SHIM_ALIAS(int, Group_incl, (MPI_Group group, int n, const int ranks[], MPI_Group *newgroup));
int PMPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    SHIM_ENTER();

    return choose("Group_incl", group, n, ranks, false, newgroup);
}

SHIM_ALIAS(int, Group_excl, (MPI_Group group, int n, const int ranks[], MPI_Group *newgroup));
int PMPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    SHIM_ENTER();

    return choose("Group_excl", group, n, ranks, true, newgroup);
}

SHIM_ALIAS(int, Group_range_incl, (MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup));
int PMPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
    SHIM_ENTER();

    return choose_ranges("Group_range_incl", group, n, ranges, false, newgroup);
}

SHIM_ALIAS(int, Group_range_excl, (MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup));
int PMPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
    SHIM_ENTER();

    return choose_ranges("Group_range_excl", group, n, ranges, true, newgroup);
}

/* MPI_GROUP_EMPTY comes out of other functions, so it may be freed like what they make; it stays. */
SHIM_ALIAS(int, Group_free, (MPI_Group *group));
int PMPI_Group_free(MPI_Group *group)
{
    SHIM_ENTER();
    int err = check("Group_free", group ? *group : NULL, true);

    if (err)
        return err;
    if (*group != MPI_GROUP_EMPTY) {
        shim_group_unnumber(*group);
        free((*group)->processes);
        (*group)->magic = 0;
        (*group)->next_free = unused;
        unused = *group;
    }
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}
