/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives that compute (MPI 3.1 section 5.9): Reduce, Allreduce, and Reduce_local, which is not one. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"
#include "ft/intercomm.h"
#include "mpi_shim/pack.h"

/* A call of the program's function, as the engine's ft_op.ctx. The engine has data with gaps packed; the function sees elements as they are
   in the program's memory, so many at a time. */
struct user_call {
    MPI_Op op;
    MPI_Datatype type;
    char *memory, *in, *inout;      /* of data with gaps: room for two times `most` elements, and where these begin */
    uint64_t most;
};

/* In the language it was written in. The type is the function's own copy: it gets a pointer to it. */
static void call_function(MPI_Op op, void *in, void *inout, int len, MPI_Datatype type)
{
    void (*function)(void) = (void (*)(void))op->function;

    if (op->language & SHIM_FORTRAN_OP) {
        MPI_Fint number = PMPI_Type_c2f(type);

        ((void (*)(void *, void *, MPI_Fint *, MPI_Fint *))function)(in, inout, &len, &number);
    } else if (op->language & SHIM_CXX_OP) {
        ((void (*)(void *, void *, int *, MPI_Datatype *, void (*)(void)))function)(in, inout, &len, &type, op->cxx);
    } else {
        op->function(in, inout, &len, &type);
    }
}

/* MPI counts in int, the engine in 64 bits. */
static void combine(const struct user_call *u, const void *in, void *inout, uint64_t n)
{
    const char *from = in;
    char *to = inout;

    ft_function(true);
    while (n > 0) {
        int len = n > INT_MAX ? INT_MAX : (int)n;

        call_function(u->op, (void *)from, to, len, u->type);
        from += len * u->type->extent;
        to += len * u->type->extent;
        n -= (uint64_t)len;
    }
    ft_function(false);
}

static void combine_packed(const struct user_call *u, const char *in, char *inout, uint64_t n)
{
    uint64_t one = shim_packed(u->type);

    for (uint64_t k; n > 0; n -= k, in += k * one, inout += k * one) {
        k = ft_min(n, u->most);
        shim_unpack(u->type, u->in, k * one, in);
        shim_unpack(u->type, u->inout, k * one, inout);
        combine(u, u->in, u->inout, k);
        shim_pack(u->type, u->inout, k * one, inout);
    }
}

static void call_user(void *ctx, const void *in, void *inout, uint64_t n)
{
    const struct user_call *u = ctx;

    if (u->memory)
        combine_packed(u, in, inout, n);
    else
        combine(u, in, inout, n);
}

enum { ROOM = 64 << 10 };           /* bytes for elements with gaps; more if one is longer */

/* What a reduction tells the engine. */
struct reduction {
    struct ft_type type;
    struct ft_op op;
    struct user_call user;
    uint64_t count;
};

static __attribute__((cold)) int no_fold(MPI_Comm comm, const char *me, MPI_Op op, MPI_Datatype type)
{
    if (op->reduction == FT_REPLACE || op->reduction == FT_NO_OP)
        return shim_raise(comm, me, MPI_ERR_OP, "%s is for one-sided communication only", op->name);
    if (!type->predefined)
        return shim_raise(comm, me, MPI_ERR_OP, "%s takes predefined datatypes only; make an operation with MPI_Op_create",
                          op->name);
    return shim_raise(comm, me, MPI_ERR_OP, "%s is not defined for %s", op->name, type->name);
}

