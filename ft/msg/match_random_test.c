/* SPDX-License-Identifier: BSD-3-Clause */
/* Which receive gets which message, whatever comes in whatever order: as a plain reading of MPI 3.1 section 3.5 has it; and in a replay as
   before. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ft/msg/match.h"

enum { ANY = FT_MATCH_ANY, SOURCES = 3, TAGS = 3, CONTEXTS = 3, STEPS = 300, RUNS = 500, OPS = 60, SENT = 40, REPLAYS = 4 };

/* An assertion of the framework takes a microsecond even where it holds. */
#define MUST(cond) \
    do { if (!(cond)) cr_assert_fail("%s, in run %u", #cond, run); } while (0)

static unsigned run;

static unsigned below(unsigned n) { return (unsigned)random() % n; }

static struct ft_envelope any_message(int32_t source) { return (struct ft_envelope){below(CONTEXTS), source, (int32_t)below(TAGS)}; }

static struct ft_envelope any_wish(void)
{
    return (struct ft_envelope){below(CONTEXTS), (int32_t)below(SOURCES + 1) - 1, (int32_t)below(TAGS + 1) - 1};
}

static bool fits(const struct ft_envelope *wants, const struct ft_envelope *is)
{
    return wants->context == is->context && (wants->source == ANY || wants->source == is->source) &&
           (wants->tag == ANY || wants->tag == is->tag);
}

/* ---- against an array of all that was posted, and one of all that has come ---- */

static struct ft_posted receives[STEPS];
static struct ft_arrived messages[STEPS];        /* in the order in which they came */
static bool is_posted[STEPS], is_kept[STEPS];
static unsigned nreceives, nmessages;
static uint64_t sent[SOURCES];

static struct ft_posted *receive_for(const struct ft_envelope *is)
{
    for (unsigned i = 0; i < nreceives; i++)
        if (is_posted[i] && fits(&receives[i].wants, is))
            return &receives[i];
    return NULL;
}

static struct ft_arrived *message_for(const struct ft_envelope *wants)
{
    for (unsigned i = 0; i < nmessages; i++)
        if (is_kept[i] && fits(wants, &messages[i].is))
            return &messages[i];
    return NULL;
}

static unsigned count(const bool *is, unsigned n)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < n; i++)
        sum += is[i];
    return sum;
}

static void post_one(struct ft_match *m)
{
    struct ft_posted *p = &receives[nreceives];
    struct ft_arrived *expected, *a;

    *p = (struct ft_posted){.wants = any_wish(), .number = nreceives + 1};
    expected = message_for(&p->wants);
    a = ft_match_post(m, p);
    MUST(a == expected);
    if (a)
        is_kept[a - messages] = false;
    is_posted[nreceives++] = !a;
}

static void arrive_one(struct ft_match *m)
{
    struct ft_arrived *a = &messages[nmessages];
    int32_t source = (int32_t)below(SOURCES);
    struct ft_posted *expected, *p;

    *a = (struct ft_arrived){.is = any_message(source), .number = sent[source]++};
    expected = receive_for(&a->is);
    p = ft_match_arrive(m, &a->is, a->number);
    MUST(p == expected);
    if (p)
        is_posted[p - receives] = false;
    else
        ft_match_keep(m, a);
    is_kept[nmessages++] = !p;
}

static void probe_one(struct ft_match *m)
{
    struct ft_envelope wants = any_wish();
    struct ft_arrived *a = ft_match_look(m, &wants);

    MUST(a == message_for(&wants));
    if (a && below(2)) {
        ft_match_take(m, a);
        is_kept[a - messages] = false;
    }
}

static void withdraw_one(struct ft_match *m)
{
    unsigned i = nreceives ? below(nreceives) : 0;

    if (!is_posted[i])
        return;
    ft_match_withdraw(m, &receives[i]);
    is_posted[i] = false;
}

static void find_one(struct ft_match *m)
{
    unsigned i = nmessages ? below(nmessages) : 0;

    if (nmessages)
        MUST(ft_match_find(m, messages[i].is.source, messages[i].number) == (is_kept[i] ? &messages[i] : NULL));
}

