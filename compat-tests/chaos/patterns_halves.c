/* SPDX-License-Identifier: BSD-3-Clause */
/* Patterns in two halves. The first half of one posts; all of them are then under way at the same time, across collectives and
   patterns that go back and forth; the second halves follow, on each rank in another order. A second half may need what others have
   posted in their first one, and nothing else: so no order of theirs can wait for itself. */
#include <sched.h>
#include <string.h>

#include "compat-tests/chaos/patterns.h"

/* What is pending has come: in any order, as i says. */
static void pending_came(struct play *p, int i, const MPI_Status *status) { came(p->of[i], p->data[i], status); }

static void wait_for_all(struct play *p)
{
    MPI_Status *statuses = space(sizeof *statuses * (size_t)(p->pending + 1));

    shuffle_pending(p);
    OK(MPI_Waitall(p->pending, p->requests, statuses));
    for (int i = 0; i < p->pending; i++)
        pending_came(p, i, &statuses[i]);
}

/* ---- random pairs, sizes and tags; often several of one pair with one tag ---- */

void pairs_start(struct play *p)
{
    add_random(p, 4 * p->n, 1 + (int)below(&p->rng, 5), LARGE);
    if (p->way % 2)
        receive_all(p);
    send_all(p, false);
    if (p->way % 2 == 0)
        receive_all(p);
}

void pairs_take(struct play *p) { wait_for_all(p); }

void alltoall_start(struct play *p)
{
    size_t most = p->way % 8 ? 3000 : (3u << 20) / (unsigned)(p->n * p->n);

    for (int i = 0; i < p->n * p->n; i++)
        add(p, i / p->n, i % p->n, i % 7, below(&p->rng, 3) ? draw_size(&p->rng, most) : most);
    receive_all(p);
    send_all(p, false);
}

void alltoall_take(struct play *p) { wait_for_all(p); }

/* ---- a receiver that is late, and takes them from behind ---- */

void late_start(struct play *p)
{
    for (int i = 0; i < 2; i++) {
        int from = (int)below(&p->rng, (unsigned)p->n), to = (from + (int)below(&p->rng, (unsigned)p->n)) % p->n;

        for (int t = 0; t < 100; t++)
            add(p, from, to, 100 * i + t, draw_size(&p->rng, 1000));
    }
    send_all(p, false);
}

void late_take(struct play *p)
{
    for (int i = p->count - 1; i >= 0; i--) {
        struct message *m = &p->messages[i];
        MPI_Status status;

        if (m->to == p->me)
            receive_now(p, m->from, m->tag, m->from, &status);
    }
}

/* More than anybody keeps for a receiver that is late, and what was sent last is received first: it must come all the same. */
void flood_start(struct play *p)
{
    int from = (int)below(&p->rng, (unsigned)p->n), to = (from + (int)below(&p->rng, (unsigned)p->n)) % p->n;

    for (int t = 0; t < 40; t++)
        add(p, from, to, t, LARGE - (size_t)t);
    send_all(p, false);
}

void flood_take(struct play *p)
{
    for (int i = 0; i < p->count; i++) {
        const struct message *m = &p->messages[p->way % 2 ? i : p->count - 1 - i];
        MPI_Status status;

        if (m->to == p->me)
            receive_now(p, m->from, m->tag, m->from, &status);
    }
}

/* ---- a named source and any tag: nothing is open ---- */

void anytag_start(struct play *p)
{
    add_random(p, 6 * p->n, TAGS, 100000);
    send_all(p, false);
}

void anytag_take(struct play *p)
{
    size_t most;

    for (int n = left(p, &most); n > 0; n = left(p, &most)) {
        const struct message *m = p->messages;
        MPI_Status status;

        for (int skip = (int)below(&p->mine, (unsigned)n); m->taken || m->to != p->me || skip-- > 0;)
            m++;
        if (p->way % 2)
            OK(MPI_Probe(m->from, MPI_ANY_TAG, p->comm, &status));
        receive_now(p, m->from, MPI_ANY_TAG, m->from, &status);
    }
}

/* ---- whatever is over first ---- */

void some_start(struct play *p)
{
    add_random(p, 5 * p->n, 50, 300000);
    receive_all(p);
    send_all(p, false);
}

static int test_each(struct play *p, int *which, MPI_Status *statuses)
{
    for (int i = 0; i < p->pending; i++) {
        int flag = 0;

        if (p->requests[i] == MPI_REQUEST_NULL)
            continue;
        if (p->way % 2) {
            OK(MPI_Request_get_status(p->requests[i], &flag, statuses));
            if (flag)
                OK(MPI_Wait(&p->requests[i], statuses));
        } else {
            OK(MPI_Test(&p->requests[i], &flag, statuses));
        }
        if (flag) {
            *which = i;
            return 1;
        }
        note((uint64_t)i);
    }
    return 0;
}

