/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests, in all ways of waiting: null ones, asked too early, some of many, freed, cancelled, persistent, generalized; many under way.

     requests [-n MANY] [-p DIR] [-o]

   -n: a fifth of so many are under way at a time (100000). -o: also stale handles */
#include "compat-tests/abi/ring.h"

/* ---- 3.7: requests ---- */

static void null_requests(void)
{
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status s[2];
    int flag = -1, index = 0, n = -1, indices[2];

    OK(MPI_Wait(&r[0], &s[0]));
    show("waited", &s[0]);
    OK(MPI_Test(&r[0], &flag, &s[0]));
    SAY("over %d", flag);
    OK(MPI_Waitall(2, r, s));
    show("all", &s[1]);
    OK(MPI_Waitall(0, r, MPI_STATUSES_IGNORE));
    OK(MPI_Testall(2, r, &flag, s));
    OK(MPI_Waitany(2, r, &index, &s[0]));
    show("any", &s[0]);
    SAY("over %d, undefined %d", flag, index == MPI_UNDEFINED);
    OK(MPI_Testany(2, r, &index, &flag, &s[0]));
    SAY("over %d, undefined %d", flag, index == MPI_UNDEFINED);
    OK(MPI_Waitsome(2, r, &n, indices, s));
    SAY("undefined %d", n == MPI_UNDEFINED);
    OK(MPI_Testsome(2, r, &n, indices, s));
    SAY("undefined %d", n == MPI_UNDEFINED);
    OK(MPI_Request_get_status(r[0], &flag, &s[0]));
    SAY("over %d", flag);
}

/* Messages that only come when this rank has said that it is not there yet. */
static void asked_too_early(void)
{
    MPI_Request r[3];
    MPI_Status s[3];
    int x[3] = {-1, -1, -1}, flag = -1, n = -1, index = -1, indices[3];

    for (int i = 0; i < 3; i++)
        OK(MPI_Irecv(&x[i], 1, MPI_INT, before, 50 + i, world, &r[i]));
    OK(MPI_Test(&r[0], &flag, &s[0]));
    SAY("test: %d", flag);
    OK(MPI_Testall(3, r, &flag, s));
    SAY("all: %d", flag);
    OK(MPI_Testany(3, r, &index, &flag, s));
    SAY("any: %d, %d", flag, index == MPI_UNDEFINED);
    OK(MPI_Testsome(3, r, &n, indices, s));
    SAY("some: %d", n);
    OK(MPI_Request_get_status(r[1], &flag, &s[1]));
    SAY("status: %d", flag);
    OK(MPI_Iprobe(before, 60, world, &flag, s));
    SAY("probe: %d", flag);
    OK(MPI_Barrier(world));
    for (int i = 0; i < 3; i++)
        OK(MPI_Send(&i, 1, MPI_INT, next, 50 + i, world));
    do
        OK(MPI_Request_get_status(r[1], &flag, &s[1]));
    while (!flag);
    check_status(&s[1], before, 51, 4);
    CHECK(r[1] != MPI_REQUEST_NULL, "it is gone");
    do
        OK(MPI_Test(&r[0], &flag, &s[0]));
    while (!flag);
    check_status(&s[0], before, 50, 4);
    do
        OK(MPI_Testall(3, r, &flag, s));
    while (!flag);
    check_status(&s[2], before, 52, 4);
    SAY("in the end: %d %d %d", x[0], x[1], x[2]);
    step();
}

