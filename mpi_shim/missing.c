/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that are still to be written: each says its name through the error handler and never succeeds.
   Their arguments are not looked at, so they are not declared; the caller's extra ones do no harm in
   the calling conventions of Linux. */
#include "mpi_shim/missing.h"

#include "mpi_shim/shim.h"

static __attribute__((cold)) int missing(const char *name)
{
    int err = shim_check_running(name);

    return err ? err : shim_raise(NULL, name, MPI_ERR_UNSUPPORTED_OPERATION,
                                  "ftmpi has no %s%s yet; run this program with another MPI", shim_prefix(name), name);
}

#define MISSING(name)                                                               \
    FTMPI_API int PMPI_##name(void);                                                \
    FTMPI_API int MPI_##name(void) __attribute__((weak, alias("PMPI_" #name)));     \
    int PMPI_##name(void) { return missing(#name); }
SHIM_MISSING(MISSING)

#define MISSING_EXTENSION(name)                                                     \
    FTMPI_API int PMPIX_##name(void);                                               \
    FTMPI_API int MPIX_##name(void) __attribute__((weak, alias("PMPIX_" #name)));   \
    int PMPIX_##name(void) { return missing("X_" #name); }
SHIM_MISSING_EXTENSIONS(MISSING_EXTENSION)

/* Open MPI's mpi-ext.h. */
FTMPI_API int MPIX_Query_cuda_support(void);
int MPIX_Query_cuda_support(void) { return 0; }
FTMPI_API int OMPI_Affinity_str(void);
int OMPI_Affinity_str(void) { return missing("OMPI_Affinity_str"); }

#define MISSING_TOOL(name)                                                          \
    FTMPI_API int PMPI_##name(void);                                                \
    FTMPI_API int MPI_##name(void) __attribute__((weak, alias("PMPI_" #name)));     \
    int PMPI_##name(void) { return MPI_T_ERR_CANNOT_INIT; }
SHIM_MISSING_TOOLS(MISSING_TOOL)