/* Those that are over: their number, which, and their statuses; 0: not yet; MPI_UNDEFINED: none is left. */
static int ask(struct play *p, int *which, MPI_Status *statuses)
{
    int n = 0, flag = 0, active = 0;

    for (int i = 0; i < p->pending; i++)
        active += p->requests[i] != MPI_REQUEST_NULL;
    switch (p->way % 7) {
    case 0:
        OK(MPI_Waitany(p->pending, p->requests, which, statuses));
        n = *which == MPI_UNDEFINED ? MPI_UNDEFINED : 1;
        break;
    case 1: OK(MPI_Waitsome(p->pending, p->requests, &n, which, statuses)); break;
    case 2: OK(MPI_Testsome(p->pending, p->requests, &n, which, statuses)); break;
    case 3:
        OK(MPI_Testany(p->pending, p->requests, which, &flag, statuses));
        n = !flag ? 0 : *which == MPI_UNDEFINED ? MPI_UNDEFINED : 1;
        break;
    case 4:
        if (active == 0)
            return MPI_UNDEFINED;
        OK(MPI_Testall(p->pending, p->requests, &flag, statuses));
        for (n = 0; flag && n < p->pending; n++)
            which[n] = n;
        break;
    default: n = active ? test_each(p, which, statuses) : MPI_UNDEFINED;
    }
    CHECK((n == MPI_UNDEFINED) == (active == 0), "%d over, of %d", n, active);
    return n;
}

void some_take(struct play *p)
{
    MPI_Status *statuses = space(sizeof *statuses * (size_t)(p->pending + 1));
    int *which = space(sizeof *which * (size_t)(p->pending + 1)), all = 0;

    shuffle_pending(p);
    for (int n; (n = ask(p, which, statuses)) != MPI_UNDEFINED;) {
        note((uint64_t)n);
        for (int i = 0; i < n; i++) {
            CHECK(which[i] >= 0 && which[i] < p->pending && p->requests[which[i]] == MPI_REQUEST_NULL, "number %d", which[i]);
            note((uint64_t)which[i]);
            pending_came(p, which[i], &statuses[i]);
        }
        all += n;
        if (n == 0)
            sched_yield();
    }
    CHECK(all == p->pending, "%d over of %d", all, p->pending);
}

/* ---- is there one? then that one ---- */

void probes_start(struct play *p)
{
    add_random(p, 5 * p->n, 1, 300000);
    send_all(p, false);
}

/* Any message is taken, or named, when this returns. */
static void probe(struct play *p, MPI_Message *taken, MPI_Status *status)
{
    unsigned way = p->way % 4;
    int flag = way < 2;

    own.any++;
    if (way == 0)
        OK(MPI_Probe(MPI_ANY_SOURCE, p->tag, p->comm, status));
    if (way == 1)
        OK(MPI_Mprobe(MPI_ANY_SOURCE, p->tag, p->comm, taken, status));
    while (!flag) {
        if (way == 2)
            OK(MPI_Iprobe(MPI_ANY_SOURCE, p->tag, p->comm, &flag, status));
        else
            OK(MPI_Improbe(MPI_ANY_SOURCE, p->tag, p->comm, &flag, taken, status));
        note((uint64_t)flag);
        if (!flag)
            sched_yield();
    }
}

static int size_of(const MPI_Status *status)
{
    int n = -1;

    OK(MPI_Get_count(status, MPI_BYTE, &n));
    CHECK(n >= 0, "%d bytes", n);
    return n;
}

void probes_take(struct play *p)
{
    enum { HELD = 4 };
    bool takes = p->way % 2;
    size_t most;

    for (int n = left(p, &most); n > 0;) {
        MPI_Message taken[HELD];
        struct message *m[HELD];
        int held = 0;

        /* Messages that are taken may be received in another order. */
        for (; held < (takes ? HELD : 1) && n > 0; held++, n--) {
            MPI_Status status;

            probe(p, &taken[held], &status);
            m[held] = expected(p, status.MPI_SOURCE, status.MPI_TAG);
            CHECK((size_t)size_of(&status) == m[held]->size, "%d bytes, not %zu", size_of(&status), m[held]->size);
            note((uint64_t)status.MPI_SOURCE);
        }
        while (held-- > 0) {
            int size = (int)m[held]->size;
            void *data = space(m[held]->size);
            MPI_Request request;
            MPI_Status status;

            if (!takes) {
                OK(MPI_Recv(data, size, MPI_BYTE, m[held]->from, m[held]->tag, p->comm, &status));
            } else if (held % 2) {
                OK(MPI_Imrecv(data, size, MPI_BYTE, &taken[held], &request));
                OK(MPI_Wait(&request, &status));
            } else {
                OK(MPI_Mrecv(data, size, MPI_BYTE, &taken[held], &status));
            }
            CHECK(!takes || taken[held] == MPI_MESSAGE_NULL, "the message is still there");
            came(m[held], data, &status);
        }
    }
}

