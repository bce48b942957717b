/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/msg/match.h"

#include <stdbool.h>
#include <stdlib.h>

#include "ft/base/util.h"
#include "ft/msg/decided.h"

enum { NONE = -2 }; /* the source of what a receive takes that takes nothing */

/* Lists are rings, each with a head that is no receive and no message. A receive that waits for a decided message, or takes none, is in a ring
   by itself: no search comes by it. */

/* Of one communicator and source. With nothing in it, it becomes another communicator's: there are as many as were in use at a time. */
struct pair {
    uint64_t context;
    struct ft_posted posted;
    struct ft_arrived kept;      /* by after and ahead; of the open source by later and earlier: those of all sources */
    struct pair *more;           /* of the same source; the one that was used last is the first */
};

struct source {
    struct pair *pairs;
    struct ft_arrived kept;      /* by next and before */
};

struct ft_match {
    uint64_t nposted, nkept, order;
    struct ft_decided decided;
    uint32_t nsources;
    struct source sources[];     /* [nsources + 1]: the last one is the open one */
};

static struct source *source_of(const struct ft_match *m, int32_t source)
{
    FT_INVARIANT(source >= FT_MATCH_ANY && (source < 0 || (uint32_t)source < m->nsources), "a message is from a source that there is");
    return (struct source *)&m->sources[source == FT_MATCH_ANY ? m->nsources : (uint32_t)source];
}

/* ---- pairs ---- */

static struct pair *pair_of(const struct ft_match *m, uint64_t context, int32_t source)
{
    struct source *s = source_of(m, source);
    struct pair **link = &s->pairs, *p;

    if (__builtin_expect(s->pairs && s->pairs->context == context, 1))
        return s->pairs;
    while ((p = *link) != NULL && p->context != context)
        link = &p->more;
    if (!p)
        return NULL;
    *link = p->more;
    p->more = s->pairs;
    return s->pairs = p;
}

static bool is_empty(const struct pair *p) { return p->posted.next == &p->posted && p->kept.after == &p->kept && p->kept.later == &p->kept; }

/* NULL: no memory. */
static struct pair *pair_for(struct ft_match *m, uint64_t context, int32_t source)
{
    struct source *s = source_of(m, source);
    struct pair *p = pair_of(m, context, source);

    if (p)
        return p;
    for (p = s->pairs; p && !is_empty(p);)
        p = p->more;
    if (p) {
        p->context = context;
        return pair_of(m, context, source);
    }
    p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->context = context;
    p->posted.next = p->posted.before = &p->posted;
    p->kept.after = p->kept.ahead = p->kept.later = p->kept.earlier = &p->kept;
    p->more = s->pairs;
    return s->pairs = p;
}

/* ---- rings ---- */

static void alone(struct ft_posted *p) { p->next = p->before = p; }

static void append(struct ft_posted *head, struct ft_posted *p)
{
    FT_INVARIANT(head->before == head || head->before->number < p->number, "receives are posted in the order of their numbers");
    p->next = head;
    p->before = head->before;
    p->before->next = p->next->before = p;
}

static void unlink_posted(struct ft_posted *p)
{
    p->before->next = p->next;
    p->next->before = p->before;
}

static void unlink_kept(struct ft_arrived *a)
{
    a->before->next = a->next;
    a->next->before = a->before;
    a->ahead->after = a->after;
    a->after->ahead = a->ahead;
    a->earlier->later = a->later;
    a->later->earlier = a->earlier;
}

/* ---- searches ---- */

static bool fits(const struct ft_envelope *wants, const struct ft_envelope *is)
{
    return wants->context == is->context && (wants->tag == FT_MATCH_ANY || wants->tag == is->tag) &&
           (wants->source == FT_MATCH_ANY || wants->source == is->source);
}

