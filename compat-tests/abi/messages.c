/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between two ranks, by the sections of MPI 3.1 chapter 3, and generalized requests: what arrives, in which order, what statuses
   say, what is an error. In most parts each rank sends to the next one of a ring, which is itself if it is alone. Each line begins with the
   rank. Plain MPI: with any other it prints the same, whoever was killed.

     messages [-n MANY] [-p DIR] [-o]

   -n  so many small messages come before anybody asks for one (100000), a tenth of that are requests under way at a time
   -p  keeps DIR/rank.N up to date, see compat-tests/chaos/progress.h
   -o  also what is ftmpi's own: stale handles, the room in a buffer for MPI_Bsend, errors that Open MPI dies of */
#include <getopt.h>
#include <stdbool.h>

#include "compat-tests/abi/world.h"
#include "compat-tests/chaos/progress.h"

enum { LARGE = 5 << 20, TAG = 7 };

static int me, ranks, next, before;
static bool own;
static uint64_t done;
static MPI_Comm world;
static unsigned char out[LARGE], in[LARGE];

static void step(void) { progress_advance(++done); }

#define SAY(...) do { printf("%d ", me); printf(__VA_ARGS__); putchar('\n'); } while (0)

static int class_of(int code)
{
    int class = -1;

    MPI_Error_class(code, &class);
    return class;
}
#define RAISES(class, call) CHECK(class_of(call) == (class), "wrong class")

/* ---- what is sent ---- */

static unsigned char byte_of(int rank, int what, int i) { return (unsigned char)(rank * 31 + what * 7 + i + (i >> 8) * 3); }

static void fill(int what, int bytes)
{
    for (int i = 0; i < bytes; i++)
        out[i] = byte_of(me, what, i);
}

static void check(int rank, int what, int bytes)
{
    for (int i = 0; i < bytes; i++)
        CHECK(in[i] == byte_of(rank, what, i), "byte %d of %d of message %d from %d", i, bytes, what, rank);
}

static int count_of(const MPI_Status *status, MPI_Datatype type)
{
    int n = -1;

    OK(MPI_Get_count(status, type, &n));
    return n;
}

static void check_status(const MPI_Status *status, int source, int tag, int bytes)
{
    int cancelled = -1;

    OK(MPI_Test_cancelled(status, &cancelled));
    CHECK(status->MPI_SOURCE == source && status->MPI_TAG == tag && count_of(status, MPI_BYTE) == bytes && !cancelled,
          "status: from %d, tag %d, %d bytes, not from %d, tag %d, %d", status->MPI_SOURCE, status->MPI_TAG, count_of(status, MPI_BYTE), source,
          tag, bytes);
}

static void show(const char *what, const MPI_Status *status)
{
    int cancelled = -1;

    OK(MPI_Test_cancelled(status, &cancelled));
    SAY("%s: source %d, tag %d, %d bytes, cancelled %d", what, status->MPI_SOURCE, status->MPI_TAG, count_of(status, MPI_BYTE), cancelled);
}

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

/* ---- 3.2.5, 3.8.4, 12.3: statuses ---- */

