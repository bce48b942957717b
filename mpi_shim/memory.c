/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for messages (MPI 3.1 section 8.2). No memory is better than another here. */
#include <stdlib.h>

#include "ft/base/util.h"
#include "mpi_shim/shim.h"

enum { ALIGNMENT = 64 };

SHIM_ALIAS(int, Alloc_mem, (MPI_Aint size, MPI_Info info, void *baseptr));
int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
    SHIM_ENTER();
    const char *me = "Alloc_mem";
    void *made = NULL;
    int err = shim_check_running(me);

    if (err)
        return err;
    if (size < 0 || !baseptr)
        return shim_raise(NULL, me, MPI_ERR_ARG, baseptr ? "the size is %lld" : "baseptr is a null pointer (size %lld)", (long long)size);
    if (info != MPI_INFO_NULL && (!info || info->magic != SHIM_INFO))
        return shim_raise(NULL, me, MPI_ERR_INFO, "this is not an info object; was it freed?");
    if (size > 0 && posix_memalign(&made, ALIGNMENT, (size_t)size) != 0)
        return shim_raise(NULL, me, MPI_ERR_NO_MEM, "no memory for %lld byte%s", (long long)size, ft_plural(size));
    *(void **)baseptr = made;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Free_mem, (void *base));
int PMPI_Free_mem(void *base)
{
    SHIM_ENTER();
    int err = shim_check_running("Free_mem");

    if (!err)
        free(base);
    return err;
}
