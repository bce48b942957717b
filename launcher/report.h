/* SPDX-License-Identifier: BSD-3-Clause */
/* --report FILE: what a job did, as JSON. Times are seconds, CLOCK_MONOTONIC differences. */
#ifndef LAUNCHER_REPORT_H
#define LAUNCHER_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ft/base/err.h"
#include "launcher/ways.h"

struct ft_restart {
    uint32_t rank;
    pid_t pid;              /* that died */
    int signal, code;       /* how; signal 0: exit code */
    uint64_t died_ns;       /* ftrun learned of it */
    uint64_t started_ns;    /* its successor had been exec'd */
    uint64_t live_ns;       /* its successor's first unit that was not in the log; 0: none (yet) */
    enum ft_way_back way;
    uint64_t replayed;      /* units its successor took out of the log */
};

struct ft_rank_total {
    pid_t pid;              /* of the last incarnation */
    int signal, code;       /* how it ended */
    uint32_t restarts;
    uint64_t units;         /* furthest it came in the world's stream */
};

enum { FT_RESTARTS_MAX = 1 << 20 };  /* that are told apart in a report */

/* To be put into shared memory (shared.h). */
struct ft_report {
    int fd;                 /* -1: no report wanted */
    char **argv;
    uint32_t nranks;
    uint64_t begin_ns;
    struct ft_restart *restarts;  /* shared, as ranks */
    uint64_t nrestarts;
    struct ft_rank_total *ranks;
    uint64_t log_bytes, spilled_bytes, peak_memory_bytes;
};

/* Opens the file (path NULL: no report). FT_ESYS with a line. */
int ft_report_open(struct ft_report *r, const char *path, char **argv, uint32_t nranks, uint64_t now_ns, struct ft_error *e);

/* Adds a restart. NULL: there were too many. */
struct ft_restart *ft_report_restart(struct ft_report *r);

/* The last restart of rank; NULL if there is none. */
struct ft_restart *ft_report_last(struct ft_report *r, uint32_t rank);

/* Writes it all. FT_ESYS with a line. */
int ft_report_write(struct ft_report *r, int exit_code, uint64_t now_ns, struct ft_error *e);

void ft_report_close(struct ft_report *r);

#endif
