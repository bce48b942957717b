/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests: how they are waited for, asked for and given up. */
#include <stdlib.h>

#include "ft/messages.h"
#include "ft/shm/acks.h"

/* ---- requests ---- */

/* A synchronous send is over when that is said. */
static bool is_over(struct ft_messages *m, struct ft_request *r)
{
    if (!r->over && !r->receives && r->to != m->me)
        r->over = ft_acks_has(ft_look(&m->out[r->to]->acks[ft_acks_at(r->synchronous)]), r->synchronous);
    return r->over;
}

static void reuse(struct ft_messages *m, struct ft_request *r)
{
    ft_ranks_release(r->ranks);
    ft_layout_release(r->view.type.layout);
    r->ranks = NULL;
    r->view.type.layout = NULL;
    r->next = m->unused;
    m->unused = r;
}

static void reuse_given_up(struct ft_messages *m)
{
    struct ft_request **link = &m->given_up, *r;

    while ((r = *link) != NULL)
        if (is_over(m, r)) {
            *link = r->next;
            reuse(m, r);
        } else {
            link = &r->next;
        }
}

struct ft_request *ft_request_new(struct ft_messages *m)
{
    struct ft_request *r, *made;

    if (!m->unused && m->given_up)
        reuse_given_up(m);
    r = m->unused;
    if (r) {
        m->unused = r->next;
        made = r->made;
    } else {
        r = malloc(sizeof *r);
        made = m->made;
        m->made = r ? r : m->made;
    }
    if (r) {
        *r = (struct ft_request){ .made = made };
        m->nopen++;
    }
    return r;
}

void ft_request_end(struct ft *ft, struct ft_request *r)
{
    struct ft_messages *m = ft->messages;

    m->nopen -= !r->ended;
    r->ended = true;
    if (r->over) {
        reuse(m, r);
    } else if (!r->receives) {
        r->next = m->given_up;
        m->given_up = r;
    }
}

/* Free ones have been ended, too. */
void ft_messages_open(const struct ft_messages *m, uint64_t *receives, uint64_t *sends, uint64_t *probed)
{
    *receives = *sends = 0;
    *probed = m->nprobed;
    for (const struct ft_request *r = m->made; r; r = r->made) {
        *receives += r->receives && !(r->ended && r->over);
        *sends += !r->receives && !r->ended;
    }
}

struct ft_told ft_request_told(const struct ft_request *r) { return r->told; }

/* ---- waiting ---- */

struct ft_await ft_messages_await(const struct ft_messages *m, int64_t source)
{
    struct ft_await a = { .kind = FT_AWAIT_MESSAGE, .anything = true, .tag = FT_MATCH_ANY };

    if (source >= 0 && source != m->me) {
        a.rank = (uint32_t)source;
        a.stream = ft_channel_of(&m->ft->region, (uint32_t)source, m->me);
        a.unit = m->in[source] ? m->in[source]->c.unit : 0;
    } else {
        a.rank = m->me;
        a.stream = m->writes ? m->answers.log.number : 0;
    }
    return a;
}

enum { LOOKS = 64 };  /* before anything is said of a wait */

