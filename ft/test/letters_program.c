/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of messages that an explored job exchanges, one in each call: enum what from RING on. */
#include <string.h>

#include "ft/test/letters.h"

enum { TRIES = 3, BURST_LETTERS = 41 /* more than a channel has slots */ };

/* ---- named sources ---- */

static bool receive_ring(struct actor *r, bool starts, bool in_order)
{
    bool good = true;

    for (int i = 0; i < LETTER_SIZES && good; i++) {
        int which = in_order ? i : LETTER_SIZES - 1 - i, tag = tag_of(r, which);
        uint64_t n = bytes_of(tag), room = in_order || !n ? MOST_LETTER_BYTES : n - n / 3; /* cut off in the second piece, or in the slot */

        if (in_order)
            tag = FT_ANY_TAG;
        good = starts ? start_receive(r, (uint32_t)i, (int)previous_of(r), tag, room) : receive_letter(r, (int)previous_of(r), tag, room);
    }
    return good;
}

/* Before the messages come or after that; in their order or not. */
static bool ring(struct actor *r)
{
    bool starts = r->call % 2 == 0, good = !starts || receive_ring(r, true, r->call % 4 == 0);

    for (int i = 0; i < LETTER_SIZES && good; i++)
        good = r->call % 3 ? send_letter(r, next_of(r), tag_of(r, i), FT_SEND_STANDARD)
                           : start_letter(r, (uint32_t)(LETTER_SIZES + i), next_of(r), tag_of(r, i), FT_SEND_STANDARD);
    return good && (starts || receive_ring(r, false, r->call % 4 == 3)) && finish_letters(r);
}

/* More messages than a channel has slots, while the receiver does something else: after a long one there is memory for all of them. */
static bool burst(struct actor *r)
{
    static const int small[] = { 5, 6, 7, 8, 10, 13, 12 }; /* 8 and 13 are in cells, and one after the other in the same ones */
    uint32_t first = r->call % 2 ? job.sc.ranks - 1 : 0, last = job.sc.ranks - 1 - first;
    bool good = true;

    for (int i = 0; i < BURST_LETTERS && good; i++) {
        int tag = tag_of(r, i ? small[i % 7] : 4);

        if (r->index == first)
            good = send_letter(r, last, tag, FT_SEND_STANDARD);
        else if (r->index == last)
            good = receive_letter(r, r->call < 2 ? (int)first : FT_ANY_SOURCE, i % 2 ? FT_ANY_TAG : tag, MOST_LETTER_BYTES);
    }
    return good;
}

/* ---- open sources ---- */

/* One rank collects. Nobody goes on before that has all, or it would get messages of the next call. */
static uint32_t collector_of(const struct actor *r) { return r->call % job.sc.ranks; }

enum { GO = 12, DONE = 13, REPLY = 7 /* tags of the larger ones, with what was told */ };

static bool tell_all(struct actor *r, int i)
{
    bool good = true;

    for (uint32_t to = 0; to < job.sc.ranks && good; to++)
        good = to == r->index || send_letter(r, to, tag_of(r, i), FT_SEND_STANDARD);
    return good;
}

static bool hear(struct actor *r, int i) { return receive_letter(r, (int)collector_of(r), tag_of(r, i), MOST_LETTER_BYTES); }

/* Receives that are open among those that are not; one of the messages is its own. They are waited for in the reverse order; who they are from is
   told at once to those. */
static bool collect_posted(struct actor *r)
{
    uint32_t n = 0, from;
    bool good = true;

    for (uint32_t q = 0; q < job.sc.ranks && good; q++) {
        good = start_receive(r, n, FT_ANY_SOURCE, tag_of(r, 1), 8) &&
               (q == r->index ? send_letter(r, q, tag_of(r, 1), FT_SEND_STANDARD)
                              : start_receive(r, n + 1, FT_ANY_SOURCE, tag_of(r, 4), MOST_LETTER_BYTES) &&
                                start_receive(r, n + 2, (int)q, tag_of(r, 3), MOST_LETTER_BYTES));
        n += q == r->index ? 1 : 3;
    }
    while (n-- > 0 && good && await_letter(r, n)) {
        from = (uint32_t)ft_request_told(r->letters.request[n]).source;
        good = take_letter(r, n) && (from == r->index || send_letter(r, from, tag_of(r, REPLY), FT_SEND_STANDARD));
    }
    return good && !run.failure[0];
}

