/* SPDX-License-Identifier: BSD-3-Clause */
/* Patterns that go back and forth, so that each is played to its end. Whatever is under way beside them stays so. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "compat-tests/chaos/patterns.h"

static struct message message(struct play *p, int from, int to, int tag, size_t size, uint64_t key)
{
    return (struct message){.from = from, .to = to, .tag = p->tag + tag, .size = size, .key = key};
}

/* ---- a token goes round; what it says changes at each rank ---- */

void ring_play(struct play *p)
{
    size_t size = 16 + draw_size(&p->rng, 300000);
    int to = (p->me + 1) % p->n, from = (p->me + p->n - 1) % p->n;
    void *data = space(size);
    MPI_Status status;

    for (int round = 0; round < 3; round++) {
        uint64_t key = draw(&p->rng), token = own.carry;
        struct message m = message(p, from, p->me, round, size, key);
        MPI_Request request;
        void *first = space(size);

        if (p->me == 0) {
            fill(first, size, key, token);
            if (p->n == 1)
                OK(MPI_Isend(first, (int)size, MPI_BYTE, to, m.tag, p->comm, &request));
            else
                OK(MPI_Send(first, (int)size, MPI_BYTE, to, m.tag, p->comm));
        }
        OK(MPI_Recv(data, (int)size, MPI_BYTE, from, m.tag, p->comm, &status));
        came(&m, data, &status);
        if (p->me == 0 && p->n == 1)
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        if (p->me == 0)
            continue;
        memcpy(&token, data, 8);
        fill(data, size, key, mix(token + own.carry));
        OK(MPI_Send(data, (int)size, MPI_BYTE, to, m.tag, p->comm));
    }
}

/* ---- everybody sends to the one so many ranks further, on a circle or on a line that has ends ---- */

void shift_play(struct play *p)
{
    for (int round = 0; round < 4; round++) {
        int far = (int)below(&p->rng, (unsigned)p->n), to = p->me + far, from = p->me - far;
        bool line = below(&p->rng, 3) == 0, replace = below(&p->rng, 3) == 0;
        uint64_t key = draw(&p->rng);
        size_t size = draw_size(&p->rng, 300000);
        size_t mine = replace ? size : size * (unsigned)(p->me + 1) / (unsigned)p->n, theirs;
        struct message m;
        MPI_Status status;
        void *data, *got;

        to = to < p->n ? to : line ? MPI_PROC_NULL : to - p->n;
        from = from >= 0 ? from : line ? MPI_PROC_NULL : from + p->n;
        theirs = replace ? size : size * (unsigned)(from + 1) / (unsigned)p->n;
        m = message(p, p->me, to, round, mine, key + (unsigned)p->me);
        got = data = contents(&m);
        if (replace) {
            OK(MPI_Sendrecv_replace(data, (int)size, MPI_BYTE, to, m.tag, from, m.tag, p->comm, &status));
        } else {
            got = space(from == MPI_PROC_NULL ? 0 : theirs);
            OK(MPI_Sendrecv(data, (int)mine, MPI_BYTE, to, m.tag, got, from == MPI_PROC_NULL ? 0 : (int)theirs, MPI_BYTE, from, m.tag,
                            p->comm, &status));
        }
        if (from == MPI_PROC_NULL) {
            CHECK(status.MPI_SOURCE == MPI_PROC_NULL, "from %d", status.MPI_SOURCE);
            continue;
        }
        m = message(p, from, p->me, round, theirs, key + (unsigned)from);
        came(&m, got, &status);
    }
}

/* ---- MPI_PROC_NULL ---- */

static void is_from_nobody(const MPI_Status *status)
{
    int count = -1;

    OK(MPI_Get_count(status, MPI_INT, &count));
    CHECK(status->MPI_SOURCE == MPI_PROC_NULL && status->MPI_TAG == MPI_ANY_TAG && count == 0, "from %d, tag %d, %d ints",
          status->MPI_SOURCE, status->MPI_TAG, count);
}

