/* SPDX-License-Identifier: BSD-3-Clause */
/* The jobs of this user that run on this host, as their sockets tell (rundir.h, control.h). */
#ifndef LAUNCHER_CONTROL_JOBS_H
#define LAUNCHER_CONTROL_JOBS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "launcher/control/rundir.h"

enum { FT_CODE_NO_JOB = 3 };  /* exit code: there is no such job, or it cannot be reached */

struct ft_job_entry {
    int dir;                     /* where its socket is */
    char name[FT_SOCKET_NAME];   /* of its socket */
    char id[FT_SOCKET_NAME];
    json_t *info;                /* NULL: it does not answer (its ftrun is stopped?) */
    bool by_node;                /* its ftrun is on another host, and reached by a node of the job on this one (reach.h) ... */
    const char *unreachable;     /* ... if it is: else why not, and info is what the node knows */
};

struct ft_jobs {
    struct ft_job_entry *list;   /* oldest first */
    size_t n;
    int dirs[FT_RUNDIRS];
    int ndirs;
    char refused[FT_ERROR_TEXT]; /* why a directory was not looked into; empty: none */
};

/* Asks the job whose id is `word`; all, if none is or word is NULL: one that is silent takes seconds. clean: sockets that nobody listens on are
   removed. */
void ft_jobs_find(struct ft_jobs *jobs, const char *word, bool clean);

/* The one that `word` (an id, a pid of an ftrun of it here, its --job-name, the beginning of an id; NULL: the only one) means. NULL:
   *matching are meant, none or several. */
const struct ft_job_entry *ft_jobs_pick(const struct ft_jobs *jobs, const char *word, size_t *matching);

/* Is it one of those that ft_jobs_pick could not decide between? */
bool ft_jobs_matches(const struct ft_job_entry *job, const char *word);

void ft_jobs_free(struct ft_jobs *jobs);

#endif
