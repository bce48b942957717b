/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects that live in one process: groups, info, attributes, names, memory. What rank 1 sees, right and wrong arguments: one
   binary, run with Open MPI's library and with ours on four ranks, must print the same (objects.known lists what differs). */
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static int rank, n, flag;
static char text[1024];

static void say(const char *what, int code)
{
    int class = -1;

    MPI_Error_class(code, &class);
    if (rank == 1)
        printf("%s -> %d\n", what, class);
}
static sigjmp_buf back;
static void crashed(int signal)
{
    (void)signal;
    siglongjmp(back, 1);
}
#define CASE(call) do { if (sigsetjmp(back, 1) == 0) say(#call, call); else SHOW("%s -> crash\n", #call); } while (0)
#define SHOW(...) do { if (rank == 1) printf(__VA_ARGS__); } while (0)

static void show_group(const char *what, MPI_Group group)
{
    int size = -1, mine = -1, ranks[8] = {0, 1, 2, 3, 4, 5, 6, 7}, world[8];
    MPI_Group all;

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_size(group, &size);
    MPI_Group_rank(group, &mine);
    SHOW("%s: %d processes, rank %d:", what, size, mine);
    MPI_Group_translate_ranks(group, size, ranks, all, world);
    for (int i = 0; i < size; i++)
        SHOW(" %d", world[i]);
    MPI_Group_compare(group, all, &n);
    SHOW(", like all %d\n", n);
    MPI_Group_free(&all);
}
#define GROUP(call) do { made = MPI_GROUP_NULL; CASE(call); if (made != MPI_GROUP_NULL) { show_group(#call, made); MPI_Group_free(&made); } } while (0)

static void groups(void)
{
    int some[] = {3, 1}, bad[] = {4}, negative[] = {-1}, null[] = {1, MPI_PROC_NULL, 0, 3}, out[4] = {-9, -9, -9, -9};
    int ranges[][3] = {{0, 2, 2}, {3, 3, 1}}, down[][3] = {{3, 0, -2}}, past[][3] = {{0, 4, 2}}, zero[][3] = {{0, 3, 0}},
        wrong[][3] = {{2, 1, 1}}, overlap[][3] = {{0, 2, 1}, {2, 3, 1}};
    MPI_Group all, few, made, self;

    CASE(MPI_Comm_group(MPI_COMM_WORLD, &all));
    CASE(MPI_Comm_group(MPI_COMM_NULL, &made));
    CASE(MPI_Comm_group(MPI_COMM_WORLD, NULL));
    CASE(MPI_Comm_group(MPI_COMM_SELF, &self));
    show_group("all", all);
    show_group("self", self);
    show_group("empty", MPI_GROUP_EMPTY);
    GROUP(MPI_Group_incl(all, 2, some, &made));
    GROUP(MPI_Group_incl(all, 0, some, &made));
    GROUP(MPI_Group_incl(all, 1, bad, &made));
    GROUP(MPI_Group_incl(all, 1, negative, &made));
    GROUP(MPI_Group_incl(MPI_GROUP_NULL, 1, some, &made));
    GROUP(MPI_Group_excl(all, 2, some, &made));
    GROUP(MPI_Group_excl(all, 0, some, &made));
    GROUP(MPI_Group_excl(all, 1, bad, &made));
    GROUP(MPI_Group_range_incl(all, 2, ranges, &made));
    GROUP(MPI_Group_range_incl(all, 1, down, &made));
    GROUP(MPI_Group_range_incl(all, 0, ranges, &made));
    GROUP(MPI_Group_range_incl(all, 1, past, &made));
    GROUP(MPI_Group_range_incl(all, 1, zero, &made));
    GROUP(MPI_Group_range_incl(all, 1, wrong, &made));
    GROUP(MPI_Group_range_incl(all, 2, overlap, &made));
    GROUP(MPI_Group_range_excl(all, 2, ranges, &made));
    GROUP(MPI_Group_range_excl(all, 1, down, &made));
    MPI_Group_incl(all, 2, some, &few);
    GROUP(MPI_Group_union(few, all, &made));
    GROUP(MPI_Group_union(all, few, &made));
    GROUP(MPI_Group_union(few, self, &made));
    GROUP(MPI_Group_union(MPI_GROUP_EMPTY, MPI_GROUP_EMPTY, &made));
    GROUP(MPI_Group_intersection(all, few, &made));
    GROUP(MPI_Group_intersection(few, all, &made));
    GROUP(MPI_Group_intersection(few, MPI_GROUP_EMPTY, &made));
    GROUP(MPI_Group_difference(all, few, &made));
    GROUP(MPI_Group_difference(few, all, &made));
    GROUP(MPI_Group_difference(all, MPI_GROUP_NULL, &made));
    CASE(MPI_Group_translate_ranks(all, 4, null, few, out));
    SHOW("%d %d %d %d\n", out[0], out[1], out[2], out[3]);
    CASE(MPI_Group_compare(all, MPI_GROUP_EMPTY, &n));
    SHOW("compared %d\n", n);
    CASE(MPI_Group_compare(MPI_GROUP_EMPTY, MPI_GROUP_EMPTY, &n));
    SHOW("compared %d\n", n);
    CASE(MPI_Group_size(MPI_GROUP_NULL, &n));
    CASE(MPI_Group_size(all, NULL));
    CASE(MPI_Group_rank(all, NULL));
    made = MPI_Group_f2c(MPI_Group_c2f(few));
    SHOW("the same in Fortran and back: %d\n", made == few);
    CASE(MPI_Group_free(&few));
    SHOW("null now: %d\n", few == MPI_GROUP_NULL);
    CASE(MPI_Group_free(&few));
    MPI_Group_free(&self);
    MPI_Group_free(&all);
}

