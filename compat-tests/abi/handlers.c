/* SPDX-License-Identifier: BSD-3-Clause */
/* What each way of waiting says of messages that do not fit, and whose handler an error calls. */
#include "crashes.h"

static int a[4], b[4], n;
static char big[1000];

/* Two messages that do not fit, before and after one that does. */
static void begin(MPI_Request three[3])
{
    for (int i = 0; i < 3; i++) {
        MPI_Send(a, 1, MPI_INT, 0, 20 + i, MPI_COMM_WORLD); /* Open MPI does not see it of a receive that was there first */
        MPI_Irecv(b + i, i == 1 ? 4 : 3, MPI_CHAR, 0, 20 + i, MPI_COMM_WORLD, &three[i]);
    }
}

static void show(const char *what, int count, const MPI_Status *ss)
{
    int class;

    for (int i = 0; i < count; i++) {
        MPI_Error_class(ss[i].MPI_ERROR, &class);
        MPI_Get_count(&ss[i], MPI_CHAR, &n);
        printf("%s: tag %d, class %d\n", what, ss[i].MPI_TAG, class);
        if (!class)
            printf("%d bytes\n", n);
    }
}

static void truncated(void)
{
    MPI_Request three[3];
    MPI_Status s, ss[3];
    int index, indices[3], count, over = 0;

    begin(three);
    CASE(MPI_Waitall(3, three, ss));
    show("Waitall", 3, ss);
    CASE(three[0] == MPI_REQUEST_NULL && three[1] == MPI_REQUEST_NULL && three[2] == MPI_REQUEST_NULL);
    begin(three);
    CASE(MPI_Testall(3, three, &over, ss));
    show("Testall", 3, ss);
    CASE(over && three[0] == MPI_REQUEST_NULL && three[2] == MPI_REQUEST_NULL);
    begin(three);
    CASE(MPI_Waitsome(3, three, &count, indices, ss));
    CASE(count);
    show("Waitsome", 3, ss);
    begin(three);
    CASE(MPI_Testsome(3, three, &count, indices, ss));
    CASE(count);
    show("Testsome", 3, ss);
    begin(three);
    CASE(MPI_Waitall(3, three, MPI_STATUSES_IGNORE));
    begin(three);
    CASE(MPI_Waitsome(3, three, &count, indices, MPI_STATUSES_IGNORE));
    begin(three);
    CASE(MPI_Waitany(3, three, &index, &s));
    CASE(index);
    CASE(s.MPI_TAG);
    CASE(MPI_Testany(2, three + 1, &index, &over, &s));
    CASE(over && index == 0 && three[1] == MPI_REQUEST_NULL);
    CASE(MPI_Wait(&three[2], &s));
    CASE(three[2] == MPI_REQUEST_NULL);
    CASE(MPI_Send(a, 1, MPI_INT, 0, 9, MPI_COMM_WORLD));
    CASE(MPI_Sendrecv(a, 1, MPI_INT, 0, 8, b, 3, MPI_CHAR, 0, 9, MPI_COMM_WORLD, &s));
    CASE(MPI_Recv(b, 4, MPI_CHAR, 0, 8, MPI_COMM_WORLD, &s));
}

/* Whose handler is called, and with which class. */
static const char *called;
static int class_called;

static void note(const char *who, const int *code)
{
    called = who;
    MPI_Error_class(*code, &class_called);
}
static void of_world(MPI_Comm *comm, int *code, ...) { note(*comm == MPI_COMM_WORLD ? "the world's" : "the world's, of another", code); }
static void of_other(MPI_Comm *comm, int *code, ...) { note(*comm == MPI_COMM_WORLD ? "the other's, of the world" : "the other's", code); }