/* The program's function sees elements of the type it was called with, so they are never split. */
static int prepare_user(struct reduction *r, MPI_Comm comm, const char *me, int count, MPI_Datatype type, MPI_Op op)
{
    uint64_t one = shim_packed(type);

    if (one > UINT32_MAX)
        return shim_raise(comm, me, MPI_ERR_TYPE, "elements of %llu bytes; 4 GiB is the limit here", (unsigned long long)one);
    r->user = (struct user_call){.op = op, .type = type};
    r->op = (struct ft_op){.reduction = FT_USER, .user = call_user, .ctx = &r->user};
    r->type = (struct ft_type){.elem = (uint32_t)one, .kind = type->layout ? FT_OPAQUE : type->kind, .base = type->base, .layout = type->layout};
    r->count = (uint64_t)count;
    if (one == 0) /* elements of nothing: there is nothing to combine, and the engine wants a size */
        r->type.elem = 1, r->count = 0;
    return MPI_SUCCESS;
}

/* Memory where the program's function finds elements with gaps, at addresses as aligned as theirs. */
static __attribute__((cold)) int make_room(struct user_call *u, uint64_t count, MPI_Comm comm, const char *me)
{
    MPI_Datatype type = u->type;
    int64_t reach = type->extent < 0 ? -type->extent : type->extent, lo, hi, back;
    uint64_t bytes;

    u->most = ft_max(1, ft_min(count, reach ? (uint64_t)(ROOM / reach) : ROOM));
    back = (int64_t)(u->most - 1) * type->extent;
    lo = (type->true_lb + (back < 0 ? back : 0)) & -(int64_t)FT_LINE;
    hi = type->true_ub + (back > 0 ? back : 0);
    bytes = ft_align((uint64_t)(hi - lo), FT_LINE);
    u->memory = aligned_alloc(FT_LINE, 2 * bytes);
    if (!u->memory)
        return shim_raise(comm, me, MPI_ERR_NO_MEM, "no memory for %llu byte%s with gaps", (unsigned long long)(2 * bytes), ft_plural(2 * bytes));
    memset(u->memory, 0, 2 * bytes);
    u->in = (char *)((uintptr_t)u->memory - (uint64_t)lo);
    u->inout = (char *)((uintptr_t)u->memory + bytes - (uint64_t)lo);
    return MPI_SUCCESS;
}

/* Around a call of the engine, which other threads may use to free the type. */
static inline int begin(struct reduction *r, MPI_Comm comm, const char *me)
{
    int err = SHIM_LIKELY(!r->type.layout) ? MPI_SUCCESS : make_room(&r->user, r->count, comm, me);

    if (!err && r->op.reduction == FT_USER)
        shim_type_hold(r->user.type);
    return err;
}

static inline void end(struct reduction *r)
{
    if (r->op.reduction != FT_USER)
        return;
    free(r->user.memory);
    shim_type_release(r->user.type);
}

static inline FT_HOT int prepare(struct reduction *r, MPI_Comm comm, const char *me, int count, MPI_Datatype type, MPI_Op op)
{
    int err;

    if (!SHIM_LIKELY(op != NULL && op->magic == SHIM_OP))
        return shim_bad_op(comm, me, op);
    err = shim_check_type(comm, me, type);
    if (!err)
        err = shim_check_count(comm, me, "count", count);
    if (err)
        return err;
    if (op->reduction == FT_USER)
        return prepare_user(r, comm, me, count, type, op);
    r->op = (struct ft_op){.reduction = op->reduction, .fold = ft_reduce_find(type->kind, op->reduction)};
    if (!SHIM_LIKELY(r->op.fold && type->predefined && op->reduction < FT_REPLACE))
        return no_fold(comm, me, op, type);
    r->type = (struct ft_type){.elem = (uint32_t)type->extent, .kind = type->kind};
    r->count = (uint64_t)count;
    return MPI_SUCCESS;
}

/* Bytes that a buffer must be there for: gaps may begin at any address. */
static inline uint64_t needed(const struct reduction *r) { return r->type.layout ? 0 : r->count * r->type.elem; }

static int check_receive(MPI_Comm comm, const char *me, const struct reduction *r, const void *recvbuf)
{
    return shim_check_buffer(comm, me, "recvbuf", recvbuf, needed(r));
}

/* ---- between two groups: each has what the other one gives ---- */