static bool collect_now(struct actor *r)
{
    bool good = tell_all(r, GO);

    for (uint32_t i = 0; i < 2 * (job.sc.ranks - 1) && good; i++)
        good = receive_letter(r, FT_ANY_SOURCE, FT_ANY_TAG, MOST_LETTER_BYTES);
    return good && tell_all(r, DONE);
}

static bool open_sources(struct actor *r)
{
    uint32_t to = collector_of(r);
    bool good;

    if (r->index == to)
        return collect_posted(r) && collect_now(r);
    good = send_letter(r, to, tag_of(r, 1), FT_SEND_STANDARD) && send_letter(r, to, tag_of(r, 4), FT_SEND_STANDARD) && send_letter(r, to, tag_of(r, 3), FT_SEND_STANDARD);
    for (int i = 0; i < 3 && good; i++)
        good = hear(r, REPLY);
    return good && hear(r, GO) && send_letter(r, to, tag_of(r, 20), FT_SEND_STANDARD) && send_letter(r, to, tag_of(r, 21), FT_SEND_STANDARD) && hear(r, DONE);
}

/* ---- questions ---- */

enum { NO = 1 << 20, SOME, ALL_OVER, FOUND };  /* what they were answered: noted with the answer */

static bool note_some(struct actor *r, const uint32_t *which, uint32_t n)
{
    uint64_t answer = n ? SOME : NO;
    bool good = true;

    for (uint32_t i = 0; i < n; i++)
        answer = answer << 4 | which[i];
    run.seen[NOES] += n == 0;
    note_word(r, answer);
    for (uint32_t i = 0; i < n && good; i++)
        good = take_letter(r, which[i]);
    return good;
}

static bool ask_some(struct actor *r, uint32_t n, uint32_t most, bool waits)
{
    uint32_t which[MOST_LETTERS], nwhich;
    struct ft_error e;
    int err = waits ? ft_wait_some(&r->ft, r->letters.request, n, most, which, &nwhich, LETTER_SITE, &e)
                    : ft_test_some(&r->ft, r->letters.request, n, most, which, &nwhich, LETTER_SITE, &e);

    if (!is_good(r, err, &e))
        return false;
    if (nwhich > most || (waits && !nwhich))
        failed("rank %u incarnation %u call %u: %u of at most %u are over", r->index, r->incarnation, r->call, nwhich, most);
    return note_some(r, which, nwhich);
}

static bool ask_all(struct actor *r, uint32_t n)
{
    struct ft_error e;
    bool over;

    if (!is_good(r, ft_test_all(&r->ft, r->letters.request, n, &over, LETTER_SITE, &e), &e))
        return false;
    note_word(r, over ? ALL_OVER : NO);
    run.seen[NOES] += !over;
    for (uint32_t i = 0; i < n && over && !run.failure[0]; i++)
        if (r->letters.request[i])
            take_letter(r, i);
    return !run.failure[0];
}

static bool some_left(const struct actor *r)
{
    bool left = false;

    for (uint32_t i = 0; i < MOST_LETTERS; i++)
        left |= r->letters.request[i] != NULL;
    return left;
}

static bool asks(struct actor *r)
{
    uint32_t next = next_of(r), previous = previous_of(r);
    bool good = start_receive(r, 0, (int)previous, tag_of(r, 1), 8) && start_receive(r, 1, FT_ANY_SOURCE, tag_of(r, 4), MOST_LETTER_BYTES) &&
                ask_some(r, 4, 4, false) && ask_some(r, 4, 1, false) && start_letter(r, 2, next, tag_of(r, 1), FT_SEND_STANDARD) &&
                start_letter(r, 3, previous, tag_of(r, 4), FT_SEND_STANDARD);

    for (int i = 0; i < TRIES && good; i++)
        good = i % 2 ? ask_some(r, 4, r->call % 2 ? 4 : 1, false) : ask_all(r, 4);
    while (good && some_left(r))
        good = ask_some(r, 4, 1 + r->call % 2, true);
    return good;
}

