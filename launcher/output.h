/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks' stdout and stderr: a new pipe per incarnation, whole lines, exactly once (RULES 21, 22). What lines.h
   decides to forward goes to a sink; when a sink is full the ranks' pipes are left to fill up. */
#ifndef LAUNCHER_OUTPUT_H
#define LAUNCHER_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ft/base/err.h"

struct event_base;
struct ft_sink;
struct ft_output;

struct ft_output_config {
    uint32_t nranks;
    bool keep;                    /* ranks may be restarted: keep hashes of their lines */
    bool prompts;                 /* forward rank 0's unfinished stdout after a while */
    struct ft_sink *sinks[2];     /* stdout, stderr; may be the same one */
    /* A replayed line (from 1) of a stream (0 stdout, 1 stderr) differs. Once per rank. */
    void (*differs)(void *arg, uint32_t rank, int stream, uint64_t line);
    /* Sees what goes to a sink (stream 0 stdout, 1 stderr), after it: `ftrun attach`. NULL: nobody looks. */
    void (*tap)(void *arg, int stream, const char *data, size_t len);
    void *arg;
};

/* NULL: no memory. */
struct ft_output *ft_output_new(struct event_base *base, const struct ft_output_config *config);

/* Pipes for a new incarnation; write[]: for the child, the caller closes them. FT_ESYS. */
int ft_output_open(struct ft_output *o, uint32_t rank, int write[2], struct ft_error *e);

/* The incarnation and all its processes are dead: takes what is left in its pipes, drops an unfinished line (the
   successor makes it again), closes them. */
void ft_output_restart(struct ft_output *o, uint32_t rank);

/* The leader is dead and has no successor. Unfinished lines are forwarded as they are. A pipe that some other process of
   the rank still holds stays open. */
void ft_output_retire(struct ft_output *o, uint32_t rank);

/* A sink has room again. */
void ft_output_resume(struct ft_output *o);

/* Nothing runs any more: takes the rest and closes everything. */
void ft_output_finish(struct ft_output *o);

void ft_output_free(struct ft_output *o);

#endif
int ft_output_fd(const struct ft_output *o, uint32_t rank, int which);
void ft_output_adopt(struct ft_output *o, uint32_t rank, const int read[2]);
#define ft_output_torn(a, b) false
#define ft_input_fd(in) (-1)
#define ft_input_adopt(in, fd) (void)(fd)