void nowhere_play(struct play *p)
{
    int data[2] = {1, 2}, flag = 0;
    MPI_Request requests[3];
    MPI_Message taken;
    MPI_Status status;

    OK(MPI_Send(data, 2, MPI_INT, MPI_PROC_NULL, p->tag, p->comm));
    OK(MPI_Ssend(data, 2, MPI_INT, MPI_PROC_NULL, p->tag, p->comm));
    OK(MPI_Recv(data, 2, MPI_INT, MPI_PROC_NULL, p->tag, p->comm, &status));
    is_from_nobody(&status);
    OK(MPI_Probe(MPI_PROC_NULL, p->tag, p->comm, &status));
    is_from_nobody(&status);
    OK(MPI_Iprobe(MPI_PROC_NULL, p->tag, p->comm, &flag, &status));
    CHECK(flag, "nothing comes from nobody");
    is_from_nobody(&status);
    OK(MPI_Mprobe(MPI_PROC_NULL, p->tag, p->comm, &taken, &status));
    CHECK(taken == MPI_MESSAGE_NO_PROC, "a message of nobody's");
    OK(MPI_Mrecv(data, 2, MPI_INT, &taken, &status));
    is_from_nobody(&status);
    OK(MPI_Irecv(data, 2, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, p->comm, &requests[0]));
    OK(MPI_Isend(data, 2, MPI_INT, MPI_PROC_NULL, p->tag, p->comm, &requests[1]));
    OK(MPI_Issend(data, 2, MPI_INT, MPI_PROC_NULL, p->tag, p->comm, &requests[2]));
    OK(MPI_Wait(&requests[0], &status));
    is_from_nobody(&status);
    OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    CHECK(data[0] == 1 && data[1] == 2, "the buffer has changed");
}

/* ---- a server, and clients that ask it several times; in what order is open ---- */

enum { ASK = 0, ANSWER = 1 };

/* The next question, from anybody. */
static void next_question(struct play *p, MPI_Request *persistent, void *data, int room, MPI_Status *status)
{
    unsigned way = p->way % 7;
    int flag = 0, count;
    MPI_Message taken;
    MPI_Request request;

    own.any++;
    switch (way) {
    case 0: OK(MPI_Recv(data, room, MPI_BYTE, MPI_ANY_SOURCE, p->tag + ASK, p->comm, status)); return;
    case 1:
    case 2:
        if (way == 1)
            OK(MPI_Probe(MPI_ANY_SOURCE, p->tag + ASK, p->comm, status));
        while (way == 2 && !flag) {
            OK(MPI_Iprobe(MPI_ANY_SOURCE, p->tag + ASK, p->comm, &flag, status));
            note((uint64_t)flag);
            if (!flag)
                sched_yield();
        }
        OK(MPI_Get_count(status, MPI_BYTE, &count));
        OK(MPI_Recv(data, count, MPI_BYTE, status->MPI_SOURCE, status->MPI_TAG, p->comm, status));
        return;
    case 3:
    case 4:
        if (way == 3)
            OK(MPI_Mprobe(MPI_ANY_SOURCE, p->tag + ASK, p->comm, &taken, status));
        while (way == 4 && !flag) {
            OK(MPI_Improbe(MPI_ANY_SOURCE, p->tag + ASK, p->comm, &flag, &taken, status));
            note((uint64_t)flag);
            if (!flag)
                sched_yield();
        }
        OK(MPI_Get_count(status, MPI_BYTE, &count));
        OK(MPI_Mrecv(data, count, MPI_BYTE, &taken, status));
        return;
    case 5:
        OK(MPI_Irecv(data, room, MPI_BYTE, MPI_ANY_SOURCE, p->tag + ASK, p->comm, &request));
        while (!flag) {
            OK(MPI_Test(&request, &flag, status));
            note((uint64_t)flag);
            if (!flag)
                sched_yield();
        }
        return;
    default:
        OK(MPI_Start(persistent));
        OK(MPI_Wait(persistent, status));
    }
}

static void answer(struct play *p, int rounds, uint64_t key, size_t most)
{
    int asked[MOST_RANKS] = {0};
    void *data = space(most);
    MPI_Request persistent;

    OK(MPI_Recv_init(data, (int)most, MPI_BYTE, MPI_ANY_SOURCE, p->tag + ASK, p->comm, &persistent));
    for (int i = 0; i < rounds * (p->n - 1); i++) {
        uint64_t words[4], k, s;
        struct message m;
        MPI_Status status;
        int from;

        next_question(p, &persistent, data, (int)most, &status);
        from = status.MPI_SOURCE;
        s = k = key + mix((uint64_t)from << 32 | (uint64_t)asked[from]++);
        m = message(p, from, p->me, ASK, 16 + draw_size(&s, most - 16), k);
        memcpy(&words[1], (unsigned char *)data + 8, 8);
        came(&m, data, &status);
        words[0] = k;
        words[2] = own.order;
        words[3] = own.ordered ? (uint64_t)i : 0;
        OK(MPI_Send(words, 4, MPI_UINT64_T, from, p->tag + ANSWER, p->comm));
    }
    OK(MPI_Request_free(&persistent));
}

