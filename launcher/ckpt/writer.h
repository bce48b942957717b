/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread of the agent that writes one checkpoint at a time to a directory, out of the memory for models. */
#ifndef LAUNCHER_CKPT_WRITER_H
#define LAUNCHER_CKPT_WRITER_H

#include <stdbool.h>

#include "ft/shm/models.h"
#include "ft/store/ckpt_dir.h"

struct ft_ckpt_writer;

struct ft_ckpt_writer_config {
    int dir, models;             /* descriptors, copied */
    const char *path, *series;   /* of the directory, which is followed there (ft_ckpt_dir_follow); copied */
    void (*taken)(void *arg);    /* called by the thread: the models may be written over from now on */
    void *arg;
};

struct ft_ckpt_written {
    uint64_t version;            /* 0: it has only been looked */
    uint64_t bytes;              /* of the file */
    uint64_t there;              /* the newest other one that is there now; 0: none */
    bool moved;                  /* the directory is another one than before */
    int err;                     /* 0, or as ft_ckpt_dir_write, and e */
    struct ft_error e;
};

/* Where the model of a section is in the memory for models: section 0 of a file is the global one, 1 + r that of rank r, then what
   each rank's checkpoint carries besides (ft_models_carried). */
static inline uint64_t ft_ckpt_area(uint32_t section, uint32_t slot)
{
    return section ? ft_models_local(section - 1, slot) : ft_models_global(slot);
}

/* NULL: errno. */
struct ft_ckpt_writer *ft_ckpt_writer_new(const struct ft_ckpt_writer_config *config);

/* Readable when something has been written, or could not be. */
int ft_ckpt_writer_fd(const struct ft_ckpt_writer *w);

/* Starts to write a version, whose models are in `slot`; nothing may be in progress. The sections of h say their lengths and
   what ft_hash the ranks had of them: other bytes are not written. h is owned from now on. `before` as in ft_ckpt_dir_write. */
void ft_ckpt_writer_begin(struct ft_ckpt_writer *w, const struct ft_ckpt_header *h, uint32_t slot, uint64_t before);

/* Looks what is there. `before`: what there was. */
void ft_ckpt_writer_look(struct ft_ckpt_writer *w, uint64_t before);

/* What has come of it. False: it is not finished. */
bool ft_ckpt_writer_take(struct ft_ckpt_writer *w, struct ft_ckpt_written *result);

/* The thread ends. A write in progress is left to itself until the process ends: nobody waits for a disk here. */
void ft_ckpt_writer_free(struct ft_ckpt_writer *w);

#endif
