/* SPDX-License-Identifier: BSD-3-Clause */
/* --ckpt-dir, as the one who writes there sees it, the agent of a job on one host (launcher/snap) or the controller of several: the
   directory, which version is there, which is the next one, and what is told of it. May be in shared memory. */
#ifndef LAUNCHER_CKPT_SERIES_H
#define LAUNCHER_CKPT_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/store/ckpt_dir.h"

struct ft_ckpt_written;
struct ft_options;
struct ft_say;

/* For the report. */
struct ft_durable_totals {
    uint64_t resumed;       /* the version that the job began with; 0: none */
    uint64_t last;          /* the newest good version on disk; 0: none */
    uint64_t last_ns;       /* when that was written; 0: before this job */
    uint64_t written, failed;
    uint64_t bytes;         /* of the last file */
    uint64_t ns, most_ns;   /* time spent on writing, all in all and on the slowest */
};

struct ft_ckpt_series {
    const struct ft_options *options;
    const struct ft_say *say;
    uint32_t nranks;        /* of the job */
    int dir;
    char id[FT_CKPT_SERIES], program[FT_CKPT_PROGRAM];
    struct ft_durable_totals totals;
    uint64_t begun_ns;      /* when the last one was begun */
    uint64_t there;         /* the newest that was there when one could not be written */
    bool failing, untold, unloaded_told; /* untold: of the last failure, what is there then */
};

/* Opens the directory, and keeps it from other jobs as long as a copy of the descriptor is open. Refused: no usable directory, checkpoints that are
   there and not to be resumed, none to resume. FT_* with a line. */
int ft_ckpt_series_open(struct ft_ckpt_series *s, const struct ft_options *o, const struct ft_say *say, uint32_t nranks, struct ft_error *e);
void ft_ckpt_series_close(struct ft_ckpt_series *s);

/* --resume: the models of the newest good version go to slot 0 of that memory, and which one is told, and why newer ones were passed over.
   1: ft_ckpt_header_free then; 0: there is none to resume; FT_* with a line. */
int ft_ckpt_series_load(struct ft_ckpt_series *s, int models, struct ft_ckpt_header *h, struct ft_error *e);

/* Then: the file's hashes are of another kind; h has those that ranks have of what is in slot 0. 0; FT_ENOMEM with a line. */
int ft_ckpt_series_hash(int models, struct ft_ckpt_header *h, struct ft_error *e);

/* Version is about to be written: h says of whom it is and when it was made. */
void ft_ckpt_series_begin(struct ft_ckpt_series *s, struct ft_ckpt_header *h, uint64_t version);

/* What came of it. */
void ft_ckpt_series_note(struct ft_ckpt_series *s, const struct ft_ckpt_written *r);

/* Milliseconds until something may be written again. */
uint64_t ft_ckpt_series_wait_ms(const struct ft_ckpt_series *s);

/* It is the turn of the first version that is not older than this one; `kept` is the newest that there is. */
uint64_t ft_ckpt_series_next(const struct ft_ckpt_series *s, uint64_t kept);

/* Without waiting, and if it is not the end: is `version` to be written? */
bool ft_ckpt_series_is_due(const struct ft_ckpt_series *s, uint64_t version);

/* Resumed, and yet the program has begun anew: what it makes is not what its version says. Told once. */
void ft_ckpt_series_tell_unloaded(struct ft_ckpt_series *s);

/* Nothing more will be written: what is there, if that is not known. */
void ft_ckpt_series_tell_end(struct ft_ckpt_series *s);

/* The job has ended well, and there was nothing to write: a line for who has hoped for some. */
void ft_ckpt_series_tell_none(const struct ft_ckpt_series *s);

#endif
