/* SPDX-License-Identifier: BSD-3-Clause */
/* The open files of a process that a fork shares with it: whether they can be put back, and doing so. */
#ifndef FT_SNAP_FILES_H
#define FT_SNAP_FILES_H

#include <stdbool.h>
#include <sys/types.h>

/* Why a process cannot be put back as it is now. */
enum ft_image_reason {
    FT_IMAGE_GOOD,
    FT_IMAGE_THREADS,      /* more than one thread */
    FT_IMAGE_CHILDREN,     /* it has children: they die with it */
    FT_IMAGE_DESCRIPTOR,   /* a pipe, socket, device or the like of its own: what was sent is gone */
    FT_IMAGE_READ_WRITE,   /* a file that it both reads and writes: what it read may be overwritten since */
    FT_IMAGE_LOCK,         /* it holds a lock or lease on a file: the copy would hold it too, or not at all */
    FT_IMAGE_MAPPING,      /* writable memory shared with others */
    FT_IMAGE_TIMERS,       /* timers of timer_create() */
    FT_IMAGE_WRAPPER,      /* not the process that ftrun started: a shell waits for it */
    FT_IMAGE_FORK,         /* no memory, or no process */
    FT_IMAGE_MEMORY,       /* if the ranks rewrote all they have, the host would be short of memory */
    FT_IMAGE_LINE,         /* it is in the middle of a long line of output */
    FT_IMAGE_SYSTEM        /* the system cannot tell, or cannot do it */
};

enum { FT_FILES_MAX = 256, FT_FILES_OURS = 8, FT_FILES_LINKS = 8 };

struct ft_file_id {
    dev_t device;
    ino_t inode;   /* 0: none */
};

/* What is the library's own business and not the program's. */
struct ft_image_own {
    int fds[FT_FILES_OURS];
    int nfds;
    const int *links;            /* sockets to other nodes */
    int nlinks;
    struct ft_file_id stdio[3];  /* the pipes that ftrun gave it as 0, 1 and 2: ft_files_stdio */
    struct {
        const void *start;
        size_t bytes;
    } mapping;                   /* the library's own shared memory */
    int not_copied;              /* of fds: a fork has none of the mappings of this one; 0: none such */
};

/* An open file: a fork shares its offset and flags. */
struct ft_file {
    int fd, flags;
    struct ft_file_id id;
    off_t at, size;
    bool cut;      /* what was appended since is this process's: it will append it again */
    bool foreign;  /* others append to it, too */
};

struct ft_files {
    struct ft_file files[FT_FILES_MAX];
    int nfiles;
};

/* Records what 0, 1 and 2 are, as far as they are pipes: to be called before the program can change them. */
void ft_files_stdio(struct ft_image_own *own);

/* Looks at all descriptors. */
enum ft_image_reason ft_files_take(struct ft_files *files, const struct ft_image_own *own);

/* In what waits to be copied, before each copy and after the death of the one before, with all signals blocked: whose is what was
   appended to files since. */
void ft_files_look_again(struct ft_files *files);

/* In the copy: offsets and flags; what it would append a second time is cut off. */
void ft_files_put_back(const struct ft_files *files);

#endif