void server_play(struct play *p)
{
    int server = (int)below(&p->rng, (unsigned)p->n), rounds = 1 + (int)below(&p->rng, 8);
    uint64_t key = draw(&p->rng);
    size_t most = 16 + (below(&p->rng, 4) ? 200u : 100000u);

    if (p->me == server) {
        answer(p, rounds, key, most);
        return;
    }
    for (int i = 0; i < rounds; i++) {
        uint64_t k = key + mix((uint64_t)p->me << 32 | (uint64_t)i), s = k, words[4], told = own.order;
        struct message m = message(p, p->me, server, ASK, 16 + draw_size(&s, most - 16), k);

        OK(MPI_Send(contents(&m), (int)m.size, MPI_BYTE, server, m.tag, p->comm));
        OK(MPI_Recv(words, 4, MPI_UINT64_T, server, p->tag + ANSWER, p->comm, MPI_STATUS_IGNORE));
        CHECK(words[0] == k, "the answer to something else");
        CHECK(words[1] == told, "it asked in another order: said %016llx, was heard saying %016llx", (unsigned long long)told,
              (unsigned long long)words[1]);
        note(words[2]);
        note(words[3]);
    }
}

/* ---- work for whoever asks for it ---- */

enum { NOTHING = 1 << 20 };
struct asks { uint64_t done, result, told, order; };
struct job { uint64_t number, carry, order; };

static size_t size_of_job(uint64_t seed, uint64_t number, size_t most)
{
    uint64_t s = seed ^ mix(number);

    return draw_size(&s, most);
}

static void hand_out(struct play *p, uint64_t seed, int jobs, size_t most)
{
    uint64_t *told = space((unsigned)jobs * sizeof *told);
    unsigned char *data = space(sizeof(struct asks) + most);
    int next = 0;

    for (int stopped = 0; stopped < p->n - 1;) {
        struct asks a;
        struct job job = {NOTHING, own.carry, 0};
        MPI_Status status;
        int count;

        OK(MPI_Recv(data, (int)(sizeof a + most), MPI_BYTE, MPI_ANY_SOURCE, p->tag + ASK, p->comm, &status));
        own.any++;
        memcpy(&a, data, sizeof a);
        OK(MPI_Get_count(&status, MPI_BYTE, &count));
        note((uint64_t)status.MPI_SOURCE);
        note(a.order);
        if (a.done != NOTHING) {
            CHECK(a.done < (uint64_t)next, "job %llu was not handed out", (unsigned long long)a.done);
            CHECK(a.told == told[a.done], "job %llu was handed out in another order: %016llx, the worker heard %016llx",
                  (unsigned long long)a.done, (unsigned long long)told[a.done], (unsigned long long)a.told);
            CHECK((size_t)count == sizeof a + size_of_job(seed, a.done, most), "job %llu: %d bytes", (unsigned long long)a.done, count);
            CHECK(a.result == mix(a.done ^ mix(own.carry)), "job %llu: another result", (unsigned long long)a.done);
            CHECK(verify(data + sizeof a, (size_t)count - sizeof a, seed + a.done) == ((size_t)count - sizeof a >= 16 ? own.carry : 0),
                  "job %llu: not of this master", (unsigned long long)a.done);
            own.came += mix(a.result);
        }
        job.order = own.order;
        if (next < jobs) {
            told[next] = own.order;
            job.number = (uint64_t)next++;
        } else {
            stopped++;
        }
        OK(MPI_Send(&job, sizeof job, MPI_BYTE, status.MPI_SOURCE, p->tag + ANSWER, p->comm));
    }
}

