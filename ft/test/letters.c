/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of an explored job. Everything that a rank receives is looked at: who sent it, with which tag, every byte, and nothing after
   that. What it was told that nothing else decides is noted outside of the job's memory, and each of its incarnations must be told the same, in
   the same order. The larger messages say what their sender has been told so far: so others have heard of it. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "ft/base/hash.h"
#include "ft/messages.h"
#include "ft/test/letters.h"

enum { UNTOUCHED = 0x55 };

static struct ft_type byte(void) { return (struct ft_type){ .elem = 1, .kind = FT_BYTE, .layout = layout_of_all() }; }

uint32_t next_of(const struct actor *r) { return (r->index + 1) % job.sc.ranks; }
uint32_t previous_of(const struct actor *r) { return (r->index + job.sc.ranks - 1) % job.sc.ranks; }
int tag_of(const struct actor *r, int i) { return (int)r->call * TAGS + i; }

uint64_t bytes_of(int tag)
{
    uint64_t sizes[LETTER_SIZES] = { 0, 8, 16, 17, job.sc.count * 4 };

    return sizes[tag % TAGS % LETTER_SIZES];
}

bool is_good(const struct actor *r, int err, const struct ft_error *e)
{
    if (err)
        failed("rank %u incarnation %u call %u: %s", r->index, r->incarnation, r->call, e->text);
    return !err && !run.failure[0];
}

/* ---- what a rank was told ---- */

void note_word(struct actor *r, uint64_t word)
{
    struct letters *l = &r->letters;
    struct told *told = &job.told[r->index];

    if (l->told == MOST_TOLD)
        failed("more was told than there is room for");
    else if (l->told < told->n && told->word[l->told] != word)
        failed("rank %u incarnation %u call %u was told %#llx as number %u of what it was told, and %#llx before", r->index, r->incarnation, r->call,
               (unsigned long long)word, l->told, (unsigned long long)told->word[l->told]);
    if (run.failure[0])
        return;
    l->history = ft_hash_mix(l->history, word);
    if (l->told == told->n) {
        told->word[told->n++] = word;
        told->history[told->n] = l->history;
    }
    l->told++;
}

void note_told(struct actor *r, const struct ft_told *told)
{
    note_word(r, (uint64_t)told->cancelled << 63 | (uint64_t)(told->source + 1) << 32 | (uint32_t)told->tag);
}

/* ---- what is in a message ---- */

static unsigned char pattern(uint32_t from, uint32_t to, int tag, uint64_t i)
{
    return (unsigned char)(truth((uint32_t)tag, from * MAX_RANKS + to, (uint32_t)(i / 4)) >> i % 4 * 8);
}

/* Whose last byte each incarnation makes another one, with job.sc.varies. */
static bool is_varied(uint64_t n) { return job.sc.varies && n && n != 16; }

static void fill(const struct actor *r, unsigned char *bytes, uint32_t to, int tag)
{
    uint64_t n = bytes_of(tag), says[2] = { r->letters.told, r->letters.history };

    for (uint64_t i = 0; i < n; i++)
        bytes[i] = pattern(r->index, to, tag, i);
    if (n >= sizeof says)
        memcpy(bytes, says, sizeof says);
    if (is_varied(n) && to != r->index) /* what is its own is not logged */
        bytes[n - 1] ^= (unsigned char)r->incarnation;
}

/* What the sender had been told. */
static void check_history(const struct actor *r, uint32_t source, const unsigned char *bytes)
{
    uint64_t says[2];

    memcpy(says, bytes, sizeof says);
    if (says[0] > job.told[source].n || job.told[source].history[says[0]] != says[1])
        failed("rank %u incarnation %u call %u: rank %u says that it was told something else than it was", r->index, r->incarnation, r->call, source);
}