static bool look(struct actor *r, int source, int tag, bool waits, bool *found, struct ft_told *told, struct ft_message **m)
{
    struct ft_error e;

    if (!is_good(r, ft_probe(&r->ft, &r->letters.comm, source, tag, waits, found, told, m, LETTER_SITE, &e), &e))
        return false;
    if (!*found) {
        run.seen[NOES]++;
        note_word(r, NO);
        return !run.failure[0];
    }
    note_word(r, FOUND);
    note_told(r, told);
    check_asked(r, told, source, tag);
    if (told->bytes != bytes_of(told->tag))
        failed("rank %u incarnation %u call %u: a probe says %llu bytes with tag %d", r->index, r->incarnation, r->call, (unsigned long long)told->bytes, told->tag);
    return !run.failure[0];
}

/* What a probe has taken is received after another message. */
static bool receive_later(struct actor *r, struct ft_message *m, const struct ft_told *told)
{
    return receive_letter(r, FT_ANY_SOURCE, FT_ANY_TAG, MOST_LETTER_BYTES) && receive_taken(r, m, told);
}

/* takes: the message is taken by the probe; later: and another one is received before it. tries: first it is asked so often whether there is one. */
static bool probe_one(struct actor *r, int source, bool takes, bool later, int tries)
{
    struct ft_message *m = NULL;
    struct ft_told told;
    bool found = false, good = true;

    for (int i = 0; i <= tries && good && !found; i++)
        good = look(r, source, FT_ANY_TAG, i == tries, &found, &told, takes ? &m : NULL);
    if (!good)
        return false;
    return later ? receive_later(r, m, &told) : takes ? receive_taken(r, m, &told) : receive_letter(r, told.source, told.tag, MOST_LETTER_BYTES);
}

static bool probes(struct actor *r)
{
    uint32_t to = collector_of(r), n = 3 * (job.sc.ranks - 1);
    bool good = true;

    if (r->index != to)
        return send_letter(r, to, tag_of(r, 1), FT_SEND_STANDARD) && send_letter(r, to, tag_of(r, 4), FT_SEND_STANDARD) &&
               send_letter(r, to, tag_of(r, 3), FT_SEND_STANDARD) && probe_one(r, (int)to, r->call % 2, false, r->call % 3 ? TRIES : 0);
    for (uint32_t i = 0; i < n && good; i += 3)
        good = probe_one(r, FT_ANY_SOURCE, r->call % 2, false, i ? 0 : TRIES) && probe_one(r, FT_ANY_SOURCE, true, true, TRIES);
    return good && tell_all(r, DONE);
}

/* ---- synchronous sends ---- */

static bool synchronous(struct actor *r)
{
    uint32_t next = next_of(r);
    int previous = (int)previous_of(r);
    bool early = r->call % 2, good;

    if (early)
        begins_to_receive(r);
    good = (!early || start_receive(r, 3, previous, tag_of(r, 4), MOST_LETTER_BYTES)) && start_letter(r, 0, next, tag_of(r, 0), FT_SEND_SYNCHRONOUS) &&
           start_letter(r, 1, next, tag_of(r, 1), FT_SEND_SYNCHRONOUS) && start_letter(r, 2, next, tag_of(r, 4), FT_SEND_SYNCHRONOUS) &&
           ask_some(r, 4, 4, false) && ask_all(r, 3);
    begins_to_receive(r);
    good = good && (early || start_receive(r, 3, previous, tag_of(r, 4), MOST_LETTER_BYTES)) &&
           receive_letter(r, early ? FT_ANY_SOURCE : previous, tag_of(r, 1), 8) && ask_some(r, 4, 1, false) &&
           receive_letter(r, previous, tag_of(r, 0), 0) && finish_letters(r);
    if (!good)
        return false;
    return r->index % 2 ? receive_letter(r, previous, tag_of(r, 9), MOST_LETTER_BYTES) && send_letter(r, next, tag_of(r, 9), FT_SEND_SYNCHRONOUS)
                        : send_letter(r, next, tag_of(r, 9), FT_SEND_SYNCHRONOUS) && receive_letter(r, previous, tag_of(r, 9), MOST_LETTER_BYTES);
}

/* ---- receives that are given up ---- */

static bool cancel(struct actor *r, uint32_t i)
{
    struct ft_error e;

    return is_good(r, ft_request_cancel(&r->ft, r->letters.request[i], LETTER_SITE, &e), &e);
}

