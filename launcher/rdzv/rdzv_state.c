/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/rdzv/rdzv_state.h"

#include <stdio.h>

#include "launcher/base/timer.h"

uint64_t ft_rdzv_now_ms(void) { return ft_timer_boot_ns() / 1000000; }

void ft_rdzv_tell(struct ft_rdzv *r, enum ft_rdzv_round_event_kind kind, uint64_t value)
{
    struct ft_rdzv_round_event v = {.kind = kind, .lease = value, .token = value, .at = value};

    r->step(r, &v);
}

void ft_rdzv_wish(struct ft_rdzv *r, enum ft_rdzv_wish what)
{
    r->wishes |= what;
    ft_timer_set(r->wished, 0);
}

static void fail(struct ft_rdzv *r, const char *line)
{
    if (!r->failure[0])
        snprintf(r->failure, sizeof r->failure, "%s", line);
    ft_rdzv_wish(r, FT_WISH_FAIL);
}

void ft_rdzv_out_of_memory(struct ft_rdzv *r) { fail(r, "out of memory"); }

void ft_rdzv_deny(struct ft_rdzv *r, const char *why)
{
    char line[1024];

    snprintf(line, sizeof line, "--rdzv: %.900s", why);
    fail(r, line);
}
