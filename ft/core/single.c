/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/core/single.h"

#include <string.h>
#include <sys/uio.h>

#include "ft/shm/wait.h"

enum { MOST = 1 << 30 };  /* bytes of one system call: it reads 2 GiB at most */

void ft_single_lend(struct ft_stream *s, const void *contribution)
{
    struct ft_counters *c = &s->counters[s->rank];
    uint64_t number = ft_peek(&c->lent) + 1;

    s->token = (struct ft_token){ .nonce = s->region->header->nonce, .rank = s->rank, .number = number };
    ft_note(&c->lent_by, (uint64_t)s->pid);
    ft_note(&c->token_at, (uintptr_t)&s->token);
    ft_note(&c->lent_at, (uintptr_t)contribution);
    ft_note(&c->lent_from, ft_max(s->mine, s->first));
    ft_publish(&c->lent, number);
}

/* n bytes there of the memory of process `pid`, if the token is what it is to be. */
static bool read_with_token(pid_t pid, uint64_t token_at, const struct ft_token *expected, uint64_t there, void *to, uint64_t n)
{
    struct ft_token token;
    struct iovec here[2] = { { &token, sizeof token }, { to, n } };
    struct iovec away[2] = { { (void *)(uintptr_t)token_at, sizeof token }, { (void *)(uintptr_t)there, n } };

    return process_vm_readv(pid, here, 2, away, 2, 0) == (ssize_t)(sizeof token + n) && memcmp(&token, expected, sizeof token) == 0;
}

static bool read_lent(struct ft_stream *s, uint32_t lender, uint64_t at, void *to, uint64_t n, struct ft_loan *loan)
{
    const struct ft_counters *c = &s->counters[lender];
    uint64_t number = ft_look(&c->lent), token_at = ft_peek(&c->token_at), there = ft_peek(&c->lent_at) + at;
    struct ft_token expected = { .nonce = s->region->header->nonce, .rank = lender, .number = number };
    pid_t pid = (pid_t)ft_peek(&c->lent_by);
    bool good = true;

    *loan = (struct ft_loan){ .number = number, .from = ft_peek(&c->lent_from) };
    for (uint64_t k; n > 0 && good; n -= k, there += k, to = (char *)to + k) {
        k = ft_min(n, MOST);
        good = read_with_token(pid, token_at, &expected, there, to, k);
    }
    return good;
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
