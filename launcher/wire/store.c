/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/wire/store.h"

#include <string.h>

enum { RANK = 8 };

_Static_assert((int)RANK + (int)FT_VALUE_ROOM <= (int)FT_WIRE_MOST, "what is asked is a frame");

static struct ft_wire_bytes begin(enum ft_wire_type type, uint32_t rank, size_t length)
{
    struct ft_wire_bytes b = ft_wire_new(type, RANK + length);

    if (b.data) {
        memset(b.data + FT_WIRE_HEAD, 0, RANK);
        for (int i = 0; i < 4; i++)
            b.data[FT_WIRE_HEAD + i] = (uint8_t)(rank >> 8 * i);
    }
    return b;
}

struct ft_wire_bytes ft_wire_put_store_ask(uint32_t rank, const void *ask, size_t length)
{
    struct ft_wire_bytes b = begin(FT_WIRE_STORE_ASK, rank, length);

    if (b.data)
        memcpy(b.data + FT_WIRE_HEAD + RANK, ask, length);
    return b;
}

struct ft_wire_bytes ft_wire_put_store_answer(uint32_t rank, const struct ft_value_answer *answer)
{
    struct ft_wire_bytes b = begin(FT_WIRE_STORE_ANSWER, rank, ft_value_answer_bytes(answer));

    if (b.data)
        ft_value_put_answer(answer, b.data + FT_WIRE_HEAD + RANK);
    return b;
}

/* What follows; NULL: it is too short. */
static const uint8_t *behind_rank(const struct ft_wire_frame *f, uint32_t *rank)
{
    static const uint8_t zeros[4];

    if (f->length < RANK || memcmp(f->payload + 4, zeros, sizeof zeros))
        return NULL;
    *rank = 0;
    for (int i = 0; i < 4; i++)
        *rank |= (uint32_t)f->payload[i] << 8 * i;
    return f->payload + RANK;
}

int ft_wire_get_store_ask(const struct ft_wire_frame *f, uint32_t *rank, struct ft_value_ask *ask, struct ft_error *e)
{
    const uint8_t *p = behind_rank(f, rank);

    return p && ft_value_get_ask(ask, p, f->length - RANK) ? 0 : ft_err_set(e, FT_EDAMAGED, "a STORE_ASK that is none");
}

int ft_wire_get_store_answer(const struct ft_wire_frame *f, uint32_t *rank, struct ft_value_answer *answer, struct ft_error *e)
{
    const uint8_t *p = behind_rank(f, rank);

    return p && ft_value_get_answer(answer, p, f->length - RANK) ? 0 : ft_err_set(e, FT_EDAMAGED, "a STORE_ANSWER that is none");
}