/* Each way to wait for some of many. */
static void some_of_many(void)
{
    enum { N = 40 };
    MPI_Request r[N], sends[N];
    MPI_Status s[N], one;
    int x[N], indices[N], n, index, flag;

    for (int way = 0; way < 4; way++) {
        int left = N, sum = 0;

        for (int i = 0; i < N; i++) {
            x[i] = -1;
            OK(MPI_Irecv(&x[i], 1, MPI_INT, before, i, world, &r[i]));
        }
        for (int i = 0; i < N; i++) {
            indices[i] = 1000 * me + i;
            OK(MPI_Isend(&indices[i], 1, MPI_INT, next, (i * 7) % N, world, &sends[i]));
        }
        OK(MPI_Waitall(N, sends, MPI_STATUSES_IGNORE));
        while (left > 0) {
            n = 1;
            flag = true;
            if (way == 0)
                OK(MPI_Waitany(N, r, &index, &one));
            else if (way == 1)
                OK(MPI_Testany(N, r, &index, &flag, &one));
            else if (way == 2)
                OK(MPI_Waitsome(N, r, &n, indices, s));
            else
                OK(MPI_Testsome(N, r, &n, indices, s));
            if (!flag || (n == 0 && way == 3))
                continue;
            CHECK(n > 0 && n <= left, "%d of %d", n, left);
            for (int i = 0; i < n; i++) {
                int at = way < 2 ? index : indices[i];

                check_status(way < 2 ? &one : &s[i], before, at, 4);
                CHECK(r[at] == MPI_REQUEST_NULL && (x[at] - 1000 * before) * 7 % N == at, "%d: %d", at, x[at]);
                sum += x[at];
                left--;
            }
            step();
        }
        SAY("way %d: %d", way, sum);
    }
}

/* Freed while they are under way. */
static void freed(void)
{
    MPI_Request r;
    int got[2] = {-1, -1};

    fill(1, 4000);
    OK(MPI_Isend(out, 4000, MPI_BYTE, next, TAG, world, &r));
    OK(MPI_Request_free(&r));
    CHECK(r == MPI_REQUEST_NULL, "it is there");
    OK(MPI_Recv(in, 4000, MPI_BYTE, before, TAG, world, MPI_STATUS_IGNORE));
    check(before, 1, 4000);
    OK(MPI_Irecv(&got[0], 1, MPI_INT, before, TAG, world, &r));
    OK(MPI_Request_free(&r));
    OK(MPI_Barrier(world));
    OK(MPI_Send(&me, 1, MPI_INT, next, TAG, world));
    OK(MPI_Send(&next, 1, MPI_INT, next, TAG, world));
    OK(MPI_Recv(&got[1], 1, MPI_INT, before, TAG, world, MPI_STATUS_IGNORE));
    SAY("freed: %d", got[1] == me);
    OK(MPI_Barrier(world));
    CHECK(got[0] == before, "%d", got[0]);
    step();
}

static void cancels(void)
{
    MPI_Request r;
    MPI_Status s;
    int x = -1, flag = -1;

    OK(MPI_Irecv(&x, 1, MPI_INT, before, 70, world, &r));
    OK(MPI_Cancel(&r));
    OK(MPI_Wait(&r, &s));
    OK(MPI_Test_cancelled(&s, &flag));
    SAY("cancelled: %d", flag);
    OK(MPI_Barrier(world));
    OK(MPI_Send(&me, 1, MPI_INT, next, 70, world));
    OK(MPI_Irecv(&x, 1, MPI_INT, before, 70, world, &r));
    OK(MPI_Wait(&r, &s));
    SAY("the next one gets it: %d", x);
    OK(MPI_Send(&me, 1, MPI_INT, me, 71, world));
    OK(MPI_Irecv(&x, 1, MPI_INT, me, 71, world, &r));
    OK(MPI_Cancel(&r));
    do
        OK(MPI_Test(&r, &flag, &s));
    while (!flag);
    OK(MPI_Test_cancelled(&s, &flag));
    SAY("too late: %d, %d", flag, x == me);
    OK(MPI_Recv_init(&x, 1, MPI_INT, MPI_ANY_SOURCE, 72, world, &r));
    for (int i = 0; i < 2; i++) {
        OK(MPI_Start(&r));
        OK(MPI_Cancel(&r));
        OK(MPI_Wait(&r, &s));
        OK(MPI_Test_cancelled(&s, &flag));
        SAY("persistent: %d", flag);
    }
    OK(MPI_Request_free(&r));
    step();
}

/* ---- 3.9: persistent requests ---- */

