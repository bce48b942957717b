/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of data that are not contiguous, around a ring: a column of a matrix in every way to send and receive it. Plain MPI. */
#include "compat-tests/abi/world.h"

enum { ROWS = 1000, COLUMNS = 3, ALL = ROWS * COLUMNS };

static double out[ALL], in[ALL];
static int to, from;
static MPI_Datatype column;

static void fill(int factor)
{
    for (int i = 0; i < ALL; i++) {
        out[i] = factor * i;
        in[i] = -1;
    }
}

static void check(int factor, int rows)
{
    for (int i = 0; i < ALL; i++) {
        double wanted = i % COLUMNS == 0 && i < rows * COLUMNS ? factor * i : -1;

        CHECK(in[i] == wanted, "element %d is %g instead of %g", i, in[i], wanted);
    }
}

static MPI_Datatype column_of(int rows)
{
    MPI_Datatype type;

    OK(MPI_Type_vector(rows, 1, COLUMNS, MPI_DOUBLE, &type));
    OK(MPI_Type_commit(&type));
    return type;
}

static void blocking(void)
{
    MPI_Datatype top = column_of(10);
    double flat[ROWS];
    MPI_Status s;
    int n;

    fill(2);
    OK(MPI_Sendrecv(out, 1, column, to, 1, in, 1, column, from, 1, MPI_COMM_WORLD, &s));
    check(2, ROWS);
    OK(MPI_Get_count(&s, column, &n));
    CHECK(n == 1, "%d", n);
    OK(MPI_Get_elements(&s, column, &n));
    CHECK(n == ROWS, "%d", n);

    fill(3); /* a message that is shorter than the type */
    OK(MPI_Sendrecv(out, 1, top, to, 1, in, 1, column, from, 1, MPI_COMM_WORLD, &s));
    check(3, 10);
    OK(MPI_Get_count(&s, column, &n));
    CHECK(n == MPI_UNDEFINED, "%d", n);
    OK(MPI_Get_elements(&s, column, &n));
    CHECK(n == 10, "%d", n);
    OK(MPI_Type_free(&top));

    OK(MPI_Sendrecv(out, 1, column, to, 1, flat, ROWS, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, &s));
    for (int i = 0; i < ROWS; i++)
        CHECK(flat[i] == 3.0 * COLUMNS * i, "%d: %g", i, flat[i]);

    for (int i = 0; i < ALL; i++)
        in[i] = i % COLUMNS ? -1 : 5 * i;
    OK(MPI_Sendrecv_replace(in, 1, column, to, 1, from, 1, MPI_COMM_WORLD, &s));
    check(5, ROWS);
}

static void requests(void)
{
    MPI_Request r[2];
    MPI_Status s;
    int flag = 0, which;

    fill(6);
    OK(MPI_Irecv(in, 1, column, from, 1, MPI_COMM_WORLD, &r[0]));
    OK(MPI_Isend(out, 1, column, to, 1, MPI_COMM_WORLD, &r[1]));
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    check(6, ROWS);

    fill(7); /* data are there as soon as a request is known to be over, and are not written again */
    OK(MPI_Irecv(in, 1, column, from, 1, MPI_COMM_WORLD, &r[0]));
    OK(MPI_Issend(out, 1, column, to, 1, MPI_COMM_WORLD, &r[1]));
    while (!flag)
        OK(MPI_Request_get_status(r[0], &flag, &s));
    check(7, ROWS);
    in[0] = 8;
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    CHECK(in[0] == 8, "%g", in[0]);

    OK(MPI_Recv_init(in, 1, column, from, 2, MPI_COMM_WORLD, &r[0]));
    OK(MPI_Ssend_init(out, 1, column, to, 2, MPI_COMM_WORLD, &r[1]));
    for (int round = 8; round < 12; round++) {
        fill(round);
        OK(MPI_Startall(2, r));
        OK(MPI_Waitany(2, r, &which, &s));
        OK(MPI_Waitany(2, r, &which, &s));
        check(round, ROWS);
    }
    OK(MPI_Request_free(&r[0]));
    OK(MPI_Request_free(&r[1]));
}

