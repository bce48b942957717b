/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks' stdout and stderr: a new pipe for each incarnation that is started, whole lines, exactly once (RULES 21-23). forward.h takes
   bytes out of the pipes; when a sink is full the pipes are left to fill up.

   If the agent dies, a successor makes its own ft_output over the same memory and gives it its copies of the read ends
   (ft_output_adopt). Nothing is lost and nothing is torn at that moment, so no rank has to be restarted for it (forward.h says
   why); what the dead agent had not yet done about the death of a rank (restart, retire) is simply done again. */
#ifndef LAUNCHER_STDIO_OUTPUT_H
#define LAUNCHER_STDIO_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ft/base/err.h"
#include "launcher/stdio/memory.h"

struct event_base;
struct ft_say;
struct ft_sink;
struct ft_output;

struct ft_output_config {
    int64_t prompts;              /* rank that may ask somebody: its unfinished lines are forwarded after a while, as progress bars are of all; -1: none */
    bool alone;                   /* it is the job's only one: then wherever that goes */
    bool tag, timestamp;          /* --tag-output, --timestamp-output */
    /* A replayed line (from 1) of a stream (0 stdout, 1 stderr) differs. Once per rank. */
    void (*differs)(void *arg, uint32_t rank, int stream, uint64_t line);
    /* Sees what goes to a sink (stream 0 stdout, 1 stderr): `ftrun attach`. NULL: nobody looks. */
    void (*tap)(void *arg, int stream, const char *data, size_t len);
    /* A file of --output-filename cannot be written: once in the job. */
    void (*failed)(void *arg, const struct ft_error *e);
    /* A sink has written something. */
    void (*room)(void *arg);
    void *arg;
    void (*flush)(void *arg);     /* one node of several: ft_sink_new_records; NULL: as it is */
    bool (*fenced)(void *arg);    /* its ranks start again elsewhere, which make their unfinished lines again; NULL: no */
    void *node;                   /* their argument */
};

/* Says it. */
void ft_output_tell(const struct ft_say *say, uint32_t rank, int stream, uint64_t line);

/* In the agent, the first or a successor. NULL: no memory. */
struct ft_output *ft_output_new(struct event_base *base, struct ft_stdio_memory *memory, const struct ft_output_config *config);

/* Where ftrun's own lines go: 0 stdout, 1 stderr; may be the same one. */
struct ft_sink *ft_output_sink(struct ft_output *o, int which);

/* Pipes for a new incarnation; write[]: for the child, the caller closes them. FT_ESYS. */
int ft_output_open(struct ft_output *o, uint32_t rank, int write[2], struct ft_error *e);

/* Our end of a rank's stream, -1: it has none (stderr with merge; nothing was opened). It stays ours. */
int ft_output_fd(const struct ft_output *o, uint32_t rank, int stream);

/* Goes on with a living or dead incarnation that a dead agent started: our ends of its pipes, -1 for none. They are ours
   from now on. */
void ft_output_adopt(struct ft_output *o, uint32_t rank, const int read[2]);

/* The incarnation and all its processes are dead: takes what is left in its pipes, drops an unfinished line (the
   successor makes it again), closes them. */
void ft_output_restart(struct ft_output *o, uint32_t rank);

/* Checkpoints: what a rank prints after it has loaded one follows the mark. A snapshot needs none: it has the rank's own pipes, and
   what was written to them is an outcome.

   The rank stands still: takes what its pipes hold, and notes in mark `which` (below FT_MARKS) where it is. A mark is good from the
   return on; the same again may be done twice. */
void ft_output_mark(struct ft_output *o, uint32_t rank, int which);

/* The rank, restarted, stands still with its checkpoint loaded: takes what its pipes hold, and stands at the mark. What it makes
   again from there is dropped. May be done twice, but not after the rank has gone on. */
void ft_output_return(struct ft_output *o, uint32_t rank, int which);

/* The leader is dead and has no successor; failed: not by leaving with 0. Unfinished lines are forwarded as they are, but not those of a node that is fenced. A pipe that some other process of
   the rank still holds stays open. */
void ft_output_retire(struct ft_output *o, uint32_t rank, bool failed);

/* All are: says which ranks' tracebacks were left out (same.h). */
void ft_output_tell_same(struct ft_output *o, const struct ft_say *say);

/* A sink has room again. */
void ft_output_resume(struct ft_output *o);

/* Nothing runs any more: takes the rest and closes everything. */
void ft_output_finish(struct ft_output *o);

void ft_output_free(struct ft_output *o);

#endif
