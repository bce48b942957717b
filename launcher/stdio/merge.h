/* SPDX-License-Identifier: BSD-3-Clause */
/* What the ranks of all nodes print, one after the other: records of wire.h in, whole lines out to two sinks, each line of a rank once, whoever
   prints it again. What is printed again is compared as far as hashes are kept (lines.h), and a line that differs is told. A node's records below
   `got` have been taken over; those of a line whose end has not come are not.

   The process may be killed at any instant. What it puts lies ahead of where the sinks' and files' tails are. How far each rank's lines were put and where
   the tails are becomes known at once, by one store (struct commit), and from there a successor goes on; what nodes say again it knows by its lines. It
   has no hashes of what was put before. */
#ifndef LAUNCHER_STDIO_MERGE_H
#define LAUNCHER_STDIO_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ft/base/err.h"

struct ft_merge;

/* Where what was put ends: in two sinks, and in what waits for the files. */
enum { FT_MERGE_OUT, FT_MERGE_ERR, FT_MERGE_FILES, FT_MERGE_ENDS };

struct ft_merge_config {
    uint32_t nnodes, world;
    void *memory;              /* ft_merge_bytes of zeros, or what a predecessor left there; the caller's */
    bool tag, timestamp;
    bool one_sink;             /* stdout and stderr are put to the same place */
    /* Whole lines of a stream (FT_RECORD_STDOUT, _STDERR, _AGENT: one), or a part of one that is not waited for. But for an agent's, ahead. */
    void (*put)(void *arg, int stream, const char *data, size_t len);
    /* A sink's line, which has no end as yet, ends here. Ahead. */
    void (*end)(void *arg, int stream);
    /* What is put, before that, of one rank, for a file of its own (--output-filename), at that place in it. Ahead. NULL: there are none. */
    void (*file)(void *arg, uint32_t rank, int stream, uint64_t at, const char *data, size_t len);
    /* The ends, with what is ahead; the tails are to be there. */
    void (*ends)(void *arg, uint64_t ends[FT_MERGE_ENDS]);
    void (*publish)(void *arg, const uint64_t ends[FT_MERGE_ENDS]);
    /* A line (from 1) of a stream (0 stdout, 1 stderr) that another incarnation of a node has printed again differs. Once per rank. */
    void (*differs)(void *arg, uint32_t rank, int stream, uint64_t line);
    /* What a node says of its own why the job ends; NULL: it is put as all of an AGENT. */
    void (*reason)(void *arg, uint32_t node, const char *data, size_t len);
    bool instead;              /* what went to `file` is not put */
    void *arg;
};

size_t ft_merge_bytes(uint32_t nnodes, uint32_t world);

/* NULL: no memory, which config->memory may say, too. */
struct ft_merge *ft_merge_new(const struct ft_merge_config *config);

/* An OUT frame's records, from `place` in the node's spool on. FT_EDAMAGED: they are not what a node of this job says; FT_ENOMEM. */
int ft_merge_take(struct ft_merge *m, uint32_t node, uint64_t place, const uint8_t *data, uint32_t len, struct ft_error *e);

/* This node, or all of them, are being ended to begin again: the unfinished lines that they say last are not taken, for they will be said whole. */
void ft_merge_comes_again(struct ft_merge *m, uint32_t node, bool again);

/* Place in the node's spool below which everything has been put. */
uint64_t ft_merge_got(const struct ft_merge *m, uint32_t node);

/* The node's connection was made again: it says again what lies beyond `got`. */
void ft_merge_reconnected(struct ft_merge *m, uint32_t node);

/* Another incarnation of the node begins a new spool; its ranks print all again. */
void ft_merge_replaced(struct ft_merge *m, uint32_t node);

void ft_merge_free(struct ft_merge *m);

#endif