int ft_messages_until(struct ft_messages *m, bool (*is)(struct ft_messages *m, void *arg), struct ft_await (*what)(struct ft_messages *m, void *arg),
                      void *arg, struct ft_error *e)
{
    const struct ft_patience *patience = &m->ft->patience;
    struct ft *ft = m->ft;
    bool crowded = patience->place != NULL;
    struct ft_wait w = { .holds = m->holds };
    struct ft_await now;
    bool said = false, told = false;
    int moved = 0;

    for (int i = 0; !is(m, arg) && moved >= 0; i++) {
        if (__builtin_expect(m->again, 0)) {
            now = what(m, arg);
            moved = ft_messages_again(m, &now, e);
            if (moved)
                continue;
        }
        moved = ft_messages_progress(m, e);
        told = told && !moved;
        if (moved != 0 || (i < LOOKS && !crowded))
            continue;
        if (!m->writes && !ft->order)
            return ft_err_set(e, FT_EINVAL, "rank %u waits for a message, and there is nobody else who could send one", ft->world.me);
        if (!m->writes) {
            ft_order_turn(ft, &w);
            continue;
        }
        if (!told)
            ft_messages_tell(m);
        said = told = true;
        now = what(m, arg); /* what has come meanwhile may not be all */
        ft_wait_goes_on(&w, patience, &now);
        if (w.holds)
            ft_wait_turn(&w, patience);
        else
            ft_order_turn(ft, &w);
    }
    if (w.turns)
        ft_wait_over(&w, patience);
    if (said)
        ft_wait_unsay(patience);
    return moved < 0 ? moved : 0;
}

/* Where threads call at the same time an answer that is waited for is given in a step of its own. */
struct answer {
    bool (*is)(struct ft_messages *m, void *arg);
    struct ft_await (*what)(struct ft_messages *m, void *arg);
    void *arg;
};

static bool may_answer(struct ft_messages *m, void *arg)
{
    const struct answer *a = arg;

    if (ft_order_replays(m->ft))
        return ft_order_is_mine(m->ft);
    return !ft_order_settles(m->ft) && a->is(m, a->arg);
}

static struct ft_await await_answer(struct ft_messages *m, void *arg)
{
    const struct answer *a = arg;

    return a->what(m, a->arg);
}

int ft_messages_until_answer(struct ft_messages *m, bool (*is)(struct ft_messages *m, void *arg),
                             struct ft_await (*what)(struct ft_messages *m, void *arg), void *arg, struct ft_error *e)
{
    int err = ft_messages_until(m, may_answer, await_answer, &(struct answer){ is, what, arg }, e);

    if (!err)
        ft_order_step(m->ft);
    m->holds = true;
    return err;
}

struct list {
    struct ft_request *const *r;
    uint32_t n;
    uint32_t over;  /* so many of the first ones are, as far as has been looked */
    uint64_t site;  /* where they are waited for */
    bool counted;
    uint32_t receives, sends;  /* of those that were not over when that was first said */
};

static bool all_are(struct ft_messages *m, void *arg)
{
    struct list *list = arg;

    while (list->over < list->n && (!list->r[list->over] || is_over(m, list->r[list->over])))
        list->over++;
    return list->over == list->n;
}

static bool one_is(struct ft_messages *m, void *arg)
{
    const struct list *list = arg;
    bool none = true;

    for (uint32_t i = 0; i < list->n; i++) {
        none = none && !list->r[i];
        if (list->r[i] && is_over(m, list->r[i]))
            return true;
    }
    return none;
}

static struct ft_await await_of(const struct ft_messages *m, const struct ft_request *r)
{
    struct ft_await a = ft_messages_await(m, !r->receives ? -1 : r->posted.decided ? r->posted.source : r->posted.wants.source);

    if (!r->receives && r->to != m->me)
        a = (struct ft_await){ .kind = FT_AWAIT_MATCHED, .rank = r->to, .stream = m->out[r->to]->c.number, .unit = r->synchronous, .anything = true };
    a.tag = r->posted.wants.tag;
    return a;
}

/* For people. */
static void count(struct ft_messages *m, struct list *list)
{
    for (uint32_t i = list->over; !list->counted && i < list->n; i++) {
        bool waits = list->r[i] && !is_over(m, list->r[i]);

        list->receives += waits && list->r[i]->receives;
        list->sends += waits && !list->r[i]->receives;
    }
    list->counted = true;
}

static struct ft_await await_list(struct ft_messages *m, struct list *list, struct ft_await a, bool one)
{
    count(m, list);
    a.site = list->site;
    if (list->receives + list->sends > 1) {
        a.receives = list->receives;
        a.sends = list->sends;
        a.one = one;
    }
    return a;
}

