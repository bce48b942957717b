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

/* Looks at this process, and records what it takes to put it back. */
enum ft_image_reason ft_image_take(struct ft_image *image, const struct ft_image_own *own);

/* In what waits to be copied, before each copy: ft_files_look_again(&image->files). In the copy: files, timers, signal mask. */
void ft_image_put_back(const struct ft_image *image);

/* As fork, but the child becomes a child of this process's parent: nothing of it is ever seen by this process, no
   SIGCHLD and nothing for wait(). No handlers of pthread_atfork run. -1: errno. */
pid_t ft_image_clone(void);

#endif
