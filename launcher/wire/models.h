/* SPDX-License-Identifier: BSD-3-Clause */
/* Models between nodes and the controller, for --ckpt-dir and --resume (wire.h: HOLD, HELD, GIVE, MODEL). Each of the two asks the other for what it
   lacks, piece by piece: the controller for a committed version (in a round, from 1 on), a node for what the job was resumed from (round 0).
   Model 0 is the global one, 1 + r that of local rank r. */
#ifndef LAUNCHER_WIRE_MODELS_H
#define LAUNCHER_WIRE_MODELS_H

#include "ft/store/ckpt_header.h"
#include "launcher/wire/wire.h"

enum { FT_WIRE_MODEL_PIECE = 256 << 10, FT_WIRE_MODELS_MOST = 4097 };

struct ft_wire_hold {
    uint64_t wanted;             /* the first lazy checkpoint that is not older than this is to be kept */
    uint64_t round;              /* 0: nothing is to be held */
    uint64_t version;            /* this one is to be held; 0: the newest */
};

struct ft_wire_held {
    uint64_t round, version;     /* version 0: none */
    uint64_t tail;               /* of the spool: what the ranks had printed before that version is below this place */
    uint32_t nmodels;            /* 1 + local ranks */
    struct ft_ckpt_section *models;  /* hashes as ft_hash of the ranks; the receiver's to free */
};

/* A part of a model: what is wanted (GIVE, data NULL), or what is there (MODEL). */
struct ft_wire_part {
    uint64_t round, at;
    uint32_t model, length;      /* length: 1 to FT_WIRE_MODEL_PIECE */
    const uint8_t *data;
};

struct ft_wire_bytes ft_wire_put_hold(const struct ft_wire_hold *m);
struct ft_wire_bytes ft_wire_put_held(const struct ft_wire_held *m);
struct ft_wire_bytes ft_wire_put_give(const struct ft_wire_part *m);

/* What is to be there is written to *data by the caller: m->length bytes. */
struct ft_wire_bytes ft_wire_put_piece(const struct ft_wire_part *m, uint8_t **data);

/* 0, FT_EDAMAGED, FT_ENOMEM. */
int ft_wire_get_hold(const struct ft_wire_frame *f, struct ft_wire_hold *m, struct ft_error *e);
int ft_wire_get_held(const struct ft_wire_frame *f, struct ft_wire_held *m, struct ft_error *e);
int ft_wire_get_give(const struct ft_wire_frame *f, struct ft_wire_part *m, struct ft_error *e);
int ft_wire_get_piece(const struct ft_wire_frame *f, struct ft_wire_part *m, struct ft_error *e);

#endif
