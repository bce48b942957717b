/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of calls that are outcomes: ft/outcome/calls.table says of each what is recorded and how one under way is
   resolved. The text is what a message calls it. WAITS: other threads run while it is made (record.h). NOTHING: one under
   way has left nothing (a descriptor, say) that it looks for when it is made again. */
#ifndef FT_OUTCOME_KINDS_H
#define FT_OUTCOME_KINDS_H

#define FT_CALL_KINDS(X)                                                                            \
    X(PAD, "(nothing)", HOLDS, TRACES)                                                              \
    X(OPEN, "open", HOLDS, TRACES)                                                                  \
    X(CLOSE, "close", HOLDS, TRACES)                                                                \
    X(READ, "read", HOLDS, NOTHING)                                                                 \
    X(PREAD, "pread", HOLDS, TRACES)                                                                \
    X(READ_REFERENCE, "read of an input", HOLDS, TRACES)                                            \
    X(WRITE, "write", HOLDS, NOTHING)                                                               \
    X(PWRITE, "pwrite", HOLDS, TRACES)                                                              \
    X(SEEK, "lseek", HOLDS, TRACES)                                                                 \
    X(TRUNCATE, "truncate", HOLDS, TRACES)                                                          \
    X(FTRUNCATE, "ftruncate", HOLDS, TRACES)                                                        \
    X(FALLOCATE, "fallocate", HOLDS, TRACES)                                                        \
    X(SYNC, "fsync", WAITS, TRACES)                                                                 \
    X(ADVISE, "posix_fadvise", HOLDS, TRACES)                                                       \
    X(COPY, "copy_file_range", HOLDS, TRACES)                                                       \
    X(FLOCK, "flock", WAITS, TRACES)                                                                \
    X(FCNTL, "fcntl", HOLDS, TRACES)                                                                \
    X(DUP, "dup", HOLDS, TRACES)                                                                    \
    X(IOCTL, "ioctl", HOLDS, TRACES)                                                                \
    X(RENAME, "rename", HOLDS, TRACES)                                                              \
    X(UNLINK, "unlink", HOLDS, TRACES)                                                              \
    X(RMDIR, "rmdir", HOLDS, TRACES)                                                                \
    X(MKDIR, "mkdir", HOLDS, TRACES)                                                                \
    X(LINK, "link", HOLDS, TRACES)                                                                  \
    X(SYMLINK, "symlink", HOLDS, TRACES)                                                            \
    X(MKNOD, "mknod", HOLDS, TRACES)                                                                \
    X(TEMPORARY, "mkstemp", HOLDS, TRACES)                                                          \
    X(STAT, "stat", HOLDS, TRACES)                                                                  \
    X(FSTAT, "fstat", HOLDS, TRACES)                                                                \
    X(STATFS, "statfs", HOLDS, TRACES)                                                              \
    X(ACCESS, "access", HOLDS, TRACES)                                                              \
    X(READLINK, "readlink", HOLDS, TRACES)                                                          \
    X(REALPATH, "realpath", HOLDS, TRACES)                                                          \
    X(DIRECTORY, "opendir", HOLDS, TRACES)                                                          \
    X(GLOB, "glob", HOLDS, TRACES)                                                                  \
    X(CHMOD, "chmod", HOLDS, TRACES)                                                                \
    X(CHOWN, "chown", HOLDS, TRACES)                                                                \
    X(UTIME, "utimensat", HOLDS, TRACES)                                                            \
    X(XATTR, "xattr", HOLDS, TRACES)                                                                \
    X(CHDIR, "chdir", HOLDS, TRACES)                                                                \
    X(SCRATCH, "pipe of the library", HOLDS, TRACES)                                                \
    X(PIPE_READ, "read of a pipe", WAITS, NOTHING)                                                  \
    X(PIPE_WRITE, "write to a pipe", WAITS, NOTHING)                                                \
    X(SOCKET, "a call on a socket", HOLDS, TRACES)                                                  \
    X(TCP_RECEIVE, "recv", WAITS, NOTHING)                                                          \
    X(TCP_SEND, "send", WAITS, NOTHING)                                                             \
    X(DATAGRAM, "recvfrom", WAITS, NOTHING)                                                         \
    X(RESOLVE, "getaddrinfo", WAITS, TRACES)                                                        \
    X(SEMAPHORE, "sem_wait", WAITS, NOTHING)                                                        \
    X(CLOCK, "clock_gettime", HOLDS, TRACES)                                                        \
    X(SLEEP, "nanosleep", WAITS, NOTHING)                                                           \
    X(RANDOM, "getrandom", HOLDS, TRACES)                                                           \
    X(PROCESS, "getrusage", HOLDS, TRACES)                                                          \
    X(TERMINAL, "isatty", HOLDS, TRACES)                                                            \
    X(PIPE, "pipe", HOLDS, TRACES)                                                                  \
    X(POLL, "poll", WAITS, NOTHING)                                                                 \
    X(EVENT, "eventfd or epoll", HOLDS, TRACES)                                                     \
    X(FORK, "fork", HOLDS, TRACES)                                                                  \
    X(WAIT, "waitpid", HOLDS, TRACES)                                                               \
    X(IMAGE, "mmap of a file that may change", HOLDS, TRACES)                                       \
    X(MAP, "mmap", HOLDS, TRACES)                                                                   \
    X(SIGNAL, "a signal", HOLDS, TRACES)                                                            \
    X(THREAD, "pthread_create", HOLDS, TRACES)                                                      \
    X(LOCK, "a lock", HOLDS, TRACES)
enum { FT_CALL_HOLDS, FT_CALL_WAITS };
enum { FT_CALL_TRACES, FT_CALL_NOTHING };

enum ft_call_kind {
#define X(name, text, how, leaves) FT_CALL_##name,
    FT_CALL_KINDS(X)
#undef X
    FT_CALL_NKINDS
};

#endif