#define WHO(call)                                                       \
    do {                                                                \
        called = "nobody's";                                            \
        class_called = -1;                                              \
        (void)(call);                                                   \
        printf("%s: %s, %d\n", #call, called, class_called);            \
    } while (0)

static void handlers(void)
{
    MPI_Errhandler world, others;
    MPI_Request r = MPI_REQUEST_NULL, three[3];
    MPI_Message m;
    MPI_Status s, ss[3];
    MPI_Comm other;
    MPI_Datatype made, null = MPI_DATATYPE_NULL;
    int index, indices[3], position = 0;

    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_create_errhandler(of_world, &world);
    MPI_Comm_create_errhandler(of_other, &others);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, world);
    MPI_Comm_set_errhandler(other, others);
    WHO(MPI_Send(a, -1, MPI_INT, 0, 0, other));
    WHO(MPI_Send(a, 1, MPI_INT, 7, 0, other));
    WHO(MPI_Send(a, 1, MPI_INT, 0, 0, MPI_COMM_NULL));
    WHO(MPI_Isend(a, 1, null, 0, 0, other, &r));
    WHO(MPI_Ssend_init(a, 1, MPI_INT, 0, -4, other, &r));
    WHO(MPI_Irecv(a, 1, MPI_INT, 0, -4, other, &r));
    WHO(MPI_Sendrecv(a, 1, MPI_INT, 0, 0, b, 1, MPI_INT, 9, 0, other, &s));
    WHO(MPI_Probe(9, 0, other, &s));
    WHO(MPI_Mprobe(9, 0, other, &m, &s));
    WHO(MPI_Bsend(a, 1, MPI_INT, 9, 0, other));
    WHO(MPI_Buffer_attach(big, -1));
    WHO(MPI_Wait(NULL, &s));
    WHO(MPI_Start(&r));
    WHO(MPI_Get_count(&s, null, &n));
    WHO(MPI_Type_contiguous(-1, MPI_INT, &made));
    WHO(MPI_Type_commit(&null));
    WHO(MPI_Pack(a, -1, MPI_INT, big, 16, &position, other));
    WHO(MPI_Pack_size(1, MPI_DATATYPE_NULL, other, &n));
    WHO(MPI_Comm_size(other, NULL));
    WHO(MPI_Comm_split(other, -3, 0, NULL));
    WHO(MPI_Comm_dup(other, NULL));
    WHO(MPI_Comm_group(other, NULL));
    WHO(MPI_Comm_set_name(other, NULL));
    WHO(MPI_Allreduce(a, b, -1, MPI_INT, MPI_SUM, other));
    MPI_Send(a, 1, MPI_INT, 0, 9, other);
    WHO(MPI_Recv(b, 3, MPI_CHAR, 0, 9, other, &s));
    MPI_Send(a, 1, MPI_INT, 0, 9, other);
    MPI_Irecv(b, 3, MPI_CHAR, 0, 9, other, &r);
    WHO(MPI_Wait(&r, &s));
    MPI_Send(a, 1, MPI_INT, 0, 9, other);
    MPI_Irecv(b, 3, MPI_CHAR, 0, 9, other, &r);
    WHO(MPI_Test(&r, &n, &s));
    MPI_Send(a, 1, MPI_INT, 0, 9, other);
    MPI_Mprobe(0, 9, other, &m, &s);
    WHO(MPI_Mrecv(b, 3, MPI_CHAR, &m, &s));
    MPI_Send(a, 1, MPI_INT, 0, 9, other);
    MPI_Irecv(b, 3, MPI_CHAR, 0, 9, other, &r);
    WHO(MPI_Waitall(1, &r, ss));
    MPI_Send(a, 1, MPI_INT, 0, 9, other);
    MPI_Irecv(b, 3, MPI_CHAR, 0, 9, other, &r);
    WHO(MPI_Waitany(1, &r, &index, &s));
    MPI_Send(a, 1, MPI_INT, 0, 9, other);
    MPI_Irecv(b, 3, MPI_CHAR, 0, 9, other, &r);
    WHO(MPI_Waitsome(1, &r, &n, indices, ss));
    begin(three);
    MPI_Send(a, 1, MPI_INT, 0, 9, other);
    MPI_Irecv(b, 3, MPI_CHAR, 0, 9, other, &r);
    WHO(MPI_Testall(3, three, &n, ss));
    WHO(MPI_Testsome(1, &r, &n, indices, ss));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&world);
    MPI_Errhandler_free(&others);
    MPI_Comm_free(&other);
}

int main(void)
{
    start();
    truncated();
    handlers();
    end();
    return 0;
}
