/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of calls that are outcomes: ft/outcome/calls.table says of each what is recorded and how one under way is
   resolved. The text is what a message calls it. WAITS: other threads run while it is made (record.h). NOTHING: one under
   way has left nothing (a descriptor, say) that it looks for when it is made again. A signal that is handled in it: it ENDS by that, or
   does unless SA_RESTART is set (RESTARTS), or GOES_ON. */
#ifndef FT_OUTCOME_KINDS_H
#define FT_OUTCOME_KINDS_H

#define FT_CALL_KINDS(X)                                                                            \
    X(PAD, "(nothing)", HOLDS, TRACES, GOES_ON)                                                     \
    X(OPEN, "open", HOLDS, TRACES, GOES_ON)                                                         \
    X(CLOSE, "close", HOLDS, TRACES, GOES_ON)                                                       \
    X(READ, "read", HOLDS, NOTHING, GOES_ON)                                                        \
    X(PREAD, "pread", HOLDS, TRACES, GOES_ON)                                                       \
    X(READ_REFERENCE, "read of an input", HOLDS, TRACES, GOES_ON)                                   \
    X(WRITE, "write", HOLDS, NOTHING, GOES_ON)                                                      \
    X(PWRITE, "pwrite", HOLDS, TRACES, GOES_ON)                                                     \
    X(SEEK, "lseek", HOLDS, TRACES, GOES_ON)                                                        \
    X(TRUNCATE, "truncate", HOLDS, TRACES, GOES_ON)                                                 \
    X(FTRUNCATE, "ftruncate", HOLDS, TRACES, GOES_ON)                                               \
    X(FALLOCATE, "fallocate", HOLDS, TRACES, GOES_ON)                                               \
    X(SYNC, "fsync", WAITS, TRACES, GOES_ON)                                                        \
    X(ADVISE, "posix_fadvise", HOLDS, TRACES, GOES_ON)                                              \
    X(COPY, "copy_file_range", HOLDS, TRACES, GOES_ON)                                              \
    X(FLOCK, "flock", WAITS, TRACES, RESTARTS)                                                      \
    X(FCNTL, "fcntl", HOLDS, TRACES, GOES_ON)                                                       \
    X(DUP, "dup", HOLDS, TRACES, GOES_ON)                                                           \
    X(IOCTL, "ioctl", HOLDS, TRACES, GOES_ON)                                                       \
    X(RENAME, "rename", HOLDS, TRACES, GOES_ON)                                                     \
    X(UNLINK, "unlink", HOLDS, TRACES, GOES_ON)                                                     \
    X(RMDIR, "rmdir", HOLDS, TRACES, GOES_ON)                                                       \
    X(MKDIR, "mkdir", HOLDS, TRACES, GOES_ON)                                                       \
    X(LINK, "link", HOLDS, TRACES, GOES_ON)                                                         \
    X(SYMLINK, "symlink", HOLDS, TRACES, GOES_ON)                                                   \
    X(MKNOD, "mknod", HOLDS, TRACES, GOES_ON)                                                       \
    X(TEMPORARY, "mkstemp", HOLDS, TRACES, GOES_ON)                                                 \
    X(STAT, "stat", HOLDS, TRACES, GOES_ON)                                                         \
    X(FSTAT, "fstat", HOLDS, TRACES, GOES_ON)                                                       \
    X(STATFS, "statfs", HOLDS, TRACES, GOES_ON)                                                     \
    X(ACCESS, "access", HOLDS, TRACES, GOES_ON)                                                     \
    X(READLINK, "readlink", HOLDS, TRACES, GOES_ON)                                                 \
    X(REALPATH, "realpath", HOLDS, TRACES, GOES_ON)                                                 \
    X(DIRECTORY, "opendir", HOLDS, TRACES, GOES_ON)                                                 \
    X(GLOB, "glob", HOLDS, TRACES, GOES_ON)                                                         \
    X(CHMOD, "chmod", HOLDS, TRACES, GOES_ON)                                                       \
    X(CHOWN, "chown", HOLDS, TRACES, GOES_ON)                                                       \
    X(UTIME, "utimensat", HOLDS, TRACES, GOES_ON)                                                   \
    X(XATTR, "xattr", HOLDS, TRACES, GOES_ON)                                                       \
    X(CHDIR, "chdir", HOLDS, TRACES, GOES_ON)                                                       \
    X(SCRATCH, "pipe of the library", HOLDS, TRACES, GOES_ON)                                       \
    X(PIPE_READ, "read of a pipe", WAITS, NOTHING, RESTARTS)                                        \
    X(PIPE_WRITE, "write to a pipe", WAITS, NOTHING, RESTARTS)                                      \
    X(SOCKET, "a call on a socket", HOLDS, TRACES, RESTARTS)                                        \
    X(TCP_RECEIVE, "recv", WAITS, NOTHING, RESTARTS)                                                \
    X(TCP_SEND, "send", WAITS, NOTHING, RESTARTS)                                                   \
    X(DATAGRAM, "recvfrom", WAITS, NOTHING, RESTARTS)                                               \
    X(RESOLVE, "getaddrinfo", WAITS, TRACES, GOES_ON)                                               \
    X(SEMAPHORE, "sem_wait", WAITS, NOTHING, RESTARTS)                                              \
    X(CLOCK, "clock_gettime", HOLDS, TRACES, GOES_ON)                                               \
    X(SLEEP, "nanosleep", WAITS, NOTHING, ENDS)                                                     \
    X(RANDOM, "getrandom", HOLDS, TRACES, GOES_ON)                                                  \
    X(PROCESS, "getrusage", HOLDS, TRACES, GOES_ON)                                                 \
    X(TERMINAL, "isatty", HOLDS, TRACES, GOES_ON)                                                   \
    X(PIPE, "pipe", HOLDS, TRACES, GOES_ON)                                                         \
    X(POLL, "poll", WAITS, NOTHING, ENDS)                                                           \
    X(EVENT, "eventfd or epoll", HOLDS, TRACES, RESTARTS)                                           \
    X(FORK, "fork", HOLDS, TRACES, GOES_ON)                                                         \
    X(WAIT, "waitpid", HOLDS, TRACES, RESTARTS)                                                     \
    X(IMAGE, "mmap of a file that may change", HOLDS, TRACES, GOES_ON)                              \
    X(MAP, "mmap", HOLDS, TRACES, GOES_ON)                                                          \
    X(SIGNAL, "a signal", HOLDS, TRACES, GOES_ON)                                                   \
    X(THREAD, "pthread_create", HOLDS, TRACES, GOES_ON)                                             \
    X(LOCK, "a lock", HOLDS, TRACES, GOES_ON)
enum { FT_CALL_HOLDS, FT_CALL_WAITS };
enum { FT_CALL_TRACES, FT_CALL_NOTHING };
enum { FT_CALL_GOES_ON, FT_CALL_RESTARTS, FT_CALL_ENDS };

enum ft_call_kind {
#define X(name, text, how, leaves, ends) FT_CALL_##name,
    FT_CALL_KINDS(X)
#undef X
    FT_CALL_NKINDS
};

#endif
