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

#include "ft/snap/files.h"

struct ft_image {
    struct ft_files files;
    struct itimerval timers[3];
    sigset_t mask;
};

/* Whole pages of private memory of no file. */
struct ft_image_pages {
    void *start;   /* NULL: none */
    size_t bytes;
};

/* The bytes at `from` will be written by this process, and by each copy of it that goes on, before they are read. The pages that are wholly
   within are left out of forks from now on: the child finds zeros there, and this process does not pay for copies when it writes them. None
   if that cannot be had (memory of a file, or shared) or is too little to be worth it. From NULL: none. */
struct ft_image_pages ft_image_leave_out(void *from, size_t bytes);

/* Forks have them again: in the process itself, and in the child. */
void ft_image_take_in(const struct ft_image_pages *pages);

/* Looks at this process, and records what it takes to put it back. */
enum ft_image_reason ft_image_take(struct ft_image *image, const struct ft_image_own *own);

/* In what waits to be copied, before each copy: ft_files_look_again(&image->files). In the copy: files, timers, signal mask. */
void ft_image_put_back(const struct ft_image *image);

/* As fork, but the child becomes a child of this process's parent: nothing of it is ever seen by this process, no
   SIGCHLD and nothing for wait(). No handlers of pthread_atfork run. -1: errno. */
pid_t ft_image_clone(void);

#endif
