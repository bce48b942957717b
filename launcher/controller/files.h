/* SPDX-License-Identifier: BSD-3-Clause */
/* --output-filename of a job on several hosts: the controller writes the files of all ranks, on its own host and as it gets what they print, so a
   lost host takes nothing of them along, and what its replacement prints again is not written again (merge.h). What waits for the disk is in a
   spool that outlives this process. */
#ifndef LAUNCHER_CONTROLLER_FILES_H
#define LAUNCHER_CONTROLLER_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ft/base/err.h"

struct ft_options;
struct ft_say;
struct event_base;
struct ft_files;

struct ft_files_config {
    const struct ft_say *say;  /* stays the caller's: a file that cannot be written is told, once in the job */
    struct event_base *base;
    void (*room)(void *arg);   /* something has been written */
    void *arg;
};

/* Makes directories, empty files and the spool, before the first fork. *out is NULL if none are wanted; it may be in all that follows.
   FT_EINVAL, FT_ESYS or FT_ENOMEM with a line. */
int ft_files_new(struct ft_files **out, const struct ft_options *o, struct ft_error *e);

/* In the process that writes: a thread does, so that nobody else waits for a disk. It goes on where a predecessor was. -1: errno. */
int ft_files_open(struct ft_files *f, const struct ft_files_config *config);

/* What ranks print goes there only (nocopy). */
bool ft_files_instead(const struct ft_files *f);

/* More of a rank's file (stream 0 stdout, 1 stderr), from `at` on, is put ahead of the spool's tail; where that ends; it is to be written. */
void ft_files_put_ahead(struct ft_files *f, uint32_t rank, int stream, uint64_t at, const char *data, size_t len);
uint64_t ft_files_place(const struct ft_files *f);
void ft_files_publish(struct ft_files *f, uint64_t place);

/* What ftrun says; later: by the thread, as long as the loop must not wait. */
void ft_files_say(struct ft_files *f, const char *line, size_t len, bool later);

/* So much is waiting for the disk that ranks should. */
bool ft_files_full(const struct ft_files *f);

/* How much of the spool is to be written; and of that is, could not be, or was dropped. */
uint64_t ft_files_given(const struct ft_files *f);
uint64_t ft_files_written(const struct ft_files *f);

/* Nobody waits any more for what is waiting, nor for what comes. */
void ft_files_drop(struct ft_files *f);

/* A file could not be written. */
bool ft_files_failed(const struct ft_files *f);

/* Of the process that writes; then nothing above but ft_files_open is called. */
void ft_files_close(struct ft_files *f);

void ft_files_free(struct ft_files *f);

#endif
