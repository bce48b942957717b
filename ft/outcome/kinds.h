/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of calls that are outcomes: ft/outcome/calls.table says of each what is recorded and how one under way is
   resolved. The text is what a message calls it. WAITS: other threads run while it is made (record.h). */
#ifndef FT_OUTCOME_KINDS_H
#define FT_OUTCOME_KINDS_H

#define FT_CALL_KINDS(X)                                                                            \
    X(PAD, "(nothing)", HOLDS)                                                                      \
    X(OPEN, "open", HOLDS)                                                                          \
    X(CLOSE, "close", HOLDS)                                                                        \
    X(READ, "read", HOLDS)                                                                          \
    X(PREAD, "pread", HOLDS)                                                                        \
    X(READ_REFERENCE, "read of an input", HOLDS)                                                    \
    X(WRITE, "write", HOLDS)                                                                        \
    X(PWRITE, "pwrite", HOLDS)                                                                      \
    X(SEEK, "lseek", HOLDS)                                                                         \
    X(TRUNCATE, "truncate", HOLDS)                                                                  \
    X(FTRUNCATE, "ftruncate", HOLDS)                                                                \
    X(FALLOCATE, "fallocate", HOLDS)                                                                \
    X(SYNC, "fsync", WAITS)                                                                         \
    X(ADVISE, "posix_fadvise", HOLDS)                                                               \
    X(COPY, "copy_file_range", HOLDS)                                                               \
    X(FLOCK, "flock", WAITS)                                                                        \
    X(FCNTL, "fcntl", HOLDS)                                                                        \
    X(DUP, "dup", HOLDS)                                                                            \
    X(IOCTL, "ioctl", HOLDS)                                                                        \
    X(RENAME, "rename", HOLDS)                                                                      \
    X(UNLINK, "unlink", HOLDS)                                                                      \
    X(RMDIR, "rmdir", HOLDS)                                                                        \
    X(MKDIR, "mkdir", HOLDS)                                                                        \
    X(LINK, "link", HOLDS)                                                                          \
    X(SYMLINK, "symlink", HOLDS)                                                                    \
    X(MKNOD, "mknod", HOLDS)                                                                        \
    X(TEMPORARY, "mkstemp", HOLDS)                                                                  \
    X(STAT, "stat", HOLDS)                                                                          \
    X(FSTAT, "fstat", HOLDS)                                                                        \
    X(STATFS, "statfs", HOLDS)                                                                      \
    X(ACCESS, "access", HOLDS)                                                                      \
    X(READLINK, "readlink", HOLDS)                                                                  \
    X(REALPATH, "realpath", HOLDS)                                                                  \
    X(DIRECTORY, "opendir", HOLDS)                                                                  \
    X(GLOB, "glob", HOLDS)                                                                          \
    X(CHMOD, "chmod", HOLDS)                                                                        \
    X(CHOWN, "chown", HOLDS)                                                                        \
    X(UTIME, "utimensat", HOLDS)                                                                    \
    X(XATTR, "xattr", HOLDS)                                                                        \
    X(CHDIR, "chdir", HOLDS)                                                                        \
    X(SCRATCH, "pipe of the library", HOLDS)                                                 \
    X(PIPE_READ, "read of a pipe", WAITS)                                                           \
    X(PIPE_WRITE, "write to a pipe", WAITS)                                                         \
    X(SOCKET, "a call on a socket", HOLDS)                                                          \
    X(TCP_RECEIVE, "recv", WAITS)                                                                   \
    X(TCP_SEND, "send", WAITS)                                                                      \
    X(DATAGRAM, "recvfrom", WAITS)                                                                  \
    X(RESOLVE, "getaddrinfo", WAITS)                                                                \
    X(SEMAPHORE, "sem_wait", WAITS)                                                                 \
    X(CLOCK, "clock_gettime", HOLDS)                                                                \
    X(SLEEP, "nanosleep", WAITS)                                                                    \
    X(RANDOM, "getrandom", HOLDS)                                                                   \
    X(PROCESS, "getrusage", HOLDS)                                                                  \
    X(TERMINAL, "isatty", HOLDS)                                                                    \
    X(PIPE, "pipe", HOLDS)                                                                          \
    X(POLL, "poll", WAITS)                                                                          \
    X(EVENT, "eventfd or epoll", HOLDS)                                                             \
    X(FORK, "fork", HOLDS)                                                                          \
    X(WAIT, "waitpid", HOLDS)                                                                       \
    X(IMAGE, "mmap of a file that may change", HOLDS)                                               \
    X(MAP, "mmap", HOLDS)                                                                           \
    X(SIGNAL, "a signal", HOLDS)                                                                    \
    X(THREAD, "pthread_create", HOLDS)                                                              \
    X(LOCK, "a lock", HOLDS)

enum { FT_CALL_HOLDS, FT_CALL_WAITS };

enum ft_call_kind {
#define X(name, text, how) FT_CALL_##name,
    FT_CALL_KINDS(X)
#undef X
    FT_CALL_NKINDS
};

#endif
