/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/test/coroutine.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { STACK = 256 * 1024 };

extern const struct ft_point __start_ft_points[];

static jmp_buf scheduler;
static struct coroutine *running;

void coroutine_start(struct coroutine *c, void (*begin)(void))
{
    if (!c->stack)
        c->stack = malloc(STACK);
    getcontext(&c->context);
    c->context.uc_stack.ss_sp = c->stack;
    c->context.uc_stack.ss_size = STACK;
    c->context.uc_link = NULL;
    makecontext(&c->context, begin, 0);
    c->fresh = true;
    c->kind = -1;
    c->point = NULL;
}

void coroutine_resume(struct coroutine *c)
{
    running = c;
    if (!_setjmp(scheduler)) {
        if (!c->fresh)
            _longjmp(c->here, 1);
        c->fresh = false;
        setcontext(&c->context);
    }
    running = NULL;
}

void coroutine_stop(struct coroutine *c, int kind)
{
    c->kind = kind;
    if (!_setjmp(c->here))
        _longjmp(scheduler, 1);
}

void coroutine_end(void) { _longjmp(scheduler, 1); }

void coroutine_tear(const struct coroutine *c)
{
    if (c->kind == FT_POINT_BULK)
        memset(c->bulk_to, 0x99, c->bulk_n / 2 + 1 > c->bulk_n ? c->bulk_n : c->bulk_n / 2 + 1);
}

bool coroutine_is_rung(const struct coroutine *c)
{
    return atomic_load((const _Atomic uint32_t *)(const void *)c->bulk_to) != (uint32_t)c->bulk_n;
}

/* On the coroutine's own stack; simply does not return until it goes on. */
void stop_at_point(char *bulk_to, size_t bulk_n, uint32_t number)
{
    struct coroutine *c = running;

    if (!c)
        return;
    c->point = &__start_ft_points[number];
    c->bulk_to = bulk_to;
    c->bulk_n = bulk_n;
    coroutine_stop(c, c->point->kind);
}

static uint32_t random_state;

void random_begin(uint32_t seed) { random_state = seed * 2654435761u + 1; }

uint32_t random_below(uint32_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state % n;
}
