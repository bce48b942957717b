/* SPDX-License-Identifier: BSD-3-Clause */
/* A key that was freed lives until the last value under it is deleted (MPI 3.1 section 6.7.2): values can be got, deleted one by one, and go
   with their communicator or type. Nothing can be set under it, and a duplicate gets a copy. Plain MPI, one rank. */
#include <stdint.h>

#include "compat-tests/abi/world.h"

static int deleted;

static int count_comm(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    deleted += (int)(intptr_t)value;
    return MPI_SUCCESS;
}

static int count_type(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)type, (void)key, (void)extra;
    deleted += (int)(intptr_t)value;
    return MPI_SUCCESS;
}

static void expect(int n) { CHECK(deleted == n, "%d deleted, not %d", deleted, n); }

static void communicators(void)
{
    MPI_Comm comm, copy;
    void *value;
    int key, handle, flag;

    OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, count_comm, &key, NULL));
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_attr(comm, key, (void *)(intptr_t)5));
    handle = key;
    OK(MPI_Comm_free_keyval(&handle));
    CHECK(handle == MPI_KEYVAL_INVALID, "%d", handle);
    OK(MPI_Comm_get_attr(comm, key, &value, &flag));
    CHECK(flag && (intptr_t)value == 5, "%d", flag);
    OK(MPI_Comm_dup(comm, &copy));
    OK(MPI_Comm_delete_attr(comm, key));
    expect(5);
    OK(MPI_Comm_get_attr(copy, key, &value, &flag));
    CHECK(flag && (intptr_t)value == 5, "%d in the duplicate", flag);
    OK(MPI_Comm_free(&copy));
    expect(10);
    CHECK(MPI_Comm_delete_attr(comm, key) != MPI_SUCCESS, "a key without values is still one");
    OK(MPI_Comm_free(&comm));
    expect(10);
}

static void types(void)
{
    MPI_Datatype type;
    void *value;
    int key, handle, flag;

    OK(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, count_type, &key, NULL));
    OK(MPI_Type_contiguous(2, MPI_INT, &type));
    OK(MPI_Type_set_attr(type, key, (void *)(intptr_t)7));
    handle = key;
    OK(MPI_Type_free_keyval(&handle));
    OK(MPI_Type_get_attr(type, key, &value, &flag));
    CHECK(flag && (intptr_t)value == 7, "%d", flag);
    OK(MPI_Type_delete_attr(type, key));
    expect(17);
    OK(MPI_Type_free(&type));
    expect(17);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    communicators();
    types();
    MPI_Finalize();
    return 0;
}
