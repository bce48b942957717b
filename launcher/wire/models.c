/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/wire/models.h"

#include <stdlib.h>

enum { HOLD = 24, HELD = 28, MODEL = 16, GIVE = 24 };

static uint8_t *put(uint8_t *p, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *p++ = (uint8_t)(v >> 8 * i);
    return p;
}

static uint64_t get(const uint8_t *p, int bytes)
{
    uint64_t v = 0;

    for (int i = bytes; i-- > 0;)
        v = v << 8 | p[i];
    return v;
}

static int damaged(struct ft_error *e, const char *what)
{
    return ft_err_set(e, FT_EDAMAGED, "%s that is none", what);
}

struct ft_wire_bytes ft_wire_put_hold(const struct ft_wire_hold *m)
{
    struct ft_wire_bytes b = ft_wire_new(FT_WIRE_HOLD, HOLD);

    if (b.data)
        put(put(put(b.data + FT_WIRE_HEAD, m->wanted, 8), m->round, 8), m->version, 8);
    return b;
}

int ft_wire_get_hold(const struct ft_wire_frame *f, struct ft_wire_hold *m, struct ft_error *e)
{
    if (f->length != HOLD)
        return damaged(e, "a HOLD");
    *m = (struct ft_wire_hold){get(f->payload, 8), get(f->payload + 8, 8), get(f->payload + 16, 8)};
    return 0;
}

struct ft_wire_bytes ft_wire_put_held(const struct ft_wire_held *m)
{
    struct ft_wire_bytes b = ft_wire_new(FT_WIRE_HELD, HELD + (size_t)m->nmodels * MODEL);
    uint8_t *p = b.data + FT_WIRE_HEAD;

    if (!b.data)
        return b;
    p = put(put(put(p, m->round, 8), m->version, 8), m->tail, 8);
    p = put(p, m->nmodels, 4);
    for (uint32_t i = 0; i < m->nmodels; i++)
        p = put(put(p, m->models[i].bytes, 8), m->models[i].hash, 8);
    return b;
}

int ft_wire_get_held(const struct ft_wire_frame *f, struct ft_wire_held *m, struct ft_error *e)
{
    const uint8_t *p = f->payload;

    if (f->length < HELD)
        return damaged(e, "a HELD");
    *m = (struct ft_wire_held){get(p, 8), get(p + 8, 8), get(p + 16, 8), (uint32_t)get(p + 24, 4), NULL};
    if (m->nmodels > FT_WIRE_MODELS_MOST || f->length != HELD + m->nmodels * MODEL)
        return damaged(e, "a HELD");
    m->models = calloc(m->nmodels + 1, sizeof *m->models);
    if (!m->models)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < m->nmodels; i++)
        m->models[i] = (struct ft_ckpt_section){get(p + HELD + (size_t)i * MODEL, 8), get(p + HELD + (size_t)i * MODEL + 8, 8)};
    return 0;
}

/* What both of the frames begin with. */
static uint8_t *put_part(uint8_t *p, const struct ft_wire_part *m)
{
    return put(put(put(put(p, m->round, 8), m->at, 8), m->model, 4), m->length, 4);
}

static bool get_part(const struct ft_wire_frame *f, struct ft_wire_part *m)
{
    const uint8_t *p = f->payload;

    if (f->length < GIVE)
        return false;
    *m = (struct ft_wire_part){get(p, 8), get(p + 8, 8), (uint32_t)get(p + 16, 4), (uint32_t)get(p + 20, 4), NULL};
    return m->length && m->length <= FT_WIRE_MODEL_PIECE && m->at <= INT64_MAX && m->model < FT_WIRE_MODELS_MOST;
}

struct ft_wire_bytes ft_wire_put_give(const struct ft_wire_part *m)
{
    struct ft_wire_bytes b = ft_wire_new(FT_WIRE_GIVE, GIVE);

    if (b.data)
        put_part(b.data + FT_WIRE_HEAD, m);
    return b;
}

int ft_wire_get_give(const struct ft_wire_frame *f, struct ft_wire_part *m, struct ft_error *e)
{
    return get_part(f, m) && f->length == GIVE ? 0 : damaged(e, "a GIVE");
}

struct ft_wire_bytes ft_wire_put_piece(const struct ft_wire_part *m, uint8_t **data)
{
    struct ft_wire_bytes b = ft_wire_new(FT_WIRE_MODEL, GIVE + (size_t)m->length);

    *data = b.data ? put_part(b.data + FT_WIRE_HEAD, m) : NULL;
    return b;
}

int ft_wire_get_piece(const struct ft_wire_frame *f, struct ft_wire_part *m, struct ft_error *e)
{
    if (!get_part(f, m) || f->length != GIVE + m->length)
        return damaged(e, "a MODEL");
    m->data = f->payload + GIVE;
    return 0;
}