/* ---- receives of any source, waited for from behind; some of named ones before them ---- */

void anysource_start(struct play *p)
{
    size_t most;
    int n;

    add_random(p, 4 * p->n, 1, 70000);
    for (int i = 0; i < p->count && p->way % 2; i++) {
        struct message *m = &p->messages[i];

        if (m->to == p->me && !m->taken && below(&p->mine, 3) == 0) {
            m = expected(p, m->from, m->tag);
            receive(p, m, m->from, m->size);
        }
    }
    n = left(p, &most);
    while (n-- > 0)
        receive(p, p->messages, MPI_ANY_SOURCE, most);
    send_all(p, false);
}

void anysource_take(struct play *p)
{
    MPI_Status *statuses = space(sizeof *statuses * (size_t)(p->pending + 1));

    for (int i = p->pending - 1; i >= 0; i--)
        OK(MPI_Wait(&p->requests[i], &statuses[i]));
    /* In the order in which they were posted, messages of one source are in theirs. */
    for (int i = 0; i < p->pending; i++) {
        if (!p->of[i])
            p->of[i] = expected(p, statuses[i].MPI_SOURCE, statuses[i].MPI_TAG);
        pending_came(p, i, &statuses[i]);
    }
}

/* ---- the same, whichever is over first ---- */

void anysome_start(struct play *p)
{
    size_t most;

    add_random(p, 5 * p->n, 4, 70000);
    left(p, &most);
    for (int i = 0; i < p->count; i++)
        if (p->messages[i].to == p->me)
            receive(p, &p->messages[i], MPI_ANY_SOURCE, most);
    send_all(p, false);
}

void anysome_take(struct play *p)
{
    MPI_Status *over = space(sizeof *over * (size_t)(p->pending + 1)), *statuses = space(sizeof *statuses * (size_t)(p->pending + 1));
    int *which = space(sizeof *which * (size_t)(p->pending + 1));

    for (int n; (n = ask(p, which, over)) != MPI_UNDEFINED;) {
        note((uint64_t)n);
        for (int i = 0; i < n; i++) {
            note((uint64_t)which[i]);
            statuses[which[i]] = over[i];
        }
        if (n == 0)
            sched_yield();
    }
    for (int i = 0; i < p->pending; i++) {
        p->of[i] = expected(p, statuses[i].MPI_SOURCE, statuses[i].MPI_TAG);
        pending_came(p, i, &statuses[i]);
    }
}

/* ---- sends that are over when they are received ---- */

void synchronous_start(struct play *p)
{
    add_random(p, 4 * p->n, 3, 300000);
    if (p->way % 2)
        receive_all(p);
    send_all(p, true);
}

void synchronous_take(struct play *p)
{
    MPI_Status status;

    if (p->way % 2) {
        wait_for_all(p);
        return;
    }
    for (int i = 0; i < p->count; i++)
        if (p->messages[i].to == p->me)
            receive_now(p, p->messages[i].from, p->messages[i].tag, p->messages[i].from, &status);
}

/* ---- receives that are cancelled: of what nobody sends, and of what may have come already ---- */

void cancel_start(struct play *p)
{
    for (int i = 0; i < 3; i++) {
        int source = i ? (p->me + i) % p->n : MPI_ANY_SOURCE;
        MPI_Request request;

        OK(MPI_Irecv(space(100), 100, MPI_BYTE, source, p->tag + 300 + i, p->comm, &request));
        if (!p->requests)
            p->requests = space(3 * sizeof request);
        p->requests[i] = request;
    }
    add_random(p, 3 * p->n, 2, 70000);
    send_all(p, false);
}

static bool cancelled(MPI_Request *request, MPI_Status *status)
{
    int flag = -1;

    OK(MPI_Cancel(request));
    OK(MPI_Wait(request, status));
    OK(MPI_Test_cancelled(status, &flag));
    CHECK(*request == MPI_REQUEST_NULL && (flag == 0 || flag == 1), "cancelled: %d", flag);
    return flag;
}