static void persistent(void)
{
    enum { N = 5 };
    char *buffer = malloc(10 * (400 + MPI_BSEND_OVERHEAD)), *back;
    MPI_Request r[2 * N];
    MPI_Status s[2 * N];
    int flag, size, got[N][100], sent[N][100];

    OK(MPI_Buffer_attach(buffer, 10 * (400 + MPI_BSEND_OVERHEAD)));
    for (int i = 0; i < N; i++)
        OK(MPI_Recv_init(got[i], 100, MPI_INT, i % 2 ? before : MPI_ANY_SOURCE, i, world, &r[i]));
    OK(MPI_Send_init(sent[0], 100, MPI_INT, next, 0, world, &r[N]));
    OK(MPI_Bsend_init(sent[1], 100, MPI_INT, next, 1, world, &r[N + 1]));
    OK(MPI_Ssend_init(sent[2], 100, MPI_INT, next, 2, world, &r[N + 2]));
    OK(MPI_Rsend_init(sent[3], 100, MPI_INT, next, 3, world, &r[N + 3]));
    OK(MPI_Send_init(sent[4], 0, MPI_INT, next, 4, world, &r[N + 4]));
    OK(MPI_Wait(&r[0], &s[0]));
    show("not started", &s[0]);
    OK(MPI_Test(&r[N], &flag, &s[0]));
    SAY("over %d", flag);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < N; i++)
            for (int k = 0; k < 100; k++)
                sent[i][k] = me * 100000 + round * 1000 + i * 100 + k;
        memset(got, -1, sizeof got);
        OK(MPI_Startall(N, r));
        OK(MPI_Barrier(world));
        if (round % 2)
            OK(MPI_Startall(N, &r[N]));
        else
            for (int i = 0; i < N; i++)
                OK(MPI_Start(&r[N + i]));
        OK(MPI_Waitall(2 * N, r, s));
        for (int i = 0; i < N; i++) {
            check_status(&s[i], before, i, i < 4 ? 400 : 0);
            for (int k = 0; k < 100; k++)
                CHECK(got[i][k] == (i < 4 ? before * 100000 + round * 1000 + i * 100 + k : -1), "round %d, request %d: %d", round, i,
                      got[i][k]);
            CHECK(r[i] != MPI_REQUEST_NULL && r[N + i] != MPI_REQUEST_NULL, "they are gone");
        }
        step();
    }
    SAY("in Fortran: %d", MPI_Request_f2c(MPI_Request_c2f(r[1])) == r[1]);
    for (int i = 0; i < 2 * N; i++)
        OK(MPI_Request_free(&r[i]));
    OK(MPI_Buffer_detach(&back, &size));
    free(buffer);
    SAY("freed: %d", r[0] == MPI_REQUEST_NULL);
}

/* ---- 12.2: generalized requests ---- */

static int queried, released, asked_to_cancel, fails;

static int query(void *extra, MPI_Status *status)
{
    queried++;
    MPI_Status_set_elements(status, MPI_INT, *(int *)extra);
    MPI_Status_set_cancelled(status, asked_to_cancel > 0);
    status->MPI_SOURCE = 3;
    status->MPI_TAG = *(int *)extra;
    return fails == 1 ? MPI_ERR_FILE : MPI_SUCCESS;
}