/* More of one kind than of the other: one of the two lists gets long. */
static void one_step(struct ft_match *m, unsigned posts)
{
    switch (below(8)) {
    case 0: probe_one(m); break;
    case 1: withdraw_one(m); break;
    case 2: find_one(m); break;
    default:
        if (below(100) < posts)
            post_one(m);
        else
            arrive_one(m);
    }
}

Test(match_random, as_the_standard_reads, .timeout = 60)
{
    for (run = 0; run < RUNS; run++) {
        struct ft_match *m = ft_match_open(SOURCES);
        unsigned posts = 20 + 30 * (run % 3);

        srandom(run);
        nreceives = nmessages = 0;
        memset(sent, 0, sizeof sent);
        memset(is_posted, 0, sizeof is_posted);
        memset(is_kept, 0, sizeof is_kept);
        MUST(m);
        for (unsigned i = 0; i < STEPS; i++) {
            one_step(m, posts);
            MUST(ft_match_posted(m) == count(is_posted, nreceives) && ft_match_kept(m) == count(is_kept, nmessages));
            for (int32_t s = 0; s < SOURCES; s++) {
                struct ft_arrived *oldest = ft_match_oldest(m, s);
                unsigned k = 0;

                while (k < nmessages && !(is_kept[k] && messages[k].is.source == s))
                    k++;
                MUST(oldest == (k < nmessages ? &messages[k] : NULL));
            }
        }
        ft_match_close(m);
    }
}

/* ---- a program that dies, and its replay ---- */

/* What the program does. What it was told, with an open source, is an outcome; and whether it could cancel. */
enum what { POST, CANCEL, PROBE, TAKE };

struct op {
    enum what what;
    struct ft_envelope wants;
    unsigned receive;               /* CANCEL: place of its POST */
};

static struct op program[OPS];
static struct ft_envelope mail[SOURCES][SENT]; /* what each source sends */

/* A message, or none: number 0. */
struct told {
    int32_t source;
    uint64_t number;                /* plus one */
};

static bool same(struct told a, struct told b) { return a.number == b.number && (!a.number || a.source == b.source); }

/* One life of it. */
struct life {
    struct ft_match *m;
    struct ft_posted receives[OPS];
    struct ft_arrived messages[SOURCES][SENT];
    unsigned arrived[SOURCES], done; /* so many messages have come, so many ops are over */
    struct told told[OPS];          /* by the place of the op */
    bool cancelled[OPS];            /* by that of its POST */
};

static struct told told_of(const struct ft_arrived *a) { return (struct told){a->is.source, a->number + 1}; }

static void come(struct life *l, int32_t source)
{
    unsigned number = l->arrived[source]++;
    struct ft_arrived *a = &l->messages[source][number];
    struct ft_posted *p;

    *a = (struct ft_arrived){.is = mail[source][number], .number = number};
    p = ft_match_arrive(l->m, &a->is, number);
    if (p)
        l->told[p - l->receives] = told_of(a);
    else
        ft_match_keep(l->m, a);
}

static bool one_comes(struct life *l)
{
    int32_t first = (int32_t)below(SOURCES);

    for (int32_t i = 0; i < SOURCES; i++)
        if (l->arrived[(first + i) % SOURCES] < SENT) {
            come(l, (first + i) % SOURCES);
            return true;
        }
    return false;
}

/* What a probe sees; in a replay, of an open source, what it saw. */
static struct ft_arrived *probe(struct life *l, const struct life *before)
{
    const struct op *op = &program[l->done];
    struct told told;

    if (!before || op->wants.source != ANY)
        return ft_match_look(l->m, &op->wants);
    told = before->told[l->done];
    return ft_match_find(l->m, told.source, told.number - 1);
}

static void cancel(struct life *l, const struct life *before)
{
    unsigned i = program[l->done].receive;
    bool can = before ? before->cancelled[i] : !l->told[i].number && !l->cancelled[i];

    if (!can || l->cancelled[i])
        return;
    MUST(!l->told[i].number);
    ft_match_withdraw(l->m, &l->receives[i]);
    l->cancelled[i] = true;
}

