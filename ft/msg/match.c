/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/msg/match.h"

#include <stdbool.h>
#include <stdlib.h>

#include "ft/base/util.h"
#include "ft/msg/decided.h"

enum { NONE = -2 }; /* the source of what a receive takes that takes nothing */

/* Lists are rings, each with a head that is no receive and no message. A receive that waits for a decided message, or takes none, is in a ring
   by itself: no search comes by it. */
struct source {
    struct ft_posted posted;
    struct ft_arrived kept;
};

struct ft_match {
    uint64_t nposted, nkept;
    struct ft_decided decided;
    struct ft_posted open;       /* those that leave the source open */
    struct ft_arrived kept;      /* of all sources, by later and earlier */
    uint32_t nsources;
    struct source sources[];
};

static struct source *source_of(const struct ft_match *m, int32_t source)
{
    FT_INVARIANT(source >= 0 && (uint32_t)source < m->nsources, "a message is from a source that there is");
    return (struct source *)&m->sources[source];
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
    a->earlier->later = a->later;
    a->later->earlier = a->earlier;
}

/* ---- searches ---- */

static bool fits(const struct ft_envelope *wants, const struct ft_envelope *is)
{
    return wants->context == is->context && (wants->tag == FT_MATCH_ANY || wants->tag == is->tag) &&
           (wants->source == FT_MATCH_ANY || wants->source == is->source);
}

static struct ft_posted *first_posted(const struct ft_posted *head, const struct ft_envelope *is)
{
    for (struct ft_posted *p = head->next; p != head; p = p->next)
        if (fits(&p->wants, is))
            return p;
    return NULL;
}

/* The first message behind `a` that fits; a head: the first of all. NULL: none. */
static struct ft_arrived *next_kept(const struct ft_match *m, const struct ft_arrived *a, const struct ft_envelope *wants)
{
    if (wants->source == FT_MATCH_ANY) {
        for (struct ft_arrived *b = a->later; b != &m->kept; b = b->later)
            if (fits(wants, &b->is))
                return b;
        return NULL;
    }
    for (struct ft_arrived *b = a->next; b != &source_of(m, wants->source)->kept; b = b->next)
        if (fits(wants, &b->is))
            return b;
    return NULL;
}

static const struct ft_arrived *head_of_kept(const struct ft_match *m, const struct ft_envelope *wants)
{
    return wants->source == FT_MATCH_ANY ? &m->kept : &source_of(m, wants->source)->kept;
}

/* ---- receives ---- */

/* A receive whose message has been decided. */
static struct ft_arrived *post_decided(struct ft_match *m, struct ft_posted *p, struct ft_decided_pair *pair)
{
    struct ft_arrived *a = pair->source == NONE ? NULL : ft_match_find(m, pair->source, pair->number);

    p->decided = true;
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
    struct ft_decided_pair *pair = ft_decided_of_receive(&m->decided, p->number);
    struct ft_arrived *a;

    p->decided = false;
    if (pair)
        return post_decided(m, p, pair);
    a = ft_match_look(m, &p->wants);
    while (a && ft_decided_of_message(&m->decided, a->is.source, a->number))
        a = next_kept(m, a, &p->wants);
    if (a) {
        ft_match_take(m, a);
        return a;
    }
    append(p->wants.source == FT_MATCH_ANY ? &m->open : &source_of(m, p->wants.source)->posted, p);
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
    const struct source *s = source_of(m, is->source);
    struct ft_decided_pair *pair = ft_decided_of_message(&m->decided, is->source, number);
    struct ft_posted *p, *open;

    if (pair) {
        p = pair->posted;
    } else {
        p = first_posted(&s->posted, is);
        open = first_posted(&m->open, is);
        if (open && (!p || open->number < p->number))
            p = open;
    }
    if (p)
        ft_match_withdraw(m, p);
    return p;
}

void ft_match_keep(struct ft_match *m, struct ft_arrived *a)
{
    struct ft_arrived *head = &source_of(m, a->is.source)->kept;

    FT_INVARIANT(head->before == head || head->before->number < a->number, "messages of a source come in the order of their numbers");
    a->next = head;
    a->before = head->before;
    a->before->next = a->next->before = a;
    a->later = &m->kept;
    a->earlier = m->kept.earlier;
    a->earlier->later = a->later->earlier = a;
    m->nkept++;
}

void ft_match_take(struct ft_match *m, struct ft_arrived *a)
{
    unlink_kept(a);
    m->nkept--;
}

struct ft_arrived *ft_match_look(const struct ft_match *m, const struct ft_envelope *wants)
{
    return next_kept(m, head_of_kept(m, wants), wants);
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

struct ft_arrived *ft_match_after(const struct ft_match *m, const struct ft_arrived *a)
{
    struct ft_arrived *next = a ? a->later : m->kept.later;

    return next == &m->kept ? NULL : next;
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
    struct ft_posted *p = posted_in(&m->open, receive);

    for (uint32_t i = 0; i < m->nsources && !p; i++)
        p = posted_in(&m->sources[i].posted, receive);
    if (!p)
        return;
    unlink_posted(p);
    alone(p);
    p->decided = true;
    ft_decided_of_receive(&m->decided, receive)->posted = p;
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
    struct ft_match *m = calloc(1, sizeof *m + n * sizeof m->sources[0]);

    if (!m)
        return NULL;
    m->nsources = n;
    alone(&m->open);
    m->kept.later = m->kept.earlier = &m->kept;
    for (uint32_t i = 0; i < n; i++) {
        struct source *s = &m->sources[i];

        alone(&s->posted);
        s->kept.next = s->kept.before = &s->kept;
    }
    return m;
}

void ft_match_close(struct ft_match *m)
{
    if (m)
        ft_decided_free(&m->decided);
    free(m);
}

uint64_t ft_match_posted(const struct ft_match *m) { return m->nposted; }
uint64_t ft_match_kept(const struct ft_match *m) { return m->nkept; }
