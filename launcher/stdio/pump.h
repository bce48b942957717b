/* SPDX-License-Identifier: BSD-3-Clause */
/* A regular file, read into a pipe by a thread: a disk that stands still makes nobody wait but who reads the pipe. */
#ifndef LAUNCHER_STDIO_PUMP_H
#define LAUNCHER_STDIO_PUMP_H

#include <sys/types.h>

/* The pipe's read end, the caller's to close, which ends the thread. The file is read from `at` on, and its position stays. -1: errno. */
int ft_pump_open(int file, off_t at);

#endif
