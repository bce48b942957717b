/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrong arguments, and the class of error each raises. */
#include "crashes.h"

static void plus(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)len, (void)type;
}

static void handler(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code; }

static int a[4], b[4], one[1] = {1}, zero[1] = {0}, minus[1] = {-1}, n;
static MPI_Datatype raw, pair;
static char big[1000];
static void *where;

static void reductions(void)
{
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Op op;

    CASE(MPI_Allreduce(a, b, 1, MPI_INT, MPI_SUM, w));
    CASE(MPI_Allreduce(a, b, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL));
    CASE(MPI_Allreduce(a, b, -1, MPI_INT, MPI_SUM, w));
    CASE(MPI_Allreduce(a, b, 1, MPI_DATATYPE_NULL, MPI_SUM, w));
    CASE(MPI_Allreduce(a, b, 1, raw, MPI_SUM, w));
    CASE(MPI_Allreduce(a, b, 1, pair, MPI_SUM, w));
    CASE(MPI_Allreduce(a, b, 1, MPI_INT, MPI_OP_NULL, w));
    CASE(MPI_Allreduce(a, b, 1, MPI_FLOAT, MPI_BAND, w));
    CASE(MPI_Allreduce(a, b, 1, MPI_INT, MPI_MAXLOC, w));
    CASE(MPI_Allreduce(a, b, 1, MPI_WCHAR, MPI_SUM, w));
    CASE(MPI_Allreduce(a, b, 1, MPI_BYTE, MPI_SUM, w));
    CASE(MPI_Allreduce(a, b, 1, MPI_CHAR, MPI_SUM, w));
    CASE(MPI_Allreduce(a, b, 1, MPI_INT, MPI_REPLACE, w));
    CASE(MPI_Allreduce(a, b, 1, MPI_INT, MPI_NO_OP, w));
    CASE(MPI_Allreduce(a, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, w));
    CASE(MPI_Allreduce(MPI_IN_PLACE, b, 1, MPI_INT, MPI_SUM, w));
    CASE(MPI_Allreduce(a, a, 1, MPI_INT, MPI_SUM, w));
    CASE(MPI_Allreduce(a, a, 2, MPI_INT, MPI_SUM, w));
    CASE(MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, w));
    CASE(MPI_Reduce(a, b, 1, MPI_INT, MPI_SUM, 0, w));
    CASE(MPI_Reduce(a, a, 2, MPI_INT, MPI_SUM, 0, w));
    CASE(MPI_Reduce(a, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, 0, w));
    CASE(MPI_Reduce(a, b, 1, MPI_INT, MPI_SUM, 1, w));
    CASE(MPI_Reduce(a, b, 1, MPI_INT, MPI_SUM, -1, w));
    CASE(MPI_Reduce(a, b, -1, MPI_INT, MPI_SUM, 0, w));
    CASE(MPI_Reduce(a, b, 1, MPI_INT, MPI_OP_NULL, 0, w));
    CASE(MPI_Reduce(a, b, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_NULL));
    CASE(MPI_Reduce(NULL, NULL, 0, MPI_INT, MPI_SUM, 0, w));
    CASE(MPI_Reduce_local(a, b, 1, MPI_INT, MPI_SUM));
    CASE(MPI_Reduce_local(a, b, -1, MPI_INT, MPI_SUM));
    CASE(MPI_Reduce_local(a, b, 1, MPI_INT, MPI_OP_NULL));
    CASE(MPI_Reduce_local(a, b, 1, MPI_FLOAT, MPI_BAND));
    CASE(MPI_Reduce_local(a, b, 0, MPI_INT, MPI_SUM));
    CASE(MPI_Op_create(NULL, 1, &op));
    CASE(MPI_Op_create(plus, 1, NULL));
    CASE(MPI_Op_create(plus, 1, &op));
    CASE(MPI_Allreduce(a, b, 1, pair, op, w));
    CASE(MPI_Op_free(&op));
    CASE(MPI_Op_free(&op));
    op = MPI_SUM;
    CASE(MPI_Op_free(&op));
    CASE(MPI_Op_free(NULL));
    CASE(MPI_Op_commutative(MPI_OP_NULL, &n));
    CASE(MPI_Op_commutative(MPI_SUM, NULL));
    CASE(MPI_Op_commutative(MPI_SUM, &n));
}

