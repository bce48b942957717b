/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of Open MPI 4.1's library that ftmpi does not have yet, so that programs and libraries that
   merely mention them can start. A function that is written leaves these lists (that of MPI_ is in mpi_missing.h) and enters mpi.h. */
#ifndef FTMPI_MISSING_H
#define FTMPI_MISSING_H

#ifndef FTMPI_MISSING_UNDECLARED
#define FTMPI_MISSING_UNDECLARED
#endif
#include "mpi_shim/mpi_missing.h"

#define SHIM_MISSING(X) FTMPI_MISSING(X)

/* MPIX_ and PMPIX_: persistent collectives, Open MPI's extension. libmpi_mpifh imports them. */
#define SHIM_MISSING_EXTENSIONS(X) \
    X(Allgather_init) \
    X(Allgatherv_init) \
    X(Allreduce_init) \
    X(Alltoall_init) \
    X(Alltoallv_init) \
    X(Alltoallw_init) \
    X(Barrier_init) \
    X(Bcast_init) \
    X(Exscan_init) \
    X(Gather_init) \
    X(Gatherv_init) \
    X(Neighbor_allgather_init) \
    X(Neighbor_allgatherv_init) \
    X(Neighbor_alltoall_init) \
    X(Neighbor_alltoallv_init) \
    X(Neighbor_alltoallw_init) \
    X(Reduce_init) \
    X(Reduce_scatter_block_init) \
    X(Reduce_scatter_init) \
    X(Scan_init) \
    X(Scatter_init) \
    X(Scatterv_init)

/* Open MPI's own, under its whole name. */
#define SHIM_MISSING_OMPI(X) X(OMPI_Affinity_str)

enum shim_missing {
#define X(name) SHIM_NO_##name,
    SHIM_MISSING(X)
    SHIM_MISSING_EXTENSIONS(X)
    SHIM_MISSING_OMPI(X)
#undef X
    SHIM_MISSINGS
};

/* The handles that these would give, X(function, which argument from 0, what is put there instead): a program that goes on
   after the error finds null handles, not what lay there before. Handles that a function would only change are left as they are. */
