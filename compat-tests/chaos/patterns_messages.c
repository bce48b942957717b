/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of a pattern: who sends what to whom, what is in it, and whether it has come so. */
#include <stdlib.h>
#include <string.h>

#include "compat-tests/chaos/patterns.h"

struct own own;

/* ---- of one step ---- */

enum { GUARD = 8, MOST_SPACES = 8192, MOST_ENDS = 8192 };
static struct { unsigned char *bytes; size_t size; } spaces[MOST_SPACES];
static MPI_Request ends[MOST_ENDS];
static int nspaces, nends;

void *space(size_t size)
{
    unsigned char *bytes = malloc(size + GUARD);

    CHECK(bytes && nspaces < MOST_SPACES, "no room");
    memset(bytes + size, 0xa5, GUARD);
    spaces[nspaces].bytes = bytes;
    spaces[nspaces++].size = size;
    return bytes;
}

void end_later(MPI_Request request)
{
    CHECK(nends < MOST_ENDS, "no room");
    ends[nends++] = request;
}

void end_step(void)
{
    static const unsigned char guard[GUARD] = {0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5};

    OK(MPI_Waitall(nends, ends, MPI_STATUSES_IGNORE));
    nends = 0;
    while (nspaces > 0) {
        nspaces--;
        CHECK(!memcmp(spaces[nspaces].bytes + spaces[nspaces].size, guard, GUARD), "written behind %zu bytes", spaces[nspaces].size);
        free(spaces[nspaces].bytes);
    }
}

void note(uint64_t what)
{
    if (own.ordered)
        own.order = mix(own.order ^ mix(what));
}

/* ---- contents ---- */

size_t draw_size(uint64_t *rng, size_t most)
{
    unsigned kind = below(rng, 100);
    size_t size;

    if (kind < 10)
        return 0;
    size = kind < 50 ? 1 + below(rng, 128) : kind < 80 ? 1 + below(rng, 4096) : kind < 96 ? 1 + below(rng, 65536)
         : kind < 99 ? 1 + below(rng, 300000) : 1 + below(rng, LARGE);
    return size > most ? size % (most + 1) : size;
}

void fill(void *data, size_t size, uint64_t key, uint64_t carry)
{
    unsigned char *p = data;
    uint64_t s = key;

    if (size >= 16) {
        memcpy(p, &carry, 8);
        memcpy(p + 8, &own.order, 8);
        p += 16;
        size -= 16;
        s ^= mix(carry);
    }
    for (; size > 0; ) {
        uint64_t word = draw(&s);
        size_t part = size < 8 ? size : 8;

        memcpy(p, &word, part);
        p += part;
        size -= part;
    }
}

uint64_t verify(const void *data, size_t size, uint64_t key)
{
    const unsigned char *p = data;
    uint64_t s = key, carry = 0, order = 0;

    if (size >= 16) {
        memcpy(&carry, p, 8);
        memcpy(&order, p + 8, 8);
        s ^= mix(carry);
    }
    for (size_t at = size >= 16 ? 16 : 0; at < size; at += 8) {
        uint64_t word = draw(&s);

        CHECK(!memcmp(p + at, &word, size - at < 8 ? size - at : 8), "byte %zu or one of the next 7, of %zu, is another one", at, size);
    }
    CHECK(own.ordered || order == 0, "an order came of %zu bytes", size);
    note(order);
    return carry;
}

void came(const struct message *m, const void *data, const MPI_Status *status)
{
    if (status) {
        int count = -1;

        OK(MPI_Get_count(status, MPI_BYTE, &count));
        CHECK(status->MPI_SOURCE == m->from && status->MPI_TAG == m->tag && (size_t)count == m->size,
              "from %d, tag %d, %d bytes; expected from %d, tag %d, %zu bytes", status->MPI_SOURCE, status->MPI_TAG, count, m->from,
              m->tag, m->size);
    }
    note((uint64_t)m->from << 32 | (uint64_t)m->tag);
    own.came += mix(m->key ^ mix(verify(data, m->size, m->key)) ^ m->size);
}

/* ---- who sends what to whom ---- */

struct message *add(struct play *p, int from, int to, int tag, size_t size)
{
    struct message *m;