static void moves(void)
{
    MPI_Comm w = MPI_COMM_WORLD;

    CASE(MPI_Barrier(MPI_COMM_NULL));
    CASE(MPI_Bcast(a, 1, MPI_INT, 0, MPI_COMM_NULL));
    CASE(MPI_Bcast(a, -1, MPI_INT, 0, w));
    CASE(MPI_Bcast(a, 1, MPI_DATATYPE_NULL, 0, w));
    CASE(MPI_Bcast(a, 1, raw, 0, w));
    CASE(MPI_Bcast(a, 1, pair, 0, w));
    CASE(MPI_Bcast(a, 1, MPI_INT, 1, w));
    CASE(MPI_Bcast(a, 1, MPI_INT, -1, w));
    CASE(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, w));
    CASE(MPI_Bcast(NULL, 1, MPI_INT, 0, w));
    CASE(MPI_Bcast(NULL, 0, MPI_INT, 0, w));
    CASE(MPI_Allgather(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_NULL));
    CASE(MPI_Allgather(a, 1, MPI_INT, b, 1, MPI_INT, w));
    CASE(MPI_Allgather(a, -1, MPI_INT, b, 1, MPI_INT, w));
    CASE(MPI_Allgather(a, 1, MPI_INT, b, -1, MPI_INT, w));
    CASE(MPI_Allgather(a, 1, MPI_DATATYPE_NULL, b, 1, MPI_INT, w));
    CASE(MPI_Allgather(a, 1, MPI_INT, b, 1, MPI_DATATYPE_NULL, w));
    CASE(MPI_Allgather(a, 1, raw, b, 2, MPI_INT, w));
    CASE(MPI_Allgather(a, 1, pair, b, 2, MPI_INT, w));
    CASE(MPI_Allgather(a, 2, MPI_INT, b, 1, MPI_INT, w));
    CASE(MPI_Allgather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, b, 1, MPI_INT, w));
    CASE(MPI_Allgather(a, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, w));
    CASE(MPI_Allgatherv(a, 1, MPI_INT, b, one, zero, MPI_INT, MPI_COMM_NULL));
    CASE(MPI_Allgatherv(a, 1, MPI_INT, b, one, zero, MPI_INT, w));
    CASE(MPI_Allgatherv(a, -1, MPI_INT, b, one, zero, MPI_INT, w));
    CASE(MPI_Allgatherv(a, 0, MPI_INT, b, minus, zero, MPI_INT, w));
    CASE(MPI_Allgatherv(a, 1, MPI_INT, b, NULL, zero, MPI_INT, w));
    CASE(MPI_Allgatherv(a, 1, MPI_INT, b, one, NULL, MPI_INT, w));
    CASE(MPI_Allgatherv(a, 1, MPI_INT, b, one, zero, MPI_DATATYPE_NULL, w));
    CASE(MPI_Allgatherv(a, 1, MPI_INT, MPI_IN_PLACE, one, zero, MPI_INT, w));
    CASE(MPI_Allgatherv(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, b, one, zero, MPI_INT, w));
}

static int query(void *extra, MPI_Status *status) { return (void)extra, (void)status, MPI_SUCCESS; }
static int release(void *extra) { return (void)extra, MPI_SUCCESS; }
static int cancel(void *extra, int complete) { return (void)extra, (void)complete, MPI_SUCCESS; }