static void counts(void)
{
    MPI_Datatype triple, nothing, pairs;
    MPI_Count x = -1;
    MPI_Status s;
    MPI_Fint f[sizeof s / sizeof(MPI_Fint)];
    int n = -1, flag = -1;

    OK(MPI_Type_contiguous(3, MPI_INT, &triple));
    OK(MPI_Type_contiguous(0, MPI_INT, &nothing));
    OK(MPI_Type_contiguous(2, MPI_2INT, &pairs));
    OK(MPI_Type_commit(&triple));
    OK(MPI_Type_commit(&nothing));
    OK(MPI_Type_commit(&pairs));
    OK(MPI_Sendrecv(out, 4, MPI_INT, me, TAG, in, 100, MPI_INT, me, TAG, world, &s));
    SAY("4 integers: %d, %d bytes, %d triples", count_of(&s, MPI_INT), count_of(&s, MPI_BYTE), count_of(&s, triple));
    OK(MPI_Get_elements(&s, triple, &n));
    OK(MPI_Get_elements_x(&s, triple, &x));
    SAY("in triples: %d elements, %lld elements, %d long doubles", n, x, count_of(&s, MPI_LONG_DOUBLE));
    OK(MPI_Get_elements(&s, pairs, &n));
    SAY("in pairs of pairs: %d elements, %d", n, count_of(&s, pairs));
    OK(MPI_Sendrecv(out, 3, MPI_INT, me, TAG, in, 100, MPI_INT, me, TAG, world, &s));
    OK(MPI_Get_elements(&s, MPI_2INT, &n));
    SAY("3 integers: %d elements, %d pairs", n, count_of(&s, MPI_2INT));
    OK(MPI_Sendrecv(out, 2, MPI_SHORT_INT, me, TAG, in, 3, MPI_SHORT_INT, me, TAG, world, &s));
    OK(MPI_Get_elements(&s, MPI_SHORT_INT, &n));
    SAY("2 short and integer: %d elements, %d pairs", n, count_of(&s, MPI_SHORT_INT));
    OK(MPI_Sendrecv(out, 0, MPI_INT, me, TAG, NULL, 0, MPI_INT, me, TAG, world, &s));
    OK(MPI_Get_elements(&s, triple, &n));
    SAY("nothing: %d, %d, %d elements", count_of(&s, MPI_INT), count_of(&s, nothing), n);
    OK(MPI_Status_set_elements(&s, MPI_INT, 5));
    OK(MPI_Status_set_cancelled(&s, 1));
    OK(MPI_Test_cancelled(&s, &flag));
    SAY("set: %d, cancelled %d", count_of(&s, MPI_INT), flag);
    OK(MPI_Status_set_elements_x(&s, MPI_DOUBLE, 3000000000));
    OK(MPI_Get_elements_x(&s, MPI_DOUBLE, &x));
    SAY("set: %lld elements, undefined %d", x, count_of(&s, MPI_DOUBLE) == MPI_UNDEFINED);
    s.MPI_TAG = 12;
    OK(MPI_Status_c2f(&s, f));
    s.MPI_TAG = 13;
    OK(MPI_Status_f2c(f, &s));
    SAY("through Fortran: %d", s.MPI_TAG);
    OK(MPI_Type_free(&triple));
    OK(MPI_Type_free(&nothing));
    OK(MPI_Type_free(&pairs));
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

/* ---- 3.2.6, 3.7: too long messages ---- */

static void show_first(const char *what, int code, int expected)
{
    int fits = 0;

    while (fits < 100 && in[fits] == byte_of(me, expected, fits))
        fits++;
    SAY("%s -> %d, %d bytes are there", what, class_of(code), fits);
    memset(in, 0, 100);
}

static void truncation(void)
{
    MPI_Request r[3];
    MPI_Status s[3];
    int outcount, indices[3], index, flag;

    memset(in, 0, 100);
    for (int i = 0; i < 6; i++) {
        fill(i, 60);
        OK(MPI_Send(out, 60, MPI_BYTE, me, i, world));
    }
    fill(9, 60);
    OK(MPI_Send(out, 60, MPI_BYTE, me, 9, world));
    s[0].MPI_ERROR = s[1].MPI_ERROR = s[2].MPI_ERROR = -5;
    show_first("MPI_Recv", MPI_Recv(in, 20, MPI_BYTE, me, 0, world, &s[0]), 0);
    SAY("source %d, tag %d, error %d", s[0].MPI_SOURCE == me, s[0].MPI_TAG, s[0].MPI_ERROR);
    OK(MPI_Irecv(in, 30, MPI_BYTE, me, 1, world, &r[0]));
    show_first("MPI_Wait", MPI_Wait(&r[0], &s[0]), 1);
    SAY("source %d, tag %d, null %d", s[0].MPI_SOURCE == me, s[0].MPI_TAG, r[0] == MPI_REQUEST_NULL);
    OK(MPI_Irecv(in, 40, MPI_BYTE, me, 2, world, &r[0]));
    OK(MPI_Irecv(out, 60, MPI_BYTE, me, 9, world, &r[1]));
    r[2] = MPI_REQUEST_NULL;
    show_first("MPI_Waitall", MPI_Waitall(3, r, s), 2);
    SAY("errors %d %d %d, tags %d %d %d", s[0].MPI_ERROR, s[1].MPI_ERROR, s[2].MPI_ERROR, s[0].MPI_TAG, s[1].MPI_TAG, s[2].MPI_TAG);
    OK(MPI_Irecv(in, 10, MPI_BYTE, me, 3, world, &r[1]));
    r[0] = MPI_REQUEST_NULL;
    show_first("MPI_Waitany", MPI_Waitany(3, r, &index, &s[0]), 3);
    SAY("index %d, tag %d", index, s[0].MPI_TAG);
    OK(MPI_Irecv(in, 11, MPI_BYTE, me, 4, world, &r[2]));
    show_first("MPI_Waitsome", MPI_Waitsome(3, r, &outcount, indices, s), 4);
    SAY("%d, index %d, tag %d, error %d", outcount, indices[0], s[0].MPI_TAG, s[0].MPI_ERROR);
    OK(MPI_Irecv(in, 59, MPI_BYTE, me, 5, world, &r[2]));
    show_first("MPI_Testall", MPI_Testall(3, r, &flag, MPI_STATUSES_IGNORE), 5);
    SAY("over %d", flag);
    OK(MPI_Send(out, 4, MPI_BYTE, me, 0, world));
    OK(MPI_Recv(in, 60, MPI_BYTE, me, 0, world, &s[0]));
    SAY("the next: %d bytes", count_of(&s[0], MPI_BYTE));
    step();
}

static int handled;

static void handle(MPI_Comm *comm, int *code, ...)
{
    int size;

    MPI_Comm_size(*comm, &size);
    handled = 100 * size + class_of(*code);
}

static void error_handlers(void)
{
    MPI_Errhandler handler;
    MPI_Comm dup;
    MPI_Request r;
    int two[2] = {0, 0};

    OK(MPI_Comm_dup(MPI_COMM_SELF, &dup));
    OK(MPI_Comm_create_errhandler(handle, &handler));
    OK(MPI_Comm_set_errhandler(dup, handler));
    OK(MPI_Errhandler_free(&handler));
    OK(MPI_Send(two, 2, MPI_INT, 0, 0, dup));
    SAY("received: %d", class_of(MPI_Recv(two, 1, MPI_INT, 0, 0, dup, MPI_STATUS_IGNORE)));
    SAY("handled %d", handled);
    handled = 0;
    OK(MPI_Send(two, 2, MPI_INT, 0, 0, dup));
    OK(MPI_Irecv(two, 1, MPI_INT, 0, 0, dup, &r));
    SAY("waited: %d", class_of(MPI_Wait(&r, MPI_STATUS_IGNORE)));
    SAY("handled %d", handled);
    handled = 0;
    SAY("to nobody: %d", class_of(MPI_Send(two, 2, MPI_INT, 1, 0, dup)));
    SAY("handled %d", handled);
    OK(MPI_Comm_free(&dup));
    step();
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

static void nobody(void)
{
    MPI_Request r[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Comm w = world;
    MPI_Message m;
    MPI_Status s, ss[3];
    int flag = -1, x = 0, index = -1;

    OK(MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 0, w));
    OK(MPI_Ssend(&x, 1, MPI_INT, MPI_PROC_NULL, 0, w));
    OK(MPI_Bsend(&x, 1, MPI_INT, MPI_PROC_NULL, 0, w));
    OK(MPI_Recv(&x, 1, MPI_INT, MPI_PROC_NULL, 3, w, &s));
    show("received", &s);
    OK(MPI_Isend(&x, 1, MPI_INT, MPI_PROC_NULL, 0, w, &r[0]));
    OK(MPI_Irecv(&x, 1, MPI_INT, MPI_PROC_NULL, 0, w, &r[1]));
    OK(MPI_Waitall(3, r, ss));
    show("waited", &ss[1]);
    OK(MPI_Irecv(&x, 1, MPI_INT, MPI_PROC_NULL, 0, w, &r[2]));
    OK(MPI_Waitany(3, r, &index, &s));
    show("any", &s);
    OK(MPI_Probe(MPI_PROC_NULL, 0, w, &s));
    show("probed", &s);
    OK(MPI_Iprobe(MPI_PROC_NULL, MPI_ANY_TAG, w, &flag, &s));
    SAY("index %d, found %d", index, flag);
    OK(MPI_Mprobe(MPI_PROC_NULL, 0, w, &m, &s));
    show("taken", &s);
    SAY("no message: %d", m == MPI_MESSAGE_NO_PROC);
    OK(MPI_Mrecv(&x, 1, MPI_INT, &m, &s));
    show("received", &s);
    SAY("null: %d", m == MPI_MESSAGE_NULL);
    OK(MPI_Improbe(MPI_PROC_NULL, 0, w, &flag, &m, MPI_STATUS_IGNORE));
    OK(MPI_Imrecv(&x, 1, MPI_INT, &m, &r[0]));
    OK(MPI_Wait(&r[0], &s));
    show("received", &s);
    OK(MPI_Recv_init(&x, 1, MPI_INT, MPI_PROC_NULL, 0, w, &r[0]));
    OK(MPI_Send_init(&x, 1, MPI_INT, MPI_PROC_NULL, 0, w, &r[1]));
    OK(MPI_Startall(2, r));
    OK(MPI_Waitall(2, r, ss));
    show("started", &ss[0]);
    OK(MPI_Request_free(&r[0]));
    OK(MPI_Request_free(&r[1]));
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

/* ---- 3.8: probes and cancels ---- */

static void probes(void)
{
    MPI_Message m, first;
    MPI_Request r;
    MPI_Status s;
    int flag, x = -1;

    for (int i = 1; i < 4; i++) {
        fill(i, 100 * i);
        OK(MPI_Send(out, 100 * i, MPI_BYTE, next, i, world));
    }
    OK(MPI_Probe(before, 2, world, &s));
    check_status(&s, before, 2, 200);
    OK(MPI_Probe(before, MPI_ANY_TAG, world, &s));
    check_status(&s, before, 1, 100);
    do
        OK(MPI_Iprobe(before, 3, world, &flag, &s));
    while (!flag);
    check_status(&s, before, 3, 300);
    OK(MPI_Recv(in, LARGE, MPI_BYTE, s.MPI_SOURCE, s.MPI_TAG, world, &s));
    check(before, 3, 300);
    OK(MPI_Mprobe(before, MPI_ANY_TAG, world, &first, &s));
    check_status(&s, before, 1, 100);
    OK(MPI_Iprobe(before, 1, world, &flag, &s));
    SAY("taken: %d", !flag);
    do
        OK(MPI_Improbe(before, MPI_ANY_TAG, world, &flag, &m, &s));
    while (!flag);
    check_status(&s, before, 2, 200);
    step();
    OK(MPI_Imrecv(in, 200, MPI_BYTE, &m, &r));
    SAY("null: %d", m == MPI_MESSAGE_NULL);
    OK(MPI_Wait(&r, &s));
    check_status(&s, before, 2, 200);
    check(before, 2, 200);
    OK(MPI_Improbe(before, MPI_ANY_TAG, world, &flag, &m, &s));
    SAY("none is left: %d, %d", !flag, m == MPI_MESSAGE_NULL);
    OK(MPI_Mrecv(in, 1000, MPI_BYTE, &first, &s));
    check_status(&s, before, 1, 100);
    check(before, 1, 100);
    OK(MPI_Barrier(world));
    fill(5, 50);
    OK(MPI_Send(out, 50, MPI_BYTE, next, 5, world));
    OK(MPI_Mprobe(before, 5, world, &m, MPI_STATUS_IGNORE));
    SAY("through Fortran: %d", MPI_Message_f2c(MPI_Message_c2f(m)) == m);
    OK(MPI_Send(&x, 1, MPI_INT, next, 5, world));
    OK(MPI_Recv(&x, 1, MPI_INT, before, 5, world, &s));
    check_status(&s, before, 5, 4);
    SAY("too long: %d", class_of(MPI_Mrecv(in, 49, MPI_BYTE, &m, &s)));
    check(before, 5, 49);
    OK(MPI_Send(out, 50, MPI_BYTE, next, 5, world));
    OK(MPI_Mprobe(MPI_ANY_SOURCE, 5, world, &m, MPI_STATUS_IGNORE));
    OK(MPI_Mrecv(in, 60, MPI_BYTE, &m, &s));
    check_status(&s, before, 5, 50);
    check(before, 5, 50);
    SAY("probed");
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

/* Apart: what a rank sends in one is not asked for in another. */
static void (*const parts[])(void) = {
    modes, buffered, types, counts, order, posted_order, any_source, any_source_backwards, truncation, error_handlers, pairs, line,
    nobody, oneself, null_requests, asked_too_early, some_of_many, freed, probes, cancels, persistent, generalized, communicators,
};

int main(int argc, char **argv)
{
    int many = 100000;

    for (int c; (c = getopt(argc, argv, "n:p:o")) != -1;) {
        if (c == 'n')
            many = atoi(optarg);
        else if (c == 'o')
            own = true;
        else if (c != 'p' || progress_open(optarg))
            return 2;
    }
    progress_phase(PROGRESS_IN_INIT);
    MPI_Init(&argc, &argv);
    progress_phase(PROGRESS_RUNS);
    setvbuf(stdout, NULL, _IOLBF, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    next = (me + 1) % ranks;
    before = (me + ranks - 1) % ranks;
    world = MPI_COMM_WORLD;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        OK(MPI_Barrier(world));
        parts[i]();
    }
    if (own) {
        stale_handles();
        room();
    }
    OK(MPI_Barrier(world));
    unexpected(many);
    outstanding(many / 10);
    synchronous(20000);
    everybody(many / 100);

    progress_phase(PROGRESS_IN_FINALIZE);
    MPI_Finalize();
    progress_phase(PROGRESS_OVER);
    return 0;
}