static int no_place(MPI_Comm comm, const char *me)
{
    return shim_raise(comm, me, MPI_ERR_ARG, "MPI_IN_PLACE makes no sense between two groups; pass two buffers");
}

static int inter_allreduce(const char *me, const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                           uint64_t site)
{
    struct reduction r;
    struct ft_error e;
    int err = prepare(&r, comm, me, count, type, op);

    if (!err && (sendbuf == MPI_IN_PLACE || recvbuf == MPI_IN_PLACE))
        err = no_place(comm, me);
    if (!err)
        err = check_receive(comm, me, &r, recvbuf);
    if (!err)
        err = shim_check_buffer(comm, me, "sendbuf", sendbuf, needed(&r));
    if (!err)
        err = begin(&r, comm, me);
    if (err)
        return err;
    err = ft_intercomm_allreduce(&comm->members, sendbuf, recvbuf, r.count, r.type, &r.op, site, &e);
    end(&r);
    return shim_finish(err, &e);
}

static int inter_reduce(const char *me, const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                        uint64_t site)
{
    struct reduction r;
    struct ft_error e;
    int err = shim_inter_check_root(comm, me, root);

    if (err || root == MPI_PROC_NULL)
        return err;
    err = prepare(&r, comm, me, count, type, op);
    if (!err && (sendbuf == MPI_IN_PLACE || recvbuf == MPI_IN_PLACE))
        err = no_place(comm, me);
    if (!err && root == MPI_ROOT)
        err = check_receive(comm, me, &r, recvbuf);
    else if (!err)
        err = shim_check_buffer(comm, me, "sendbuf", sendbuf, needed(&r));
    if (!err)
        err = begin(&r, comm, me);
    if (err)
        return err;
    err = ft_intercomm_reduce(&comm->members, sendbuf, recvbuf, r.count, r.type, &r.op, root, site, &e);
    end(&r);
    return shim_finish(err, &e);
}

/* ---- within one ---- */

static inline __attribute__((always_inline)) int allreduce(const char *me, const void *sendbuf, void *recvbuf, int count,
                                                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, const char *key,
                                                           uint64_t site)
{
    struct reduction r;
    struct ft_error e;
    int err;

    err = prepare(&r, comm, me, count, datatype, op);
    if (!err)
        err = check_receive(comm, me, &r, recvbuf);
    if (!err && recvbuf == MPI_IN_PLACE)
        err = shim_raise(comm, me, MPI_ERR_BUFFER, "MPI_IN_PLACE is for sendbuf; recvbuf must be a buffer");
    /* One element, or none, in both buffers at once: Open MPI lets it pass, and it works as in place does. */
    if (!err && sendbuf == recvbuf && count > 1)
        err = shim_raise(comm, me, MPI_ERR_BUFFER, "sendbuf and recvbuf are the same; pass MPI_IN_PLACE as sendbuf");
    if (sendbuf == MPI_IN_PLACE)
        sendbuf = recvbuf;
    else if (!err)
        err = shim_check_buffer(comm, me, "sendbuf", sendbuf, needed(&r));
    if (!err)
        err = begin(&r, comm, me);
    if (err)
        return err;
    err = key ? ft_allreduce_cached(comm->stream, sendbuf, recvbuf, r.count, r.type, &r.op, key, site, &e)
              : ft_allreduce(comm->stream, sendbuf, recvbuf, r.count, r.type, &r.op, site, &e);
    end(&r);
    if (key && err == FT_EINVAL)
        return shim_raise(comm, me, MPI_ERR_ARG, "%s", e.text);
    return shim_finish(err, &e);
}

SHIM_ALIAS(int, Allreduce, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm));
int PMPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    SHIM_ENTER();

    if (!shim_comm_ok(comm))
        return shim_bad_comm(comm, "Allreduce");
    if (!SHIM_LIKELY(!comm->inter))
        return inter_allreduce("Allreduce", sendbuf, recvbuf, count, datatype, op, comm, SHIM_SITE());
    return allreduce("Allreduce", sendbuf, recvbuf, count, datatype, op, comm, NULL, SHIM_SITE());
}

