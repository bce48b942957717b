/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between two ranks: what arrives, in which order, in all modes and lengths. requests.c: ways to wait. statuses.c: what a receiver
   is told.

     messages [-n MANY] [-p DIR] [-o]

   -n: so many small messages come before anybody asks for one (100000). -o: also the room in a buffer for MPI_Bsend */
#include "compat-tests/abi/ring.h"

/* ---- 3.2, 3.4: modes and lengths ---- */

typedef int send_function(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int isend_function(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

/* All have a receive before anybody sends: so a ready send is right, and a rank alone can receive from itself. */
static void one_send(const char *name, send_function *send, int bytes)
{
    MPI_Request r;
    MPI_Status s;

    fill(bytes, bytes);
    memset(in, 0, (size_t)bytes);
    OK(MPI_Irecv(in, bytes, MPI_BYTE, before, TAG, world, &r));
    OK(MPI_Barrier(world));
    CHECK(send(out, bytes, MPI_BYTE, next, TAG, world) == MPI_SUCCESS, "%s of %d bytes", name, bytes);
    OK(MPI_Wait(&r, &s));
    CHECK(r == MPI_REQUEST_NULL, "the request is there");
    check_status(&s, before, TAG, bytes);
    check(before, bytes, bytes);
    step();
}

static void one_isend(const char *name, isend_function *isend, int bytes)
{
    MPI_Request r[2];
    MPI_Status s[2];

    fill(bytes + 1, bytes);
    memset(in, 0, (size_t)bytes);
    OK(MPI_Irecv(in, bytes, MPI_BYTE, before, TAG, world, &r[0]));
    OK(MPI_Barrier(world));
    CHECK(isend(out, bytes, MPI_BYTE, next, TAG, world, &r[1]) == MPI_SUCCESS, "%s of %d bytes", name, bytes);
    OK(MPI_Waitall(2, r, s));
    check_status(&s[0], before, TAG, bytes);
    check(before, bytes + 1, bytes);
    step();
}

static void modes(void)
{
    static const int lengths[] = {0, 1, 7, 40, 41, 63, 64, 65, 1000, 4095, 4096, 4097, 65536, 1 << 20, LARGE};
    static char buffer[2 * (LARGE + MPI_BSEND_OVERHEAD)];
    int n = sizeof lengths / sizeof *lengths, size = 0;
    char *back = NULL;

    OK(MPI_Buffer_attach(buffer, sizeof buffer));
    for (int i = 0; i < n; i++) {
        one_send("MPI_Send", MPI_Send, lengths[i]);
        one_send("MPI_Bsend", MPI_Bsend, lengths[i]);
        one_send("MPI_Rsend", MPI_Rsend, lengths[i]);
        one_send("MPI_Ssend", MPI_Ssend, lengths[i]);
        one_isend("MPI_Isend", MPI_Isend, lengths[i]);
        one_isend("MPI_Ibsend", MPI_Ibsend, lengths[i]);
        one_isend("MPI_Irsend", MPI_Irsend, lengths[i]);
        one_isend("MPI_Issend", MPI_Issend, lengths[i]);
    }
    OK(MPI_Buffer_detach(&back, &size));
    SAY("%d lengths in 8 modes; the buffer is back: %d", n, back == buffer && size == (int)sizeof buffer);
}

/* Sent before anybody asks for it; what is sent may be overwritten at once, and the program may go on without the buffer. */
static void buffered(void)
{
    int size, n = 20, bytes = 3000;
    char *buffer = malloc((size_t)(n * (bytes + MPI_BSEND_OVERHEAD))), *back;

    OK(MPI_Buffer_attach(buffer, n * (bytes + MPI_BSEND_OVERHEAD)));
    for (int i = 0; i < n; i++) {
        fill(i, bytes);
        OK(MPI_Bsend(out, bytes, MPI_BYTE, next, i, world));
        memset(out, 0, (size_t)bytes);
    }
    for (int i = 0; i < n; i++) {
        OK(MPI_Recv(in, bytes, MPI_BYTE, before, i, world, MPI_STATUS_IGNORE));
        check(before, i, bytes);
    }
    OK(MPI_Buffer_detach(&back, &size));
    SAY("%d from a buffer: %d", n, back == buffer && size == n * (bytes + MPI_BSEND_OVERHEAD));
    free(buffer);
    OK(MPI_Buffer_attach(out, 500));
    OK(MPI_Buffer_detach(&back, &size));
    SAY("another one: %d, %d", back == (char *)out, size);
    step();
}

/* Each predefined type as itself, and as what it is made of. */
static void types(void)
{
    MPI_Datatype triple, nine;
    MPI_Status s;
    int n = 0;

#define X(type, class, c)                                                                                                   \
    {                                                                                                                       \
        fill(n, 4 * (int)sizeof(c));                                                                                        \
        memset(in, 0, 4 * sizeof(c));                                                                                       \
        OK(MPI_Sendrecv(out, 3, type, next, n, in, 4, type, before, n, world, &s));                                        \
        CHECK(count_of(&s, type) == 3, "%s: %d of 3", #type, count_of(&s, type));                                           \
        n++;                                                                                                                \
    }
    TYPES(X)
#undef X
    OK(MPI_Type_contiguous(3, MPI_INT, &triple));
    OK(MPI_Type_contiguous(3, triple, &nine));
    OK(MPI_Type_commit(&triple));
    OK(MPI_Type_commit(&nine));
    fill(n, 72);
    OK(MPI_Sendrecv(out, 2, nine, next, TAG, in, 6, triple, before, TAG, world, &s));
    check(before, n, 72);
    SAY("%d types; 2 of 9 are %d of 3, %d integers", n, count_of(&s, triple), count_of(&s, MPI_INT));
    OK(MPI_Type_free(&nine));
    OK(MPI_Type_free(&triple));
    step();
}

/* ---- 3.5: order ---- */

/* Short and long ones in turn, and by tags that are asked for in another order. */
static void order(void)
{
    static const int lengths[] = {4, 100000, 12, 4000, 0, 40, 65536};
    enum { N = 70, TAGS = 5 };
    static unsigned char each[N][100000];
    MPI_Request r[N];
    MPI_Status s;

    for (int i = 0; i < N; i++) {
        for (int b = 0; b < lengths[i % 7]; b++)
            each[i][b] = byte_of(me, i, b);
        OK(MPI_Isend(each[i], lengths[i % 7], MPI_BYTE, next, i % TAGS, world, &r[i]));
    }
    for (int t = TAGS - 1; t > 0; t--)
        for (int i = t; i < N; i += TAGS) {
            OK(MPI_Recv(in, LARGE, MPI_BYTE, before, t, world, &s));
            check_status(&s, before, t, lengths[i % 7]);
            check(before, i, lengths[i % 7]);
            step();
        }
    for (int i = 0; i < N; i += TAGS) {
        OK(MPI_Recv(in, LARGE, MPI_BYTE, before, MPI_ANY_TAG, world, &s));
        check_status(&s, before, 0, lengths[i % 7]);
        check(before, i, lengths[i % 7]);
    }
    OK(MPI_Waitall(N, r, MPI_STATUSES_IGNORE));
    for (int i = 0; i < N; i++)
        OK(MPI_Isend(each[i], lengths[i % 7], MPI_BYTE, next, i, world, &r[i]));
    for (int i = 0; i < N; i++) {
        OK(MPI_Recv(in, LARGE, MPI_BYTE, before, MPI_ANY_TAG, world, &s));
        check_status(&s, before, i, lengths[i % 7]);
        check(before, i, lengths[i % 7]);
        step();
    }
    OK(MPI_Waitall(N, r, MPI_STATUSES_IGNORE));
    SAY("%d in order", 2 * N);
}

/* Receives that are posted first get the first messages that fit, also if one is for any tag. */
static void posted_order(void)
{
    int got[6] = {0}, sent[6];
    MPI_Request r[6];
    MPI_Status s[6];

    for (int i = 0; i < 6; i++)
        OK(MPI_Irecv(&got[i], 1, MPI_INT, before, i % 2 ? MPI_ANY_TAG : TAG, world, &r[i]));
    OK(MPI_Barrier(world));
    for (int i = 0; i < 6; i++) {
        sent[i] = 10 * me + i;
        OK(MPI_Send(&sent[i], 1, MPI_INT, next, i < 2 ? TAG + 1 : TAG, world));
    }
    /* The tags are 8 8 7 7 7 7: receives 1 and 3 take the eights. */
    OK(MPI_Waitall(6, r, s));
    printf("%d posted:", me);
    for (int i = 0; i < 6; i++)
        printf(" %d/%d", got[i], s[i].MPI_TAG);
    putchar('\n');
    step();
}

/* ---- 3.2.4: wildcards ---- */

static void any_source(void)
{
    enum { EACH = 300 };
    int seen[64] = {0}, sent[2] = {me, 0};
    long long sum = 0;

    if (me > 0) {
        for (sent[1] = 0; sent[1] < EACH; sent[1]++)
            OK(MPI_Send(sent, 2, MPI_INT, 0, sent[1] % 3, world));
        return;
    }
    for (int i = 0; i < EACH * (ranks - 1); i++) {
        int got[2];
        MPI_Status s;

        OK(MPI_Recv(got, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &s));
        CHECK(got[0] == s.MPI_SOURCE && got[1] == seen[got[0]] && s.MPI_TAG == got[1] % 3, "message %d of %d comes as %d from %d", got[1],
              got[0], seen[got[0]], s.MPI_SOURCE);
        seen[got[0]]++;
        sum += got[1] * got[0];
        step();
    }
    SAY("%d from each of the others: %lld", EACH, sum);
}

/* Waited for in the other order than posted. */
static void any_source_backwards(void)
{
    int got[63] = {0}, sum = 0;
    MPI_Request r[63];

    if (me > 0) {
        OK(MPI_Send(&me, 1, MPI_INT, 0, TAG, world));
        return;
    }
    for (int i = 0; i < ranks - 1; i++)
        OK(MPI_Irecv(&got[i], 1, MPI_INT, MPI_ANY_SOURCE, TAG, world, &r[i]));
    for (int i = ranks - 2; i >= 0; i--) {
        MPI_Status s;

        OK(MPI_Wait(&r[i], &s));
        CHECK(s.MPI_SOURCE == got[i], "from %d: %d", s.MPI_SOURCE, got[i]);
        sum += got[i];
    }
    SAY("backwards: %d", sum);
}

/* ---- 3.10, 3.11: two at a time, and MPI_PROC_NULL ---- */

static void pairs(void)
{
    MPI_Status s;

    for (int bytes = 0; bytes < 3000000; bytes = 3 * bytes + 1) {
        fill(bytes, bytes);
        OK(MPI_Sendrecv(out, bytes, MPI_BYTE, next, TAG, in, LARGE, MPI_BYTE, before, TAG, world, &s));
        check_status(&s, before, TAG, bytes);
        check(before, bytes, bytes);
        memcpy(in, out, (size_t)bytes);
        OK(MPI_Sendrecv_replace(in, bytes, MPI_BYTE, next, 1, before, MPI_ANY_TAG, world, &s));
        check_status(&s, before, 1, bytes);
        check(before, bytes, bytes);
        step();
    }
    SAY("pairs");
}

static void line(void)
{
    int right = me + 1 < ranks ? me + 1 : MPI_PROC_NULL, left = me > 0 ? me - 1 : MPI_PROC_NULL, got = -1;
    MPI_Status s;

    OK(MPI_Sendrecv(&me, 1, MPI_INT, right, TAG, &got, 1, MPI_INT, left, TAG, world, &s));
    SAY("left of me: %d, from %d, tag %d, %d", got, s.MPI_SOURCE, s.MPI_TAG, count_of(&s, MPI_INT));
    got = me;
    OK(MPI_Sendrecv_replace(&got, 1, MPI_INT, left, TAG, right, MPI_ANY_TAG, world, &s));
    SAY("right of me: %d, from %d, tag %d, %d", got, s.MPI_SOURCE, s.MPI_TAG, count_of(&s, MPI_INT));
    step();
}

/* To itself, on each communicator that has it. */
static void oneself(void)
{
    MPI_Comm comms[2] = {world, MPI_COMM_SELF};

    for (int c = 0; c < 2; c++) {
        int self = c ? 0 : me;
        MPI_Request r;
        MPI_Status s;

        fill(c, 1000);
        OK(MPI_Isend(out, 1000, MPI_BYTE, self, TAG, comms[c], &r));
        OK(MPI_Recv(in, 2000, MPI_BYTE, MPI_ANY_SOURCE, TAG, comms[c], &s));
        check_status(&s, self, TAG, 1000);
        check(me, c, 1000);
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        OK(MPI_Issend(out, 0, MPI_BYTE, self, TAG, comms[c], &r));
        OK(MPI_Recv(NULL, 0, MPI_BYTE, self, TAG, comms[c], &s));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        check_status(&s, self, TAG, 0);
        step();
    }
    SAY("to myself");
}

/* ---- communicators ---- */

static void communicators(void)
{
    MPI_Comm dup, reversed;
    MPI_Request r[3];
    MPI_Status s[3];
    int got[3] = {-1, -1, -1}, sent[3] = {me, me + 100, me + 200}, mine, n;

    OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &reversed));
    OK(MPI_Comm_rank(reversed, &mine));
    OK(MPI_Comm_size(reversed, &n));
    OK(MPI_Irecv(&got[2], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, reversed, &r[2]));
    OK(MPI_Irecv(&got[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, dup, &r[1]));
    OK(MPI_Irecv(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r[0]));
    OK(MPI_Send(&sent[0], 1, MPI_INT, next, 1, MPI_COMM_WORLD));
    OK(MPI_Send(&sent[1], 1, MPI_INT, next, 2, dup));
    OK(MPI_Send(&sent[2], 1, MPI_INT, (mine + 1) % n, 3, reversed));
    OK(MPI_Comm_free(&dup));
    OK(MPI_Waitall(3, r, s));
    for (int i = 0; i < 3; i++)
        SAY("communicator %d: %d, from %d, tag %d", i, got[i], s[i].MPI_SOURCE, s[i].MPI_TAG);
    OK(MPI_Comm_free(&reversed));
    step();
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &world));
    any_source();
    OK(MPI_Barrier(world));
    pairs();
    OK(MPI_Comm_free(&world));
    world = MPI_COMM_WORLD;
}