/* Of the one that was cancelled the message is still to come, or kept. */
static bool finish_cancelled(struct actor *r, uint32_t i)
{
    struct asked asked = r->letters.asked[i];
    bool cancelled;

    if (!await_letter(r, i))
        return false;
    cancelled = ft_request_told(r->letters.request[i]).cancelled;
    run.seen[CANCELLED] += cancelled;
    note_word(r, cancelled ? NO : SOME);
    return take_letter(r, i) && (!cancelled || receive_letter(r, asked.source, asked.tag, MOST_LETTER_BYTES));
}

/* One that the program does not refer to any more goes on: the message is in its buffer when a later one has come. */
static bool give_up(struct actor *r)
{
    struct letters *l = &r->letters;
    struct ft_told told = { .source = (int)previous_of(r), .tag = tag_of(r, 9), .bytes = bytes_of(9) };
    struct ft_request *request;

    if (!start_receive(r, 3, told.source, told.tag, MOST_LETTER_BYTES))
        return false;
    request = l->request[3];
    l->request[3] = NULL;
    ft_request_end(&r->ft, request);
    if (!send_letter(r, next_of(r), tag_of(r, 9), FT_SEND_STANDARD) || !send_letter(r, next_of(r), tag_of(r, 2), FT_SEND_STANDARD) ||
        !receive_letter(r, told.source, tag_of(r, 2), MOST_LETTER_BYTES))
        return false;
    check_letter(r, &told, l->bytes[3], MOST_LETTER_BYTES);
    return !run.failure[0];
}

static bool cancels(struct actor *r)
{
    uint32_t next = next_of(r);
    int previous = (int)previous_of(r);
    bool good = start_receive(r, 0, previous, tag_of(r, TAGS - 1), 8) && start_receive(r, 1, FT_ANY_SOURCE, tag_of(r, 1), MOST_LETTER_BYTES) &&
                start_receive(r, 2, previous, tag_of(r, 4), MOST_LETTER_BYTES) && (r->index % 2 || ask_all(r, 3)) &&
                send_letter(r, next, tag_of(r, 1), FT_SEND_STANDARD) && cancel(r, 0) && cancel(r, 1) && send_letter(r, next, tag_of(r, 4), FT_SEND_STANDARD) &&
                cancel(r, 2) && finish_cancelled(r, 1) && finish_cancelled(r, 2);

    return good && finish_letter(r, 0) && give_up(r);
}

/* ---- all of it ---- */

static enum what kind_of(const struct actor *r)
{
    static const enum what mix[] = { RING, OPEN, ASKS, PROBES, SYNCHRONOUS, CANCELS };

    return job.sc.what == LETTERS ? mix[r->call / 2 % 6] : job.sc.what;
}

/* With a collective operation in between, which meanwhile takes what comes. */
static bool begin_across(struct actor *r)
{
    return start_receive(r, 0, (int)previous_of(r), tag_of(r, 4), MOST_LETTER_BYTES) && start_receive(r, 1, FT_ANY_SOURCE, tag_of(r, 2), MOST_LETTER_BYTES) &&
           send_letter(r, next_of(r), tag_of(r, 4), FT_SEND_STANDARD) && send_letter(r, next_of(r), tag_of(r, 2), FT_SEND_STANDARD);
}

bool begin_letters(struct actor *r)
{
    if (!sends_letters())
        return true;
    if (job.sc.what == CARRIED)
        return begin_carried(r);
    if (job.sc.what == PASSES)
        return r->call > 0 || make_passing(r);
    if (job.sc.what == LETTERS && r->call % 2)
        return begin_across(r);
    switch (kind_of(r)) {
    case RING:
        return ring(r);
    case OPEN:
        return open_sources(r);
    case ASKS:
        return asks(r);
    case PROBES:
        return probes(r);
    case SYNCHRONOUS:
        return synchronous(r);
    case CANCELS:
        return cancels(r);
    default:
        return burst(r);
    }
}

/* Who has none does not ask: that counts as having messages. */
bool end_letters(struct actor *r)
{
    if (job.sc.what == CARRIED)
        return end_carried(r);
    return !sends_letters() || !some_left(r) || finish_letters(r);
}

