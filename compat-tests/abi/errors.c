/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrong arguments, and the class of error each raises: one binary, run with Open MPI's library and with ours, must
   print the same (abi.sh lists where ours is stricter on purpose). Some of these crash Open MPI: said, too. */
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { CRASHES_IN_FINALIZE = 9 };

static sigjmp_buf back;

static void crashed(int signal)
{
    (void)signal;
    siglongjmp(back, 1);
}

/* Open MPI, once, on a busy machine: that was taken for one more line of the last case. */
static void crashed_at_the_end(int signal)
{
    (void)signal;
    _exit(CRASHES_IN_FINALIZE);
}

#define CASE(call)                                              \
    do {                                                        \
        if (sigsetjmp(back, 1) == 0) {                          \
            int code_ = (call), class_ = -1;                    \
            MPI_Error_class(code_, &class_);                    \
            printf("%s -> %d\n", #call, class_);                \
        } else {                                                \
            printf("%s -> crash\n", #call);                     \
        }                                                       \
    } while (0)

static void plus(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)len, (void)type;
}

static void handler(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code; }

static int a[4], b[4], one[1] = {1}, zero[1] = {0}, minus[1] = {-1}, n;
static MPI_Datatype raw, pair;

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
    CASE(MPI_Get_address(a, NULL));
    CASE(MPI_Query_thread(NULL));
    CASE(MPI_Is_thread_main(NULL));
    CASE(MPI_Initialized(NULL));
    CASE(MPI_Get_version(NULL, &n));
    CASE(MPI_Get_processor_name(NULL, &n));
}

int main(void)
{
    MPI_Init(NULL, NULL);
    signal(SIGSEGV, crashed);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(2, MPI_INT, &raw);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    reductions();
    moves();
    objects();
    fflush(stdout);
    signal(SIGSEGV, crashed_at_the_end);
    MPI_Finalize();
    return 0;
}