/* False: it waits for a message. */
static bool goes_on(struct life *l, const struct life *before)
{
    const struct op *op = &program[l->done];
    struct ft_arrived *a = NULL;

    switch (op->what) {
    case POST:
        l->receives[l->done] = (struct ft_posted){.wants = op->wants, .number = l->done + 1};
        a = ft_match_post(l->m, &l->receives[l->done]);
        break;
    case CANCEL:
        cancel(l, before);
        break;
    case PROBE:
    case TAKE:
        a = probe(l, before);
        if (!a)
            return false;
        if (op->what == TAKE)
            ft_match_take(l->m, a);
        break;
    }
    if (a)
        l->told[l->done] = told_of(a);
    l->done++;
    return true;
}

/* Until so many ops are over, or no more can be. messages: of a hundred steps. */
static void live(struct life *l, const struct life *before, unsigned ops, unsigned messages_of_100)
{
    while (l->done < ops)
        if (below(100) < messages_of_100 ? !one_comes(l) && !goes_on(l, before) : !goes_on(l, before) && !one_comes(l))
            break;
}

static void decide(struct life *l, const struct life *before)
{
    for (unsigned i = 0; i < before->done; i++) {
        struct told told = before->told[i];

        if (program[i].what != POST)
            continue;
        if (before->cancelled[i])
            MUST(!ft_match_decide_none(l->m, i + 1));
        else if (program[i].wants.source == ANY && told.number)
            MUST(!ft_match_decide(l->m, i + 1, told.source, told.number - 1));
    }
}

static void write_program(void)
{
    for (unsigned i = 0; i < OPS; i++) {
        unsigned r = below(10), receive = below(i + 1);
        struct op *op = &program[i];

        *op = (struct op){.what = r == 0 ? PROBE : r == 1 ? TAKE : POST, .wants = any_wish(), .receive = receive};
        if (r <= 3 && r >= 2 && i && program[receive].what == POST && receive < i)
            op->what = CANCEL;
        else if (op->what == POST && i && program[i - 1].what == PROBE && below(2)) /* what was seen is received, openly */
            op->wants = (struct ft_envelope){program[i - 1].wants.context, ANY, program[i - 1].wants.tag};
    }
    for (int32_t s = 0; s < SOURCES; s++)
        for (unsigned k = 0; k < SENT; k++)
            mail[s][k] = any_message(s);
}

static void begin(struct life *l)
{
    memset(l, 0, sizeof *l);
    l->m = ft_match_open(SOURCES);
    MUST(l->m);
}

/* Whatever was told is told again, once all that had come has come. */
static void compare(const struct life *before, struct life *l)
{
    MUST(l->done == before->done);
    for (int32_t s = 0; s < SOURCES; s++)
        while (l->arrived[s] < before->arrived[s])
            come(l, s);
    for (unsigned i = 0; i < before->done; i++) {
        MUST(l->cancelled[i] == before->cancelled[i]);
        if (before->told[i].number)
            MUST(same(l->told[i], before->told[i]));
    }
}

Test(match_random, a_replay_matches_as_before, .timeout = 60)
{
    static struct life before, after;
    unsigned told = 0, open = 0, cancelled = 0;

    for (run = 0; run < RUNS; run++) {
        srandom(run);
        write_program();
        begin(&before);
        live(&before, NULL, 1 + below(OPS), 20 + 30 * (run % 3));
        for (unsigned i = 0; i < before.done; i++) {
            told += before.told[i].number != 0;
            open += before.told[i].number && program[i].wants.source == ANY;
            cancelled += before.cancelled[i];
        }
        for (unsigned k = 0; k < REPLAYS; k++) {
            begin(&after);
            decide(&after, &before);
            live(&after, &before, before.done, 20 + 20 * k);
            compare(&before, &after);
            ft_match_close(after.m);
        }
        ft_match_close(before.m);
    }
    cr_assert(open > RUNS && told > 2 * open && cancelled > RUNS / 4, "%u told, %u of them with an open source, %u cancelled", told, open, cancelled);
}
