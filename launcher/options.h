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

struct ft_options {
    uint32_t nranks;
    const char **exports;      /* -x, in order: "A" or "A=v" */
    size_t nexports;
    const char *wdir;          /* NULL: where ftrun was started */
    enum ft_bind bind;
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
    char **argv;               /* the program and its arguments, NULL at the end; points into main's argv */
};

/* Reads argv; strings are not copied. 0, or FT_EINVAL with one line. Frees nothing: see ft_options_free. */
int ft_options_parse(struct ft_options *o, int argc, char **argv, struct ft_error *e);

void ft_options_free(struct ft_options *o);

/* What --help prints. */
void ft_options_help(void);

#endif