static void infos(void)
{
    char long_key[300];
    MPI_Info info, copy;

    memset(long_key, 'k', sizeof long_key - 1);
    long_key[sizeof long_key - 1] = '\0';
    CASE(MPI_Info_create(&info));
    CASE(MPI_Info_create(NULL));
    CASE(MPI_Info_set(info, "first", "one"));
    CASE(MPI_Info_set(info, "second", "two"));
    CASE(MPI_Info_set(info, "first", "another one"));
    CASE(MPI_Info_set(info, long_key, "x"));
    CASE(MPI_Info_set(info, "", "x"));
    CASE(MPI_Info_set(info, "x", ""));
    CASE(MPI_Info_set(info, "x", long_key));
    CASE(MPI_Info_set(info, NULL, "x"));
    CASE(MPI_Info_set(MPI_INFO_NULL, "x", "x"));
    CASE(MPI_Info_get_nkeys(info, &n));
    SHOW("%d keys\n", n);
    CASE(MPI_Info_dup(info, &copy));
    CASE(MPI_Info_delete(info, "first"));
    CASE(MPI_Info_delete(info, "first"));
    CASE(MPI_Info_get(info, "first", 100, text, &flag));
    SHOW("found %d\n", flag);
    CASE(MPI_Info_get(copy, "first", 100, text, &flag));
    SHOW("found %d %s\n", flag, text);
    CASE(MPI_Info_get(copy, "first", 4, text, &flag));
    SHOW("found %d %s\n", flag, text);
    CASE(MPI_Info_get(copy, "first", -1, text, &flag));
    CASE(MPI_Info_get_valuelen(copy, "first", &n, &flag));
    SHOW("found %d, %d\n", flag, n);
    CASE(MPI_Info_get_valuelen(copy, "none", &n, &flag));
    SHOW("found %d\n", flag);
    CASE(MPI_Info_get_nthkey(copy, 1, text));
    SHOW("key %s\n", text);
    CASE(MPI_Info_get_nthkey(copy, 2, text));
    CASE(MPI_Info_get_nthkey(copy, -1, text));
    SHOW("the same in Fortran and back: %d\n", MPI_Info_f2c(MPI_Info_c2f(copy)) == copy);
    CASE(MPI_Info_free(&copy));
    SHOW("null now: %d\n", copy == MPI_INFO_NULL);
    CASE(MPI_Info_free(&copy));
    CASE(MPI_Info_free(&info));
}

