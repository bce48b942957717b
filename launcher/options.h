/* SPDX-License-Identifier: BSD-3-Clause */
/* ftrun's command line. One table (options.c) holds every option's names, argument and text; parsing and --help
   are both made from it. */
#ifndef LAUNCHER_OPTIONS_H
#define LAUNCHER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ft/base/err.h"
#include "launcher/policy.h"

enum { FT_RANKS_MAX = 4096 };  /* on one host */
enum { FT_CODE_USAGE = 2 };    /* ftrun's exit code for a bad command line */

enum ft_bind { FT_BIND_NONE, FT_BIND_CORE };

/* One program of a job and the ranks that run it: what stands between two ":" on the command line. */
struct ft_context {
    uint32_t first, nranks;    /* ranks first..first+nranks-1 */
    char **argv;               /* the program and its arguments, NULL at the end; points into main's argv */
    const char *wdir;          /* NULL: where ftrun was started */
    const char **exports;      /* -x, in order: "A" or "A=v" */
    size_t nexports;
    char *path;                /* of the program, with a slash; owned, NULL until the agent has found it */
};

struct ft_options {
    char job_id[16];           /* 8 characters, drawn anew for every job */
    const char *job_name;      /* NULL: none */
    uint32_t nranks;           /* of all contexts */
    struct ft_context *contexts;  /* by rank */
    size_t ncontexts;
    enum ft_bind bind;
    bool report_bindings, display_map;
    bool tag_output, timestamp_output, merge_stderr;
    const char *output_dir;    /* NULL: none */
    int64_t stdin_rank;        /* -1: none */
    uint64_t timeout_ms, hang_timeout_ms;  /* 0: none */
    bool check_replay, die_with_launcher;
    uint64_t max_restarts;     /* UINT64_MAX: no limit */
    struct ft_restart_on restart_on;
    uint64_t log_limit;        /* bytes; 0: from the machine's memory */
    uint64_t log_prepare;      /* bytes */
    const char *log_spill;
    uint64_t grace_ms;
    bool rabit;
    const char *report;        /* NULL: none */
    bool verbose, quiet;
    bool help, version;        /* asked for: nothing else is valid */
};

/* Reads argv; strings are not copied, and the ":" between contexts are replaced by NULL. 0, or FT_EINVAL with one
   line. Frees nothing: see ft_options_free. */
int ft_options_parse(struct ft_options *o, int argc, char **argv, struct ft_error *e);

void ft_options_free(struct ft_options *o);

/* The context that runs a rank. */
const struct ft_context *ft_options_context(const struct ft_options *o, uint32_t rank);

/* What --help prints. */
void ft_options_help(void);

#endif
