/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/core/single.h"

#include "ft/shm/wait.h"

void ft_single_lend(struct ft_stream *s, const void *contribution)
{
    struct ft_counters *c = &s->counters[s->rank];
    uint64_t number = ft_peek(&c->lent) + 1;

    s->token = (struct ft_token){ .nonce = s->region->header->nonce, .rank = s->rank, .number = number };
    ft_note(&c->lent_by, s->self);
    ft_note(&c->token_at, (uintptr_t)&s->token);
    ft_note(&c->lent_at, (uintptr_t)contribution);
    ft_note(&c->lent_from, ft_max(s->mine, s->first));
    ft_publish(&c->lent, number);
}

static bool read_lent(struct ft_stream *s, uint32_t lender, uint64_t at, void *to, uint64_t n, struct ft_loan *loan)
{
    const struct ft_counters *c = &s->counters[lender];
    struct ft_token expected = { .nonce = s->region->header->nonce, .rank = lender, .number = ft_look(&c->lent) };

    *loan = (struct ft_loan){ .number = expected.number, .from = ft_peek(&c->lent_from) };
    return ft_foreign_read(ft_peek(&c->lent_by), ft_peek(&c->token_at), &expected, ft_peek(&c->lent_at) + at, to, n);
}

bool ft_single_read(struct ft_stream *s, uint32_t lender, uint64_t at, void *to, uint64_t n, struct ft_loan *loan)
{
    enum ft_pace_way way = ft_pace_next(&s->lent);
    uint64_t began_ns = way == FT_PACE_SAMPLE ? ft_clock_ns() : 0;
    bool good = way != FT_PACE_PAST && read_lent(s, lender, at, to, n, loan);

    if (good && way == FT_PACE_SAMPLE)
        ft_pace_saw(&s->lent, ft_clock_ns() - began_ns, n, FT_PACE_FAR_LENT);
    return good;
}

bool ft_single_stands(const struct ft_stream *s, uint32_t lender, const struct ft_loan *loan, uint64_t u)
{
    return u >= loan->from && ft_look(&s->counters[lender].lent) == loan->number;
}

void ft_single_taken(struct ft_stream *s, uint64_t unit)
{
    struct ft_counters *c = &s->counters[s->rank];

    if (ft_peek(&c->taken) < unit)
        ft_wait_announce(s->patience, &c->taken, unit);
}
