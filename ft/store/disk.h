/* SPDX-License-Identifier: BSD-3-Clause */
/* The system calls by which checkpoint files are made: a small table, so that a test can stop the writer after each of them, and
   lose what a power failure would. */
#ifndef FT_STORE_DISK_H
#define FT_STORE_DISK_H

#include <stdint.h>
#include <sys/types.h>

struct ft_disk {
    void *arg;             /* first argument of all */
    /* As the system calls: -1 and errno. `dir` is an open directory. */
    int (*create)(void *arg, int dir, const char *name);  /* a new file for its owner only; fails if the name exists */
    int (*reserve)(void *arg, int fd, uint64_t bytes);    /* room for so many, so that a full disk is known before they are written */
    ssize_t (*write)(void *arg, int fd, const void *data, size_t n, uint64_t at);
    int (*sync)(void *arg, int fd);                       /* a file, or the directory */
    int (*close)(void *arg, int fd);
    int (*rename)(void *arg, int dir, const char *from, const char *to);
    int (*remove)(void *arg, int dir, const char *name);
    int (*list)(void *arg, int dir, void (*each)(void *to, const char *name), void *to);
};

/* The real one. */
extern const struct ft_disk ft_disk_real;

#endif
