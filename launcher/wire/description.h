/* SPDX-License-Identifier: BSD-3-Clause */
/* What a node of a job on several hosts is told when it is started: one line of JSON on its standard input, never in arguments or the
   environment (it holds the job's secret). The controller writes it, `ftrun --node` reads it; both have the same version.

   What is set (settings.h) goes along as it was written; the host's own configuration files and environment set nothing. Strings are
   bytes: each byte is the character of its number. */
#ifndef LAUNCHER_WIRE_DESCRIPTION_H
#define LAUNCHER_WIRE_DESCRIPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ft/base/err.h"
#include "launcher/options/options.h"

enum { FT_JOB_SECRET_BYTES = 32, FT_DESCRIPTION_MAX = 64 << 20 };

/* A node's place in its job. Places are node-major: place first[node] + i is local rank i of that node, rank rank_at[place] of the job,
   with the ranks of a node in ascending order. */
struct ft_description {
    uint32_t node, nnodes, world;
    uint32_t incarnation;      /* how often this node had been started before */
    uint32_t epoch;            /* how often the whole job had been started anew before */
    uint32_t *first;           /* nnodes + 1 of them */
    uint32_t *rank_at;         /* world of them */
    uint32_t *incarnations;    /* by local rank: number of its first incarnation on this node */
    unsigned char secret[FT_JOB_SECRET_BYTES];
    char **controllers;        /* numeric addresses of the controller, NULL at the end ... */
    uint16_t port;             /* ... and its port */
    char *host;                /* this node's host, as the user wrote it ... */
    char *master;              /* ... and that of rank 0 */
    char *cwd;                 /* where ftrun was started */
    bool report, timeline;     /* what happens here is to be told */
    bool no_input;             /* for writing: ftrun's standard input is closed or /dev/null, and so is that of the rank that reads it */
    char **env;                /* "NAME=VALUE" for the agent and its ranks, NULL at the end */
};

/* The line, without its newline; free() it. o is the job's, with contexts by rank of the job; what -x passes on has this process's
   values. NULL: no memory. */
char *ft_description_write(const struct ft_options *o, const struct ft_description *d);

/* d, and o as ft_agent_run wants it: contexts, nranks and stdin_rank by local rank, o->node = d. Strings of both are owned: d->first and
   the other arrays of d by ft_description_free, the rest by ft_options_free (both in any case). FT_EINVAL with one line that names the versions if
   they differ. */
int ft_description_read(struct ft_description *d, struct ft_options *o, const char *text, size_t len, struct ft_error *e);

/* The same line with this secret in the place of the one that it has; free() it. NULL: it is no description, or no memory. */
char *ft_description_with_secret(const char *text, const unsigned char secret[FT_JOB_SECRET_BYTES]);

/* Of what ft_description_read made. */
void ft_description_free(struct ft_description *d);

/* How many ranks a node has. */
static inline uint32_t ft_description_count(const struct ft_description *d, uint32_t node)
{
    return d->first[node + 1] - d->first[node];
}

#endif