    if (!p->messages)
        p->messages = space(1024 * sizeof *p->messages);
    CHECK(p->count < 1024, "too many messages");
    CHECK(tag >= 0 && tag < TAGS, "tag %d", tag);
    m = &p->messages[p->count++];
    *m = (struct message){.from = from, .to = to, .tag = p->tag + tag, .size = size, .key = draw(&p->rng)};
    return m;
}

void add_random(struct play *p, int count, int tags, size_t most)
{
    size_t all = 0;

    for (int i = 0; i < count; i++) {
        int from = (int)below(&p->rng, (unsigned)p->n), to = (int)below(&p->rng, (unsigned)p->n);
        size_t size = draw_size(&p->rng, all < 3 << 20 ? most : 64);

        if (from == to && below(&p->rng, 4))
            to = (to + 1) % p->n;
        add(p, from, to, (int)below(&p->rng, (unsigned)tags), size);
        all += size;
    }
}

struct message *expected(struct play *p, int from, int tag)
{
    for (int i = 0; i < p->count; i++) {
        struct message *m = &p->messages[i];

        if (!m->taken && m->to == p->me && m->from == from && (tag == MPI_ANY_TAG || m->tag == tag)) {
            m->taken = true;
            return m;
        }
    }
    CHECK(false, "nobody sends this: from %d, tag %d", from, tag);
    return NULL;
}

int left(const struct play *p, size_t *most)
{
    int n = 0;

    *most = 0;
    for (int i = 0; i < p->count; i++) {
        const struct message *m = &p->messages[i];

        if (m->taken || m->to != p->me)
            continue;
        n++;
        if (m->size > *most)
            *most = m->size;
    }
    return n;
}

/* ---- sent and received ---- */

void *contents(const struct message *m)
{
    void *data = space(m->size);

    fill(data, m->size, m->key, own.carry);
    return data;
}

void send_all(struct play *p, bool synchronous)
{
    for (int i = 0; i < p->count; i++) {
        const struct message *m = &p->messages[i];
        MPI_Request request;

        if (m->from != p->me)
            continue;
        OK((synchronous ? MPI_Issend : MPI_Isend)(contents(m), (int)m->size, MPI_BYTE, m->to, m->tag, p->comm, &request));
        end_later(request);
    }
}

void receive(struct play *p, struct message *m, int source, size_t room)
{
    int i = p->pending++;

    if (!p->requests) {
        p->requests = space(1024 * sizeof *p->requests);
        p->of = space(1024 * sizeof *p->of);
        p->data = space(1024 * sizeof *p->data);
    }
    CHECK(i < 1024, "too many receives");
    own.any += source == MPI_ANY_SOURCE;
    p->of[i] = source == MPI_ANY_SOURCE ? NULL : m;
    p->data[i] = space(room);
    OK(MPI_Irecv(p->data[i], (int)room, MPI_BYTE, source, m->tag, p->comm, &p->requests[i]));
}

void receive_all(struct play *p)
{
    size_t most;

    for (int n = left(p, &most); n > 0; n--) {
        int skip = (int)below(&p->mine, (unsigned)n);
        struct message *m = p->messages;

        for (; m->taken || m->to != p->me || skip-- > 0;)
            m++;
        /* Of those from there with this tag, the one that comes first. */
        m = expected(p, m->from, m->tag);
        receive(p, m, m->from, m->size);
    }
}

void receive_now(struct play *p, int source, int tag, int from, MPI_Status *status)
{
    size_t most;
    unsigned char *data;
    struct message *m;

    left(p, &most);
    data = space(most);
    own.any += source == MPI_ANY_SOURCE;
    OK(MPI_Recv(data, (int)most, MPI_BYTE, source, tag, p->comm, status));
    CHECK(from == MPI_ANY_SOURCE || status->MPI_SOURCE == from, "from %d, not from %d", status->MPI_SOURCE, from);
    m = expected(p, status->MPI_SOURCE, tag == MPI_ANY_TAG ? MPI_ANY_TAG : status->MPI_TAG);
    came(m, data, status);
}

void shuffle_pending(struct play *p)
{
    for (int i = p->pending - 1; i > 0; i--) {
        int k = (int)below(&p->mine, (unsigned)i + 1);
        MPI_Request request = p->requests[i];
        struct message *of = p->of[i];
        unsigned char *data = p->data[i];

        p->requests[i] = p->requests[k];
        p->of[i] = p->of[k];
        p->data[i] = p->data[k];
        p->requests[k] = request;
        p->of[k] = of;
        p->data[k] = data;
    }
}