static int release(void *extra)
{
    released++;
    return extra && fails == 2 ? MPI_ERR_IO : MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    asked_to_cancel += 1 + 10 * complete;
    return extra ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static void generalized(void)
{
    MPI_Request r[3], copy;
    MPI_Status s[3];
    int five = 5, flag = -1, x = -1, n = -1, index = -1, indices[3];

    OK(MPI_Grequest_start(query, release, cancel, &five, &r[0]));
    OK(MPI_Test(&r[0], &flag, &s[0]));
    SAY("over %d", flag);
    OK(MPI_Grequest_complete(r[0]));
    OK(MPI_Request_get_status(r[0], &flag, &s[0]));
    SAY("over %d, queried %d, tag %d", flag, queried, s[0].MPI_TAG);
    OK(MPI_Wait(&r[0], &s[0]));
    show("waited", &s[0]);
    SAY("queried %d, released %d, null %d", queried, released, r[0] == MPI_REQUEST_NULL);
    OK(MPI_Grequest_start(query, release, cancel, &five, &r[0]));
    OK(MPI_Cancel(&r[0]));
    OK(MPI_Grequest_complete(r[0]));
    OK(MPI_Wait(&r[0], &s[0]));
    show("cancelled", &s[0]);
    SAY("asked %d", asked_to_cancel);
    asked_to_cancel = 0;
    OK(MPI_Grequest_start(query, release, cancel, &five, &r[0]));
    copy = r[0];
    OK(MPI_Request_free(&r[0]));
    SAY("released %d", released);
    OK(MPI_Grequest_complete(copy));
    SAY("released %d", released);
    /* Among others. */
    OK(MPI_Grequest_start(query, release, cancel, &five, &r[0]));
    OK(MPI_Irecv(&x, 1, MPI_INT, me, 80, world, &r[1]));
    r[2] = MPI_REQUEST_NULL;
    OK(MPI_Testall(3, r, &flag, s));
    OK(MPI_Testany(3, r, &index, &flag, s));
    SAY("over %d", flag);
    OK(MPI_Send(&me, 1, MPI_INT, me, 80, world));
    OK(MPI_Waitany(3, r, &index, &s[0]));
    SAY("first %d, tag %d", index, s[0].MPI_TAG);
    OK(MPI_Grequest_complete(r[0]));
    OK(MPI_Waitsome(3, r, &n, indices, s));
    SAY("then %d, %d, tag %d", n, indices[0], s[0].MPI_TAG);
    OK(MPI_Grequest_start(query, release, cancel, &five, &r[0]));
    OK(MPI_Irecv(&x, 1, MPI_INT, me, 80, world, &r[1]));
    OK(MPI_Send(&me, 1, MPI_INT, me, 80, world));
    OK(MPI_Grequest_complete(r[0]));
    OK(MPI_Waitall(3, r, s));
    SAY("tags %d %d %d, queried %d, released %d", s[0].MPI_TAG, s[1].MPI_TAG, s[2].MPI_TAG, queried, released);
    fails = 1;
    OK(MPI_Grequest_start(query, release, cancel, &five, &r[0]));
    OK(MPI_Grequest_complete(r[0]));
    SAY("no answer: %d", class_of(MPI_Wait(&r[0], MPI_STATUS_IGNORE)));
    fails = 2;
    OK(MPI_Grequest_start(query, release, cancel, &five, &r[0]));
    OK(MPI_Grequest_complete(r[0]));
    n = class_of(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    CHECK(!own || n == MPI_ERR_IO, "not freed: %d", n); /* Open MPI drops that code */
    fails = 1;
    OK(MPI_Grequest_start(query, release, cancel, &five, &r[0]));
    OK(MPI_Grequest_complete(r[0]));
    s[0].MPI_ERROR = s[1].MPI_ERROR = -5;
    SAY("no answer: %d", class_of(MPI_Waitall(3, r, s)));
    SAY("errors %d %d", s[0].MPI_ERROR, s[1].MPI_ERROR);
    fails = 0;
    step();
}

static void outstanding(int many)
{
    MPI_Request *r = malloc((size_t)many * 2 * sizeof *r);
    int *got = malloc((size_t)many * sizeof *got), *sent = malloc((size_t)many * sizeof *sent);

    for (int i = 0; i < many; i++)
        OK(MPI_Irecv(&got[i], 1, MPI_INT, before, i, world, &r[i]));
    OK(MPI_Barrier(world));
    for (int i = 0; i < many; i++) {
        sent[i] = me + i * 3;
        OK(MPI_Isend(&sent[i], 1, MPI_INT, next, i, world, &r[many + i]));
        if (i % 1000 == 0)
            step();
    }
    OK(MPI_Waitall(2 * many, r, MPI_STATUSES_IGNORE));
    for (int i = 0; i < many; i++)
        CHECK(got[i] == before + i * 3, "request %d: %d", i, got[i]);
    SAY("%d at a time", 2 * many);
    free(r);
    free(got);
    free(sent);
    step();
}

/* More of them at a time than fit into a table (the next one waited), of which the last one is received first. */
static void synchronous(int many)
{
    MPI_Request *r = malloc((size_t)many * sizeof *r);
    int *sent = malloc((size_t)many * sizeof *sent), got;

    for (int i = 0; i < many; i++) {
        sent[i] = me + i * 7;
        OK(MPI_Issend(&sent[i], 1, MPI_INT, next, i == many - 1 ? 2 : 1, world, &r[i]));
        if (i % 1000 == 0)
            step();
    }
    for (int i = 0; i < many; i++) {
        int which = i ? i - 1 : many - 1;

        OK(MPI_Recv(&got, 1, MPI_INT, before, i ? 1 : 2, world, MPI_STATUS_IGNORE));
        CHECK(got == before + which * 7, "message %d: %d", which, got);
        if (!i)
            OK(MPI_Wait(&r[many - 1], MPI_STATUS_IGNORE));
        if (i % 1000 == 0)
            step();
    }
    OK(MPI_Waitall(many, r, MPI_STATUSES_IGNORE));
    SAY("%d synchronous ones at a time", many);
    free(r);
    free(sent);
}

/* ---- what another MPI need not do ---- */

static void stale_handles(void)
{
    MPI_Request r, stale, two[2] = {MPI_REQUEST_NULL, NULL};
    MPI_Message m, gone;
    int x = 0, flag;

    OK(MPI_Isend(&x, 1, MPI_INT, me, TAG, world, &r));
    stale = r;
    OK(MPI_Recv(&x, 1, MPI_INT, me, TAG, world, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    RAISES(MPI_ERR_REQUEST, MPI_Wait(&stale, MPI_STATUS_IGNORE));
    RAISES(MPI_ERR_REQUEST, MPI_Test(&stale, &flag, MPI_STATUS_IGNORE));
    RAISES(MPI_ERR_REQUEST, MPI_Request_free(&stale));
    RAISES(MPI_ERR_REQUEST, MPI_Cancel(&stale));
    RAISES(MPI_ERR_REQUEST, MPI_Start(&stale));
    RAISES(MPI_ERR_REQUEST, MPI_Request_get_status(stale, &flag, MPI_STATUS_IGNORE));
    RAISES(MPI_ERR_REQUEST, MPI_Waitall(2, two, MPI_STATUSES_IGNORE));
    two[1] = stale;
    RAISES(MPI_ERR_REQUEST, MPI_Waitall(2, two, MPI_STATUSES_IGNORE));
    OK(MPI_Irecv(&x, 1, MPI_INT, me, TAG, world, &r));
    CHECK(r == stale, "its memory is not used again");
    OK(MPI_Cancel(&r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Send(&x, 1, MPI_INT, me, TAG, world));
    OK(MPI_Mprobe(me, TAG, world, &m, MPI_STATUS_IGNORE));
    gone = m;
    OK(MPI_Mrecv(&x, 1, MPI_INT, &m, MPI_STATUS_IGNORE));
    RAISES(MPI_ERR_REQUEST, MPI_Mrecv(&x, 1, MPI_INT, &gone, MPI_STATUS_IGNORE));
    RAISES(MPI_ERR_REQUEST, MPI_Imrecv(&x, 1, MPI_INT, &m, &r));
    OK(MPI_Recv_init(&x, 1, MPI_INT, me, TAG, world, &r));
    RAISES(MPI_ERR_REQUEST, MPI_Cancel(&r));
    OK(MPI_Start(&r));
    RAISES(MPI_ERR_REQUEST, MPI_Start(&r));
    RAISES(MPI_ERR_REQUEST, MPI_Grequest_complete(r));
    OK(MPI_Send(&x, 1, MPI_INT, me, TAG, world));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&r));
    RAISES(MPI_ERR_COMM, MPI_Probe(0, 0, MPI_COMM_NULL, MPI_STATUS_IGNORE));
    RAISES(MPI_ERR_COMM, MPI_Iprobe(0, 0, MPI_COMM_NULL, &flag, MPI_STATUS_IGNORE));
    RAISES(MPI_ERR_COMM, MPI_Mprobe(0, 0, MPI_COMM_NULL, &m, MPI_STATUS_IGNORE));
    RAISES(MPI_ERR_COMM, MPI_Improbe(0, 0, MPI_COMM_NULL, &flag, &m, MPI_STATUS_IGNORE));
}

static part *const parts[] = {null_requests, asked_too_early, some_of_many, freed, cancels, persistent, generalized};

int main(int argc, char **argv)
{
    int many = 100000;

    start(argc, argv, &many);
    each_part(parts, sizeof parts / sizeof *parts);
    if (own)
        stale_handles();
    OK(MPI_Barrier(world));
    outstanding(many / 10);
    synchronous(20000);
    end();
    return 0;
}
