/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose real functions are wanted. Those that the C library has under several names (open64) are here once. */
#ifndef FT_OUTCOME_REAL_NAMES_H
#define FT_OUTCOME_REAL_NAMES_H

#undef _FORTIFY_SOURCE

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* X(name), in the order of the alphabet. */
#define FT_REAL_NAMES(X)                                                                            \
    X(close)                                                                                        \
    X(fcntl64)                                                                                      \
    X(lseek64)                                                                                      \
    X(openat64)                                                                                     \
    X(pread64)                                                                                      \
    X(preadv64)                                                                                     \
    X(pwrite64)                                                                                     \
    X(pwritev64)                                                                                    \
    X(read)                                                                                         \
    X(readv)                                                                                        \
    X(write)                                                                                        \
    X(writev)

#endif
