/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/wire/calls.h"

#include <stdlib.h>
#include <string.h>

struct ft_wire_bytes ft_wire_put_calls(struct ft_wire_calls *m)
{
    json_t *some = json_array(), *object;
    struct ft_wire_bytes b = {0};
    char *text;

    for (size_t i = m->first; i < json_array_size(m->ranks) && i < (size_t)m->first + FT_WIRE_CALLS_MOST; i++)
        json_array_append(some, json_array_get(m->ranks, i));
    m->more = m->first + json_array_size(some) < json_array_size(m->ranks);
    object = json_pack("{sI sb so}", "first", (json_int_t)m->first, "more", (int)m->more, "ranks", some);
    text = object ? json_dumps(object, JSON_COMPACT) : NULL;
    if (text)
        b = ft_wire_new(FT_WIRE_CALLS, strlen(text));
    if (b.data)
        memcpy(b.data + FT_WIRE_HEAD, text, strlen(text));
    free(text);
    json_decref(object);
    return b;
}

int ft_wire_get_calls(const struct ft_wire_frame *f, struct ft_wire_calls *m, struct ft_error *e)
{
    json_t *o = json_loadb((const char *)f->payload, f->length, JSON_REJECT_DUPLICATES, NULL), *ranks = json_object_get(o, "ranks"), *one;
    const json_t *first = json_object_get(o, "first"), *more = json_object_get(o, "more");
    bool good = json_is_integer(first) && json_integer_value(first) >= 0 && json_integer_value(first) < INT32_MAX && json_is_boolean(more) &&
                json_is_array(ranks) && json_array_size(ranks) <= FT_WIRE_CALLS_MOST;
    size_t i;

    json_array_foreach(ranks, i, one)
        good &= json_is_object(one);
    *m = (struct ft_wire_calls){0};
    if (good)
        *m = (struct ft_wire_calls){(uint32_t)json_integer_value(first), json_is_true(more), json_incref(ranks)};
    json_decref(o);
    return good ? 0 : ft_err_set(e, FT_EDAMAGED, "CALLS that are none");
}