static void check_bytes(struct actor *r, uint32_t source, int tag, const unsigned char *bytes, uint64_t got)
{
    uint64_t n = bytes_of(tag), from = n >= 16 && got >= 16 ? 16 : n >= 16 ? got : 0, to = got;

    if (from == 16)
        check_history(r, source, bytes);
    if (is_varied(n) && source != r->index && got == n) {
        to--;
        note_word(r, bytes[to]);
    }
    for (uint64_t i = from; i < to; i++)
        if (bytes[i] != pattern(source, r->index, tag, i))
            failed("rank %u incarnation %u call %u: byte %llu of %llu from rank %u with tag %d is %u", r->index, r->incarnation, r->call,
                   (unsigned long long)i, (unsigned long long)n, source, tag, bytes[i]);
    for (uint64_t i = got; i < got + 8; i++)
        if (bytes[i] != UNTOUCHED)
            failed("rank %u incarnation %u call %u: something is written after the %llu bytes from rank %u with tag %d", r->index, r->incarnation,
                   r->call, (unsigned long long)got, source, tag);
}

void check_letter(struct actor *r, const struct ft_told *told, const unsigned char *bytes, uint64_t room)
{
    uint64_t n, got;

    if (run.failure[0]) /* it may be of no rank, with no tag */
        return;
    n = bytes_of(told->tag);
    got = ft_min(n, room);
    if (told->bytes != got || told->truncated != (n > room))
        failed("rank %u incarnation %u call %u: of %llu bytes from rank %d with tag %d, %llu fit, and it is told of %llu%s", r->index, r->incarnation, r->call,
               (unsigned long long)n, told->source, told->tag, (unsigned long long)got, (unsigned long long)told->bytes,
               told->truncated ? " that are not all" : "");
    else
        check_bytes(r, (uint32_t)told->source, told->tag, bytes, got);
}

void check_asked(const struct actor *r, const struct ft_told *told, int source, int tag)
{
    if (told->source < 0 || told->source >= (int)job.sc.ranks || (source != FT_ANY_SOURCE && told->source != source) ||
        (tag != FT_ANY_TAG && told->tag != tag) || told->tag / TAGS != (int)r->call)
        failed("rank %u incarnation %u call %u: asked for rank %d and tag %d, it is told of rank %d and tag %d", r->index, r->incarnation, r->call, source, tag,
               told->source, told->tag);
}

/* ---- sends and receives ---- */

bool send_letter(struct actor *r, uint32_t to, int tag, enum ft_send_mode mode)
{
    unsigned char bytes[MOST_LETTER_BYTES];
    struct ft_error e;

    fill(r, bytes, to, tag);
    return is_good(r, ft_send(&r->ft, &r->letters.comm, bytes, bytes_of(tag), byte(), (int)to, tag, mode, LETTER_SITE, &e), &e);
}

bool start_letter(struct actor *r, uint32_t i, uint32_t to, int tag, enum ft_send_mode mode)
{
    struct letters *l = &r->letters;
    struct ft_error e;

    fill(r, l->bytes[i], to, tag);
    l->asked[i] = (struct asked){ .synchronous = mode == FT_SEND_SYNCHRONOUS, .source = (int)to };
    return is_good(r, ft_send_start(&r->ft, &l->comm, l->bytes[i], bytes_of(tag), byte(), (int)to, tag, mode, LETTER_SITE, &l->request[i], &e), &e);
}

bool start_receive(struct actor *r, uint32_t i, int from, int tag, uint64_t room)
{
    struct letters *l = &r->letters;
    struct ft_error e;

    l->asked[i] = (struct asked){ true, false, from, tag, room };
    memset(l->bytes[i], UNTOUCHED, sizeof l->bytes[i]);
    return is_good(r, ft_recv_start(&r->ft, &l->comm, l->bytes[i], room, byte(), from, tag, LETTER_SITE, &l->request[i], &e), &e);
}