static void sends(void)
{
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Request r = MPI_REQUEST_NULL;

    CASE(MPI_Send(a, 1, MPI_INT, 0, 0, MPI_COMM_NULL));
    CASE(MPI_Send(a, -1, MPI_INT, 0, 0, w));
    CASE(MPI_Send(a, 1, MPI_DATATYPE_NULL, 0, 0, w));
    CASE(MPI_Send(a, 1, raw, 0, 0, w));
    CASE(MPI_Send(a, 1, MPI_INT, 1, 0, w));
    CASE(MPI_Send(a, 1, MPI_INT, -1, 0, w));
    CASE(MPI_Send(a, 1, MPI_INT, -3, 0, w));
    CASE(MPI_Send(a, 1, MPI_INT, 0, -1, w));
    CASE(MPI_Send(a, 1, MPI_INT, 0, -2, w));
    CASE(MPI_Send(NULL, 1, MPI_INT, 0, 0, w));
    CASE(MPI_Send(a, 1, MPI_INT, MPI_PROC_NULL, -5, w));
    CASE(MPI_Send(NULL, 1, MPI_INT, MPI_PROC_NULL, 0, w));
    CASE(MPI_Send(a, 1, MPI_INT, MPI_PROC_NULL, 0, w));
    CASE(MPI_Ssend(a, -1, MPI_INT, 0, 0, w));
    CASE(MPI_Rsend(a, 1, MPI_INT, 7, 0, w));
    CASE(MPI_Bsend(a, 1, MPI_INT, 0, -7, w));
    CASE(MPI_Bsend(a, 1, MPI_INT, MPI_PROC_NULL, 0, w));
    CASE(MPI_Bsend(a, 1, MPI_INT, 0, 8, w));
    CASE(MPI_Isend(a, 1, MPI_INT, 0, 0, MPI_COMM_NULL, &r));
    CASE(MPI_Isend(a, -1, MPI_INT, 0, 0, w, &r));
    CASE(MPI_Isend(a, 1, MPI_INT, 1, 0, w, &r));
    CASE(MPI_Isend(a, 1, MPI_INT, 0, 0, w, NULL));
    CASE(MPI_Issend(a, 1, MPI_INT, 0, -1, w, &r));
    CASE(MPI_Irsend(NULL, 1, MPI_INT, 0, 0, w, &r));
    CASE(MPI_Ibsend(a, 1, MPI_DATATYPE_NULL, 0, 0, w, &r));
    CASE(MPI_Ibsend(a, 1, MPI_INT, 0, 8, w, &r));
    CASE(MPI_Send_init(a, 1, MPI_INT, 1, 0, w, &r));
    CASE(MPI_Send_init(a, 1, MPI_INT, 0, -1, w, &r));
    CASE(MPI_Send_init(a, 1, MPI_INT, 0, 0, MPI_COMM_NULL, &r));
    CASE(MPI_Send_init(a, 1, MPI_INT, 0, 0, w, NULL));
    CASE(MPI_Ssend_init(a, -1, MPI_INT, 0, 0, w, &r));
    CASE(MPI_Rsend_init(a, 1, MPI_DATATYPE_NULL, 0, 0, w, &r));
    CASE(MPI_Bsend_init(a, 1, MPI_INT, 5, 0, w, &r));
    CASE(MPI_Buffer_attach(NULL, 100));
    CASE(MPI_Buffer_attach(big, -1));
    CASE(MPI_Buffer_attach(big, 1000));
    CASE(MPI_Buffer_attach(big, 1000));
    CASE(MPI_Buffer_detach(NULL, &n));
    CASE(MPI_Buffer_detach(&where, NULL));
    CASE(MPI_Buffer_detach(&where, &n));
    CASE(MPI_Buffer_detach(&where, &n));
}

