/* SPDX-License-Identifier: BSD-3-Clause */
/* What the rank did to files that it could not do a second time with the same result: a start of the program from its beginning, without
   a copy, would go another way then, and nobody would notice. So that way back is closed (DESIGN-ranks section 3, "started by exec").

   It would be noticed, and is allowed: what fails the second time (mkdir, link, an exclusive open). It would be the same, and is
   allowed: what the program writes to a file that it has made or emptied itself, whatever it does with it; what it writes to places of
   a file that it has not read. Not allowed:

     - to append to a file that is not its own
     - to have been connected with somebody
     - to change, replace or remove a file that it has read and that is not its own; to rename one that is not its own

   What is known stands in the log's words: descriptors and files outlive the process. So it is said by live calls only. */
#ifndef FT_OUTCOME_ONCE_H
#define FT_OUTCOME_ONCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "ft/outcome/descriptors.h"
#include "ft/outcome/log.h"
#include "ft/outcome/images.h"
#include "ft/outcome/record.h"

/* Of a descriptor in words->once_of: bits. */
enum ft_once { FT_ONCE_FREE, FT_ONCE_IF_READ, FT_ONCE_IF_WRITTEN };

/* After an open that was made. */
void ft_once_opened(int fd, int flags);

/* After one that has made `result` a double of fd. */
void ft_once_doubled(int fd, int result);

/* Before a call by which the content of the file of this name goes, or the name. */
void ft_once_replaces(int dir, const char *name, int flags);
void ft_once_renames(int dir, const char *name);

/* Before content comes from fd to the program, or is changed by it. */
void ft_once_read_slowly(int fd);
void ft_once_write_slowly(int fd);

/* It is closed: what gets its number may be no file of a name. */
void ft_once_closed(int fd);

/* A second name keeps its content. */
void ft_once_links(int dir, const char *name, int flags);

/* It has a connection: what it sends by it, it would send a second time. */
void ft_once_connected(const struct sockaddr *peer);

/* The rank has made the file, or emptied it. */
bool ft_once_made(int fd);

/* Before the file's length is set. */
void ft_once_cuts(int fd, int64_t length);

static inline bool ft_once_is(int fd, enum ft_once what)
{
    return (unsigned)fd < FT_OUTCOME_DESCRIPTORS &&
           __builtin_expect(atomic_load_explicit(&ft_recorder.log.words->once_of[fd], memory_order_relaxed) & what, 0);
}

static inline void ft_once_read(int fd)
{
    if (ft_once_is(fd, FT_ONCE_IF_READ))
        ft_once_read_slowly(fd);
}

static inline void ft_once_write(int fd)
{
    if (ft_once_is(fd, FT_ONCE_IF_WRITTEN))
        ft_once_write_slowly(fd);
    if (__builtin_expect(ft_images_any, 0))
        ft_images_written(fd);
}

#endif