static void taken(void)
{
    MPI_Request r[2];
    MPI_Message m;
    MPI_Status s;
    int n;

    for (int round = 13; round < 15; round++) {
        fill(round);
        OK(MPI_Isend(out, 1, column, to, 1, MPI_COMM_WORLD, &r[0]));
        OK(MPI_Mprobe(from, 1, MPI_COMM_WORLD, &m, &s));
        OK(MPI_Get_count(&s, MPI_DOUBLE, &n));
        CHECK(n == ROWS, "%d", n);
        r[1] = MPI_REQUEST_NULL;
        if (round == 13)
            OK(MPI_Mrecv(in, 1, column, &m, &s));
        else
            OK(MPI_Imrecv(in, 1, column, &m, &r[1]));
        OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
        check(round, ROWS);
    }
}

static void buffered(void)
{
    static char room[2 * ROWS * sizeof(double) + 4096];
    MPI_Request r;
    MPI_Status s;
    void *back;
    int n;

    OK(MPI_Buffer_attach(room, (int)sizeof room));
    fill(15);
    OK(MPI_Bsend(out, 1, column, to, 1, MPI_COMM_WORLD));
    OK(MPI_Recv(in, 1, column, from, 1, MPI_COMM_WORLD, &s));
    check(15, ROWS);
    fill(16);
    OK(MPI_Ibsend(out, 1, column, to, 1, MPI_COMM_WORLD, &r));
    fill(17);
    OK(MPI_Recv(in, 1, column, from, 1, MPI_COMM_WORLD, &s));
    check(16, ROWS);
    OK(MPI_Wait(&r, &s));
    OK(MPI_Buffer_detach(&back, &n));
}

/* A type of addresses; one that is freed while a receive into it is under way. */
static void lifetimes(void)
{
    MPI_Datatype absolute, once = column_of(ROWS);
    MPI_Request r;
    MPI_Aint at;
    int one = 1;

    OK(MPI_Get_address(in, &at));
    OK(MPI_Type_create_hindexed(1, &one, &at, once, &absolute));
    OK(MPI_Type_commit(&absolute));
    OK(MPI_Type_free(&once));
    fill(18);
    OK(MPI_Irecv(MPI_BOTTOM, 1, absolute, from, 1, MPI_COMM_WORLD, &r));
    OK(MPI_Type_free(&absolute));
    absolute = column_of(3); /* takes its place in memory, if that is free */
    OK(MPI_Send(out, 1, column, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
    OK(MPI_Send(out, 1, column, to, 1, MPI_COMM_WORLD));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    check(18, ROWS);
    OK(MPI_Type_free(&absolute));

    /* A receive and a send that are freed go on; the next message comes after theirs. */
    once = column_of(ROWS);
    fill(19);
    OK(MPI_Irecv(in, 1, once, from, 1, MPI_COMM_WORLD, &r));
    OK(MPI_Request_free(&r));
    OK(MPI_Issend(out, 1, once, to, 1, MPI_COMM_WORLD, &r));
    OK(MPI_Request_free(&r));
    OK(MPI_Type_free(&once));
    OK(MPI_Sendrecv(&one, 1, MPI_INT, to, 1, &one, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    check(19, ROWS);

    /* A persistent one begins when its type is gone. */
    once = column_of(ROWS);
    OK(MPI_Recv_init(in, 1, once, from, 1, MPI_COMM_WORLD, &r));
    OK(MPI_Type_free(&once));
    for (int round = 20; round < 22; round++) {
        fill(round);
        OK(MPI_Start(&r));
        OK(MPI_Send(out, 1, column, to, 1, MPI_COMM_WORLD));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        check(round, ROWS);
    }
    OK(MPI_Request_free(&r));
}

int main(int argc, char **argv)
{
    int me, ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    to = (me + 1) % ranks;
    from = (me + ranks - 1) % ranks;
    column = column_of(ROWS);
    blocking();
    requests();
    taken();
    buffered();
    lifetimes();
    OK(MPI_Type_free(&column));
    printf("%d: all received\n", me);
    MPI_Finalize();
    return 0;
}