/* all_are: for the first one that is not. */
static struct ft_await await_all(struct ft_messages *m, void *arg)
{
    struct list *list = arg;

    return await_list(m, list, await_of(m, list->r[list->over]), false);
}

/* one_is: any may end it, so it is for anybody if there are several. */
static struct ft_await await_one(struct ft_messages *m, void *arg)
{
    struct list *list = arg;
    const struct ft_request *one = NULL;
    uint32_t n = 0;

    for (uint32_t i = 0; i < list->n; i++)
        if (list->r[i]) {
            one = list->r[i];
            n++;
        }
    return await_list(m, list, n == 1 ? await_of(m, one) : ft_messages_await(m, -1), true);
}

static int wait_for_all(struct ft_messages *m, struct list *list, struct ft_error *e) { return ft_messages_until(m, all_are, await_all, list, e); }
static int wait_for_one(struct ft_messages *m, struct list *list, struct ft_error *e) { return ft_messages_until(m, one_is, await_one, list, e); }

int ft_messages_wait(struct ft_messages *m, struct ft_request *r, struct ft_error *e)
{
    return wait_for_all(m, &(struct list){ .r = &r, .n = 1, .site = r->site }, e);
}

/* ---- asking ---- */

static int look(struct ft_messages *m, struct ft_error *e)
{
    int moved = ft_messages_progress(m, e);

    return moved < 0 ? moved : 0;
}

/* Nobody but the program itself decides when they are over. */
static bool are_settled(const struct ft_messages *m, const struct list *list)
{
    bool settled = true;

    for (uint32_t i = 0; i < list->n && settled; i++)
        settled = !list->r[i] || list->r[i]->settled;
    return settled || !m->writes;
}

/* Those that are over, of the first WINDOW from the first one on, as one number. */
enum { WINDOW = 39 };
static uint64_t choice_of(struct ft_messages *m, const struct list *list, uint32_t most)
{
    uint64_t mask = 0;
    uint32_t first = 0, chosen = 0;

    while (!list->r[first] || !is_over(m, list->r[first]))
        first++;
    for (uint32_t i = 0; i < WINDOW && first + i < list->n && chosen < most; i++)
        if (list->r[first + i] && is_over(m, list->r[first + i])) {
            mask |= 1ull << i;
            chosen++;
        }
    return (uint64_t)first << WINDOW | mask;
}

static uint32_t chosen_of(uint64_t choice, uint32_t n, uint32_t *which)
{
    uint32_t first = (uint32_t)(choice >> WINDOW), chosen = 0;

    for (uint32_t i = 0; i < WINDOW && first + i < n; i++)
        if (choice >> i & 1)
            which[chosen++] = first + i;
    return chosen;
}

/* As chosen before: each is over sooner or later here, too. */
static int await_chosen(struct ft_messages *m, const struct list *list, const uint32_t *which, uint32_t n, struct ft_error *e)
{
    int err = 0;

    for (uint32_t i = 0; i < n && !err; i++)
        if (list->r[which[i]])
            err = ft_messages_wait(m, list->r[which[i]], e);
    return err;
}

static bool there_are(const struct list *list)
{
    bool any = false;

    for (uint32_t i = 0; i < list->n; i++)
        any = any || list->r[i];
    return any;
}

/* waits: until there is one. */
static int some(struct ft_messages *m, struct list *list, uint32_t most, bool waits, uint32_t *which, uint32_t *nwhich, struct ft_error *e)
{
    bool writes = !are_settled(m, list), yes;
    uint64_t choice = 0;
    int err;

    *nwhich = 0;
    if (!there_are(list))
        return 0;
    if (m->ft->order && writes && waits && (err = ft_messages_until_answer(m, one_is, await_one, list, e)) != 0)
        return err;
    if (writes && ft_answers_again(&m->answers, &yes, &choice)) {
        *nwhich = yes ? chosen_of(choice, list->n, which) : 0;
        return await_chosen(m, list, which, *nwhich, e);
    }
    err = waits ? wait_for_one(m, list, e) : writes ? look(m, e) : 0;
    if (err)
        return err;
    if (one_is(m, list)) {
        choice = choice_of(m, list, most);
        *nwhich = chosen_of(choice, list->n, which);
    }
    if (writes)
        ft_messages_say(m, *nwhich, choice);
    return 0;
}

