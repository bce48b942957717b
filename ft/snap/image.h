/* SPDX-License-Identifier: BSD-3-Clause */
/* What a clone of this process would not have, but for its descriptors, which it shares (ft/outcome): whether that can be put
   back, and doing so (DESIGN section 5). Linux only.

   All of this runs while other threads stand still, wherever they were: with malloc's lock, say, or that of a stream. So it makes bare
   system calls, and needs no memory but its own (scripts/layers.table, [still]). */
#ifndef FT_SNAP_IMAGE_H
#define FT_SNAP_IMAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/types.h>

/* Why a process cannot be put back as it is now. */
enum ft_image_reason {
    FT_IMAGE_GOOD,
    FT_IMAGE_THREADS,      /* more than one thread, which do not stand still */
    FT_IMAGE_CHILDREN,     /* it has children that are not followed */
    FT_IMAGE_DESCRIPTOR,   /* a socket, device or the like of its own: what was sent is gone */
    FT_IMAGE_MAPPING,      /* writable memory shared with others */
    FT_IMAGE_TIMERS,       /* timers of timer_create() */
    FT_IMAGE_WRAPPER,      /* not the process that ftrun started: a shell waits for it */
    FT_IMAGE_RECORDER,     /* nobody records what it does: the library that does is not in it */
    FT_IMAGE_FORK,         /* no memory, or no process */
    FT_IMAGE_MEMORY,       /* if the ranks rewrote all they have, the host would be short of memory */
    FT_IMAGE_SYSTEM        /* the system cannot tell, or cannot do it */
};

/* What is the library's own business and not the program's. */
struct ft_image_own {
    struct {
        const void *start;
        size_t bytes;
    } mapping, also;             /* the library's own shared memory */
    bool (*knows)(pid_t child);  /* children that may be there; NULL: none */
    bool (*shares)(uintptr_t start);  /* writable memory that others may share, which is seen to; NULL: none */
    int timers;                  /* so many of timer_create() are the library's */
    bool stopped;                /* all threads but this one stand still, and are put back */
    int not_copied;              /* a descriptor: a clone has none of the mappings of this one; 0: none such */
};

struct ft_image {
    struct itimerval timers[2];  /* ITIMER_VIRTUAL, ITIMER_PROF */
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

/* In the copy: timers. */
void ft_image_put_back(const struct ft_image *image);

/* As fork, but the child shares the descriptor table, and becomes a child of this process's parent: nothing of it is ever seen by
   this process, no SIGCHLD and nothing for wait(). No handlers of pthread_atfork run. -1: errno. */
pid_t ft_image_clone(void);

#endif