/* pair: NULL: there is nothing. */
static struct ft_posted *first_posted(const struct pair *pair, const struct ft_envelope *is)
{
    if (!pair)
        return NULL;
    for (struct ft_posted *p = pair->posted.next; p != &pair->posted; p = p->next)
        if (fits(&p->wants, is))
            return p;
    return NULL;
}

/* The first message after `a` of the pair that fits; its head: the first of all. NULL: none. */
static struct ft_arrived *next_kept(const struct pair *pair, const struct ft_arrived *a, const struct ft_envelope *wants)
{
    bool any = wants->source == FT_MATCH_ANY;

    for (struct ft_arrived *b = any ? a->later : a->after; b != &pair->kept; b = any ? b->later : b->after)
        if (fits(wants, &b->is))
            return b;
    return NULL;
}

/* ---- receives ---- */

static void note_decided(struct ft_posted *p, struct ft_decided_pair *pair)
{
    p->decided = true;
    p->source = pair->source == NONE ? FT_MATCH_ANY : pair->source;
}

/* A receive whose message has been decided. */
static struct ft_arrived *post_decided(struct ft_match *m, struct ft_posted *p, struct ft_decided_pair *pair)
{
    struct ft_arrived *a = pair->source == NONE ? NULL : ft_match_find(m, pair->source, pair->number);

    note_decided(p, pair);
    if (a) {
        ft_decided_drop(&m->decided, pair);
        ft_match_take(m, a);
        return a;
    }
    pair->posted = p;
    alone(p);
    m->nposted++;
    return NULL;
}

struct ft_arrived *ft_match_post(struct ft_match *m, struct ft_posted *p)
{
    struct ft_decided_pair *decided = ft_decided_of_receive(&m->decided, p->number);
    struct pair *pair;
    struct ft_arrived *a;

    p->decided = false;
    p->next = NULL;
    if (decided)
        return post_decided(m, p, decided);
    pair = pair_for(m, p->wants.context, p->wants.source);
    if (!pair)
        return NULL;
    a = next_kept(pair, &pair->kept, &p->wants);
    while (a && ft_decided_of_message(&m->decided, a->is.source, a->number))
        a = next_kept(pair, a, &p->wants);
    if (a) {
        ft_match_take(m, a);
        return a;
    }
    append(&pair->posted, p);
    m->nposted++;
    return NULL;
}

void ft_match_withdraw(struct ft_match *m, struct ft_posted *p)
{
    struct ft_decided_pair *pair = ft_decided_of_receive(&m->decided, p->number);

    if (pair)
        ft_decided_drop(&m->decided, pair);
    unlink_posted(p);
    m->nposted--;
}

/* ---- messages ---- */

struct ft_posted *ft_match_arrive(struct ft_match *m, const struct ft_envelope *is, uint64_t number)
{
    struct ft_decided_pair *pair = ft_decided_of_message(&m->decided, is->source, number);
    struct ft_posted *p, *open;

    if (pair) {
        p = pair->posted;
    } else {
        p = first_posted(pair_of(m, is->context, is->source), is);
        open = first_posted(pair_of(m, is->context, FT_MATCH_ANY), is);
        if (open && (!p || open->number < p->number))
            p = open;
    }
    if (p)
        ft_match_withdraw(m, p);
    return p;
}

int ft_match_keep(struct ft_match *m, struct ft_arrived *a)
{
    struct ft_arrived *head = &source_of(m, a->is.source)->kept;
    struct pair *pair = pair_for(m, a->is.context, a->is.source), *open = pair_for(m, a->is.context, FT_MATCH_ANY);

    if (!pair || !open)
        return -1;
    FT_INVARIANT(head->before == head || head->before->number < a->number, "messages of a source come in the order of their numbers");
    a->order = ++m->order;
    a->next = head;
    a->before = head->before;
    a->before->next = a->next->before = a;
    a->after = &pair->kept;
    a->ahead = pair->kept.ahead;
    a->ahead->after = a->after->ahead = a;
    a->later = &open->kept;
    a->earlier = open->kept.earlier;
    a->earlier->later = a->later->earlier = a;
    m->nkept++;
    return 0;
}