void work_play(struct play *p)
{
    int master = (int)below(&p->rng, (unsigned)p->n), jobs = 1 + (int)below(&p->rng, 8 * (unsigned)p->n);
    uint64_t seed = draw(&p->rng);
    size_t most = below(&p->rng, 4) ? 300u : 300000u;
    struct asks a = {NOTHING, 0, 0, own.order};
    unsigned char *data;
    size_t size = 0;

    if (p->me == master) {
        hand_out(p, seed, jobs, most);
        return;
    }
    data = space(sizeof a + most);
    for (;;) {
        struct job job;

        memcpy(data, &a, sizeof a);
        OK(MPI_Send(data, (int)(sizeof a + size), MPI_BYTE, master, p->tag + ASK, p->comm));
        OK(MPI_Recv(&job, sizeof job, MPI_BYTE, master, p->tag + ANSWER, p->comm, MPI_STATUS_IGNORE));
        note(job.number);
        note(job.order);
        if (job.number == NOTHING)
            return;
        size = size_of_job(seed, job.number, most);
        a = (struct asks){job.number, mix(job.number ^ mix(job.carry)), job.order, own.order};
        fill(data + sizeof a, size, seed + job.number, job.carry);
    }
}

/* ---- a pipeline: what comes first goes on first ---- */

void pipeline_play(struct play *p)
{
    enum { ITEMS = 24, WINDOW = 5 };
    uint64_t key = draw(&p->rng);
    size_t size[ITEMS];
    MPI_Request requests[WINDOW], sent[ITEMS];
    struct message m[ITEMS];
    void *data[ITEMS];
    int item[WINDOW], next = 0;

    for (int i = 0; i < ITEMS; i++) {
        size[i] = draw_size(&p->rng, 100000);
        m[i] = message(p, p->me - 1, p->me, i, size[i], key + (unsigned)i);
        sent[i] = MPI_REQUEST_NULL;
    }
    for (int w = 0; w < WINDOW; w++)
        requests[w] = MPI_REQUEST_NULL;
    for (int over = 0; over < ITEMS; over++) {
        int which = MPI_UNDEFINED, i = over;
        MPI_Status status;

        for (int w = 0; p->me > 0 && w < WINDOW && next < ITEMS; w++) {
            if (requests[w] != MPI_REQUEST_NULL)
                continue;
            item[w] = next++;
            data[item[w]] = space(size[item[w]]);
            OK(MPI_Irecv(data[item[w]], (int)size[item[w]], MPI_BYTE, p->me - 1, m[item[w]].tag, p->comm, &requests[w]));
        }
        if (p->me == 0) {
            data[i] = contents(&m[i]);
        } else {
            OK(MPI_Waitany(WINDOW, requests, &which, &status));
            CHECK(which >= 0 && which < WINDOW, "number %d", which);
            note((uint64_t)which);
            i = item[which];
            came(&m[i], data[i], &status);
        }
        if (p->me + 1 == p->n)
            continue;
        OK(MPI_Isend(data[i], (int)size[i], MPI_BYTE, p->me + 1, m[i].tag, p->comm, &sent[i]));
    }
    OK(MPI_Waitall(ITEMS, sent, MPI_STATUSES_IGNORE));
}

/* ---- synchronous sends are not over before they are received ---- */

void rendezvous_play(struct play *p)
{
    int to = (p->me + 1) % p->n, from = (p->me + p->n - 1) % p->n, other = p->me ^ 1, flag = 1;
    size_t size = draw_size(&p->rng, 300000);
    uint64_t key = draw(&p->rng);
    struct message m = message(p, p->me, to, 0, size, key + (unsigned)p->me);
    void *data = space(size);
    MPI_Request request;
    MPI_Status status;

    OK(MPI_Issend(contents(&m), (int)size, MPI_BYTE, to, m.tag, p->comm, &request));
    OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag, "over before anybody receives it");
    OK(MPI_Barrier(p->comm));
    m = message(p, from, p->me, 0, size, key + (unsigned)from);
    OK(MPI_Recv(data, (int)size, MPI_BYTE, from, m.tag, p->comm, &status));
    came(&m, data, &status);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (other >= p->n)
        return;
    for (int turn = 0; turn < 2; turn++) {
        if (p->me % 2 == turn) {
            m = message(p, p->me, other, 1, size, key + (unsigned)p->me);
            OK(MPI_Ssend(contents(&m), (int)size, MPI_BYTE, other, m.tag, p->comm));
        } else {
            m = message(p, other, p->me, 1, size, key + (unsigned)other);
            OK(MPI_Recv(data, (int)size, MPI_BYTE, other, m.tag, p->comm, &status));
            came(&m, data, &status);
        }
    }
}