#define SHIM_MISSING_GIVES(X) \
    X(Cart_create, 5, MPI_COMM_NULL) \
    X(Cart_sub, 2, MPI_COMM_NULL) \
    X(Comm_accept, 4, MPI_COMM_NULL) \
    X(Comm_connect, 4, MPI_COMM_NULL) \
    X(Comm_join, 1, MPI_COMM_NULL) \
    X(Comm_spawn, 6, MPI_COMM_NULL) \
    X(Comm_spawn_multiple, 7, MPI_COMM_NULL) \
    X(Dist_graph_create, 8, MPI_COMM_NULL) \
    X(Dist_graph_create_adjacent, 9, MPI_COMM_NULL) \
    X(File_create_errhandler, 1, MPI_ERRHANDLER_NULL) \
    X(File_get_errhandler, 1, MPI_ERRHANDLER_NULL) \
    X(File_get_group, 1, MPI_GROUP_NULL) \
    X(File_get_info, 1, MPI_INFO_NULL) \
    X(File_get_view, 2, MPI_DATATYPE_NULL) \
    X(File_get_view, 3, MPI_DATATYPE_NULL) \
    X(File_iread, 4, MPI_REQUEST_NULL) \
    X(File_iread_all, 4, MPI_REQUEST_NULL) \
    X(File_iread_at, 5, MPI_REQUEST_NULL) \
    X(File_iread_at_all, 5, MPI_REQUEST_NULL) \
    X(File_iread_shared, 4, MPI_REQUEST_NULL) \
    X(File_iwrite, 4, MPI_REQUEST_NULL) \
    X(File_iwrite_all, 4, MPI_REQUEST_NULL) \
    X(File_iwrite_at, 5, MPI_REQUEST_NULL) \
    X(File_iwrite_at_all, 5, MPI_REQUEST_NULL) \
    X(File_iwrite_shared, 4, MPI_REQUEST_NULL) \
    X(File_open, 4, MPI_FILE_NULL) \
    X(Graph_create, 5, MPI_COMM_NULL) \
    X(Iallgather, 7, MPI_REQUEST_NULL) \
    X(Iallgatherv, 8, MPI_REQUEST_NULL) \
    X(Iallreduce, 6, MPI_REQUEST_NULL) \
    X(Ialltoall, 7, MPI_REQUEST_NULL) \
    X(Ialltoallv, 9, MPI_REQUEST_NULL) \
    X(Ialltoallw, 9, MPI_REQUEST_NULL) \
    X(Ibarrier, 1, MPI_REQUEST_NULL) \
    X(Ibcast, 5, MPI_REQUEST_NULL) \
    X(Iexscan, 6, MPI_REQUEST_NULL) \
    X(Igather, 8, MPI_REQUEST_NULL) \
    X(Igatherv, 9, MPI_REQUEST_NULL) \
    X(Ineighbor_allgather, 7, MPI_REQUEST_NULL) \
    X(Ineighbor_allgatherv, 8, MPI_REQUEST_NULL) \
    X(Ineighbor_alltoall, 7, MPI_REQUEST_NULL) \
    X(Ineighbor_alltoallv, 9, MPI_REQUEST_NULL) \
    X(Ineighbor_alltoallw, 9, MPI_REQUEST_NULL) \
    X(Ireduce, 7, MPI_REQUEST_NULL) \
    X(Ireduce_scatter, 6, MPI_REQUEST_NULL) \
    X(Ireduce_scatter_block, 6, MPI_REQUEST_NULL) \
    X(Iscan, 6, MPI_REQUEST_NULL) \
    X(Iscatter, 8, MPI_REQUEST_NULL) \
    X(Iscatterv, 9, MPI_REQUEST_NULL) \
    X(Raccumulate, 9, MPI_REQUEST_NULL) \
    X(Rget, 8, MPI_REQUEST_NULL) \
    X(Rget_accumulate, 12, MPI_REQUEST_NULL) \
    X(Rput, 8, MPI_REQUEST_NULL) \
    X(Win_allocate, 5, MPI_WIN_NULL) \
    X(Win_allocate_shared, 5, MPI_WIN_NULL) \
    X(Win_create, 5, MPI_WIN_NULL) \
    X(Win_create_dynamic, 2, MPI_WIN_NULL) \
    X(Win_create_errhandler, 1, MPI_ERRHANDLER_NULL) \
    X(Win_get_errhandler, 1, MPI_ERRHANDLER_NULL) \
    X(Win_get_group, 1, MPI_GROUP_NULL) \
    X(Win_get_info, 1, MPI_INFO_NULL) \
    X(Allgather_init, 8, MPI_REQUEST_NULL) \
    X(Allgatherv_init, 9, MPI_REQUEST_NULL) \
    X(Allreduce_init, 7, MPI_REQUEST_NULL) \
    X(Alltoall_init, 8, MPI_REQUEST_NULL) \
    X(Alltoallv_init, 10, MPI_REQUEST_NULL) \
    X(Alltoallw_init, 10, MPI_REQUEST_NULL) \
    X(Barrier_init, 2, MPI_REQUEST_NULL) \
    X(Bcast_init, 6, MPI_REQUEST_NULL) \
    X(Exscan_init, 7, MPI_REQUEST_NULL) \
    X(Gather_init, 9, MPI_REQUEST_NULL) \
    X(Gatherv_init, 10, MPI_REQUEST_NULL) \
    X(Neighbor_allgather_init, 8, MPI_REQUEST_NULL) \
    X(Neighbor_allgatherv_init, 9, MPI_REQUEST_NULL) \
    X(Neighbor_alltoall_init, 8, MPI_REQUEST_NULL) \
    X(Neighbor_alltoallv_init, 10, MPI_REQUEST_NULL) \
    X(Neighbor_alltoallw_init, 10, MPI_REQUEST_NULL) \
    X(Reduce_init, 8, MPI_REQUEST_NULL) \
    X(Reduce_scatter_block_init, 7, MPI_REQUEST_NULL) \
    X(Reduce_scatter_init, 7, MPI_REQUEST_NULL) \
    X(Scan_init, 7, MPI_REQUEST_NULL) \
    X(Scatter_init, 9, MPI_REQUEST_NULL) \
    X(Scatterv_init, 10, MPI_REQUEST_NULL)

/* The tools interface: its functions return codes and call no error handler (MPI 3.1 section 14.3.9). */
#define SHIM_MISSING_TOOLS(X) \
    X(T_category_changed) \
    X(T_category_get_categories) \
    X(T_category_get_cvars) \
    X(T_category_get_index) \
    X(T_category_get_info) \
    X(T_category_get_num) \
    X(T_category_get_pvars) \
    X(T_cvar_get_index) \
    X(T_cvar_get_info) \
    X(T_cvar_get_num) \
    X(T_cvar_handle_alloc) \
    X(T_cvar_handle_free) \
    X(T_cvar_read) \
    X(T_cvar_write) \
    X(T_enum_get_info) \
    X(T_enum_get_item) \
    X(T_finalize) \
    X(T_init_thread) \
    X(T_pvar_get_index) \
    X(T_pvar_get_info) \
    X(T_pvar_get_num) \
    X(T_pvar_handle_alloc) \
    X(T_pvar_handle_free) \
    X(T_pvar_read) \
    X(T_pvar_readreset) \
    X(T_pvar_reset) \
    X(T_pvar_session_create) \
    X(T_pvar_session_free) \
    X(T_pvar_start) \
    X(T_pvar_stop) \
    X(T_pvar_write)

#endif
