/* SPDX-License-Identifier: BSD-3-Clause */
/* The way of a rank's bytes from its pipe to a spool or a file, exactly once whenever the agent dies. No event loop here.

   1. `source` says whose bytes the intake is about to hold. It holds none: its file's position is `taken`.
   2. splice() moves bytes from the pipe to the intake's file. The kernel moves the position in the same call, so what has
      left the pipe is never unaccounted for.
   3. One step of lines.h on a copy of the stream's state. What it forwards is put behind the spool's tail, or into the
      rank's file at its place. Nobody looks there, and a successor puts the same bytes there again.
   4. Commit: the stream's new state, `taken`, and the spool's new tail are written down beside the old ones, and one store
      (`valid`) makes them true; then they are copied to their places. Back to 3 until `taken` is the position.
   5. The intake is rewound: first the file's position, then `taken`.

   A whole line of a rank never follows on a part of another rank's line, which was shown before its end had come (a question, a progress
   bar), or has none: a newline is put between in 3, which no rank has printed. The ranks' own files have none.

   A successor that finds `valid` copies (4); one that finds the position below `taken` finishes 5; one that finds it above
   goes on with 3. So it never matters where the predecessor died, and no rank has to be restarted for it. */
#ifndef LAUNCHER_STDIO_FORWARD_H
#define LAUNCHER_STDIO_FORWARD_H

#include <sys/types.h>

#include "launcher/stdio/memory.h"

struct ft_forward_config {
    bool tag, timestamp;
    /* Sees what goes to a spool (stream 0 stdout, 1 stderr). NULL: nobody looks. */
    void (*tap)(void *arg, int stream, const char *data, size_t len);
    /* A file of output_dir cannot be written; once in a job. */
    void (*failed)(void *arg, const struct ft_error *e);
    void *arg;
};

struct ft_forward;

/* This process is the agent: finishes what its predecessor was about. NULL: no memory. */
struct ft_forward *ft_forward_new(struct ft_stdio_memory *m, const struct ft_forward_config *config);

/* Takes what the pipe of a stream holds, at most FT_INTAKE_BYTES. 0: its end, -1: errno. */
ssize_t ft_forward_take(struct ft_forward *f, uint32_t stream, int fd);

/* From now on what is taken goes to the ranks' own files only, or not. */
void ft_forward_leave_out(struct ft_forward *f, bool out);

/* bars: only if it is a progress bar. */
bool ft_forward_unfinished(const struct ft_forward *f, uint32_t stream, bool bars);

/* Forwards the unfinished line as it is; last: nothing will follow. */
void ft_forward_show(struct ft_forward *f, uint32_t stream, bool last);

/* The incarnation is dead and its pipe empty. */
void ft_forward_restart(struct ft_forward *f, uint32_t stream);

/* The rank stands still and its pipe is empty: mark `which` is here. */
void ft_forward_mark(const struct ft_forward *f, uint32_t stream, int which);

/* The rank stands still and its pipe is empty, and what it makes from now on follows the mark, if there is one: a job that was resumed
   has none. */
void ft_forward_return(struct ft_forward *f, uint32_t stream, int which);

void ft_forward_free(struct ft_forward *f);

#endif
