/* SPDX-License-Identifier: BSD-3-Clause */
/* Mappings of files that the rank changes (DESIGN-ranks section 3): shared and writable ones, and small private ones of files that it has made.
   What is in them goes on when the rank is killed, and memory goes back. So a copy has an *image* of each: what was in it when the copy was made.

     the copy is made        each mapping's content is read into private memory, which the copy alone keeps
     the next incarnation    has the images in the mappings' places, and shared mappings aside: its replay stores into images
     beyond its predecessor  what differs is stored into the shared mappings, which come back to their places

   The last is done where the program is at something that the predecessor had not done before it was killed: all that was stored there is
   in the image by then, so nothing goes back in the file, which others may read.

   Not followed: a file that another rank has mapped, or this one twice; one on a file system of several hosts; while there are children,
   which may have it, too; more than IMAGES of them, or more than BYTES. Another program that stores into the same mapping is not noticed. */
#ifndef FT_OUTCOME_IMAGES_H
#define FT_OUTCOME_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct ft_mapping {
    void *at;
    size_t bytes;
    int protection, flags, fd;
    off_t offset;
};

/* There are some; and, in a replay, images in the places of shared ones. */
extern _Atomic bool ft_images_any, ft_images_held;

/* It may be followed. */
bool ft_images_can(const struct ft_mapping *m, const struct stat *st);

/* It is there, from `start`. False: there are too many. */
bool ft_images_add(const struct ft_mapping *m, const struct stat *st, void *start);

/* Whether these bytes are one of them. None, or not all of it, or more: then nothing of that is followed any more. */
enum ft_images_what { FT_IMAGES_NONE, FT_IMAGES_PRIVATE, FT_IMAGES_SHARED };
enum ft_images_what ft_images_find(const void *at, size_t bytes);
/* The one that begins there, if any. */
void ft_images_remove(const void *at);

/* Something is done there, or with all of them, that cannot be followed. */
void ft_images_unfollow(const void *at, size_t bytes, const char *why);
void ft_images_unfollow_all(const char *why);

/* That is unmapped, or has moved: of those that are not followed. */
void ft_images_unmapped(const void *at, size_t bytes);
void ft_images_moved(const void *from, void *to, size_t bytes);

/* The descriptor is about to be written: a replay would not have that in the image. */
void ft_images_written(int fd);

/* One is not followed: no copy can be made. */
bool ft_images_strange(void);

/* Writable and shared memory from there on is one of ours. */
bool ft_images_knows(uintptr_t start);

/* Before a copy is made; false: it cannot. After that: in the rank, and in the next incarnation. */
bool ft_images_make(void);
void ft_images_drop(void);
void ft_images_begin(void);

/* The program is beyond its predecessor. */
void ft_images_settle(void);

/* Up to so many bytes of a file, from its page cache. */
size_t ft_images_read(int fd, off_t offset, void *to, size_t bytes);

#endif
