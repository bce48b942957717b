/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations whose results are kept for ranks that come back: see ftmpi.h. */
#include <string.h>

#include "mpi_shim/ftmpi.h"

#include "mpi_shim/shim.h"

enum { LONGEST = 255 };

/* What is kept is the whole job's: halves of it would take each other's. */
static int check_comm(MPI_Comm comm, const char *me)
{
    if (!shim_comm_ok(comm))
        return shim_bad_comm(comm, me);
    if (comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF)
        return MPI_SUCCESS;
    return shim_raise(comm, me, MPI_ERR_COMM, "results of created communicators are not kept; call it on MPI_COMM_WORLD");
}

/* Without a key the engine goes by the place of the call, and wants "". */
static int check_key(MPI_Comm comm, const char *me, const char **key)
{
    size_t n = *key ? strnlen(*key, LONGEST + 1) : 1;

    if (n == 0)
        return shim_raise(comm, me, MPI_ERR_ARG, "the key is empty; give it a name, or NULL for the place of the call");
    if (n > LONGEST)
        return shim_raise(comm, me, MPI_ERR_ARG, "the key is longer than %d bytes: \"%.40s...\"", LONGEST, *key);
    if (!*key)
        *key = "";
    return MPI_SUCCESS;
}

FTMPI_API int PMPIX_Allreduce_cached(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                     const char *key);
FTMPI_API int MPIX_Allreduce_cached(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                    const char *key) __attribute__((weak, alias("PMPIX_Allreduce_cached")));
int PMPIX_Allreduce_cached(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                           const char *key)
{
    SHIM_ENTER();
    int err = check_comm(comm, "X_Allreduce_cached");

    if (!err)
        err = check_key(comm, "X_Allreduce_cached", &key);
    return err ? err : shim_allreduce_cached(sendbuf, recvbuf, count, datatype, op, comm, key, SHIM_SITE());
}

FTMPI_API int PMPIX_Bcast_cached(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, const char *key);
FTMPI_API int MPIX_Bcast_cached(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, const char *key)
    __attribute__((weak, alias("PMPIX_Bcast_cached")));
int PMPIX_Bcast_cached(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, const char *key)
{
    SHIM_ENTER();
    int err = check_comm(comm, "X_Bcast_cached");

    if (!err)
        err = check_key(comm, "X_Bcast_cached", &key);
    return err ? err : shim_bcast_cached(buffer, count, datatype, root, comm, key, SHIM_SITE());
}
