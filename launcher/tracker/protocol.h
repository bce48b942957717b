/* SPDX-License-Identifier: BSD-3-Clause */
/* What a worker of XGBoost (2.1 to 3.4) says to its tracker on one connection, and is answered: bytes to a struct, and back. Pure. Nothing that
   comes is believed.

     worker    int32 MAGIC, {"world_size", "rank", "task_id"}, {"cmd", ...}
     tracker   int32 MAGIC; to a start {"world_size"}, and when all have come {"rank", "host", "port"} of the worker's next in the ring

   An object is int32 length and JSON. Integers are of this machine's order. */
#ifndef LAUNCHER_TRACKER_PROTOCOL_H
#define LAUNCHER_TRACKER_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ft_worker_command { FT_WORKER_START = 1, FT_WORKER_SHUTDOWN, FT_WORKER_ERROR, FT_WORKER_PRINT };

enum { FT_WORKER_TEXT_MOST = 1 << 20 /* bytes of one object */ };

struct ft_worker {
    bool greeted;              /* MAGIC has come */
    int64_t world, rank;       /* -1: not known yet */
    char *task;                /* "": none. Owned */
    enum ft_worker_command command;
    uint16_t port;             /* START: where the worker listens */
    char *text;                /* ERROR, PRINT. Owned */
    int64_t code;              /* ERROR */
};

/* Out of all that has come on a connection. 1: it is whole; 0: more is to come, of w there is what has come; -1: it is none, *why says why.
   w: zeroed, or from the last call. */
int ft_worker_read(struct ft_worker *w, const char *data, size_t len, const char **why);

void ft_worker_free(struct ft_worker *w);

enum { FT_WORKER_WELCOME_MOST = 40 /* bytes; the next one is longer */ };

/* What a start is answered at once: *len bytes, to be freed. NULL: no memory. */
char *ft_worker_welcome(uint32_t world, size_t *len);

/* ..., and when all have come. */
char *ft_worker_next(const char *host, uint16_t port, uint32_t rank, size_t *len);

/* MAGIC: what every answer begins with. */
enum { FT_WORKER_MAGIC_BYTES = 4 };
char *ft_worker_magic(size_t *len);

/* Which of two tasks has the lower rank, as strcmp. Numbers by value, so that the ranks are those of the job; then the rest. (XGBoost's own
   tracker compares them as strings: "10" before "2".) */
int ft_worker_compare(const char *a, const char *b);

#endif