/* ---- sends to who has said that he waits ---- */

void ready_play(struct play *p)
{
    int far = (int)below(&p->rng, (unsigned)p->n), to = (p->me + far) % p->n, from = (p->me + p->n - far) % p->n;
    size_t size = draw_size(&p->rng, 300000);
    uint64_t key = draw(&p->rng);
    struct message mine = message(p, p->me, to, 0, size, key + (unsigned)p->me);
    struct message m = message(p, from, p->me, 0, size, key + (unsigned)from);
    void *data = space(size);
    MPI_Request receive_of, go, sent;
    MPI_Status status;

    OK(MPI_Irecv(data, (int)size, MPI_BYTE, from, m.tag, p->comm, &receive_of));
    OK(MPI_Isend(NULL, 0, MPI_BYTE, from, p->tag + 1, p->comm, &go));
    OK(MPI_Recv(NULL, 0, MPI_BYTE, to, p->tag + 1, p->comm, MPI_STATUS_IGNORE));
    if (p->way % 2)
        OK(MPI_Irsend(contents(&mine), (int)size, MPI_BYTE, to, mine.tag, p->comm, &sent));
    OK(MPI_Wait(&go, MPI_STATUS_IGNORE));
    if (p->way % 2 == 0 && to != p->me)
        OK(MPI_Rsend(contents(&mine), (int)size, MPI_BYTE, to, mine.tag, p->comm));
    else if (p->way % 2 == 0)
        OK(MPI_Irsend(contents(&mine), (int)size, MPI_BYTE, to, mine.tag, p->comm, &sent));
    OK(MPI_Wait(&receive_of, &status));
    came(&m, data, &status);
    if (p->way % 2 || to == p->me)
        OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
}

/* ---- buffered sends are over at once: everybody sends all, then receives ---- */

void buffered_play(struct play *p)
{
    int room = 64, size = -1;
    void *buffer, *given = NULL;

    add_random(p, 4 * p->n, 2, 100000);
    for (int i = 0; i < p->count; i++)
        if (p->messages[i].from == p->me)
            room += (int)p->messages[i].size + MPI_BSEND_OVERHEAD + 64;
    buffer = space((size_t)room);
    OK(MPI_Buffer_attach(buffer, room));
    for (int i = 0; i < p->count; i++) {
        const struct message *m = &p->messages[i];
        MPI_Request request;
        void *data;

        if (m->from != p->me)
            continue;
        data = contents(m);
        if (i % 3) {
            OK(MPI_Bsend(data, (int)m->size, MPI_BYTE, m->to, m->tag, p->comm));
            memset(data, 0x11, m->size);
        } else {
            OK(MPI_Ibsend(data, (int)m->size, MPI_BYTE, m->to, m->tag, p->comm, &request));
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
    }
    for (int i = p->count - 1; i >= 0; i--) {
        const struct message *m = &p->messages[i];
        MPI_Status status;

        if (m->to == p->me)
            receive_now(p, m->from, m->tag, m->from, &status);
    }
    OK(MPI_Buffer_detach(&given, &size));
    CHECK(given == buffer && size == room, "another buffer of %d bytes, not %d", size, room);
}

/* ---- persistent requests, started several times ---- */

static void is_empty(MPI_Request *inactive)
{
    MPI_Status status;
    int flag = 0, count = -1;

    OK(MPI_Test(inactive, &flag, &status));
    CHECK(flag && *inactive != MPI_REQUEST_NULL, "a request that was not started is not over");
    OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG && count == 0, "the status of what was not started");
}

