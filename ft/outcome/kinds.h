/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of calls that are outcomes: ft/outcome/calls.table says of each what is recorded and how one under way is
   resolved. The text is what a message calls it. */
#ifndef FT_OUTCOME_KINDS_H
#define FT_OUTCOME_KINDS_H

#define FT_CALL_KINDS(X)                                                                            \
    X(PAD, "(nothing)")                                                                             \
    X(OPEN, "open")                                                                                 \
    X(CLOSE, "close")                                                                               \
    X(READ, "read")                                                                                 \
    X(PREAD, "pread")                                                                               \
    X(READ_REFERENCE, "read of an input")                                                           \
    X(WRITE, "write")                                                                               \
    X(PWRITE, "pwrite")                                                                             \
    X(SEEK, "lseek")                                                                                \
    X(TRUNCATE, "truncate")                                                                         \
    X(FTRUNCATE, "ftruncate")                                                                       \
    X(FALLOCATE, "fallocate")                                                                       \
    X(SYNC, "fsync")                                                                                \
    X(ADVISE, "posix_fadvise")                                                                      \
    X(COPY, "copy_file_range")                                                                      \
    X(LOCK, "flock")                                                                                \
    X(FCNTL, "fcntl")                                                                               \
    X(DUP, "dup")                                                                                   \
    X(IOCTL, "ioctl")                                                                               \
    X(RENAME, "rename")                                                                             \
    X(UNLINK, "unlink")                                                                             \
    X(RMDIR, "rmdir")                                                                               \
    X(MKDIR, "mkdir")                                                                               \
    X(LINK, "link")                                                                                 \
    X(SYMLINK, "symlink")                                                                           \
    X(MKNOD, "mknod")                                                                               \
    X(TEMPORARY, "mkstemp")                                                                         \
    X(STAT, "stat")                                                                                 \
    X(FSTAT, "fstat")                                                                               \
    X(STATFS, "statfs")                                                                             \
    X(ACCESS, "access")                                                                             \
    X(READLINK, "readlink")                                                                         \
    X(REALPATH, "realpath")                                                                         \
    X(DIRECTORY, "opendir")                                                                         \
    X(GLOB, "glob")                                                                                 \
    X(CHMOD, "chmod")                                                                               \
    X(CHOWN, "chown")                                                                               \
    X(UTIME, "utimensat")                                                                           \
    X(XATTR, "xattr")                                                                               \
    X(CHDIR, "chdir")                                                                               \
    X(PIPE_READ, "read of a pipe")                                                                  \
    X(PIPE_WRITE, "write to a pipe")                                                                \
    X(SOCKET, "a call on a socket")                                                                \
    X(TCP_RECEIVE, "recv")                                                                          \
    X(TCP_SEND, "send")                                                                             \
    X(DATAGRAM, "recvfrom")                                                                         \
    X(RESOLVE, "getaddrinfo")                                                                       \
    X(SEMAPHORE, "sem_wait")                                                                        \
    X(CLOCK, "clock_gettime")                                                                       \
    X(SLEEP, "nanosleep")                                                                           \
    X(RANDOM, "getrandom")                                                                          \
    X(PROCESS, "getrusage")                                                                         \
    X(TERMINAL, "isatty")                                                                           \
    X(PIPE, "pipe")                                                                                 \
    X(POLL, "poll")                                                                                 \
    X(EVENT, "eventfd or epoll")                                                                    \
    X(FORK, "fork")                                                                                 \
    X(WAIT, "waitpid")                                                                              \
    X(IMAGE, "mmap of a file that may change")                                                      \
    X(MAP, "mmap")                                                                                  \
    X(SIGNAL, "a signal")

enum ft_call_kind {
#define X(name, text) FT_CALL_##name,
    FT_CALL_KINDS(X)
#undef X
    FT_CALL_NKINDS
};

#endif