static int deleted;
static int forget(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)key;
    deleted = comm == MPI_COMM_WORLD ? *(int *)value + *(int *)extra : -1;
    return deleted == 105 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void attributes(void)
{
    int key, other, values[] = {3, 4, 5}, extra = 100, *found = NULL, tag_ub = MPI_TAG_UB;

    CASE(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key, &extra));
    CASE(MPI_Comm_create_keyval(NULL, forget, &other, NULL));
    CASE(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, NULL, &other, NULL));
    CASE(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, NULL, NULL));
    CASE(MPI_Comm_get_attr(MPI_COMM_WORLD, key, &found, &flag));
    SHOW("there %d\n", flag);
    CASE(MPI_Comm_set_attr(MPI_COMM_WORLD, key, &values[0]));
    CASE(MPI_Comm_set_attr(MPI_COMM_WORLD, key, &values[1]));
    SHOW("deleted %d\n", deleted);
    CASE(MPI_Comm_get_attr(MPI_COMM_WORLD, key, &found, &flag));
    SHOW("there %d %d\n", flag, *found);
    CASE(MPI_Comm_get_attr(MPI_COMM_SELF, key, &found, &flag));
    SHOW("there %d\n", flag);
    CASE(MPI_Comm_delete_attr(MPI_COMM_WORLD, key));
    SHOW("deleted %d\n", deleted);
    CASE(MPI_Comm_delete_attr(MPI_COMM_WORLD, key));
    CASE(MPI_Comm_set_attr(MPI_COMM_WORLD, key, &values[2]));
    CASE(MPI_Comm_delete_attr(MPI_COMM_WORLD, key)); /* forget refuses */
    extra = 0;
    CASE(MPI_Comm_delete_attr(MPI_COMM_WORLD, key));
    CASE(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, &extra));
    CASE(MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_TAG_UB));
    CASE(MPI_Comm_free_keyval(&tag_ub));
    CASE(MPI_Comm_get_attr(MPI_COMM_WORLD, 12345, &found, &flag));
    CASE(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &found, &flag));
    CASE(MPI_Comm_get_attr(MPI_COMM_NULL, MPI_TAG_UB, &found, &flag));
    CASE(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, NULL, &flag));
    for (int k = MPI_TAG_UB; k <= MPI_UNIVERSE_SIZE; k++)
        if (k != MPI_UNIVERSE_SIZE && MPI_Comm_get_attr(MPI_COMM_WORLD, k, &found, &flag) == MPI_SUCCESS)
            SHOW("predefined %d: %d %d\n", k, flag, !flag ? 0 : k != MPI_LASTUSEDCODE ? *found : *found >= MPI_ERR_LASTCODE);
    CASE(MPI_Comm_free_keyval(&key));
    SHOW("invalid now: %d\n", key == MPI_KEYVAL_INVALID);
    CASE(MPI_Comm_free_keyval(&key));
    CASE(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL));
    CASE(MPI_Type_set_attr(MPI_INT, key, &extra));
    CASE(MPI_Type_get_attr(MPI_INT, key, &found, &flag));
    SHOW("there %d %d\n", flag, found == &extra);
    CASE(MPI_Type_get_attr(MPI_DATATYPE_NULL, key, &found, &flag));
    CASE(MPI_Type_delete_attr(MPI_INT, key));
    CASE(MPI_Type_free_keyval(&key));
}

static void names(void)
{
    char long_name[200];
    void *memory = &n;
    MPI_Datatype type;
    MPI_Comm parent = MPI_COMM_WORLD;

    memset(long_name, 'n', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    CASE(MPI_Comm_get_name(MPI_COMM_NULL, text, &n));
    CASE(MPI_Comm_get_name(MPI_COMM_WORLD, NULL, &n));
    CASE(MPI_Comm_set_name(MPI_COMM_WORLD, long_name));
    CASE(MPI_Comm_get_name(MPI_COMM_WORLD, text, &n));
    SHOW("%s, %d\n", text, n);
    CASE(MPI_Comm_set_name(MPI_COMM_WORLD, ""));
    CASE(MPI_Comm_get_name(MPI_COMM_WORLD, text, &n));
    SHOW("%s, %d\n", text, n);
    CASE(MPI_Comm_set_name(MPI_COMM_NULL, "x"));
    CASE(MPI_Type_get_name(MPI_DATATYPE_NULL, text, &n));
    CASE(MPI_Type_set_name(MPI_DATATYPE_NULL, "x"));
    MPI_Type_contiguous(2, MPI_INT, &type);
    CASE(MPI_Type_get_name(type, text, &n));
    SHOW("%s, %d\n", text, n);
    MPI_Type_free(&type);
    CASE(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &n));
    SHOW("%d\n", n);
    CASE(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_SELF, &n));
    SHOW("%d\n", n);
    CASE(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_NULL, &n));
    CASE(MPI_Comm_test_inter(MPI_COMM_WORLD, &n));
    SHOW("%d\n", n);
    CASE(MPI_Comm_test_inter(MPI_COMM_NULL, &n));
    CASE(MPI_Topo_test(MPI_COMM_WORLD, &n));
    SHOW("%d\n", n);
    CASE(MPI_Comm_get_parent(&parent));
    SHOW("%d\n", parent == MPI_COMM_NULL);
    CASE(MPI_Alloc_mem(100, MPI_INFO_NULL, &memory));
    CASE(MPI_Free_mem(memory));
    CASE(MPI_Alloc_mem(-1, MPI_INFO_NULL, &memory));
    CASE(MPI_Alloc_mem(1, MPI_INFO_NULL, NULL));
    CASE(MPI_Alloc_mem(0, MPI_INFO_NULL, &memory));
    SHOW("%d\n", memory == NULL);
    CASE(MPI_Free_mem(NULL));
    for (int class = 0; class < 5; class++)
        for (int size = 0; size < 40; size++)
            if (MPI_Type_match_size(class, size, &type) == MPI_SUCCESS && type != MPI_DATATYPE_NULL) {
                MPI_Type_get_name(type, text, &n);
                SHOW("class %d, %d bytes: %s\n", class, size, text);
            }
    CASE(MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &type));
    CASE(MPI_Type_match_size(99, 4, &type));
}

int main(void)
{
    MPI_Init(NULL, NULL);
    signal(SIGSEGV, crashed);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    groups();
    infos();
    attributes();
    names();
    MPI_Finalize();
    return 0;
}
