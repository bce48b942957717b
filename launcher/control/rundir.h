/* SPDX-License-Identifier: BSD-3-Clause */
/* Where running jobs can be reached: a directory that belongs to the user alone, with one socket per job, ID.sock.
   $FTMPI_RUN_DIR, else $XDG_RUNTIME_DIR/ftmpi, else ${TMPDIR:-/tmp}/ftmpi-UID. Who asks looks into all that apply: a job
   may have been started where other variables were set. */
#ifndef LAUNCHER_CONTROL_RUNDIR_H
#define LAUNCHER_CONTROL_RUNDIR_H

#include <stdbool.h>
#include <stddef.h>

#include "ft/base/err.h"

enum { FT_RUNDIRS = 2, FT_RUNDIR_PATH = 4096, FT_SOCKET_NAME = 32 };

struct ft_rundirs {
    int n;
    char paths[FT_RUNDIRS][FT_RUNDIR_PATH];
};

/* Those that apply, best first; nothing is looked at yet. */
void ft_rundir_candidates(struct ft_rundirs *dirs);

/* Descriptor of the directory, made if asked for. FT_EINVAL with a line if it is not ours alone (a symbolic link, another owner, open
   to others); FT_ESYS with an empty text if it is not there, else with a line. */
int ft_rundir_open(const char *path, bool make, struct ft_error *e);

/* The one for a new job. */
int ft_rundir_make(char path[FT_RUNDIR_PATH], struct ft_error *e);

/* A listening socket of this name (0600), in place of what a dead predecessor left. Non-blocking. -1: errno. */
int ft_rundir_listen(int dir, const char *name);

/* A connection. -1: errno; ECONNREFUSED: nobody listens any more. */
int ft_rundir_connect(int dir, const char *name);

/* Removes a socket that nobody listens on. True if it was one. */
bool ft_rundir_remove_stale(int dir, const char *name);

#endif