/* ---- many ---- */

static void unexpected(int many)
{
    unsigned sum = 0;
    MPI_Status s;

    for (int i = 0; i < many; i++) {
        unsigned x = (unsigned)(i * (me + 1));

        OK(MPI_Send(&x, 1, MPI_UNSIGNED, next, i % 1000 == 999 ? 2 : 1, world));
        if (i % 1000 == 0)
            step();
    }
    OK(MPI_Barrier(world));
    for (int t = 2; t > 0; t--)
        for (int i = t == 2 ? 999 : 0; i < many; i += t == 2 ? 1000 : i % 1000 == 998 ? 2 : 1) {
            unsigned x;

            OK(MPI_Recv(&x, 1, MPI_UNSIGNED, before, t, world, &s));
            CHECK(x == (unsigned)(i * (before + 1)), "message %d is %u", i, x);
            sum = sum * 31 + x;
            if (i % 1000 == 0)
                step();
        }
    SAY("%d that nobody expected: %08x", many, sum);
}

/* All to all, short and long, by their numbers. */
static void everybody(int rounds)
{
    static int got[64][2000], sent[2000];
    MPI_Request r[128];
    unsigned sum = (unsigned)me;

    for (int round = 0; round < rounds; round++) {
        int n = round % 5 == 4 ? 2000 : 1 + round % 7;

        for (int i = 0; i < n; i++)
            sent[i] = (int)(sum + (unsigned)i);
        for (int p = 0; p < ranks; p++)
            OK(MPI_Irecv(got[p], 2000, MPI_INT, p, round, world, &r[p]));
        for (int p = 0; p < ranks; p++)
            OK(MPI_Isend(sent, n, MPI_INT, (me + p) % ranks, round, world, &r[ranks + p]));
        OK(MPI_Waitall(2 * ranks, r, MPI_STATUSES_IGNORE));
        for (int p = 0; p < ranks; p++)
            sum = sum * 33 + (unsigned)got[p][n - 1];
        step();
    }
    SAY("%d rounds of all to all: %08x", rounds, sum);
}