void ft_match_take(struct ft_match *m, struct ft_arrived *a)
{
    unlink_kept(a);
    m->nkept--;
}

struct ft_arrived *ft_match_look(const struct ft_match *m, const struct ft_envelope *wants)
{
    const struct pair *pair = pair_of(m, wants->context, wants->source);

    return pair ? next_kept(pair, &pair->kept, wants) : NULL;
}

struct ft_arrived *ft_match_find(const struct ft_match *m, int32_t source, uint64_t number)
{
    const struct ft_arrived *head = &source_of(m, source)->kept;
    struct ft_arrived *a = head->next;

    while (a != head && a->number < number)
        a = a->next;
    return a != head && a->number == number ? a : NULL;
}

struct ft_arrived *ft_match_oldest(const struct ft_match *m, int32_t source)
{
    const struct ft_arrived *head = &source_of(m, source)->kept;

    return head->next == head ? NULL : head->next;
}

struct ft_arrived *ft_match_next(const struct ft_match *m, const struct ft_arrived *a)
{
    return a->next == &source_of(m, a->is.source)->kept ? NULL : a->next;
}

/* ---- what is decided, and all of it ---- */

static struct ft_posted *posted_in(struct ft_posted *head, uint64_t receive)
{
    for (struct ft_posted *p = head->next; p != head && p->number <= receive; p = p->next)
        if (p->number == receive)
            return p;
    return NULL;
}

/* It has been posted already: before the copy that goes on was made. */
static void settle(struct ft_match *m, uint64_t receive)
{
    struct ft_decided_pair *decided;
    struct ft_posted *p = NULL;

    for (uint32_t i = 0; i <= m->nsources && !p; i++)
        for (struct pair *pair = m->sources[i].pairs; pair && !p; pair = pair->more)
            p = posted_in(&pair->posted, receive);
    if (!p)
        return;
    unlink_posted(p);
    alone(p);
    decided = ft_decided_of_receive(&m->decided, receive);
    note_decided(p, decided);
    decided->posted = p;
}

static int decide(struct ft_match *m, uint64_t receive, int32_t source, uint64_t number)
{
    int err = ft_decided_add(&m->decided, receive, source, number);

    if (!err && m->nposted)
        settle(m, receive);
    return err;
}

int ft_match_decide(struct ft_match *m, uint64_t receive, int32_t source, uint64_t number) { return decide(m, receive, source, number); }
int ft_match_decide_none(struct ft_match *m, uint64_t receive) { return decide(m, receive, NONE, receive); }

struct ft_match *ft_match_open(uint32_t n)
{
    struct ft_match *m = calloc(1, sizeof *m + (n + 1) * sizeof m->sources[0]);

    if (!m)
        return NULL;
    m->nsources = n;
    for (uint32_t i = 0; i <= n; i++)
        m->sources[i].kept.next = m->sources[i].kept.before = &m->sources[i].kept;
    return m;
}

void ft_match_close(struct ft_match *m)
{
    for (uint32_t i = 0; m && i <= m->nsources; i++)
        for (struct pair *p = m->sources[i].pairs, *more; p; p = more) {
            more = p->more;
            free(p);
        }
    if (m)
        ft_decided_free(&m->decided);
    free(m);
}

uint64_t ft_match_posted(const struct ft_match *m) { return m->nposted; }
uint64_t ft_match_kept(const struct ft_match *m) { return m->nkept; }

const struct ft_arrived *ft_match_first(const struct ft_match *m)
{
    const struct ft_arrived *first = NULL;

    for (const struct pair *p = m->sources[m->nsources].pairs; p; p = p->more)
        if (p->kept.later != &p->kept && (!first || p->kept.later->order < first->order))
            first = p->kept.later;
    return first;
}
