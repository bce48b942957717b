/* SPDX-License-Identifier: BSD-3-Clause */
/* Exactly-once output of one rank's stdout or stderr over all its incarnations (DESIGN section 7, RULES 21, 22).
   Pure: bytes in, bytes to forward out.

   A line is what ends in a newline, or FT_LINE_MAX bytes without one: a rule about the bytes alone, so that a
   replaying incarnation cuts its output at the same places. A hash of every forwarded line is kept; the first
   lines of a successor are compared with them and dropped. */
#ifndef LAUNCHER_LINES_H
#define LAUNCHER_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FT_LINE_MAX = 1 << 20 };

typedef void ft_emit(void *arg, const char *data, size_t len);

struct ft_lines {
    bool keep;            /* keep hashes: the rank may be restarted */
    uint32_t *hash;       /* of each forwarded line */
    uint64_t n, room;     /* lines forwarded, over all incarnations; room in hash */
    uint64_t at;          /* lines this incarnation has made */
    char *part;           /* its unfinished line */
    size_t len, part_room;
    size_t shown;         /* bytes of line n forwarded before it was finished (a prompt) */
    uint32_t shown_hash;  /* of those */
    uint64_t differs;     /* first replayed line that differs from what was forwarded, from 1; 0: none */
};

/* Forwards what is new of data. The program ends if there is no memory: output cannot be dropped silently. */
void ft_lines_feed(struct ft_lines *l, const char *data, size_t len, ft_emit *emit, void *arg);

/* Something unfinished that has not been forwarded, and is not being replayed. */
bool ft_lines_unfinished(const struct ft_lines *l);

/* Forwards the unfinished line as it is: a prompt, or the last words of a rank that will not come back. */
void ft_lines_show(struct ft_lines *l, ft_emit *emit, void *arg);

/* The incarnation is dead and its pipe empty: its unfinished line will be made again. */
void ft_lines_restart(struct ft_lines *l);

void ft_lines_free(struct ft_lines *l);

#endif