static void receives(void)
{
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Message m = MPI_MESSAGE_NULL;
    MPI_Status s;

    CASE(MPI_Recv(a, 1, MPI_INT, 0, 0, MPI_COMM_NULL, &s));
    CASE(MPI_Recv(a, -1, MPI_INT, 0, 0, w, &s));
    CASE(MPI_Recv(a, 1, MPI_DATATYPE_NULL, 0, 0, w, &s));
    CASE(MPI_Recv(a, 1, raw, 0, 0, w, &s));
    CASE(MPI_Recv(a, 1, MPI_INT, 1, 0, w, &s));
    CASE(MPI_Recv(a, 1, MPI_INT, -3, 0, w, &s));
    CASE(MPI_Recv(a, 1, MPI_INT, 0, -2, w, &s));
    CASE(MPI_Recv(NULL, 1, MPI_INT, 0, 0, w, &s));
    CASE(MPI_Recv(a, 1, MPI_INT, MPI_PROC_NULL, 0, w, &s));
    CASE(MPI_Irecv(a, 1, MPI_INT, 0, 0, MPI_COMM_NULL, &r));
    CASE(MPI_Irecv(a, -1, MPI_INT, 0, 0, w, &r));
    CASE(MPI_Irecv(a, 1, MPI_INT, 1, 0, w, &r));
    CASE(MPI_Irecv(a, 1, MPI_INT, 0, -2, w, &r));
    CASE(MPI_Irecv(NULL, 1, MPI_INT, 0, 0, w, &r));
    CASE(MPI_Irecv(a, 1, MPI_INT, 0, 0, w, NULL));
    CASE(MPI_Recv_init(a, 1, MPI_INT, 1, 0, w, &r));
    CASE(MPI_Recv_init(a, 1, MPI_INT, 0, -2, w, &r));
    CASE(MPI_Recv_init(a, 1, MPI_INT, 0, 0, w, NULL));
    CASE(MPI_Sendrecv(a, 1, MPI_INT, 0, 0, b, 1, MPI_INT, 0, 0, MPI_COMM_NULL, &s));
    CASE(MPI_Sendrecv(a, -1, MPI_INT, 0, 0, b, 1, MPI_INT, 0, 0, w, &s));
    CASE(MPI_Sendrecv(a, 1, MPI_INT, 0, 0, b, -1, MPI_INT, 0, 0, w, &s));
    CASE(MPI_Sendrecv(a, 1, MPI_INT, 1, 0, b, 1, MPI_INT, 0, 0, w, &s));
    CASE(MPI_Sendrecv(a, 1, MPI_INT, 0, 0, b, 1, MPI_INT, 1, 0, w, &s));
    CASE(MPI_Sendrecv(a, 1, MPI_INT, 0, -1, b, 1, MPI_INT, 0, 0, w, &s));
    CASE(MPI_Sendrecv(a, 1, MPI_INT, 0, 0, b, 1, MPI_INT, 0, -2, w, &s));
    CASE(MPI_Sendrecv(a, 1, MPI_DATATYPE_NULL, 0, 0, b, 1, MPI_INT, 0, 0, w, &s));
    CASE(MPI_Sendrecv(a, 1, MPI_INT, 0, 0, b, 1, MPI_DATATYPE_NULL, 0, 0, w, &s));
    CASE(MPI_Sendrecv_replace(a, 1, MPI_INT, 0, 0, 0, 0, MPI_COMM_NULL, &s));
    CASE(MPI_Sendrecv_replace(a, -1, MPI_INT, 0, 0, 0, 0, w, &s));
    CASE(MPI_Sendrecv_replace(a, 1, MPI_INT, 1, 0, 0, 0, w, &s));
    CASE(MPI_Sendrecv_replace(a, 1, MPI_INT, 0, 0, 1, 0, w, &s));
    CASE(MPI_Sendrecv_replace(a, 1, MPI_INT, 0, 0, 0, -2, w, &s));
    CASE(MPI_Sendrecv_replace(a, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0, w, &s));
    CASE(MPI_Probe(1, 0, w, &s));
    CASE(MPI_Probe(0, -2, w, &s));
    CASE(MPI_Probe(MPI_PROC_NULL, 0, w, &s));
    CASE(MPI_Iprobe(1, 0, w, &n, &s));
    CASE(MPI_Iprobe(0, -2, w, &n, &s));
    CASE(MPI_Iprobe(0, 0, w, NULL, &s));
    CASE(MPI_Iprobe(0, 0, w, &n, &s));
    CASE(MPI_Mprobe(1, 0, w, &m, &s));
    CASE(MPI_Mprobe(0, -2, w, &m, &s));
    CASE(MPI_Mprobe(0, 0, w, NULL, &s));
    CASE(MPI_Improbe(1, 0, w, &n, &m, &s));
    CASE(MPI_Improbe(0, 0, w, NULL, &m, &s));
    CASE(MPI_Improbe(0, 0, w, &n, NULL, &s));
    CASE(MPI_Improbe(0, 0, w, &n, &m, &s));
    CASE(MPI_Mprobe(MPI_PROC_NULL, 0, w, &m, &s));
    CASE(MPI_Mrecv(a, -1, MPI_INT, &m, &s));
    CASE(MPI_Mrecv(a, 1, MPI_DATATYPE_NULL, &m, &s));
    CASE(MPI_Imrecv(a, 1, MPI_INT, &m, NULL));
    CASE(MPI_Mrecv(a, 1, MPI_INT, &m, &s));
}