bool take_letter(struct actor *r, uint32_t i)
{
    struct letters *l = &r->letters;
    struct asked *asked = &l->asked[i];
    struct ft_told told = ft_request_told(l->request[i]);
    struct ft_request *request = l->request[i];

    if (asked->synchronous && job.told[asked->source].receives <= r->call)
        failed("rank %u incarnation %u call %u: a synchronous send is over, and rank %d has not begun to receive", r->index, r->incarnation, r->call,
               asked->source);
    l->request[i] = NULL;
    ft_request_end(&r->ft, request);
    if (asked->receives && (asked->source == FT_ANY_SOURCE || told.cancelled))
        note_told(r, &told);
    if (asked->receives && !told.cancelled) {
        check_asked(r, &told, asked->source, asked->tag);
        check_letter(r, &told, l->bytes[i], asked->room);
    }
    return !run.failure[0];
}

bool await_letter(struct actor *r, uint32_t i)
{
    struct ft_error e;

    return is_good(r, ft_wait_all(&r->ft, &r->letters.request[i], 1, LETTER_SITE, &e), &e);
}

bool finish_letter(struct actor *r, uint32_t i) { return await_letter(r, i) && take_letter(r, i); }

bool finish_letters(struct actor *r)
{
    struct letters *l = &r->letters;
    struct ft_error e;
    bool good = is_good(r, ft_wait_all(&r->ft, l->request, MOST_LETTERS, LETTER_SITE, &e), &e);

    for (uint32_t i = 0; i < MOST_LETTERS && good; i++)
        good = !l->request[i] || take_letter(r, i);
    return good;
}

bool receive_letter(struct actor *r, int from, int tag, uint64_t room)
{
    unsigned char bytes[MOST_LETTER_BYTES + 8];
    struct ft_told told;
    struct ft_error e;

    memset(bytes, UNTOUCHED, sizeof bytes);
    if (!is_good(r, ft_recv(&r->ft, &r->letters.comm, bytes, room, byte(), from, tag, &told, LETTER_SITE, &e), &e))
        return false;
    if (from == FT_ANY_SOURCE)
        note_told(r, &told);
    check_asked(r, &told, from, tag);
    check_letter(r, &told, bytes, room);
    return !run.failure[0];
}

bool receive_taken(struct actor *r, struct ft_message *m, const struct ft_told *told)
{
    struct letters *l = &r->letters;
    struct ft_error e;

    l->asked[0] = (struct asked){ true, false, told->source, told->tag, MOST_LETTER_BYTES };
    memset(l->bytes[0], UNTOUCHED, sizeof l->bytes[0]);
    return is_good(r, ft_mrecv_start(&r->ft, m, l->bytes[0], MOST_LETTER_BYTES, byte(), LETTER_SITE, &l->request[0], &e), &e) && finish_letter(r, 0);
}

void begins_to_receive(const struct actor *r)
{
    struct told *told = &job.told[r->index];

    if (told->receives <= r->call)
        told->receives = r->call + 1;
}

/* ---- in an incarnation ---- */

void open_letters(struct actor *r)
{
    struct ft_error e;

    if (!sends_letters())
        return;
    memset(&r->letters, 0, offsetof(struct letters, bytes));
    if (ft_comm_world(&r->ft, &r->letters.comm, &e) != 0)
        failed("rank %u: %s", r->index, e.text);
}

/* A duplicate of the world. There is one stream in the job, and that has it: so it has none. */
bool make_passing(struct actor *r)
{
    struct letters *l = &r->letters;
    struct ft_error e;

    r->ft.self = (struct ft_stream){ .n = 1, .size = 1, .apart = true, .name = "SELF" };
    if (!is_good(r, ft_comm_split(&r->ft, &l->comm, FT_CALL_COMM_DUP, 0, 0, &l->passing, LETTER_SITE, &e), &e))
        return false;
    if (!l->passing.stream->passing)
        failed("rank %u incarnation %u: its communicator has a stream", r->index, r->incarnation);
    return !run.failure[0];
}

/* What it had in private memory. */
void drop_letters(struct actor *r)
{
    if (!sends_letters())
        return;
    if (r->letters.passing.stream)
        ft_comm_free(&r->letters.passing);
    ft_comms_close(&r->ft);
    memset(r->letters.request, 0, sizeof r->letters.request);
    ft_messages_close(&r->ft);
    ft_comm_close(&r->letters.comm);
}
