/* SPDX-License-Identifier: BSD-3-Clause */
/* Probes: what has come is looked at, and perhaps taken. */
#include "ft/base/util.h"
#include "ft/messages.h"

struct probe {
    struct ft_envelope wants;
    int32_t source;             /* of a message that has been seen before, */
    uint64_t number;            /* and which it is */
    struct ft_arrived *seen;
    uint64_t site;
};

static bool is_there(struct ft_messages *m, void *arg)
{
    struct probe *p = arg;

    p->seen = ft_match_look(m->match, &p->wants);
    return p->seen;
}

static bool is_there_again(struct ft_messages *m, void *arg)
{
    struct probe *p = arg;

    p->seen = ft_match_find(m->match, p->source, p->number);
    return p->seen;
}

static struct ft_await await(struct ft_messages *m, int64_t source, const struct probe *p)
{
    struct ft_await a = ft_messages_await(m, source);

    a.tag = p->wants.tag;
    a.site = p->site;
    return a;
}

static struct ft_await await_wanted(struct ft_messages *m, void *arg)
{
    const struct probe *p = arg;

    return await(m, p->wants.source, p);
}

static struct ft_await await_seen(struct ft_messages *m, void *arg)
{
    const struct probe *p = arg;

    return await(m, p->source, p);
}

/* p->seen, or NULL: there is none now. What others decide is written down: which one, or that there is none. */
static int look(struct ft_messages *m, struct probe *p, bool waits, struct ft_error *e)
{
    bool writes = m->writes && (!waits || p->wants.source == FT_MATCH_ANY || m->ft->order), yes;
    uint64_t answer;
    int err;

    if (m->ft->order && writes && waits && (err = ft_messages_until_answer(m, is_there, await_wanted, p, e)) != 0)
        return err;
    m->holds = m->ft->order != NULL; /* another thread might receive it */
    if (writes && ft_answers_again(&m->answers, &yes, &answer)) {
        if (!yes)
            return 0;
        ft_answer_is(answer, &p->source, &p->number);
        return ft_messages_until(m, is_there_again, await_seen, p, e);
    }
    err = waits ? ft_messages_until(m, is_there, await_wanted, p, e) : ft_messages_progress(m, e);
    if (err < 0)
        return err;
    if (!waits)
        is_there(m, p);
    if (writes)
        ft_messages_say(m, p->seen, p->seen ? ft_answer_of(p->seen->is.source, p->seen->number) : 0);
    return 0;
}

static int probe(struct ft_messages *m, const struct ft_comm *c, int source, int tag, bool waits, bool *found, struct ft_told *told,
                 struct ft_message **taken, uint64_t site, struct ft_error *e)
{
    int64_t from = source == FT_ANY_SOURCE ? FT_MATCH_ANY : ft_messages_local(m, c, source);
    struct probe p = { .wants = { .context = c->context, .source = (int32_t)from, .tag = tag == FT_ANY_TAG ? FT_MATCH_ANY : tag }, .site = site };
    int err;

    if (source != FT_ANY_SOURCE && from < 0)
        return ft_err_set(e, FT_EINVAL, FT_NOT_HERE, c->ranks[source]);
    err = look(m, &p, waits, e);
    *found = !err && p.seen;
    if (!*found)
        return err;
    *told = (struct ft_told){ .source = ft_messages_rank(m, c->ranks, c->n, p.seen->is.source), .tag = p.seen->is.tag,
                              .bytes = ft_messages_bytes(p.seen) };
    if (taken)
        *taken = ft_messages_take(m, p.seen, c);
    return 0;
}

int ft_probe(struct ft *ft, const struct ft_comm *c, int source, int tag, bool waits, bool *found, struct ft_told *told,
             struct ft_message **taken, uint64_t site, struct ft_error *e)
{
    bool says = ft_messages_enter(ft);
    int err;
    struct ft_messages *m = ft_messages_of(ft, &err, e);

    if (m)
        err = probe(m, c, source, tag, waits, found, told, taken, site, e);
    ft_messages_leave(ft, says);
    return err;
}