/* A send of an int to itself comes before each of those that truncate. */
static void requests(void)
{
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Request r = MPI_REQUEST_NULL, none[2] = {NULL, NULL}, two[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status s, ss[2];
    int index, indices[2];

    CASE(MPI_Wait(NULL, &s));
    CASE(MPI_Wait(none, &s));
    CASE(MPI_Wait(&r, &s));
    CASE(MPI_Test(NULL, &n, &s));
    CASE(MPI_Test(&r, NULL, &s));
    CASE(MPI_Test(&r, &n, &s));
    CASE(MPI_Waitall(-1, two, ss));
    CASE(MPI_Waitall(2, NULL, ss));
    CASE(MPI_Waitall(2, none, ss));
    CASE(MPI_Waitall(0, NULL, ss));
    CASE(MPI_Waitall(2, two, ss));
    CASE(MPI_Testall(-1, two, &n, ss));
    CASE(MPI_Testall(2, NULL, &n, ss));
    CASE(MPI_Testall(2, none, &n, ss));
    CASE(MPI_Testall(2, two, NULL, ss));
    CASE(MPI_Waitany(-1, two, &index, &s));
    CASE(MPI_Waitany(2, NULL, &index, &s));
    CASE(MPI_Waitany(2, none, &index, &s));
    CASE(MPI_Waitany(2, two, NULL, &s));
    CASE(MPI_Testany(-1, two, &index, &n, &s));
    CASE(MPI_Testany(2, NULL, &index, &n, &s));
    CASE(MPI_Testany(2, two, NULL, &n, &s));
    CASE(MPI_Testany(2, two, &index, NULL, &s));
    CASE(MPI_Waitsome(-1, two, &n, indices, ss));
    CASE(MPI_Waitsome(2, NULL, &n, indices, ss));
    CASE(MPI_Waitsome(2, two, NULL, indices, ss));
    CASE(MPI_Waitsome(2, two, &n, NULL, ss));
    CASE(MPI_Testsome(-1, two, &n, indices, ss));
    CASE(MPI_Testsome(2, NULL, &n, indices, ss));
    CASE(MPI_Testsome(2, two, NULL, indices, ss));
    CASE(MPI_Testsome(2, two, &n, NULL, ss));
    CASE(MPI_Request_free(NULL));
    CASE(MPI_Request_free(&r));
    CASE(MPI_Request_get_status(NULL, &n, &s));
    CASE(MPI_Request_get_status(MPI_REQUEST_NULL, NULL, &s));
    CASE(MPI_Request_get_status(MPI_REQUEST_NULL, &n, &s));
    CASE(MPI_Cancel(NULL));
    CASE(MPI_Cancel(&r));
    CASE(MPI_Start(NULL));
    CASE(MPI_Start(&r));
    CASE(MPI_Startall(-1, two));
    CASE(MPI_Startall(2, NULL));
    CASE(MPI_Startall(2, two));
    CASE(MPI_Startall(0, NULL));
    CASE(MPI_Irecv(a, 1, MPI_INT, 0, 9, w, &r));
    CASE(MPI_Start(&r));
    CASE(MPI_Cancel(&r));
    CASE(MPI_Wait(&r, &s));
    CASE(MPI_Recv_init(a, 1, MPI_INT, 0, 9, w, &r));
    CASE(MPI_Wait(&r, &s));
    CASE(MPI_Start(&r));
    CASE(MPI_Send(a, 1, MPI_INT, 0, 9, w));
    CASE(MPI_Wait(&r, &s));
    CASE(MPI_Request_free(&r));
    CASE(MPI_Request_free(&r));
    CASE(MPI_Send(a, 1, MPI_INT, 0, 9, w));
    CASE(MPI_Recv(a, 3, MPI_CHAR, 0, 9, w, &s));
    CASE(MPI_Send(a, 1, MPI_INT, 0, 9, w));
    CASE(MPI_Irecv(a, 3, MPI_CHAR, 0, 9, w, &r));
    CASE(MPI_Wait(&r, &s));
    CASE(MPI_Send(a, 1, MPI_INT, 0, 9, w));
    CASE(MPI_Irecv(a, 3, MPI_CHAR, 0, 9, w, &two[1]));
    CASE(MPI_Waitall(2, two, ss));
    CASE(ss[0].MPI_ERROR);
    CASE(ss[1].MPI_ERROR);
    CASE(MPI_Send(a, 1, MPI_INT, 0, 9, w));
    CASE(MPI_Irecv(a, 3, MPI_CHAR, 0, 9, w, &two[1]));
    CASE(MPI_Waitany(2, two, &index, &s));
    CASE(MPI_Send(a, 1, MPI_INT, 0, 9, w));
    CASE(MPI_Irecv(a, 3, MPI_CHAR, 0, 9, w, &two[1]));
    CASE(MPI_Waitsome(2, two, &n, indices, ss));
    CASE(ss[0].MPI_ERROR);
}

static void statuses(void)
{
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Status s = {0};
    MPI_Count c;

    CASE(MPI_Get_count(&s, MPI_DATATYPE_NULL, &n));
    CASE(MPI_Get_count(&s, MPI_INT, &n));
    CASE(MPI_Get_count(&s, MPI_INT, NULL));
    CASE(MPI_Get_count(MPI_STATUS_IGNORE, MPI_INT, &n));
    CASE(MPI_Get_elements(&s, MPI_DATATYPE_NULL, &n));
    CASE(MPI_Get_elements(&s, MPI_INT, NULL));
    CASE(MPI_Get_elements(MPI_STATUS_IGNORE, MPI_INT, &n));
    CASE(MPI_Get_elements_x(&s, MPI_DATATYPE_NULL, &c));
    CASE(MPI_Get_elements_x(&s, MPI_INT, NULL));
    CASE(MPI_Status_set_elements(NULL, MPI_INT, 1));
    CASE(MPI_Status_set_elements(&s, MPI_DATATYPE_NULL, 1));
    CASE(MPI_Status_set_elements(&s, MPI_INT, -1));
    CASE(MPI_Status_set_elements_x(&s, MPI_INT, -1));
    CASE(MPI_Status_set_cancelled(NULL, 1));
    CASE(MPI_Test_cancelled(NULL, &n));
    CASE(MPI_Test_cancelled(&s, NULL));
    CASE(MPI_Grequest_start(NULL, release, cancel, NULL, &r));
    CASE(MPI_Grequest_start(query, NULL, cancel, NULL, &r));
    CASE(MPI_Grequest_start(query, release, cancel, NULL, NULL));
    CASE(MPI_Grequest_complete(NULL));
    CASE(MPI_Grequest_complete(MPI_REQUEST_NULL));
    CASE(MPI_Grequest_start(query, release, cancel, NULL, &r));
    CASE(MPI_Start(&r));
    CASE(MPI_Grequest_complete(r));
    CASE(MPI_Wait(&r, &s));
}

static void objects(void)
{
    MPI_Datatype type = MPI_DATATYPE_NULL, made;
    MPI_Errhandler eh = MPI_ERRHANDLER_NULL;
    MPI_Aint lb, extent;

    CASE(MPI_Comm_rank(MPI_COMM_NULL, &n));
    CASE(MPI_Comm_rank(MPI_COMM_WORLD, NULL));
    CASE(MPI_Comm_size(MPI_COMM_NULL, &n));
    CASE(MPI_Comm_size(MPI_COMM_WORLD, NULL));
    CASE(MPI_Type_size(MPI_DATATYPE_NULL, &n));
    CASE(MPI_Type_size(MPI_INT, NULL));
    CASE(MPI_Type_get_extent(MPI_DATATYPE_NULL, &lb, &extent));
    CASE(MPI_Type_get_extent(MPI_INT, NULL, &extent));
    CASE(MPI_Type_contiguous(-1, MPI_INT, &made));
    CASE(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &made));
    CASE(MPI_Type_contiguous(1, MPI_INT, NULL));
    CASE(MPI_Type_commit(&type));
    CASE(MPI_Type_free(&type));
    CASE(MPI_Type_free(NULL));
    type = MPI_INT;
    CASE(MPI_Type_commit(&type));
    CASE(MPI_Type_free(&type));
    CASE(MPI_Comm_create_errhandler(NULL, &eh));
    CASE(MPI_Comm_create_errhandler(handler, NULL));
    CASE(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL));
    CASE(MPI_Comm_set_errhandler(MPI_COMM_NULL, MPI_ERRORS_RETURN));
    CASE(MPI_Comm_get_errhandler(MPI_COMM_WORLD, NULL));
    CASE(MPI_Comm_get_errhandler(MPI_COMM_NULL, &eh));
    CASE(MPI_Comm_call_errhandler(MPI_COMM_NULL, MPI_ERR_OTHER));
    CASE(MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER));
    CASE(MPI_Errhandler_free(&eh));
    CASE(MPI_Errhandler_free(NULL));
    CASE(MPI_Error_class(1000, &n));
    CASE(MPI_Add_error_class(NULL));
    CASE(MPI_Add_error_code(MPI_ERR_TAG, NULL));
    CASE(MPI_Add_error_code(5000, &n));
    CASE(MPI_Add_error_code(MPI_ERR_TAG, &n));
    CASE(MPI_Add_error_string(n, NULL));
    CASE(MPI_Add_error_string(n, "mine"));
    CASE(MPI_Add_error_string(MPI_ERR_TAG, "mine"));
    CASE(MPI_Add_error_string(5000, "mine"));
    CASE(MPI_Get_address(a, NULL));
    CASE(MPI_Query_thread(NULL));
    CASE(MPI_Is_thread_main(NULL));
    CASE(MPI_Initialized(NULL));
    CASE(MPI_Get_version(NULL, &n));
    CASE(MPI_Get_processor_name(NULL, &n));
}

