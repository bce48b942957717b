/* SPDX-License-Identifier: BSD-3-Clause */
/* What ftrun has been told: by configuration files, the environment and the command line
   (settings.h). */
#ifndef LAUNCHER_OPTIONS_OPTIONS_H
#define LAUNCHER_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ft/base/err.h"
#include "ft/shm/keeper.h"
#include "launcher/options/topology.h"
#include "launcher/policy/rank_policy.h"

enum { FT_LEASE_MIN_MS = 100 };
enum { FT_RANKS_MAX = 4096 };  /* on one host */
enum { FT_NODES_MAX = 4096, FT_WORLD_MAX = 65536 }; /* ranks on all of them */
enum { FT_TREE_MIN = 2, FT_TREE_WIDTH = 32 }; /* --launch-tree */
#define FT_TREE_AUTO UINT64_MAX
enum { FT_SETTINGS_MAX = 96 }; /* rows of the table in settings.c */
enum { FT_CODE_USAGE = 2 };    /* ftrun's exit code for a bad command line */

struct ft_say;

struct ft_host {
    char *name;              /* as written, without brackets; with "USER@" before it, for ssh, if that was. Owned by the options */
    uint32_t slots, most;    /* most: ranks, even if slots may be shared (max_slots); 0: no limit */
    bool here;               /* it is the host we run on */
};

struct ft_hosts {
    struct ft_host *list;    /* each name once; owned by the options */
    size_t n;
};

/* Where a setting's value comes from. */
struct ft_origin {
    const char *value;     /* as written, or the fallback */
    const char *source;    /* "default", "/etc/ftmpi.conf:3", "FTMPI_LOG_LIMIT", "command line" */
};

/* One program of a job and the ranks that run it: what stands between two ":" on the command
   line. */
#define FT_SNAPSHOT_AUTO UINT64_MAX

struct ft_context {
    uint32_t number;           /* of the job's programs, from 0 */
    uint32_t first, nranks;    /* ranks first..first+nranks-1 */
    char **argv;               /* the program and its arguments, NULL at the end; points into main's argv */
    const char *wdir;          /* NULL: where ftrun was started */
    bool bare;                 /* the ranks get nothing of ftrun's environment but FTMPI_* and exports */
    const char **exports;      /* -x, in order: "A" or "A=v" */
    size_t nexports;
    struct ft_hosts hosts;     /* named for it */
    uint32_t per_host;         /* -N; 0: not told */
    bool counted;              /* -n was given */
    const char *app;           /* file that holds contexts in the place of this one */
    char *path;                /* of the program, with a slash; owned, NULL until the agent has found it */
    bool plain;                /* it is a script without "#!": for the shell */
    bool alone;                /* nothing may be preloaded: a sanitizer's runtime wants to be the first */
};

/* Whether ranks' processors share a cache; if not, they write past theirs what is for others to read. AUTO: as the system tells. */
enum ft_cores { FT_CORES_AUTO, FT_CORES_NEAR, FT_CORES_FAR };

/* How two ranks do an allreduce that is neither small nor large (ft/core/redundant.c): each makes all of it, or a half. */
enum ft_allreduce { FT_ALLREDUCE_DOUBLED, FT_ALLREDUCE_HALVED };

/* What ranks do on sockets of their own is recorded, so that their connections outlive them. AUTO: where ranks are recorded at all; ON: or
   the job is refused. */
enum ft_sockets { FT_SOCKETS_AUTO, FT_SOCKETS_ON, FT_SOCKETS_OFF };

/* Whether the job goes on from a checkpoint in ckpt_dir. */
enum ft_resume { FT_RESUME_NO, FT_RESUME_YES, FT_RESUME_AUTO /* if there is one */ };

