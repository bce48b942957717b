/* SPDX-License-Identifier: BSD-3-Clause */
/* Every error class of MPI 3.1 that Open MPI 4.1 numbers: X(name, text). A code is its class, but for missing.c's. */
#ifndef FTMPI_ERROR_CLASS_H
#define FTMPI_ERROR_CLASS_H

#define SHIM_CLASSES(X)                                                                 \
    X(MPI_SUCCESS, "no error")                                                          \
    X(MPI_ERR_BUFFER, "invalid buffer pointer")                                         \
    X(MPI_ERR_COUNT, "invalid count argument")                                          \
    X(MPI_ERR_TYPE, "invalid datatype argument")                                        \
    X(MPI_ERR_TAG, "invalid tag argument")                                              \
    X(MPI_ERR_COMM, "invalid communicator")                                             \
    X(MPI_ERR_RANK, "invalid rank")                                                     \
    X(MPI_ERR_REQUEST, "invalid request")                                               \
    X(MPI_ERR_ROOT, "invalid root")                                                     \
    X(MPI_ERR_GROUP, "invalid group")                                                   \
    X(MPI_ERR_OP, "invalid reduction operation")                                        \
    X(MPI_ERR_TOPOLOGY, "invalid topology")                                             \
    X(MPI_ERR_DIMS, "invalid dimension argument")                                       \
    X(MPI_ERR_ARG, "invalid argument of some other kind")                               \
    X(MPI_ERR_UNKNOWN, "unknown error")                                                 \
    X(MPI_ERR_TRUNCATE, "message longer than the buffer for it")                        \
    X(MPI_ERR_OTHER, "error that has no class of its own")                              \
    X(MPI_ERR_INTERN, "internal error")                                                 \
    X(MPI_ERR_IN_STATUS, "the error code is in the status")                             \
    X(MPI_ERR_PENDING, "request still pending")                                         \
    X(MPI_ERR_ACCESS, "permission denied")                                              \
    X(MPI_ERR_AMODE, "invalid access mode of a file")                                   \
    X(MPI_ERR_ASSERT, "invalid assertion argument")                                     \
    X(MPI_ERR_BAD_FILE, "invalid file name")                                            \
    X(MPI_ERR_BASE, "invalid base of a window")                                         \
    X(MPI_ERR_CONVERSION, "error in a data conversion function")                        \
    X(MPI_ERR_DISP, "invalid displacement")                                             \
    X(MPI_ERR_DUP_DATAREP, "data representation defined twice")                         \
    X(MPI_ERR_FILE_EXISTS, "file exists")                                               \
    X(MPI_ERR_FILE_IN_USE, "file in use")                                               \
    X(MPI_ERR_FILE, "invalid file handle")                                              \
    X(MPI_ERR_INFO_KEY, "info key too long")                                            \
    X(MPI_ERR_INFO_NOKEY, "no such info key")                                           \
    X(MPI_ERR_INFO_VALUE, "info value too long")                                        \
    X(MPI_ERR_INFO, "invalid info object")                                              \
    X(MPI_ERR_IO, "input or output error")                                              \
    X(MPI_ERR_KEYVAL, "invalid key value")                                              \
    X(MPI_ERR_LOCKTYPE, "invalid lock type")                                            \
    X(MPI_ERR_NAME, "service name not published")                                       \
    X(MPI_ERR_NO_MEM, "out of memory")                                                  \
    X(MPI_ERR_NOT_SAME, "collective argument differs between processes")                \
    X(MPI_ERR_NO_SPACE, "no space left")                                                \
    X(MPI_ERR_NO_SUCH_FILE, "no such file")                                             \
    X(MPI_ERR_PORT, "invalid port name")                                                \
    X(MPI_ERR_QUOTA, "quota exceeded")                                                  \
    X(MPI_ERR_READ_ONLY, "read-only file or file system")                               \
    X(MPI_ERR_RMA_CONFLICT, "conflicting accesses to a window")                         \
    X(MPI_ERR_RMA_SYNC, "wrong synchronization of one-sided calls")                     \
    X(MPI_ERR_SERVICE, "service name cannot be unpublished")                            \
    X(MPI_ERR_SIZE, "invalid size argument")                                            \
    X(MPI_ERR_SPAWN, "processes cannot be started")                                     \
    X(MPI_ERR_UNSUPPORTED_DATAREP, "unsupported data representation")                   \
    X(MPI_ERR_UNSUPPORTED_OPERATION, "unsupported operation")                           \
    X(MPI_ERR_WIN, "invalid window")                                                    \
    X(MPI_T_ERR_MEMORY, "tools interface: out of memory")                               \
    X(MPI_T_ERR_NOT_INITIALIZED, "tools interface: not initialized")                    \
    X(MPI_T_ERR_CANNOT_INIT, "tools interface: cannot be initialized")                  \
    X(MPI_T_ERR_INVALID_INDEX, "tools interface: invalid index")                        \
    X(MPI_T_ERR_INVALID_ITEM, "tools interface: invalid item")                          \
    X(MPI_T_ERR_INVALID_HANDLE, "tools interface: invalid handle")                      \
    X(MPI_T_ERR_OUT_OF_HANDLES, "tools interface: no more handles")                     \
    X(MPI_T_ERR_OUT_OF_SESSIONS, "tools interface: no more sessions")                   \
    X(MPI_T_ERR_INVALID_SESSION, "tools interface: invalid session")                    \
    X(MPI_T_ERR_CVAR_SET_NOT_NOW, "tools interface: variable cannot be set now")        \
    X(MPI_T_ERR_CVAR_SET_NEVER, "tools interface: variable cannot be set")              \
    X(MPI_T_ERR_PVAR_NO_STARTSTOP, "tools interface: variable cannot be started or stopped") \
    X(MPI_T_ERR_PVAR_NO_WRITE, "tools interface: variable cannot be written")           \
    X(MPI_T_ERR_PVAR_NO_ATOMIC, "tools interface: variable cannot be read and reset")   \
    X(MPI_ERR_RMA_RANGE, "target memory not in the window")                             \
    X(MPI_ERR_RMA_ATTACH, "memory cannot be attached")                                  \
    X(MPI_ERR_RMA_FLAVOR, "window of the wrong flavor")                                 \
    X(MPI_ERR_RMA_SHARED, "memory cannot be shared")                                    \
    X(MPI_T_ERR_INVALID, "tools interface: invalid use")                                \
    X(MPI_T_ERR_INVALID_NAME, "tools interface: invalid name")

#endif