void cancel_take(struct play *p)
{
    MPI_Status status;

    for (int i = 2; i >= 0; i--)
        CHECK(cancelled(&p->requests[i], &status), "what nobody sends was received");
    for (int i = 0; i < p->count; i++) {
        struct message *m = &p->messages[i];
        MPI_Request request;
        void *data;
        bool gone;

        if (m->to != p->me)
            continue;
        m->taken = true; /* the first of its pair and tag, as all before it were */
        data = space(m->size);
        OK(MPI_Irecv(data, (int)m->size, MPI_BYTE, m->from, m->tag, p->comm, &request));
        gone = cancelled(&request, &status);
        note(gone);
        if (gone)
            OK(MPI_Recv(data, (int)m->size, MPI_BYTE, m->from, m->tag, p->comm, &status));
        came(m, data, &status);
    }
}

/* ---- more comes than there is room for; the next message is whole ---- */

void truncate_start(struct play *p)
{
    for (int i = 0; i < 3; i++) {
        int from = (int)below(&p->rng, (unsigned)p->n), to = (int)below(&p->rng, (unsigned)p->n);

        add(p, from, to, 5, 1 + draw_size(&p->rng, 200000));
        add(p, from, to, 5, draw_size(&p->rng, 1000));
    }
    send_all(p, false);
}

static int class_of(int code)
{
    int class = -1;

    OK(MPI_Error_class(code, &class));
    return class;
}

void truncate_take(struct play *p)
{
    for (int i = 0; i < p->count; i += 2) {
        struct message *large = &p->messages[i], *next = large + 1;
        size_t room = large->size / 2;
        MPI_Request requests[2];
        MPI_Status statuses[2];
        unsigned char *data;
        void *rest;
        int class;

        if (large->to != p->me)
            continue;
        /* Open MPI 4.1.4 writes behind the room there is. */
        data = space(large->size);
        memset(data, 0x5a, large->size);
        rest = space(next->size);
        if (p->way % 3 == 0) {
            class = class_of(MPI_Recv(data, (int)room, MPI_BYTE, large->from, large->tag, p->comm, &statuses[0]));
            OK(MPI_Recv(rest, (int)next->size, MPI_BYTE, next->from, next->tag, p->comm, &statuses[1]));
        } else {
            OK(MPI_Irecv(data, (int)room, MPI_BYTE, large->from, large->tag, p->comm, &requests[0]));
            OK(MPI_Irecv(rest, (int)next->size, MPI_BYTE, next->from, next->tag, p->comm, &requests[1]));
            if (p->way % 3 == 1) {
                OK(MPI_Wait(&requests[1], &statuses[1]));
                class = class_of(MPI_Wait(&requests[0], &statuses[0]));
            } else {
                class = class_of(MPI_Waitall(2, requests, statuses));
                CHECK(class == MPI_ERR_IN_STATUS, "class %d", class);
                class = class_of(statuses[1].MPI_ERROR);
                CHECK(class == MPI_SUCCESS || class == MPI_ERR_PENDING, "class %d", class);
                note((uint64_t)class);
                if (class == MPI_ERR_PENDING)
                    OK(MPI_Wait(&requests[1], &statuses[1]));
                class = class_of(statuses[0].MPI_ERROR);
            }
        }
        CHECK(class == MPI_ERR_TRUNCATE, "class %d", class);
        CHECK(statuses[0].MPI_SOURCE == large->from && statuses[0].MPI_TAG == large->tag, "from %d, tag %d", statuses[0].MPI_SOURCE,
              statuses[0].MPI_TAG);
#ifdef FTMPI_API
        for (size_t at = room; at < large->size; at++)
            CHECK(data[at] == 0x5a, "written behind %zu bytes, at %zu", room, at);
#endif
        came(next, rest, &statuses[1]);
        own.came += mix(large->key);
    }
}

/* ---- to itself ---- */

void selves_start(struct play *p)
{
    for (int i = 0; i < p->n; i++)
        for (int k = 0; k < 3; k++)
            add(p, i, i, k / 2, draw_size(&p->rng, 300000));
    if (p->way % 2)
        receive_all(p);
    send_all(p, p->way % 4 > 1);
    if (p->way % 2 == 0)
        receive_all(p);
}