static int all(struct ft_messages *m, struct list *list, bool *over, struct ft_error *e)
{
    bool writes = !are_settled(m, list);
    uint64_t answer;
    int err;

    if (writes && ft_answers_again(&m->answers, over, &answer))
        return *over ? wait_for_all(m, list, e) : 0;
    err = writes ? look(m, e) : 0;
    if (err)
        return err;
    *over = all_are(m, list);
    if (writes)
        ft_messages_say(m, *over, 1);
    return 0;
}

int ft_wait_all(struct ft *ft, struct ft_request *const *r, uint32_t n, uint64_t site, struct ft_error *e)
{
    bool says = ft_messages_enter(ft);
    int err;
    struct ft_messages *m = ft_messages_of(ft, &err, e);

    if (m)
        err = wait_for_all(m, &(struct list){ .r = r, .n = n, .site = site }, e);

    ft_messages_leave(ft, says);
    return err;
}

int ft_wait_some(struct ft *ft, struct ft_request *const *r, uint32_t n, uint32_t most, uint32_t *which, uint32_t *nwhich,
                 uint64_t site, struct ft_error *e)
{
    bool says = ft_messages_enter(ft);
    int err;
    struct ft_messages *m = ft_messages_of(ft, &err, e);

    if (m)
        err = some(m, &(struct list){ .r = r, .n = n, .site = site }, most, true, which, nwhich, e);

    ft_messages_leave(ft, says);
    return err;
}

int ft_test_some(struct ft *ft, struct ft_request *const *r, uint32_t n, uint32_t most, uint32_t *which, uint32_t *nwhich,
                 uint64_t site, struct ft_error *e)
{
    bool says = ft_messages_enter(ft);
    int err;
    struct ft_messages *m = ft_messages_of(ft, &err, e);

    if (m)
        err = some(m, &(struct list){ .r = r, .n = n, .site = site }, most, false, which, nwhich, e);

    ft_messages_leave(ft, says);
    return err;
}

int ft_test_all(struct ft *ft, struct ft_request *const *r, uint32_t n, bool *over, uint64_t site, struct ft_error *e)
{
    bool says = ft_messages_enter(ft);
    int err;
    struct ft_messages *m = ft_messages_of(ft, &err, e);

    if (m)
        err = all(m, &(struct list){ .r = r, .n = n, .site = site }, over, e);

    ft_messages_leave(ft, says);
    return err;
}

/* ---- cancelling ---- */

/* Not one that has its message: it may be on its way into the buffer. */
static int cancel(struct ft_messages *m, struct ft_request *r, struct ft_error *e)
{
    uint64_t answer = 0;
    bool yes = false;
    int err;

    if (!m->writes || !ft_answers_again(&m->answers, &yes, &answer)) {
        err = look(m, e);
        if (err)
            return err;
        answer = !r->matched && !r->over;
        if (answer)
            ft_messages_nobody(m, r);
        if (m->writes)
            ft_messages_say(m, true, answer);
    }
    if (answer)
        ft_messages_withdraw(m, r);
    return 0;
}

int ft_request_cancel(struct ft *ft, struct ft_request *r, uint64_t site, struct ft_error *e)
{
    bool says = ft_messages_enter(ft);
    int err;
    struct ft_messages *m = ft_messages_of(ft, &err, e);

    if (m && r->receives)
        err = cancel(m, r, e);

    (void)site;
    ft_messages_leave(ft, says);
    return err;
}
