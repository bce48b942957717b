/* SPDX-License-Identifier: BSD-3-Clause */
/* Exactly-once output of one rank's stdout or stderr over all its incarnations (DESIGN section 7, RULES 21, 22).
   Pure: bytes in, bytes to forward out.

   A line is what ends in a newline, or `longest` bytes without one: a rule about the bytes alone, so that a
   replaying incarnation cuts its output at the same places. A hash of each of the first `room` forwarded lines is kept; the first
   lines of a successor are compared with them, and all that were forwarded are dropped.

   What must be known to go on after any step is the state, a few numbers. The two areas beside it are only written
   where the state of before the step does not look: hashes at n and after, the part at len and after, or anywhere once
   a state with len 0 has been published. So a step that is cut short can be done again from the state before it. */
#ifndef LAUNCHER_STDIO_LINES_H
#define LAUNCHER_STDIO_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FT_LINE_MAX = 1 << 20, FT_MARK_BYTES = 4 << 10 };

/* begins: data starts a line, it does not go on with one. What is emitted is whole lines, or a piece of one. */
typedef void ft_emit(void *arg, bool begins, const char *data, size_t len);

struct ft_lines_state {
    uint64_t n;           /* lines forwarded, over all incarnations */
    uint64_t at;          /* lines this incarnation has made */
    uint64_t differs;     /* first replayed line that differs from what was forwarded, from 1; 0: none */
    uint32_t len;         /* of its unfinished line */
    uint32_t shown;       /* bytes of line n forwarded before it was finished (a prompt) */
    uint32_t shown_hash;  /* of those */
    uint32_t open;        /* the line before n was cut: line n goes on with it */
};

struct ft_lines {
    struct ft_lines_state s;
    bool keep;            /* keep hashes: the rank may be restarted */
    uint32_t *hash;       /* of each forwarded line */
    uint64_t room;        /* in hash; lines beyond are counted, not compared */
    char *part;           /* the unfinished line */
    uint32_t longest;     /* room in part, at most FT_LINE_MAX */
};

/* Where an incarnation was at a cut: what goes on from there makes these lines and this part of one no more. What has been
   forwarded is the job's, and is not turned back: n, shown, open. */
struct ft_lines_mark {
    uint64_t at;
    uint32_t noted;       /* 1: it is one */
    uint32_t len;
    char part[FT_MARK_BYTES];
};

/* Takes the first piece of data (len > 0) and forwards what is new of it. Returns its length, at least 1. */
size_t ft_lines_step(struct ft_lines *l, const char *data, size_t len, ft_emit *emit, void *arg);

/* Something unfinished that has not been forwarded, and is not being replayed. */
bool ft_lines_unfinished(const struct ft_lines *l);

/* It is written over itself: a progress bar, which ends when its work ends. */
bool ft_lines_is_bar(const struct ft_lines *l);

/* Forwards the unfinished line as it is: a prompt, or the last words of a rank that will not come back. */
void ft_lines_show(struct ft_lines *l, ft_emit *emit, void *arg);

/* The incarnation is dead and its pipe empty: its unfinished line will be made again. */
void ft_lines_restart(struct ft_lines *l);

/* Fills *mark in, the same each time. long_part: `longest` bytes for an unfinished line that is longer than it holds. */
void ft_lines_mark(const struct ft_lines *l, struct ft_lines_mark *mark, char *long_part);

/* The incarnation, which has loaded the checkpoint, goes on from its mark. Only once ft_lines_restart's state is published: this
   writes the part. */
void ft_lines_return(struct ft_lines *l, const struct ft_lines_mark *mark, const char *long_part);

#endif
