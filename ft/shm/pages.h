/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages of shared memory made before they are used: the first touch of one costs microseconds, which nobody is to wait for in the middle of an operation.
   All stop at the next 64 KiB when *stop is set: a job that is over does not wait. */
#ifndef FT_SHM_PAGES_H
#define FT_SHM_PAGES_H

#include <stdatomic.h>
#include <stdint.h>

/* Mapped memory that others may be writing to. No effect but on speed; what goes wrong is left to the first touch. */
void ft_pages_touch(char *from, uint64_t bytes, const atomic_bool *stop);

/* The same for memory that nobody uses yet, at `from` here and `at` in the file: zeros. Takes two thirds of the time, there are no
   exceptions, and this process, which does not look there, gets no page tables for it. -1: the system has no memory for them (errno),
   so nobody may touch them: that would be SIGBUS. */
int ft_pages_write(int fd, uint64_t at, char *from, uint64_t bytes, const atomic_bool *stop);

/* Gives their memory back: they are zeros, and are to be made again before anybody uses them. -1: errno. */
int ft_pages_drop(int fd, uint64_t at, uint64_t bytes);

#endif
