/* SPDX-License-Identifier: BSD-3-Clause */
/* Serves `ftrun list, status, stop, wait, attach`: a socket in the user's directory (door.h), in the agent's event loop. A client
   sends one line, a JSON object {"request": "info"}, and gets JSON lines:

     info    {"job": ..., "pid": ..., "agent_pid": ..., "standby_pid": ..., "ranks": ..., "wall_seconds": ..., "command": [...], ...,
              "waiting": of clients that wait for the job's end (wait, attach, stop)}
     status  the same and a report of now, see docs/report.schema.json
     stop    as SIGTERM to ftrun; then as wait
     wait    the info at once; {"end": CODE} when the job is over
     attach  as wait, and before that {"stream": 0, "bytes": N} and N bytes of output as it comes, or {"dropped": N}: so many
             bytes of output were thrown away because the client did not read
     other   {"error": "..."}

   Only the user and root are served. Nobody can block the job: requests are short and have to come soon, a client that does not read
   misses what it does not take. */
#ifndef LAUNCHER_CONTROL_SERVER_H
#define LAUNCHER_CONTROL_SERVER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "ft/base/err.h"

struct event_base;
struct ft_control;
struct ft_options;

/* What the job says. Objects are taken over; stop may end the job at once. */
struct ft_control_job {
    const char *id;
    json_t *(*info)(void *arg);
    json_t *(*status)(void *arg);
    void (*stop)(void *arg);
    /* Sees to it that status is of now. True: that takes a moment, and ft_control_answer follows; false, or NULL: it is. */
    bool (*ask)(void *arg);
    void *arg;
};

/* Makes the socket, before the first fork: all launcher processes hold it, so who asks between an agent's death and its successor
   waits instead of finding nobody. NULL with a line: the job cannot be reached, nothing else. */
struct ft_control *ft_control_new(const struct ft_control_job *job, struct ft_error *e);

/* This process is the agent: what its predecessor knew of clients is nothing to it. c may be NULL, as in all that follows. */
void ft_control_forget(struct ft_control *c);

/* Starts serving. -1: no memory. */
int ft_control_serve(struct ft_control *c, struct event_base *base);

/* A client that has come another way than by the socket, and may. */
void ft_control_take(struct ft_control *c, int fd);

/* Status is of now: who has asked for it gets it. */
void ft_control_answer(struct ft_control *c);

/* Output of the job, for those that are attached. */
void ft_control_tap(struct ft_control *c, int stream, const char *data, size_t len);

/* The job is over: tells those that wait, and stops serving. Takes a moment at most; after a takeover three seconds since then, if
   clients that waited for the dead agent's word have not come back. */
void ft_control_end(struct ft_control *c, int code);

/* The agent's part; and all of it, with the socket's name. */
void ft_control_leave(struct ft_control *c);
void ft_control_free(struct ft_control *c);

/* For info: the words of the job's command line, ":" between its programs. NULL: no memory. */
json_t *ft_control_command(const struct ft_options *o);

#endif
