/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/rdzv/round_state.h"

#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"

/* ---- effects ---- */

struct ft_rdzv_round_effect *ft_rdzv_round_effect(struct ft_rdzv_round *r, enum ft_rdzv_round_effect_kind kind)
{
    struct ft_rdzv_round_effect *e;

    FT_INVARIANT(r->neffects < FT_RDZV_ROUND_EFFECTS, "a step has room for its effects");
    e = &r->effects[r->neffects++];
    *e = (struct ft_rdzv_round_effect){.kind = kind};
    return e;
}

struct ft_rdzv_round_effect *ft_rdzv_round_write(struct ft_rdzv_round *r, uint64_t *token)
{
    struct ft_rdzv_round_effect *e = ft_rdzv_round_effect(r, FT_RE_WRITE);

    e->token = *token = ++r->tokens;
    return e;
}

void ft_rdzv_round_compare(struct ft_rdzv_round_effect *e, enum ft_rdzv_round_key key, const char *name, uint64_t at)
{
    e->compares[e->ncompares++] = (struct ft_rdzv_round_compare){key, name, at};
}

void ft_rdzv_round_put(struct ft_rdzv_round_effect *e, enum ft_rdzv_round_key key, const char *name, const char *text, uint64_t lease)
{
    e->puts[e->nputs++] = (struct ft_rdzv_round_put){key, name, text, lease};
}

char *ft_rdzv_round_text(struct ft_rdzv_round *r)
{
    FT_INVARIANT(r->ntexts < 6, "a step has room for its texts");
    return r->texts[r->ntexts++];
}

void ft_rdzv_round_begin_step(struct ft_rdzv_round *r)
{
    r->neffects = r->ntexts = 0;
    while (r->nlists)
        free(r->lists[--r->nlists]);
}

/* As far as is known: STATE says it a little late. */
uint32_t ft_rdzv_round_come(const struct ft_rdzv_round *r)
{
    if (r->roll && r->rolled)
        return ft_rdzv_roll_count(r->roll);
    return r->state.come ? r->state.come : r->mine_slot.there && r->mine_slot.good;
}

/* Nothing is done any more, and what is bound to the lease goes. */
void ft_rdzv_round_end(struct ft_rdzv_round *r, enum ft_rdzv_round_effect_kind how)
{
    ft_rdzv_round_stop_leading(r);
    if (r->lease)
        ft_rdzv_round_effect(r, FT_RE_REVOKE)->lease = r->lease;
    ft_rdzv_round_effect(r, how);
    r->over = true;
}

void ft_rdzv_round_fail(struct ft_rdzv_round *r, enum ft_rdzv_round_why why)
{
    uint32_t come = ft_rdzv_round_come(r);

    ft_rdzv_round_end(r, FT_RE_FAILED);
    r->effects[r->neffects - 1].why = why;
    r->effects[r->neffects - 1].state = r->state;
    r->effects[r->neffects - 1].state.come = come;
}

/* ---- what is known ---- */

bool ft_rdzv_round_leads(const struct ft_rdzv_round *r)
{
    return r->lease && r->leader_slot.there && r->leader_slot.good && r->leader_id == r->config.id && r->leader_lease == r->lease;
}

uint64_t ft_rdzv_round_next(const struct ft_rdzv_round *r)
{
    return ft_rdzv_version_after(r->version, r->config.since_1970_ms + r->now - r->began);
}

bool ft_rdzv_round_is_the_list(const struct ft_rdzv_round *r, const struct ft_rdzv_list *list)
{
    return list->stamp == r->state.list && list->version == r->state.version && list->n == r->state.members;
}

bool ft_rdzv_round_has_list(const struct ft_rdzv_round *r)
{
    return r->list && ft_rdzv_round_is_the_list(r, r->list);
}

bool ft_rdzv_round_has_controller(const struct ft_rdzv_round *r)
{
    return r->joined && r->controller_slot.there && r->controller_slot.good && r->there.version == r->joined_version;
}

bool ft_rdzv_round_is_registered(const struct ft_rdzv_round *r)
{
    return r->lease && r->mine_slot.there && r->mine_slot.good && r->mine_id == r->config.id && r->mine_lease == r->lease;
}

int64_t ft_rdzv_round_place_in(const struct ft_rdzv_round *r, const struct ft_rdzv_list *list)
{
    return ft_rdzv_list_find(list, r->config.name, r->config.id);
}

void ft_rdzv_round_stop_leading(struct ft_rdzv_round *r)
{
    if (!r->roll)
        return;
    ft_rdzv_roll_free(r->roll);
    r->roll = NULL;
    r->renew = false;
    ft_rdzv_round_effect(r, FT_RE_UNFOLLOW);
}