int shim_allreduce_cached(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                          const char *key, uint64_t site)
{
    return allreduce("X_Allreduce_cached", sendbuf, recvbuf, count, datatype, op, comm, key, site);
}

/* Buffers of MPI_Reduce: recvbuf and MPI_IN_PLACE mean something on the root only. */
static int check_reduce(MPI_Comm comm, const char *me, const struct reduction *r, const void *sendbuf,
                        const void *recvbuf, bool is_root)
{
    if (sendbuf == MPI_IN_PLACE && !is_root)
        return shim_raise(comm, me, MPI_ERR_ARG, "MPI_IN_PLACE is for the root; the others pass their data");
    if (is_root && recvbuf == MPI_IN_PLACE)
        return shim_raise(comm, me, MPI_ERR_ARG, "MPI_IN_PLACE is for sendbuf; recvbuf must be a buffer");
    if (is_root && sendbuf == recvbuf && r->count > 0)
        return shim_raise(comm, me, MPI_ERR_ARG, "sendbuf and recvbuf are the same; the root passes MPI_IN_PLACE as sendbuf");
    if (is_root && check_receive(comm, me, r, recvbuf))
        return MPI_ERR_BUFFER;
    return shim_check_buffer(comm, me, "sendbuf", sendbuf, needed(r));
}

SHIM_ALIAS(int, Reduce, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm));
int PMPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm)
{
    SHIM_ENTER();
    const char *me = "Reduce";
    struct reduction r;
    struct ft_error e;
    int err;

    if (!shim_comm_ok(comm))
        return shim_bad_comm(comm, me);
    if (!SHIM_LIKELY(!comm->inter))
        return inter_reduce(me, sendbuf, recvbuf, count, datatype, op, root, comm, SHIM_SITE());
    err = prepare(&r, comm, me, count, datatype, op);
    if (!err)
        err = shim_check_root(comm, me, root);
    if (!err)
        err = check_reduce(comm, me, &r, sendbuf, recvbuf, comm->rank == root);
    if (!err)
        err = begin(&r, comm, me);
    if (err)
        return err;
    if (sendbuf == MPI_IN_PLACE)
        sendbuf = recvbuf;
    err = ft_reduce(comm->stream, sendbuf, recvbuf, r.count, r.type, &r.op, root, SHIM_SITE(), &e);
    end(&r);
    return shim_finish(err, &e);
}

SHIM_ALIAS(int, Reduce_local, (const void *inbuf, void *inoutbuf, int count, MPI_Datatype datatype, MPI_Op op));
int PMPI_Reduce_local(const void *inbuf, void *inoutbuf, int count, MPI_Datatype datatype, MPI_Op op)
{
    SHIM_ENTER();
    const char *me = "Reduce_local";
    struct reduction r;
    int err = shim_check_running(me);

    if (!err)
        err = prepare(&r, NULL, me, count, datatype, op);
    if (err)
        return err;
    if (inbuf == MPI_IN_PLACE || inoutbuf == MPI_IN_PLACE)
        return shim_raise(NULL, me, MPI_ERR_ARG, "MPI_IN_PLACE makes no sense here; pass two buffers");
    err = shim_check_buffer(NULL, me, "inbuf", inbuf, needed(&r));
    if (!err)
        err = shim_check_buffer(NULL, me, "inoutbuf", inoutbuf, needed(&r));
    if (err || r.count == 0)
        return err;
    if (r.op.reduction == FT_USER)
        combine(&r.user, inbuf, inoutbuf, r.count);
    else
        r.op.fold(inbuf, inoutbuf, inoutbuf, r.count);
    return MPI_SUCCESS;
}
