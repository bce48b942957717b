/* SPDX-License-Identifier: BSD-3-Clause */
/* --report FILE: what a job did, as JSON. Times are seconds, CLOCK_MONOTONIC differences. */
#ifndef LAUNCHER_REPORT_REPORT_H
#define LAUNCHER_REPORT_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ft/base/err.h"
#include "ft/shm/versions.h"
#include "launcher/base/outfile.h"
#include "launcher/ckpt/series.h"
#include "launcher/report/timeline.h"
#include "launcher/report/ways.h"

/* One death, and the restart that followed. */
struct ft_restart {
    uint32_t rank;
    pid_t pid;              /* that died */
    int signal, code;       /* how; signal 0: exit code */
    bool lost;              /* how is not known */
    uint64_t seen_ns;       /* ftrun had last seen it alive */
    uint64_t died_ns;       /* ftrun learned of it */
    uint64_t started_ns;    /* its successor had been exec'd, or woken */
    uint64_t live_ns;       /* its successor's first unit that was not in the log; 0: none (yet) */
    enum ft_way_back way;
    uint64_t from_ns;       /* when the rank had last been at the point its successor begins at */
    uint64_t replayed;      /* units its successor took out of the log */
    uint32_t astray;        /* before that one, so many could not follow their snapshot, and ended themselves ... */
    uint64_t astray_ns;     /* ... the last of them was dead then */
    uint32_t host;          /* of several: it died there (ft_report_hosts) ... */
    bool host_lost;         /* ... since the host was lost: when it died is when that was noticed */
};

/* Messages of a rank, as it has said last: in MPI_Finalize, if it came there. */
struct ft_message_totals {
    uint64_t sent, sent_bytes, received, received_bytes;
    uint64_t most_unexpected;  /* that no receive had taken, at once */
};

/* --check-replay: what came of it when ftrun had killed the rank itself. */
struct ft_checks {
    uint32_t from_snapshot, from_start;  /* replays; of those */
    uint32_t differed;
    bool unable;            /* in the end it could not be put back */
    uint64_t records;       /* that were replayed: outcomes, and units of MPI */
};

struct ft_rank_total {
    pid_t pid;              /* of the last incarnation */
    int signal, code;       /* how it ended */
    uint64_t ended_ns;      /* 0: it never ran */
    uint32_t restarts;
    bool away;              /* it is not back where it was, or that has not been told */
    uint64_t units;         /* furthest it came in the world's stream */
    uint64_t origin_ns;     /* when it was last at the beginning of the program ... */
    uint64_t cut_ns;        /* ... and at its newest snapshot: when that was taken, or woken */
    uint64_t cut_unit;      /* of that snapshot */
    uint64_t checkpoint_ns; /* ... and at the newest checkpoint that it can load */
    uint64_t cuts, cuts_cost_ns, cuts_most_ns;  /* snapshots taken: number, time spent on all and on the slowest */
    uint64_t still_ns, still_most_ns;           /* for which its threads stood still: in all, at most */
    uint32_t threads;       /* of the last one; 0: one */
    uint64_t refused;       /* so many were not made, since a thread could not be stopped */
    struct ft_checks checks;
    struct ft_message_totals messages;
};

/* A job on several hosts: one of them, or its connection for longer than a lease, was lost. */
struct ft_host_loss {
    uint32_t node, host;
    int64_t to;             /* host that its ranks are started on; -1: the job ended */
    bool all;               /* ... and so are all other ranks: nobody else had the log from the start */
    uint64_t heard_ns, lost_ns; /* it was heard of last; it was counted as lost */
    uint64_t up_ns;         /* its replacement was there; 0: never */
};

/* NULL in a report: there is one host, this. */
struct ft_report_hosts {
    uint32_t n;
    const char **names;
    uint32_t *of_rank;      /* where each rank is, in the end */
    struct ft_host_loss *losses;
    uint64_t nlosses;
};

enum { FT_REPORT_FORMAT = 1 };        /* of the JSON (docs/report.schema.json): other numbers have other names */
enum { FT_RESTARTS_MAX = 1 << 20 };  /* that are told apart in a report */

/* To be put into shared memory (shared.h). */
struct ft_report {
    struct ft_outfile file; /* none: no report wanted, or not here */
    bool wanted;            /* a node of several: by the controller */
    bool checks;            /* --check-replay kills ranks */
    const char *job, *name; /* its id, and what the user calls it; NULL: nothing */
    char **argv;
    uint32_t nranks;
    uint64_t begin_ns;
    double began_at;        /* the same moment, in seconds since 1970 */
    struct ft_restart *restarts;  /* shared, as ranks */
    uint64_t nrestarts;
    struct ft_rank_total *ranks;
    struct ft_timeline *timeline; /* whoever made it closes it; NULL: no picture wanted */
    uint64_t log_bytes, spilled_bytes, released_bytes, peak_log_bytes, peak_memory_bytes;
    uint64_t version, version_ns; /* the newest checkpoint that all ranks have, and when it was first seen; 0: none of this job */
    struct ft_cache_totals cache; /* set before it is written */
    const struct ft_durable_totals *durable;  /* set before it is written; NULL: there is no --ckpt-dir */
    const struct ft_report_hosts *hosts;      /* set before it is written */
    uint64_t log_before, spilled_before;  /* of these, in logs that are no more: all ranks started again */
};

/* Finds out whether the file can be written (path NULL: no report). FT_ESYS with a line. */
int ft_report_open(struct ft_report *r, const char *path, char **argv, uint32_t nranks, uint64_t now_ns, struct ft_error *e);

/* Adds a restart. NULL: there were too many. */
struct ft_restart *ft_report_restart(struct ft_report *r);

/* The last restart of rank; NULL if there is none. */
struct ft_restart *ft_report_last(struct ft_report *r, uint32_t rank);

/* What was to go on after rank's last restart went astray (launcher/job/job.h), and is dead since at_ns: another one is started. May be
   called again. */
void ft_report_astray(struct ft_report *r, uint32_t rank, uint64_t at_ns);

/* rank is starting, or has a successor, since at_ns: its last restart, if it had one, says so. May be called again. */
void ft_report_started(struct ft_report *r, uint32_t rank, enum ft_way_back way, uint64_t at_ns);

/* A snapshot of rank was taken at at_ns, at `unit` of its world, which took cost_ns of its time. */
void ft_report_cut(struct ft_report *r, uint32_t rank, uint64_t at_ns, uint64_t unit, uint64_t cost_ns);

/* For its snapshots rank's threads have stood still for still_ns more, and for most_ns at most; the last one has so many of them. What a rank
   says itself. */
void ft_report_still(struct ft_report *r, uint32_t rank, uint64_t still_ns, uint64_t most_ns, uint64_t threads);

/* So much was logged, and so much of it released, and spilled, by now. */
void ft_report_log(struct ft_report *r, uint64_t bytes, uint64_t released, uint64_t spilled);

/* A new log begins: everything so far is released. May be called again. */
void ft_report_renew(struct ft_report *r);

/* In the place of an exit code: the job has not ended. */
enum { FT_UNFINISHED = -1 };

/* What there is of it now, a new reference; also for `ftrun status`. */
json_t *ft_report_all(const struct ft_report *r, int exit_code, uint64_t now_ns);

/* The same as text, to be freed; *len bytes. NULL: no memory. */
char *ft_report_text(const struct ft_report *r, int exit_code, uint64_t now_ns, size_t *len);

/* Writes it all. FT_ESYS with a line. */
int ft_report_write(struct ft_report *r, int exit_code, uint64_t now_ns, struct ft_error *e);

void ft_report_close(struct ft_report *r);

#endif