static void room(void)
{
    static char buffer[1000 + 2 * MPI_BSEND_OVERHEAD];
    void *back;
    int size;

    RAISES(MPI_ERR_BUFFER, MPI_Bsend(out, 1, MPI_BYTE, me, TAG, world));
    OK(MPI_Bsend(out, 0, MPI_BYTE, me, TAG, world));
    OK(MPI_Recv(in, 0, MPI_BYTE, me, TAG, world, MPI_STATUS_IGNORE));
    OK(MPI_Buffer_attach(buffer, sizeof buffer));
    RAISES(MPI_ERR_BUFFER, MPI_Buffer_attach(buffer, sizeof buffer));
    RAISES(MPI_ERR_BUFFER, MPI_Bsend(out, 1001 + MPI_BSEND_OVERHEAD, MPI_BYTE, me, TAG, world));
    for (int i = 0; i < 20; i++) {
        fill(i, 1000 + MPI_BSEND_OVERHEAD);
        OK(MPI_Bsend(out, i % 2 ? 500 : 1000 + MPI_BSEND_OVERHEAD, MPI_BYTE, me, i, world));
        OK(MPI_Recv(in, LARGE, MPI_BYTE, me, i, world, MPI_STATUS_IGNORE));
        check(me, i, 500);
    }
    OK(MPI_Buffer_detach(&back, &size));
    RAISES(MPI_ERR_BUFFER, MPI_Buffer_detach(&back, &size));
}

static part *const parts[] = {
    modes, buffered, types, order, posted_order, any_source, any_source_backwards, pairs, line, oneself, communicators,
};

int main(int argc, char **argv)
{
    int many = 100000;

    start(argc, argv, &many);
    each_part(parts, sizeof parts / sizeof *parts);
    if (own)
        room();
    OK(MPI_Barrier(world));
    unexpected(many);
    everybody(many / 100);
    end();
    return 0;
}