void selves_take(struct play *p)
{
    struct message *m = add(p, p->me, p->me, 2, 33);
    uint64_t carry = own.carry;
    MPI_Status status;
    void *data = space(m->size);

    wait_for_all(p);
    OK(MPI_Sendrecv(contents(m), (int)m->size, MPI_BYTE, p->me, m->tag, data, (int)m->size, MPI_BYTE, p->me, m->tag, p->comm, &status));
    came(m, data, &status);
    OK(MPI_Sendrecv(&carry, 1, MPI_UINT64_T, p->me, p->tag + 3, data, 1, MPI_UINT64_T, p->me, p->tag + 3, p->comm, MPI_STATUS_IGNORE));
    CHECK(!memcmp(data, &carry, 8), "something else came");
}

/* ---- sends that are freed while they are under way: the other side says when they are over ---- */

void freed_start(struct play *p)
{
    add_random(p, 2 * p->n, 2, 300000);
    for (int i = 0; i < p->count; i++) {
        const struct message *m = &p->messages[i];
        MPI_Request request;

        if (m->from != p->me)
            continue;
        OK(MPI_Irecv(space(0), 0, MPI_BYTE, m->to, p->tag + 100 + i, p->comm, &request));
        end_later(request);
        OK((p->way % 2 ? MPI_Issend : MPI_Isend)(contents(m), (int)m->size, MPI_BYTE, m->to, m->tag, p->comm, &request));
        OK(MPI_Request_free(&request));
        CHECK(request == MPI_REQUEST_NULL, "the request is still there");
    }
}

void freed_take(struct play *p)
{
    for (int i = 0; i < p->count; i++) {
        const struct message *m = &p->messages[i];
        MPI_Status status;
        MPI_Request request;

        if (m->to != p->me)
            continue;
        receive_now(p, m->from, m->tag, m->from, &status);
        OK(MPI_Isend(NULL, 0, MPI_BYTE, m->from, p->tag + 100 + i, p->comm, &request));
        end_later(request);
    }
}

/* ---- the same tags on three communicators ---- */

void twin_start(struct play *p)
{
    p->others = space(3 * sizeof *p->others);
    for (int c = 0; c < 3; c++) {
        struct play *other = &p->others[c];

        play_init(other, twins[c], p->tag, p->rng + (uint64_t)c);
        add_random(other, 3 * other->n, 2, 20000);
        send_all(other, c == 1 && p->way % 2);
    }
}

void twin_take(struct play *p)
{
    for (int c = 2; c >= 0; c--) {
        receive_all(&p->others[c]);
        wait_for_all(&p->others[c]);
    }
}

/* ---- pairs of ints, received as ints; ints, received as pairs ---- */

enum { MOST_PAIRS = 500 };

static void typed_data(const struct play *p, int from, int *data, int pairs)
{
    for (int i = 0; i < 2 * pairs; i++)
        data[i] = (int)(mix(p->rng ^ (unsigned)from) >> 40) + i;
}

void typed_start(struct play *p)
{
    int to = (p->me + 1) % p->n, from = (p->me + p->n - 1) % p->n, n = p->way % 2 ? MOST_PAIRS : 3;
    MPI_Datatype pair;
    MPI_Request request;

    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Type_commit(&pair));
    p->requests = space(2 * sizeof *p->requests);
    p->data = space(2 * sizeof *p->data);
    for (int i = 0; i < 2; i++) {
        size_t size = 2 * (size_t)n * sizeof(int);
        int *mine = space(size);

        typed_data(p, p->me, mine, n);
        p->data[i] = space(size);
        OK(MPI_Irecv(p->data[i], i ? n : 2 * n, i ? pair : MPI_INT, from, p->tag + i, p->comm, &p->requests[i]));
        OK(MPI_Isend(mine, i ? 2 * n : n, i ? MPI_INT : pair, to, p->tag + i, p->comm, &request));
        end_later(request);
    }
    OK(MPI_Type_free(&pair)); /* and goes on being used */
}

void typed_take(struct play *p)
{
    int from = (p->me + p->n - 1) % p->n, n = p->way % 2 ? MOST_PAIRS : 3, should_be[2 * MOST_PAIRS];

    typed_data(p, from, should_be, n);
    for (int i = 1; i >= 0; i--) {
        MPI_Status status;
        int count = -1;

        OK(MPI_Wait(&p->requests[i], &status));
        OK(MPI_Get_count(&status, MPI_INT, &count));
        CHECK(count == 2 * n && status.MPI_SOURCE == from, "%d ints from %d", count, status.MPI_SOURCE);
        CHECK(!memcmp(p->data[i], should_be, 2 * (size_t)n * sizeof(int)), "something else came");
        own.came += mix((uint64_t)(unsigned)should_be[0] + (unsigned)i);
    }
}
