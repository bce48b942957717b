/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/core/view.h"

#include "ft/base/copy.h"
#include "ft/base/hash.h"
#include "ft/base/util.h"

uint64_t ft_view_bytes(const struct ft_view *v)
{
    uint64_t bytes = 0;

    if (!ft_view_is_uneven(v))
        return (v->parts ? v->parts->n : 1) * v->count * v->type.elem;
    for (uint32_t r = 0; r < v->parts->n; r++)
        bytes += ft_view_part_bytes(v, r);
    return bytes;
}

struct ft_view ft_view_piece(const struct ft_view *v, uint32_t i)
{
    if (ft_view_is_uneven(v))
        return ft_view_part(v, i);
    return ft_view_of(v->program_base, (v->parts ? v->parts->n : 1) * v->count, v->type);
}

void ft_view_fill_by_layout(const struct ft_view *v, uint64_t from, uint64_t n, void *to)
{
    ft_point_bulk(to, n);
    ft_layout_pack(v->type.layout, v->program_base, from, n, to);
}

void ft_view_unpack_logged(const struct ft_view *v, uint64_t from, uint64_t n, const void *source,
                           void *log, bool past_log)
{
    char *to;

    if (ft_view_has_layout(v)) {
        ft_view_unpack(v, from, n, source);
        ft_fill_unordered(log, source, n, past_log);
        return;
    }
    to = v->program_base + from;
    if (past_log) {
        ft_copy_twice(to, log, source, n);
        return;
    }
    ft_copy_lines(to, source, n);
    ft_fill(log, to, n);
}

/* From one layout to another. */
static void move_in_steps(const struct ft_view *to, const struct ft_view *v, uint64_t from,
                          uint64_t n)
{
    char step[FT_VIEW_STEP];

    for (uint64_t end = from + n, k; from < end; from += k) {
        k = ft_min(end - from, sizeof step);
        ft_view_pack(v, from, k, step);
        ft_view_unpack(to, from, k, step);
    }
}

static void move_by_layout(const struct ft_view *to, const struct ft_view *v, uint64_t from,
                           uint64_t n)
{
    if (!ft_view_has_layout(to))
        ft_view_pack(v, from, n, to->program_base + from);
    else if (!ft_view_has_layout(v))
        ft_view_unpack(to, from, n, v->program_base + from);
    else
        move_in_steps(to, v, from, n);
}

void ft_view_move(const struct ft_view *to, const struct ft_view *v, uint64_t from, uint64_t n,
                  bool past_cache)
{
    if (ft_view_same(to, v) || !n)
        return;
    if (ft_view_has_layout(to) || ft_view_has_layout(v))
        move_by_layout(to, v, from, n);
    else if (past_cache)
        ft_copy_past_cache(to->program_base + from, v->program_base + from, n);
    else
        memmove(to->program_base + from, v->program_base + from, n);
}

uint64_t ft_view_hash(const struct ft_view *v)
{
    uint8_t kind = v->type.kind == FT_OPAQUE ? v->type.base : v->type.kind;

    return ft_hash_elements((enum ft_kind)kind, v->program_base, ft_view_bytes(v));
}

void *ft_view_overwritten(const struct ft_view *v, const struct ft_view *given, uint64_t *bytes)
{
    uintptr_t to = (uintptr_t)v->program_base, from = (uintptr_t)given->program_base;
    uint64_t reads = ft_view_bytes(given);

    *bytes = ft_view_bytes(v);
    if (ft_view_is_uneven(v) || ft_view_has_layout(v) || ft_view_has_layout(given))
        return NULL; /* what lies between its parts is the program's; where all is that is given is not known */
    return !from || from + reads <= to || to + *bytes <= from ? v->program_base : NULL;
}
