/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI functions that ftmpi does not have yet, for mpi.h: a program that calls one is told by its compiler, and at the call. */
#ifndef FTMPI_MPI_MISSING_H
#define FTMPI_MPI_MISSING_H
#ifdef __GNUC__
#pragma GCC system_header /* declarations without arguments are no mistake of the program's */
#endif

#define FTMPI_MISSING(X) \
    X(Accumulate) \
    X(Alltoall) \
    X(Alltoallv) \
    X(Alltoallw) \
    X(Cart_coords) \
    X(Cart_create) \
    X(Cart_get) \
    X(Cart_map) \
    X(Cart_rank) \
    X(Cart_shift) \
    X(Cart_sub) \
    X(Cartdim_get) \
    X(Close_port) \
    X(Comm_accept) \
    X(Comm_connect) \
    X(Comm_join) \
    X(Comm_spawn) \
    X(Comm_spawn_multiple) \
    X(Compare_and_swap) \
    X(Dims_create) \
    X(Dist_graph_create) \
    X(Dist_graph_create_adjacent) \
    X(Dist_graph_neighbors) \
    X(Dist_graph_neighbors_count) \
    X(Exscan) \
    X(Fetch_and_op) \
    X(File_call_errhandler) \
    X(File_close) \
    X(File_create_errhandler) \
    X(File_delete) \
    X(File_get_amode) \
    X(File_get_atomicity) \
    X(File_get_byte_offset) \
    X(File_get_errhandler) \
    X(File_get_group) \
    X(File_get_info) \
    X(File_get_position) \
    X(File_get_position_shared) \
    X(File_get_size) \
    X(File_get_type_extent) \
    X(File_get_view) \
    X(File_iread) \
    X(File_iread_all) \
    X(File_iread_at) \
    X(File_iread_at_all) \
    X(File_iread_shared) \
    X(File_iwrite) \
    X(File_iwrite_all) \
    X(File_iwrite_at) \
    X(File_iwrite_at_all) \
    X(File_iwrite_shared) \
    X(File_open) \
    X(File_preallocate) \
    X(File_read) \
    X(File_read_all) \
    X(File_read_all_begin) \
    X(File_read_all_end) \
    X(File_read_at) \
    X(File_read_at_all) \
    X(File_read_at_all_begin) \
    X(File_read_at_all_end) \
    X(File_read_ordered) \
    X(File_read_ordered_begin) \
    X(File_read_ordered_end) \
    X(File_read_shared) \
    X(File_seek) \
    X(File_seek_shared) \
    X(File_set_atomicity) \
    X(File_set_errhandler) \
    X(File_set_info) \
    X(File_set_size) \
    X(File_set_view) \
    X(File_sync) \
    X(File_write) \
    X(File_write_all) \
    X(File_write_all_begin) \
    X(File_write_all_end) \
    X(File_write_at) \
    X(File_write_at_all) \
    X(File_write_at_all_begin) \
    X(File_write_at_all_end) \
    X(File_write_ordered) \
    X(File_write_ordered_begin) \
    X(File_write_ordered_end) \
    X(File_write_shared) \
    X(Gather) \
    X(Gatherv) \
    X(Get) \
    X(Get_accumulate) \
    X(Graph_create) \
    X(Graph_get) \
    X(Graph_map) \
    X(Graph_neighbors) \
    X(Graph_neighbors_count) \
    X(Graphdims_get) \
    X(Iallgather) \
    X(Iallgatherv) \
    X(Iallreduce) \
    X(Ialltoall) \
    X(Ialltoallv) \
    X(Ialltoallw) \
    X(Ibarrier) \
    X(Ibcast) \
    X(Iexscan) \
    X(Igather) \
    X(Igatherv) \
    X(Ineighbor_allgather) \
    X(Ineighbor_allgatherv) \
    X(Ineighbor_alltoall) \
    X(Ineighbor_alltoallv) \
    X(Ineighbor_alltoallw) \
    X(Ireduce) \
    X(Ireduce_scatter) \
    X(Ireduce_scatter_block) \
    X(Iscan) \
    X(Iscatter) \
    X(Iscatterv) \
    X(Lookup_name) \
    X(Neighbor_allgather) \
    X(Neighbor_allgatherv) \
    X(Neighbor_alltoall) \
    X(Neighbor_alltoallv) \
    X(Neighbor_alltoallw) \
    X(Open_port) \
    X(Publish_name) \
    X(Put) \
    X(Raccumulate) \
    X(Reduce_scatter) \
    X(Reduce_scatter_block) \
    X(Register_datarep) \
    X(Rget) \
    X(Rget_accumulate) \
    X(Rput) \
    X(Scan) \
    X(Scatter) \
    X(Scatterv) \
    X(Unpublish_name) \
    X(Win_allocate) \
    X(Win_allocate_shared) \
    X(Win_attach) \
    X(Win_call_errhandler) \
    X(Win_complete) \
    X(Win_create) \
    X(Win_create_dynamic) \
    X(Win_create_errhandler) \
    X(Win_delete_attr) \
    X(Win_detach) \
    X(Win_fence) \
    X(Win_flush) \
    X(Win_flush_all) \
    X(Win_flush_local) \
    X(Win_flush_local_all) \
    X(Win_free) \
    X(Win_get_attr) \
    X(Win_get_errhandler) \
    X(Win_get_group) \
    X(Win_get_info) \
    X(Win_get_name) \
    X(Win_lock) \
    X(Win_lock_all) \
    X(Win_post) \
    X(Win_set_attr) \
    X(Win_set_errhandler) \
    X(Win_set_info) \
    X(Win_set_name) \
    X(Win_shared_query) \
    X(Win_start) \
    X(Win_sync) \
    X(Win_test) \
    X(Win_unlock) \
    X(Win_unlock_all) \
    X(Win_wait)

#ifndef FTMPI_MISSING_UNDECLARED
/* Whatever arguments: () says so in C before C23, (...) in C++ and C23, which compilers took up one by one. */
#if defined(__clang__)
#define FTMPI_TAKES_DOTS (__clang_major__ >= 15)
#else
#define FTMPI_TAKES_DOTS (__GNUC__ >= 13)
#endif
#if defined(__cplusplus) || (FTMPI_TAKES_DOTS && defined(__STDC_VERSION__) && __STDC_VERSION__ > 201710L)
#define FTMPI_ANYTHING ...
#else
#define FTMPI_ANYTHING
#endif
#if defined(__clang__)
#define FTMPI_WARNS(name) __attribute__((diagnose_if(1, "ftmpi has no " #name " yet", "warning")))
#elif defined(__GNUC__)
#define FTMPI_WARNS(name) __attribute__((warning("ftmpi has no " #name " yet")))
#else
#define FTMPI_WARNS(name)
#endif
#ifdef __cplusplus
extern "C" {
#endif
#define FTMPI_DECLARED(name)                                \
    int MPI_##name(FTMPI_ANYTHING) FTMPI_WARNS(MPI_##name); \
    int PMPI_##name(FTMPI_ANYTHING) FTMPI_WARNS(PMPI_##name);
FTMPI_MISSING(FTMPI_DECLARED)
#undef FTMPI_DECLARED
#undef FTMPI_WARNS
#undef FTMPI_ANYTHING
#undef FTMPI_TAKES_DOTS
#ifdef __cplusplus
}
#endif
#endif

#endif
