/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment of a rank: ftrun's own, what -x says, and who it is, under our names and those that scripts
   written for Open MPI and Hydra look for. Made once
   for each program context; only the rank's own variables change from start to start. */
#ifndef LAUNCHER_RANKS_ENVIRON_H
#define LAUNCHER_RANKS_ENVIRON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ft_context;
struct ft_description;
struct ft_environ;
struct ft_limits;
struct ft_signals;
struct ft_topology;

/* The same for every rank of the job. Everything is borrowed. */
struct ft_spawn_config {
    const struct ft_context *contexts;  /* by rank; their programs have been found */
    size_t ncontexts;
    uint32_t nranks;
    const char *job_id;
    const struct ft_description *node;  /* the ranks are those of one node of several; NULL: all */
    int links;                    /* for local rank 0, the last of FTMPI_FDS, where there are others; -1: none */
    const char *library_path;     /* first in the ranks' LD_LIBRARY_PATH */
    const char *preload;          /* LD_PRELOAD for the ranks, NULL: as it is */
    const char *recorder;         /* first in that, but for programs that take nothing before their own; empty: none */
    bool recorded;                /* what ranks hear of the world is recorded */
    const char *python_path;      /* first in their PYTHONPATH, NULL: as it is */
    bool bootstrap_cache;         /* programs may ask by FTMPI_BOOTSTRAP_CACHE */
    bool other_mpi_allowed;       /* FTMPI_OTHER_MPI (ft/outcome/other_mpi.h) */
    const char *tracker_host;     /* of --xgboost-tracker; NULL: none */
    uint16_t tracker_port;
    int memfd, kick, spill, bell, models; /* what ranks inherit, as FTMPI_FDS; there the pipe of spawn.c is before the last */
    const struct ft_limits *limits;  /* as they were when ftrun was started */
    const struct ft_signals *signals;
    const struct ft_topology *topology;  /* NULL: not bound */
};

/* Of the ranks of one context. first_fd: number in the ranks of the descriptors in FTMPI_FDS. NULL: no memory. */
struct ft_environ *ft_environ_new(const struct ft_spawn_config *config, const struct ft_context *context, int first_fd);

/* Where rank 0 is, as the other hosts know it. */
const char *ft_environ_master(const struct ft_description *d);

void ft_environ_rank(struct ft_environ *env, uint32_t rank, uint32_t incarnation);

/* In the process that is to be the rank, which shares this memory: only system calls may be made. output, errors: inodes of its standard
   output and standard error. */
void ft_environ_process(struct ft_environ *env, int pid, uint64_t output, uint64_t errors);

/* As execve wants it; valid until the next call of ft_environ_rank. */
char **ft_environ_get(struct ft_environ *env);

void ft_environ_free(struct ft_environ *env);

#endif