static void datatypes(void)
{
    MPI_Datatype null = MPI_DATATYPE_NULL, made, types[2] = {MPI_INT, MPI_DATATYPE_NULL};
    int two[2] = {1, 1}, negative[2] = {1, -1}, from[2] = {0, 2}, sizes[2] = {4, 4}, k, position;
    int block[1] = {MPI_DISTRIBUTE_BLOCK}, whole[1] = {MPI_DISTRIBUTE_DFLT_DARG};
    MPI_Aint at[2] = {0, 8};
    char room[16];

    CASE(MPI_Type_vector(-1, 1, 1, MPI_INT, &made));
    CASE(MPI_Type_vector(1, -1, 1, MPI_INT, &made));
    CASE(MPI_Type_vector(1, 1, 1, null, &made));
    CASE(MPI_Type_vector(1, 1, 1, MPI_INT, NULL));
    CASE(MPI_Type_create_hvector(-1, 1, 1, MPI_INT, &made));
    CASE(MPI_Type_create_hvector(1, -1, 1, MPI_INT, &made));
    CASE(MPI_Type_create_hvector(1, 1, 1, null, &made));
    CASE(MPI_Type_indexed(-1, two, from, MPI_INT, &made));
    CASE(MPI_Type_indexed(2, NULL, from, MPI_INT, &made));
    CASE(MPI_Type_indexed(2, two, NULL, MPI_INT, &made));
    CASE(MPI_Type_indexed(2, negative, from, MPI_INT, &made));
    CASE(MPI_Type_indexed(2, two, from, null, &made));
    CASE(MPI_Type_create_hindexed(-1, two, at, MPI_INT, &made));
    CASE(MPI_Type_create_hindexed(2, NULL, at, MPI_INT, &made));
    CASE(MPI_Type_create_hindexed(2, negative, at, MPI_INT, &made));
    CASE(MPI_Type_create_hindexed(2, two, at, null, &made));
    CASE(MPI_Type_create_indexed_block(-1, 1, from, MPI_INT, &made));
    CASE(MPI_Type_create_indexed_block(2, -1, from, MPI_INT, &made));
    CASE(MPI_Type_create_indexed_block(2, 1, NULL, MPI_INT, &made));
    CASE(MPI_Type_create_indexed_block(2, 1, from, null, &made));
    CASE(MPI_Type_create_hindexed_block(-1, 1, at, MPI_INT, &made));
    CASE(MPI_Type_create_hindexed_block(2, -1, at, MPI_INT, &made));
    CASE(MPI_Type_create_hindexed_block(2, 1, NULL, MPI_INT, &made));
    CASE(MPI_Type_create_struct(-1, two, at, types, &made));
    CASE(MPI_Type_create_struct(2, NULL, at, types, &made));
    CASE(MPI_Type_create_struct(2, two, NULL, types, &made));
    CASE(MPI_Type_create_struct(2, two, at, NULL, &made));
    CASE(MPI_Type_create_struct(2, two, at, types, &made));
    types[1] = MPI_INT;
    CASE(MPI_Type_create_struct(2, negative, at, types, &made));
    CASE(MPI_Type_create_struct(2, two, at, types, NULL));
    CASE(MPI_Type_create_darray(0, 0, 1, sizes, two, two, two, MPI_ORDER_C, MPI_INT, &made));
    CASE(MPI_Type_create_darray(1, 1, 1, sizes, two, two, two, MPI_ORDER_C, MPI_INT, &made));
    CASE(MPI_Type_create_darray(1, 0, -1, sizes, two, two, two, MPI_ORDER_C, MPI_INT, &made));
    CASE(MPI_Type_create_darray(1, 0, 1, NULL, two, two, two, MPI_ORDER_C, MPI_INT, &made));
    CASE(MPI_Type_create_darray(1, 0, 1, sizes, block, whole, two, 99, MPI_INT, &made));
    CASE(MPI_Type_create_darray(1, 0, 1, sizes, block, whole, two, MPI_ORDER_C, null, &made));
    CASE(MPI_Type_create_darray(1, 0, 1, sizes, block, whole, two, MPI_ORDER_C, MPI_INT, NULL));
    CASE(MPI_Type_match_size(99, 4, &made));
    CASE(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 3, &made));
    CASE(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 4, NULL));
    CASE(MPI_Type_size_x(null, NULL));
    CASE(MPI_Type_size_x(MPI_INT, NULL));
    CASE(MPI_Type_get_extent_x(null, NULL, NULL));
    CASE(MPI_Type_get_extent_x(MPI_INT, NULL, NULL));
    CASE(MPI_Type_get_true_extent_x(MPI_INT, NULL, NULL));
    CASE(MPI_Type_set_name(null, "a"));
    CASE(MPI_Type_set_name(MPI_INT, NULL));
    CASE(MPI_Type_get_name(null, big, &k));
    CASE(MPI_Type_get_name(MPI_INT, NULL, &k));
    CASE(MPI_Type_get_name(MPI_INT, big, NULL));
    CASE(MPI_Pack_external_size("external32", 1, null, at));
    CASE(MPI_Pack_external_size("external32", 1, MPI_INT, NULL));
    CASE(MPI_Pack_external("external32", sizes, -1, MPI_INT, room, 16, at));
    CASE(MPI_Pack_external("external32", sizes, 1, null, room, 16, at));
    CASE(MPI_Pack_external("external32", sizes, 1, MPI_INT, room, 16, NULL));
    CASE(MPI_Unpack_external("external32", room, 16, at, sizes, -1, MPI_INT));
    CASE(MPI_Unpack_external("external32", room, 16, at, sizes, 1, null));
    CASE(MPI_Unpack_external("external32", room, 16, NULL, sizes, 1, MPI_INT));
    CASE(MPI_Type_create_resized(null, 0, 4, &made));
    CASE(MPI_Type_create_resized(MPI_INT, 0, 4, NULL));
    CASE(MPI_Type_dup(null, &made));
    CASE(MPI_Type_dup(MPI_INT, NULL));
    CASE(MPI_Type_create_subarray(2, sizes, two, from, 99, MPI_INT, &made));
    CASE(MPI_Type_create_subarray(2, two, sizes, from, MPI_ORDER_C, MPI_INT, &made));
    CASE(MPI_Type_create_subarray(2, NULL, two, from, MPI_ORDER_C, MPI_INT, &made));
    CASE(MPI_Type_create_subarray(2, sizes, two, negative, MPI_ORDER_C, MPI_INT, &made));
    CASE(MPI_Type_create_subarray(2, sizes, two, from, MPI_ORDER_C, null, &made));
    CASE(MPI_Type_get_envelope(null, &k, &k, &k, &k));
    CASE(MPI_Type_get_envelope(MPI_INT, NULL, &k, &k, &k));
    CASE(MPI_Type_get_contents(MPI_INT, 1, 1, 1, two, at, types));
    CASE(MPI_Type_get_true_extent(null, at, at));
    CASE(MPI_Type_get_true_extent(MPI_INT, NULL, at));
    CASE(MPI_Pack_size(-1, MPI_INT, MPI_COMM_WORLD, &k));
    CASE(MPI_Pack_size(1, null, MPI_COMM_WORLD, &k));
    CASE(MPI_Pack_size(1, MPI_INT, MPI_COMM_NULL, &k));
    CASE(MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, NULL));
    position = 0;
    CASE(MPI_Pack(sizes, 1, MPI_INT, room, 16, &position, MPI_COMM_NULL));
    CASE(MPI_Pack(sizes, -1, MPI_INT, room, 16, &position, MPI_COMM_WORLD));
    CASE(MPI_Pack(sizes, 1, null, room, 16, &position, MPI_COMM_WORLD));
    CASE(MPI_Pack(sizes, 1, MPI_INT, room, 2, &position, MPI_COMM_WORLD));
    CASE(MPI_Pack(sizes, 1, MPI_INT, room, 16, NULL, MPI_COMM_WORLD));
    CASE(MPI_Unpack(room, 16, &position, sizes, -1, MPI_INT, MPI_COMM_WORLD));
    CASE(MPI_Unpack(room, 2, &position, sizes, 1, MPI_INT, MPI_COMM_WORLD));
    CASE(MPI_Unpack(room, 16, &position, sizes, 1, null, MPI_COMM_WORLD));
    CASE(MPI_Unpack(room, 16, NULL, sizes, 1, MPI_INT, MPI_COMM_WORLD));
}

int main(void)
{
    start();
    MPI_Type_contiguous(2, MPI_INT, &raw);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    reductions();
    moves();
    sends();
    receives();
    requests();
    statuses();
    objects();
    datatypes();
    end();
    return 0;
}
