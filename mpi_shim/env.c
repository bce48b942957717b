/* SPDX-License-Identifier: BSD-3-Clause */
/* Versions, names, time, and the emergency exit (MPI 3.1 sections 8.1, 8.6, 8.7). */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "config.h"
#include "mpi_shim/shim.h"

SHIM_ALIAS(int, Abort, (MPI_Comm comm, int errorcode));
int PMPI_Abort(MPI_Comm comm, int errorcode)
{
    const char *name = comm && comm->magic == SHIM_COMM ? comm->name : "MPI_COMM_NULL";
    int err = shim_check_running("Abort");

    if (err)
        return err;
    /* All of the job, whichever communicator: the ranks outside it could not go on either. */
    shim_end(errorcode, "MPI_Abort(%s) called by rank %d with code %d", name, shim.rank, errorcode);
}

SHIM_ALIAS(int, Get_version, (int *version, int *subversion));
int PMPI_Get_version(int *version, int *subversion)
{
    if (!version || !subversion)
        return shim_raise(NULL, "Get_version", MPI_ERR_ARG, "a null pointer to write to");
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Get_library_version, (char *version, int *resultlen));
int PMPI_Get_library_version(char *version, int *resultlen)
{
    if (!version || !resultlen)
        return shim_raise(NULL, "Get_library_version", MPI_ERR_ARG, "a null pointer to write to");
    *resultlen = snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING, "ftmpi %s (binary interface of Open MPI %d.%d)",
                          PACKAGE_VERSION, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION);
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Get_processor_name, (char *name, int *resultlen));
int PMPI_Get_processor_name(char *name, int *resultlen)
{
    SHIM_ENTER();
    const char *me = "Get_processor_name";
    int err = shim_check_running(me);

    if (err)
        return err;
    if (!name || !resultlen)
        return shim_raise(NULL, me, MPI_ERR_ARG, "a null pointer to write to");
    if (gethostname(name, MPI_MAX_PROCESSOR_NAME) != 0)
        return shim_raise(NULL, me, MPI_ERR_OTHER, "the host name cannot be read");
    name[MPI_MAX_PROCESSOR_NAME - 1] = '\0';
    *resultlen = (int)strlen(name);
    return MPI_SUCCESS;
}

/* CLOCK_MONOTONIC: never set back, one clock for all ranks of a host (differences between ranks mean
   something), and it goes on across a restart of the rank. Its zero is the boot of the host. */
SHIM_ALIAS(double, Wtime, (void));
double PMPI_Wtime(void)
{
    struct timespec now;

    ft_clock(&now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

SHIM_ALIAS(double, Wtick, (void));
double PMPI_Wtick(void)
{
    struct timespec tick;

    clock_getres(CLOCK_MONOTONIC, &tick);
    return (double)tick.tv_sec + 1e-9 * (double)tick.tv_nsec;
}

/* For profilers that replace it; without one there is nothing to control (14.2.4). */
SHIM_ALIAS(int, Pcontrol, (const int level, ...));
int PMPI_Pcontrol(const int level, ...)
{
    (void)level;
    return MPI_SUCCESS;
}
