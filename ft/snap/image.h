/* SPDX-License-Identifier: BSD-3-Clause */
/* What a fork of this process would not copy, or share with it: whether that can be put back, and doing so (DESIGN
   section 5). Linux only. */
#ifndef FT_SNAP_IMAGE_H
#define FT_SNAP_IMAGE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/types.h>

/* Why a process cannot be put back as it is now. */
enum ft_image_reason {
    FT_IMAGE_GOOD,
    FT_IMAGE_THREADS,      /* more than one thread */
    FT_IMAGE_CHILDREN,     /* it has children: they die with it */
    FT_IMAGE_DESCRIPTOR,   /* a pipe, socket or the like of its own: what was sent is gone */
    FT_IMAGE_MAPPING,      /* writable memory shared with others */
    FT_IMAGE_TIMERS,       /* timers of timer_create() */
    FT_IMAGE_WRAPPER,      /* not the process that ftrun started: a shell waits for it */
    FT_IMAGE_SYSTEM        /* the system cannot tell, or cannot do it (no memory, no process) */
};

enum { FT_IMAGE_FILES = 256, FT_IMAGE_OURS = 8 };

/* An open file: a fork shares its offset. */
struct ft_image_file {
    int fd;
    bool append;
    dev_t device;
    ino_t inode;
    off_t at, size;
};

struct ft_image {
    struct ft_image_file files[FT_IMAGE_FILES];
    int nfiles;
    struct itimerval timers[3];
    sigset_t mask;
};

/* ours: descriptors that are the library's own business. */
struct ft_image_own {
    int fds[FT_IMAGE_OURS];
    int nfds;
    const void *mapping;   /* start of the library's own shared mapping */
};

/* Looks at this process, and records what it takes to put it back. */
enum ft_image_reason ft_image_take(struct ft_image *image, const struct ft_image_own *own);

/* In the copy: offsets of files (files opened for appending are cut to the size they had), timers, signal mask. */
void ft_image_put_back(const struct ft_image *image);

/* As fork, but the child becomes a child of this process's parent: nothing of it is ever seen by this process, no
   SIGCHLD and nothing for wait(). No handlers of pthread_atfork run. -1: errno. */
pid_t ft_image_clone(void);

#endif
