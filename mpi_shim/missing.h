/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of Open MPI 4.1's library that ftmpi does not have yet, so that programs and libraries that
   merely mention them can start. A function that is written leaves these lists and enters mpi.h. */
#ifndef FTMPI_MISSING_H
#define FTMPI_MISSING_H

#define SHIM_MISSING(X) \
    X(Accumulate) \
    X(Add_error_class) \
    X(Add_error_code) \
    X(Add_error_string) \
    X(Alltoall) \
    X(Alltoallv) \
    X(Alltoallw) \
    X(Bsend) \
    X(Bsend_init) \
    X(Buffer_attach) \
    X(Buffer_detach) \
    X(Cancel) \
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
    X(Comm_create) \
    X(Comm_create_group) \
    X(Comm_disconnect) \
    X(Comm_dup) \
    X(Comm_dup_with_info) \
    X(Comm_free) \
    X(Comm_get_info) \
    X(Comm_idup) \
    X(Comm_join) \
    X(Comm_remote_group) \
    X(Comm_remote_size) \
    X(Comm_set_info) \
    X(Comm_spawn) \
    X(Comm_spawn_multiple) \
    X(Comm_split) \
    X(Comm_split_type) \
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
    X(Get_count) \
    X(Get_elements) \
    X(Get_elements_x) \
    X(Graph_create) \
    X(Graph_get) \
    X(Graph_map) \
    X(Graph_neighbors) \
    X(Graph_neighbors_count) \
    X(Graphdims_get) \
    X(Grequest_complete) \
    X(Grequest_start) \
    X(Iallgather) \
    X(Iallgatherv) \
    X(Iallreduce) \
    X(Ialltoall) \
    X(Ialltoallv) \
    X(Ialltoallw) \
    X(Ibarrier) \
    X(Ibcast) \
    X(Ibsend) \
    X(Iexscan) \
    X(Igather) \
    X(Igatherv) \
    X(Improbe) \
    X(Imrecv) \
    X(Ineighbor_allgather) \
    X(Ineighbor_allgatherv) \
    X(Ineighbor_alltoall) \
    X(Ineighbor_alltoallv) \
    X(Ineighbor_alltoallw) \
    X(Intercomm_create) \
    X(Intercomm_merge) \
    X(Iprobe) \
    X(Irecv) \
    X(Ireduce) \
    X(Ireduce_scatter) \
    X(Ireduce_scatter_block) \
    X(Irsend) \
    X(Iscan) \
    X(Iscatter) \
    X(Iscatterv) \
    X(Isend) \
    X(Issend) \
    X(Lookup_name) \
    X(Mprobe) \
    X(Mrecv) \
    X(Neighbor_allgather) \
    X(Neighbor_allgatherv) \
    X(Neighbor_alltoall) \
    X(Neighbor_alltoallv) \
    X(Neighbor_alltoallw) \
    X(Open_port) \
    X(Pack) \
    X(Pack_external) \
    X(Pack_external_size) \
    X(Pack_size) \
    X(Probe) \
    X(Publish_name) \
    X(Put) \
    X(Raccumulate) \
    X(Recv) \
    X(Recv_init) \
    X(Reduce_scatter) \
    X(Reduce_scatter_block) \
    X(Register_datarep) \
    X(Request_free) \
    X(Request_get_status) \
    X(Rget) \
    X(Rget_accumulate) \
    X(Rput) \
    X(Rsend) \
    X(Rsend_init) \
    X(Scan) \
    X(Scatter) \
    X(Scatterv) \
    X(Send) \
    X(Send_init) \
    X(Sendrecv) \
    X(Sendrecv_replace) \
    X(Ssend) \
    X(Ssend_init) \
    X(Start) \
    X(Startall) \
    X(Status_set_cancelled) \
    X(Status_set_elements) \
    X(Status_set_elements_x) \
    X(Test) \
    X(Test_cancelled) \
    X(Testall) \
    X(Testany) \
    X(Testsome) \
    X(Type_create_darray) \
    X(Type_create_f90_complex) \
    X(Type_create_f90_integer) \
    X(Type_create_f90_real) \
    X(Type_create_hindexed) \
    X(Type_create_hindexed_block) \
    X(Type_create_hvector) \
    X(Type_create_indexed_block) \
    X(Type_create_resized) \
    X(Type_create_struct) \
    X(Type_create_subarray) \
    X(Type_dup) \
    X(Type_get_contents) \
    X(Type_get_envelope) \
    X(Type_get_true_extent) \
    X(Type_get_true_extent_x) \
    X(Type_hindexed) \
    X(Type_hvector) \
    X(Type_indexed) \
    X(Type_lb) \
    X(Type_struct) \
    X(Type_ub) \
    X(Type_vector) \
    X(Unpack) \
    X(Unpack_external) \
    X(Unpublish_name) \
    X(Wait) \
    X(Waitall) \
    X(Waitany) \
    X(Waitsome) \
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
    X(Bsend_init, 6, MPI_REQUEST_NULL) \
    X(Cart_create, 5, MPI_COMM_NULL) \
    X(Cart_sub, 2, MPI_COMM_NULL) \
    X(Comm_accept, 4, MPI_COMM_NULL) \
    X(Comm_connect, 4, MPI_COMM_NULL) \
    X(Comm_create, 2, MPI_COMM_NULL) \
    X(Comm_create_group, 3, MPI_COMM_NULL) \
    X(Comm_dup, 1, MPI_COMM_NULL) \
    X(Comm_dup_with_info, 2, MPI_COMM_NULL) \
    X(Comm_get_info, 1, MPI_INFO_NULL) \
    X(Comm_idup, 1, MPI_COMM_NULL) \
    X(Comm_idup, 2, MPI_REQUEST_NULL) \
    X(Comm_join, 1, MPI_COMM_NULL) \
    X(Comm_remote_group, 1, MPI_GROUP_NULL) \
    X(Comm_spawn, 6, MPI_COMM_NULL) \
    X(Comm_spawn_multiple, 7, MPI_COMM_NULL) \
    X(Comm_split, 3, MPI_COMM_NULL) \
    X(Comm_split_type, 4, MPI_COMM_NULL) \
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
    X(Grequest_start, 4, MPI_REQUEST_NULL) \
    X(Iallgather, 7, MPI_REQUEST_NULL) \
    X(Iallgatherv, 8, MPI_REQUEST_NULL) \
    X(Iallreduce, 6, MPI_REQUEST_NULL) \
    X(Ialltoall, 7, MPI_REQUEST_NULL) \
    X(Ialltoallv, 9, MPI_REQUEST_NULL) \
    X(Ialltoallw, 9, MPI_REQUEST_NULL) \
    X(Ibarrier, 1, MPI_REQUEST_NULL) \
    X(Ibcast, 5, MPI_REQUEST_NULL) \
    X(Ibsend, 6, MPI_REQUEST_NULL) \
    X(Iexscan, 6, MPI_REQUEST_NULL) \
    X(Igather, 8, MPI_REQUEST_NULL) \
    X(Igatherv, 9, MPI_REQUEST_NULL) \
    X(Improbe, 4, MPI_MESSAGE_NULL) \
    X(Imrecv, 4, MPI_REQUEST_NULL) \
    X(Ineighbor_allgather, 7, MPI_REQUEST_NULL) \
    X(Ineighbor_allgatherv, 8, MPI_REQUEST_NULL) \
    X(Ineighbor_alltoall, 7, MPI_REQUEST_NULL) \
    X(Ineighbor_alltoallv, 9, MPI_REQUEST_NULL) \
    X(Ineighbor_alltoallw, 9, MPI_REQUEST_NULL) \
    X(Intercomm_create, 5, MPI_COMM_NULL) \
    X(Intercomm_merge, 2, MPI_COMM_NULL) \
    X(Irecv, 6, MPI_REQUEST_NULL) \
    X(Ireduce, 7, MPI_REQUEST_NULL) \
    X(Ireduce_scatter, 6, MPI_REQUEST_NULL) \
    X(Ireduce_scatter_block, 6, MPI_REQUEST_NULL) \
    X(Irsend, 6, MPI_REQUEST_NULL) \
    X(Iscan, 6, MPI_REQUEST_NULL) \
    X(Iscatter, 8, MPI_REQUEST_NULL) \
    X(Iscatterv, 9, MPI_REQUEST_NULL) \
    X(Isend, 6, MPI_REQUEST_NULL) \
    X(Issend, 6, MPI_REQUEST_NULL) \
    X(Mprobe, 3, MPI_MESSAGE_NULL) \
    X(Raccumulate, 9, MPI_REQUEST_NULL) \
    X(Recv_init, 6, MPI_REQUEST_NULL) \
    X(Rget, 8, MPI_REQUEST_NULL) \
    X(Rget_accumulate, 12, MPI_REQUEST_NULL) \
    X(Rput, 8, MPI_REQUEST_NULL) \
    X(Rsend_init, 6, MPI_REQUEST_NULL) \
    X(Send_init, 6, MPI_REQUEST_NULL) \
    X(Ssend_init, 6, MPI_REQUEST_NULL) \
    X(Type_create_darray, 9, MPI_DATATYPE_NULL) \
    X(Type_create_f90_complex, 2, MPI_DATATYPE_NULL) \
    X(Type_create_f90_integer, 1, MPI_DATATYPE_NULL) \
    X(Type_create_f90_real, 2, MPI_DATATYPE_NULL) \
    X(Type_create_hindexed, 4, MPI_DATATYPE_NULL) \
    X(Type_create_hindexed_block, 4, MPI_DATATYPE_NULL) \
    X(Type_create_hvector, 4, MPI_DATATYPE_NULL) \
    X(Type_create_indexed_block, 4, MPI_DATATYPE_NULL) \
    X(Type_create_resized, 3, MPI_DATATYPE_NULL) \
    X(Type_create_struct, 4, MPI_DATATYPE_NULL) \
    X(Type_create_subarray, 6, MPI_DATATYPE_NULL) \
    X(Type_dup, 1, MPI_DATATYPE_NULL) \
    X(Type_hindexed, 4, MPI_DATATYPE_NULL) \
    X(Type_hvector, 4, MPI_DATATYPE_NULL) \
    X(Type_indexed, 4, MPI_DATATYPE_NULL) \
    X(Type_struct, 4, MPI_DATATYPE_NULL) \
    X(Type_vector, 4, MPI_DATATYPE_NULL) \
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
