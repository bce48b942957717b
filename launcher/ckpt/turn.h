/* SPDX-License-Identifier: BSD-3-Clause */
/* When a version is written to --ckpt-dir, and by whom: the thread that writes (writer.h), the pause between two files, and the last one,
   when the job ends. What a version is, and whether there is a newer one, its owner says: the agent of a job on one host, or the controller
   of several. Memory of one process. */
#ifndef LAUNCHER_CKPT_TURN_H
#define LAUNCHER_CKPT_TURN_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/ckpt/series.h"

struct event;
struct event_base;
struct ft_ckpt_writer;

struct ft_ckpt_turn_config {
    struct ft_ckpt_series *series;   /* open, as long as the turn is */
    struct event_base *base;
    int models;                      /* what is written is there */
    void (*look)(void *arg);         /* the pause is over: ft_ckpt_turn_next says more now */
    void (*written)(void *arg);      /* what was begun is on disk, or could not be: the series knows it */
    void (*taken)(void *arg);        /* called by the thread: the models may be written over from now on */
    void *arg;
};

struct ft_ckpt_turn {
    struct ft_ckpt_turn_config config;
    struct ft_ckpt_writer *writer;
    struct event *done, *later;
    bool busy;                       /* something is being written, or looked for */
    bool final;                      /* set by the owner: the job ends */
    bool looked;                     /* then: for what had been written, which may have been removed since */
    bool over;                       /* nothing more comes of it */
};

enum ft_ckpt_turn_what {
    FT_TURN_NONE,                    /* the thread is busy, or it is over, or too early: the owner is called when that has changed */
    FT_TURN_KEEP,                    /* it is the turn of version ft_ckpt_series_next, which is not there yet */
    FT_TURN_WRITE,                   /* it is the newest one's turn */
    FT_TURN_LAST                     /* the newest one is the last: it is written if it is not on disk, else ft_ckpt_turn_end */
};

/* -1: errno; ft_ckpt_turn_close then, too. Closed once more, nothing happens. */
int ft_ckpt_turn_open(struct ft_ckpt_turn *t, const struct ft_ckpt_turn_config *config);
void ft_ckpt_turn_close(struct ft_ckpt_turn *t);

/* Nothing is being written, and something may be. */
bool ft_ckpt_turn_is_free(const struct ft_ckpt_turn *t);

/* What is to be done, if `newest` is the newest version that there is. */
enum ft_ckpt_turn_what ft_ckpt_turn_next(struct ft_ckpt_turn *t, uint64_t newest);

/* The owner is called after so long. */
void ft_ckpt_turn_later(struct ft_ckpt_turn *t, uint64_t ms);

/* The version of h, for which ft_ckpt_series_begin was called, is in `slot`. It is free; h is owned from now on. */
void ft_ckpt_turn_write(struct ft_ckpt_turn *t, const struct ft_ckpt_header *h, uint32_t slot);

/* Nothing more comes of it; the series says what is there if that is not known. Can be done twice. */
void ft_ckpt_turn_end(struct ft_ckpt_turn *t);

#endif