void persistent_play(struct play *p)
{
    bool any = p->way % 2;
    int rounds = 2 + (int)below(&p->rng, 3), sends = 0;
    MPI_Request *requests;
    MPI_Status *statuses;
    struct message **m;
    unsigned char **data;
    size_t most;
    int receives, n;

    /* Of a named source and a tag there is one, so all are told apart. */
    add_random(p, 3 * p->n, any ? 1 : TAGS, 70000);
    receives = left(p, &most);
    requests = space((size_t)p->count * 2 * sizeof *requests);
    statuses = space((size_t)p->count * 2 * sizeof *statuses);
    m = space((size_t)p->count * 2 * sizeof *m);
    data = space((size_t)p->count * 2 * sizeof *data);
    n = receives;
    for (int i = 0, r = 0; i < p->count; i++) {
        struct message *now = &p->messages[i];

        if (now->to == p->me) {
            m[r] = now;
            data[r] = space(any ? most : now->size);
            OK(MPI_Recv_init(data[r], (int)(any ? most : now->size), MPI_BYTE, any ? MPI_ANY_SOURCE : now->from, now->tag, p->comm,
                             &requests[r]));
            r++;
        }
        if (now->from != p->me)
            continue;
        m[n] = now;
        data[n] = space(now->size);
        OK((++sends % 3 ? MPI_Send_init : MPI_Ssend_init)(data[n], (int)now->size, MPI_BYTE, now->to, now->tag, p->comm, &requests[n]));
        n++;
    }
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < n; i++)
            is_empty(&requests[i]);
        for (int i = receives; i < n; i++)
            fill(data[i], m[i]->size, m[i]->key + (unsigned)round, own.carry);
        if (round % 2)
            OK(MPI_Startall(n, requests));
        for (int i = 0; i < n && round % 2 == 0; i++)
            OK(MPI_Start(&requests[i]));
        if (p->way % 3)
            OK(MPI_Waitall(n, requests, statuses));
        for (int i = 0; i < n && p->way % 3 == 0; i++) {
            MPI_Status status;
            int which;

            OK(MPI_Waitany(n, requests, &which, &status));
            CHECK(which >= 0 && which < n, "number %d", which);
            note((uint64_t)which);
            statuses[which] = status;
        }
        for (int i = 0; i < p->count; i++)
            p->messages[i].taken = false;
        own.any += any ? (unsigned)receives : 0;
        for (int i = 0; i < receives; i++) {
            struct message got = *(any ? expected(p, statuses[i].MPI_SOURCE, statuses[i].MPI_TAG) : m[i]);

            got.key += (unsigned)round;
            came(&got, data[i], &statuses[i]);
        }
        if (any) /* or a message of the next round might come for one of this */
            OK(MPI_Barrier(p->comm));
    }
    while (n-- > 0) {
        OK(MPI_Request_free(&requests[n]));
        CHECK(requests[n] == MPI_REQUEST_NULL, "the request is still there");
    }
}

/* ---- any source, any tag ---- */

void allfree_play(struct play *p)
{
    size_t most;

    add_random(p, 5 * p->n, TAGS, 70000);
    send_all(p, false);
    for (int n = left(p, &most); n > 0; n--) {
        MPI_Status status;
        int flag = 0;

        if (p->way % 3 == 1)
            OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, p->comm, &status));
        while (p->way % 3 == 2 && !flag) {
            OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, p->comm, &flag, &status));
            note((uint64_t)flag);
            if (!flag)
                sched_yield();
        }
        if (p->way % 3) { /* that one, though others may have come since */
            own.any++;
            receive_now(p, status.MPI_SOURCE, status.MPI_TAG, status.MPI_SOURCE, &status);
        } else {
            receive_now(p, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_ANY_SOURCE, &status);
        }
    }
    OK(MPI_Barrier(p->comm)); /* or the next one's might come for these */
}

/* ---- a communicator that is new, used, and freed while messages are under way in it ---- */

void fresh_play(struct play *p)
{
    struct play other;
    MPI_Comm made;
    uint64_t seed = draw(&p->rng);
    MPI_Status *statuses;

    if (p->way % 2)
        OK(MPI_Comm_dup(p->comm, &made));
    else
        OK(MPI_Comm_split(p->comm, p->me * 2 / p->n, -p->me, &made));
    play_init(&other, made, p->tag, seed);
    add_random(&other, 4 * other.n, 3, 100000);
    receive_all(&other);
    send_all(&other, false);
    if (p->way % 3 == 0)
        OK(MPI_Comm_free(&made));
    statuses = space(((size_t)other.pending + 1) * sizeof *statuses);
    OK(MPI_Waitall(other.pending, other.requests, statuses));
    for (int i = 0; i < other.pending; i++)
        came(other.of[i], other.data[i], &statuses[i]);
    if (p->way % 3)
        OK(MPI_Comm_free(&made));
}

/* ---- a duplicate that nobody waits for, and messages meanwhile; Open MPI hangs with two of them ---- */

