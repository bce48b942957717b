/* SPDX-License-Identifier: BSD-3-Clause */
/* The client's end of a connection to a job (control.h): lines, and bytes between them. Blocks. */
#ifndef LAUNCHER_CONTROL_PIPE_H
#define LAUNCHER_CONTROL_PIPE_H

#include <jansson.h>
#include <stddef.h>

struct ft_link {
    int fd;
    int timeout_ms;      /* for each piece of what is awaited; -1: none */
    int interrupt;       /* a descriptor that is readable when waiting is to end (a signalfd), or -1 */
    size_t begin, end;   /* of what has been read and not been taken */
    char bytes[1 << 16];
};

enum { FT_LINK_GONE = -1, FT_LINK_LATE = -2, FT_LINK_INTERRUPTED = -3 };

/* Takes fd over and sends the request. 0 or FT_LINK_GONE. */
int ft_link_open(struct ft_link *l, int fd, const char *request);

/* Takes fd over, which sends lines without being asked. */
void ft_link_take(struct ft_link *l, int fd);

/* The next line as an object; NULL with *err: nobody is there any more (or talks nonsense), nothing came in time, interrupted. */
json_t *ft_link_line(struct ft_link *l, int *err);

/* The next 1 to n bytes, as they come: their number and where they are, good until the next call. Else an error. */
int ft_link_bytes(struct ft_link *l, size_t n, const char **bytes);

void ft_link_close(struct ft_link *l);

#endif
