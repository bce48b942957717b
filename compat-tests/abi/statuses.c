/* SPDX-License-Identifier: BSD-3-Clause */
/* What a receiver is told: counts, messages that are too long, whose error handler is called, MPI_PROC_NULL, probes.

     statuses [-p DIR] */
#include "compat-tests/abi/ring.h"

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

static part *const parts[] = {counts, truncation, error_handlers, nobody, probes};

int main(int argc, char **argv)
{
    start(argc, argv, NULL);
    each_part(parts, sizeof parts / sizeof *parts);
    end();
    return 0;
}