static void all_to_all(MPI_Comm comm, int tag, uint64_t seed)
{
    struct play other;
    MPI_Status *statuses;

    play_init(&other, comm, tag, seed);
    add_random(&other, 3 * other.n, 3, 50000);
    receive_all(&other);
    send_all(&other, false);
    statuses = space(((size_t)other.pending + 1) * sizeof *statuses);
    OK(MPI_Waitall(other.pending, other.requests, statuses));
    for (int i = 0; i < other.pending; i++)
        came(other.of[i], other.data[i], &statuses[i]);
}

void leisure_play(struct play *p)
{
    uint64_t seed = draw(&p->rng), sum = own.carry;
    int n = own.ordered ? 2 : 1;
    MPI_Request requests[2];
    MPI_Comm made[2];

    OK(MPI_Comm_idup(p->comm, &made[0], &requests[0]));
    if (p->way % 2)
        all_to_all(p->comm, p->tag, seed);
    if (n == 2)
        OK(MPI_Comm_idup(p->comm, &made[1], &requests[1]));
    while (n-- > 0) {
        OK(MPI_Wait(&requests[n], MPI_STATUS_IGNORE));
        if (n == 0)
            all_to_all(made[n], p->tag, seed + 1);
        OK(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_BXOR, made[n]));
        OK(MPI_Comm_free(&made[n]));
    }
    note(sum);
}

/* ---- two groups, of every second rank ---- */

static void between(MPI_Comm inter, const struct play *p, uint64_t seed)
{
    int n, odd = p->me % 2;
    MPI_Request *requests;
    unsigned char **data;
    size_t *sizes;

    OK(MPI_Comm_remote_size(inter, &n));
    requests = space(2 * (size_t)n * sizeof *requests);
    data = space((size_t)n * sizeof *data);
    sizes = space((size_t)n * sizeof *sizes);
    for (int r = 0; r < n; r++) {
        uint64_t key = mix(seed ^ (uint64_t)((2 * r + !odd) * MOST_RANKS + p->me)), rng = key;

        sizes[r] = draw_size(&rng, 100000);
        data[r] = space(sizes[r]);
        OK(MPI_Irecv(data[r], (int)sizes[r], MPI_BYTE, r, p->tag, inter, &requests[r]));
    }
    for (int r = 0; r < n; r++) {
        uint64_t key = mix(seed ^ (uint64_t)(p->me * MOST_RANKS + 2 * r + !odd)), rng = key;
        size_t size = draw_size(&rng, 100000);
        unsigned char *bytes = space(size);

        fill(bytes, size, key, own.carry);
        OK(MPI_Isend(bytes, (int)size, MPI_BYTE, r, p->tag, inter, &requests[n + r]));
    }
    OK(MPI_Waitall(2 * n, requests, MPI_STATUSES_IGNORE));
    for (int r = 0; r < n; r++) {
        uint64_t key = mix(seed ^ (uint64_t)((2 * r + !odd) * MOST_RANKS + p->me));

        own.came += mix(key ^ mix(verify(data[r], sizes[r], key)));
    }
}

void groups_play(struct play *p)
{
    uint64_t seed = draw(&p->rng), data[2] = {own.carry, own.came}, theirs[2];
    MPI_Comm half, inter, dup, merged;
    int odd = p->me % 2, rank;

    OK(MPI_Comm_split(p->comm, odd, 0, &half));
    OK(MPI_Intercomm_create(half, 0, p->comm, !odd, p->tag, &inter));
    between(inter, p, seed);
    OK(MPI_Allreduce(data, theirs, 2, MPI_UINT64_T, MPI_BXOR, inter));
    own.came += mix(theirs[0]);
    OK(MPI_Comm_dup(inter, &dup));
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_rank(dup, &rank));
    if (p->way % 2)
        OK(MPI_Bcast(data, 2, MPI_UINT64_T, odd ? 0 : rank ? MPI_PROC_NULL : MPI_ROOT, dup));
    if (p->way % 4 == 0)
        between(dup, p, seed + 1);
    OK(MPI_Intercomm_merge(dup, odd ^ (int)(p->way % 3 == 0), &merged));
    OK(MPI_Comm_free(&dup));
    OK(MPI_Allreduce(MPI_IN_PLACE, data, 2, MPI_UINT64_T, MPI_SUM, merged));
    own.came += mix(data[0]);
    OK(MPI_Comm_free(&merged));
    OK(MPI_Comm_free(&half));
}