struct ft_options {
    char job_id[16];           /* 8 characters, drawn anew for every job */
    const char *job_name;      /* NULL: none */
    uint32_t nranks;           /* of all contexts */
    struct ft_context *contexts;  /* by rank */
    size_t ncontexts;
    struct ft_placement place;
    bool oversubscribe;        /* more ranks than slots are not told */
    bool report_bindings, display_map;
    bool tag_output, timestamp_output, merge_stderr, tty;
    const char *output_dir;    /* NULL: none */
    int64_t stdin_rank;        /* -1: none */
    uint64_t timeout_ms, hang_timeout_ms;  /* 0: none */
    bool check_replay, bootstrap_cache, die_with_launcher;
    uint64_t check_seed;       /* --check-replay kills ranks at times that this decides; 0: it kills none */
    uint64_t max_restarts;     /* UINT64_MAX: no limit */
    struct ft_restart_on restart_on;
    bool replay_time_off;        /* a replay asks the clocks anew */
    enum ft_sockets sockets;
    bool one_thread;             /* a rank with more than one thread gets no newer snapshot */
    bool start_over_always;      /* also a rank that would do other things then */
    bool other_mpi_allowed;      /* programs of another MPI, each rank alone */
    uint64_t snapshot_ms;      /* 0: no snapshots; FT_SNAPSHOT_AUTO */
    const char *ckpt_dir;      /* NULL: checkpoints are kept in memory only */
    uint64_t ckpt_versions;    /* one of so many is written to it ... */
    uint64_t ckpt_ms;          /* ... and none before so much time has passed */
    enum ft_resume resume;
    uint64_t log_limit;        /* bytes; 0: from the machine's memory */
    enum ft_full log_full;
    enum ft_cores cores;
    enum ft_allreduce allreduce;
    uint64_t log_prepare;      /* bytes */
    const char *log_spill;
    uint64_t grace_ms;
    bool rabit, xgboost_tracker;
    const char *report, *timeline, *events; /* NULL: none */
    bool quiet;
    int verbose;               /* 0 to 3 */
    bool help, version, tune;      /* asked for: nothing else is valid */

    const struct ft_description *node;  /* this process is one node of several, and the ranks are local; NULL: it is not */
    const char *iface;         /* where sockets between hosts listen: name or CIDR; NULL: towards the other hosts */
    bool survive_host;         /* the log stays whole, for the node that replaces a lost one */
    struct ft_map *map;        /* the job is on several hosts: who is where; NULL: it is on this one, and all the rest is nothing to it */
    const char *rdzv, *nodes, *rdzv_secret_file; /* as written; NULL: not said */
    bool join;                 /* this host leads no job, and needs no program */
    struct ft_rendezvous *rendezvous; /* the hosts find each other (rendezvous.h); NULL: they do not */
    const char *launcher;      /* "ssh", "srun", "exec:COMMAND"; NULL: ssh or srun, and what is on this host is started directly */
    bool srun;                 /* launcher NULL is srun: the hosts are nodes of an allocation of Slurm's */
    const char **launch_args;  /* for it */
    size_t nlaunch_args;
    uint64_t launch_tree;      /* so many hosts are being started by one at any moment, the rest by those; 0: no others start any; FT_TREE_AUTO */
    const char *prefix;        /* where ftmpi is on the other hosts; NULL: where it is here */
    uint64_t spares;           /* hosts at the end of the list that have no ranks as yet */
    uint64_t wait_ms, start_ms; /* for a host to come back; for one to answer */
    uint32_t start_tries;      /* of one host, in a row; more than FT_START_TRIES where hosts come late, and names with them */
    uint64_t lease_ms;         /* a node that has not been heard from for so long is lost */

    const char **genv;         /* exports of all contexts; ft_options_parse puts them in front of theirs */
    size_t ngenv;
    struct ft_hosts hosts;     /* of the host file */
    const char *foreign;       /* the first of Open MPI's parameters, which do nothing here */
    uint32_t nforeign;
    struct ft_origin origins[FT_SETTINGS_MAX];
    char **notices;            /* lines to tell when the job starts, unless --quiet */
    size_t nnotices;
    void **kept;               /* strings made here, and arrays of them */
    size_t nkept;
};

/* What holds when nobody sets anything, with a new job id. */
void ft_options_defaults(struct ft_options *o);

/* --log-spill where nobody has said it. */
const char *ft_options_spill_dir(void);

/* What starts ftrun on other hosts: "ssh", "srun" or "exec:COMMAND". */
const char *ft_options_launcher(const struct ft_options *o);

/* The context that runs a rank. */
const struct ft_context *ft_options_context(const struct ft_options *o, uint32_t rank);

/* What a person is told whose signal ends the job: how long it takes, how it is ended at once, how it goes on later. */
void ft_options_say_stopped(const struct ft_options *o, const struct ft_say *say, int signal);

/* p, which came from malloc, lives as long as o from now on. NULL: no memory; then it is free. */
void *ft_options_own(struct ft_options *o, void *p);

/* A string that lives as long as o. NULL: no memory. */
char *ft_options_keep(struct ft_options *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds a line to o->notices. */
void ft_options_notice(struct ft_options *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* One more context, of one rank. */
int ft_options_add_context(struct ft_options *o, struct ft_error *e);

/* Adds to a list of exports. */
int ft_options_add(const char ***list, size_t *n, const char *text, struct ft_error *e);

#endif
