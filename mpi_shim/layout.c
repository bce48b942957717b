/* SPDX-License-Identifier: BSD-3-Clause */
/* See layout.h. Sizes and bounds are those of MPI 3.1 section 4.1.6 and 4.1.7. */
#include "mpi_shim/layout.h"

#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide; /* so that products need no checks: each factor has 31 or 63 bits */

static MPI_Datatype unused;     /* freed types, see handle.h */

/* What is known of the parts so far. */
struct bounds {
    bool any_lb, any_ub;
    bool lb_said, ub_said;      /* by a part that a program said it of: others do not count then */
    wide lb, ub, true_lb, true_ub, size, packed, elements;
};

static bool fits(wide x) { return x <= INT64_MAX && x >= INT64_MIN; }

uint64_t shim_pair_first(MPI_Datatype type)
{
    if (!type->predefined)
        return 0;
    if (type->parts)
        return type->parts->of->size;
    return type->per == 2 && type->elements == 1 ? type->base_elem : 0;
}

MPI_Datatype shim_type_hold(MPI_Datatype type)
{
    if (!type->predefined)
        type->references++;
    return type;
}

void shim_type_release(MPI_Datatype type)
{
    if (type->predefined || --type->references > 0)
        return;
    for (uint64_t i = 0; i < type->n_parts; i++)
        shim_type_release(type->parts[i].of);
    free(type->parts);
    ft_layout_release(type->layout);
    shim_made_drop(type->made);
    shim_type_unnumber(type);
    type->magic = 0;
    type->next_free = unused;
    unused = type;
}

static MPI_Datatype fresh(uint64_t n_parts)
{
    struct ompi_predefined_datatype_t *more;
    MPI_Datatype type = unused;
    struct shim_part *parts = malloc((n_parts ? n_parts : 1) * sizeof *parts);

    if (type) {
        if (parts)
            unused = type->next_free;
    } else {
        more = malloc(sizeof *more);
        type = more ? &more->object : NULL;
    }
    if (!parts || !type) {
        free(parts);
        if (!unused)
            free(type);
        return NULL;
    }
    *type = (struct ompi_datatype_t){.magic = SHIM_TYPE, .kind = FT_OPAQUE, .name = "", .align = 1, .references = 1, .parts = parts};
    return type;
}

/* From the first to the last of what lies `lo` to `hi` from each element. */
static void span(const struct shim_part *p, wide lo, wide hi, wide *from, wide *to)
{
    wide blocks = (wide)(p->blocks - 1) * p->stride, n = (wide)(p->n - 1) * p->of->extent;

    *from = p->at + lo + (blocks < 0 ? blocks : 0) + (n < 0 ? n : 0);
    *to = p->at + hi + (blocks > 0 ? blocks : 0) + (n > 0 ? n : 0);
}

static void include_lb(struct bounds *b, bool said, wide lb)
{
    if (!b->any_lb || (said && !b->lb_said) || (said == b->lb_said && lb < b->lb))
        b->lb = lb;
    b->any_lb = true;
    b->lb_said |= said;
}

static void include_ub(struct bounds *b, bool said, wide ub)
{
    if (!b->any_ub || (said && !b->ub_said) || (said == b->ub_said && ub > b->ub))
        b->ub = ub;
    b->any_ub = true;
    b->ub_said |= said;
}

static void include(struct bounds *b, const struct shim_part *p)
{
    MPI_Datatype of = p->of;
    wide n = (wide)p->blocks * p->n, lb, ub, true_lb, true_ub;
    bool is_marker = of->predefined && of->size == 0;

    span(p, of->lb, (wide)of->lb + of->extent, &lb, &ub);
    span(p, of->true_lb, of->true_ub, &true_lb, &true_ub);
    if (!is_marker || of->lb_said)
        include_lb(b, of->lb_said, lb);
    if (!is_marker || of->ub_said)
        include_ub(b, of->ub_said, ub);
    if (of->size > 0 && (b->size == 0 || true_lb < b->true_lb))
        b->true_lb = true_lb;
    if (of->size > 0 && (b->size == 0 || true_ub > b->true_ub))
        b->true_ub = true_ub;
    b->size += n * of->size;
    b->packed += n * shim_packed(of);
    b->elements += n * shim_elements(of);
}

/* Base elements of all parts alike, or bytes. */
static void set_base(MPI_Datatype type, MPI_Datatype model, uint64_t packed)
{
    MPI_Datatype first = NULL;
    bool alike = true;

    for (uint64_t i = 0; i < type->n_parts; i++) {
        MPI_Datatype of = type->parts[i].of;

        if (!first)
            first = of;
        alike = alike && of->base == first->base && of->base_elem == first->base_elem;
    }
    if (!first)
        first = model;
    type->base = alike && first ? first->base : FT_BYTE;
    type->base_elem = alike && first ? first->base_elem : 1;
    type->per = packed / type->base_elem;
}

/* The parts are contiguous, each begins where the one before ended, and the next of this type begins where this one ends. */
static bool is_contiguous(MPI_Datatype type)
{
    int64_t at = 0;

    for (uint64_t i = 0; i < type->n_parts; i++) {
        const struct shim_part *p = &type->parts[i];
        int64_t block = (int64_t)(p->n * shim_packed(p->of));

        if (!p->of->contiguous || p->at != at || (p->blocks > 1 && p->stride != block))
            return false;
        at += block * (int64_t)p->blocks;
    }
    return at == type->extent;
}

/* Elements that lie side by side are one block. */
static bool joins(struct shim_part *last, const struct shim_part *p)
{
    if (last->of != p->of || last->blocks != 1 || p->blocks != 1 ||
        (wide)last->at + (wide)last->n * p->of->extent != p->at)
        return false;
    last->n += p->n;
    return true;
}

static void add(MPI_Datatype type, const struct shim_part *p)
{
    struct shim_part one = *p;

    if (p->blocks > 1 && (wide)p->n * p->of->extent == p->stride) {
        one.blocks = 1;
        one.n = p->n * p->blocks;
    }
    if (type->n_parts > 0 && joins(&type->parts[type->n_parts - 1], &one))
        return;
    type->parts[type->n_parts++] = one;
    shim_type_hold(one.of);
}

int shim_layout_make(const struct shim_part *parts, uint64_t n, MPI_Datatype model, MPI_Datatype *made)
{
    MPI_Datatype type = fresh(n);
    struct bounds b = {0};

    *made = NULL;
    if (!type)
        return MPI_ERR_NO_MEM;
    for (uint64_t i = 0; i < n; i++) {
        const struct shim_part *p = &parts[i];

        if (p->blocks == 0 || p->n == 0)
            continue;
        include(&b, p);
        if (!fits(b.lb) || !fits(b.ub) || !fits(b.ub - b.lb) || !fits(b.true_lb) || !fits(b.true_ub) || !fits(b.packed)) {
            shim_type_release(type);
            return MPI_ERR_COUNT;
        }
        if (p->of->size > 0)
            add(type, p);
        if (p->of->align > type->align)
            type->align = p->of->align;
    }
    if (!b.ub_said && (b.ub - b.lb) % type->align)
        b.ub += type->align - (b.ub - b.lb) % type->align;
    type->lb_said = b.lb_said;
    type->ub_said = b.ub_said;
    type->lb = (int64_t)b.lb;
    type->extent = (int64_t)(b.ub - b.lb);
    type->true_lb = (int64_t)b.true_lb;
    type->true_ub = (int64_t)b.true_ub;
    type->size = (uint64_t)b.size;
    type->elements = (uint64_t)b.elements;
    set_base(type, model, (uint64_t)b.packed);
    type->contiguous = is_contiguous(type);
    *made = type;
    return MPI_SUCCESS;
}

int shim_layout_copy(MPI_Datatype old, MPI_Datatype *made)
{
    struct shim_part itself = {.of = old, .blocks = 1, .n = 1};
    const struct shim_part *parts = old->predefined ? &itself : old->parts;
    uint64_t n = old->predefined ? 1 : old->n_parts;
    MPI_Datatype type = fresh(n);

    *made = type;
    if (!type)
        return MPI_ERR_NO_MEM;
    for (uint64_t i = 0; i < n; i++) {
        type->parts[i] = parts[i];
        shim_type_hold(parts[i].of);
    }
    type->n_parts = n;
    type->base = old->base;
    type->base_elem = old->base_elem;
    type->per = old->per;
    type->size = old->size;
    type->extent = old->extent;
    type->contiguous = old->contiguous;
    type->lb_said = old->lb_said;
    type->ub_said = old->ub_said;
    type->align = old->align;
    type->lb = old->lb;
    type->true_lb = old->true_lb;
    type->true_ub = old->true_ub;
    type->elements = shim_elements(old);
    return MPI_SUCCESS;
}

int shim_layout_bound(MPI_Datatype old, int64_t lb, int64_t extent, MPI_Datatype *made)
{
    int err = shim_layout_copy(old, made);

    if (err)
        return err;
    (*made)->lb = lb;
    (*made)->extent = extent;
    (*made)->lb_said = (*made)->ub_said = true;
    (*made)->contiguous = is_contiguous(*made);
    return MPI_SUCCESS;
}

/* The part as the engine has it. Data without gaps are bytes; a block of elements that are one block of bytes each is blocks of bytes. */
static struct ft_layout_part engine_part(const struct shim_part *p)
{
    struct ft_layout *of = p->of->layout;
    const struct ft_layout_part *one = of && of->n_parts == 1 && !of->parts->of && of->parts->blocks == 1 ? of->parts : NULL;
    struct ft_layout_part part = {.of = of, .at = p->at, .stride = p->stride, .blocks = p->blocks, .n = p->n};

    if (!of)
        part.n = p->n * shim_packed(p->of);
    if (!one || (p->n > 1 && p->blocks > 1))
        return part;
    if (p->n > 1)
        part = (struct ft_layout_part){.stride = of->extent, .blocks = p->n};
    part.of = NULL;
    part.at = p->at + one->at;
    part.n = one->n;
    return part;
}

int shim_layout_commit(MPI_Datatype type)
{
    int err = MPI_SUCCESS;

    if (type->contiguous || type->layout || type->per == 0)
        return MPI_SUCCESS;
    for (uint64_t i = 0; i < type->n_parts && !err; i++)
        err = shim_layout_commit(type->parts[i].of);
    if (err || !(type->layout = ft_layout_new(type->n_parts, type->extent)))
        return MPI_ERR_NO_MEM;
    for (uint64_t i = 0; i < type->n_parts; i++)
        ft_layout_add(type->layout, engine_part(&type->parts[i]));
    return MPI_SUCCESS;
}
