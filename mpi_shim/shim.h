/* SPDX-License-Identifier: BSD-3-Clause */
/* What the chapters share: the process's context, the checks of arguments, and the way errors take.

   Every MPI function is defined as PMPI_X and exported a second time as the weak alias MPI_X. One thread at a time is in here:
   up to MPI_THREAD_SERIALIZED the program sees to that, above it SHIM_ENTER. So nothing here has a lock of its own. */
#ifndef FTMPI_SHIM_H
#define FTMPI_SHIM_H

#include "ft/order.h"
#include "mpi_shim/handle.h"
#include "mpi_shim/missing.h"

#pragma GCC visibility push(hidden)  /* also for declarations: direct calls, no detour through the PLT */

/* The same function under its public name. */
#define SHIM_ALIAS(type, name, arguments) type MPI_##name arguments __attribute__((weak, alias("PMPI_" #name)))

/* The caller of the exported function this stands in, or whom MPIX_Call_site named: must be expanded there, not in a helper. */
#define SHIM_SITE() (shim.site ? shim.site : ft_site(__builtin_return_address(0)))

#define SHIM_LIKELY(condition) __builtin_expect(!!(condition), 1)

enum shim_stage { SHIM_BEFORE, SHIM_RUNNING, SHIM_FINISHED };

/* The one mutable global of the library. */
struct shim {
    enum shim_stage stage;
    struct ft *ft;                  /* while running */
    struct ft_order *order;         /* with MPI_THREAD_MULTIPLE: of calls; else NULL */
    int thread_level;
    unsigned long main_thread;
    uint64_t site;                  /* what MPIX_Call_site said; 0: nothing */
    bool wants_cache;               /* MPIX_Bootstrap_cache was called before MPI_Init */
    int rank;                       /* kept for messages after MPI_Finalize; -1 before MPI_Init */
    bool told[SHIM_MISSINGS];       /* which missing functions have been named on stderr */
};
extern struct shim shim;

/* At the head of each exported function, but of those that may be called at any time: from here to its end, however it is left, other
   threads are out, but while it waits or a function of the program's is called. Functions may call each other. */
#define SHIM_ENTER() struct ft_order *in_ __attribute__((cleanup(shim_leave), unused)) = shim_enter()
static inline struct ft_order *shim_enter(void)
{
    struct ft_order *order = shim.order;

    if (__builtin_expect(order != NULL, 0))
        ft_order_enter(order);
    return order;
}
static inline void shim_leave(struct ft_order *const *in)
{
    if (__builtin_expect(*in != NULL, 0))
        ft_order_leave(*in);
}

/* Around the call of a function of the program's that may call MPI. What the first returns is for the second. */
static inline uint32_t shim_let(void) { return __builtin_expect(shim.order != NULL, 0) ? ft_order_let(shim.order) : 0; }
static inline void shim_take(uint32_t depth)
{
    if (__builtin_expect(depth > 0, 0))
        ft_order_take(shim.order, depth);
}

/* In a loop that waits for what another thread does. */
void shim_give_way(void);

/* Ends the job with one line for the user; the exit code is cut to 1-255. */
void shim_end(int code, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

/* An error in `function` (its name without MPI_): goes to comm's error handler, or MPI_COMM_WORLD's if comm is
   NULL or no communicator. Returns the code if the handler returns. The text says what is wrong and, after a
   semicolon, what to do. A code is its class, but for functions that are missing: each has its own. */
int shim_raise(MPI_Comm comm, const char *function, int code, const char *format, ...)
    __attribute__((cold, format(printf, 4, 5)));

/* The same, to a handler that is not a communicator's. */
int shim_raise_to(MPI_Errhandler handler, MPI_Comm comm, const char *function, int code, const char *format, ...)
    __attribute__((cold, format(printf, 5, 6)));

/* What goes before the name of a function as it is given to these: Bcast, X_Checkpoint, OMPI_Affinity_str. */
const char *shim_prefix(const char *function);

/* A collective of the engine failed: its stream cannot go on, whatever the error handler wishes. finish: what the engine returned. */
void shim_engine_failed(int err, const struct ft_error *e) __attribute__((noreturn, cold));

static inline int shim_finish(int err, const struct ft_error *e)
{
    if (!SHIM_LIKELY(err == 0))
        shim_engine_failed(err, e);
    return MPI_SUCCESS;
}

/* Would an error of MPI_COMM_WORLD's end the job? */
bool shim_errors_are_fatal(void);

/* "rank 0 on alpha": who this is, in messages. */
enum { SHIM_PLACE = 128 };
void shim_where(char *text, size_t size);

/* A code's class, -1 if there is no such code; the name of that class, "MPI_ERR_COUNT"; the explanation of the code,
   "invalid count argument". NULL if there is no such code. What the program adds follows SHIM_LAST_CODE. */
enum { SHIM_LAST_CODE = MPI_ERR_LASTCODE + SHIM_MISSINGS };
int shim_error_class(int code);
const char *shim_class_name(int code);
const char *shim_error_text(int code);

/* Why this thread's last MPI_ERR_OTHER was raised; empty: there was none. */
const char *shim_other_reason(void);

/* The explanation of the code of a function that is missing, NULL for all others (missing.c). */
const char *shim_missing_text(int code);

/* What is wrong, said at length; the checks below find out cheaply that something is. */
int shim_bad_comm(MPI_Comm comm, const char *function) __attribute__((cold));
int shim_bad_time(const char *function) __attribute__((cold));
int shim_bad_count(MPI_Comm comm, const char *function, const char *what, long long count) __attribute__((cold));
int shim_bad_length(MPI_Comm comm, const char *function, const char *what, long long count, MPI_Datatype type) __attribute__((cold));
int shim_bad_type(MPI_Comm comm, const char *function, MPI_Datatype type) __attribute__((cold));
int shim_bad_op(MPI_Comm comm, const char *function, MPI_Op op) __attribute__((cold));
int shim_bad_info(MPI_Comm comm, const char *function, MPI_Info info) __attribute__((cold));
int shim_bad_root(MPI_Comm comm, const char *function, int root) __attribute__((cold));
int shim_bad_buffer(MPI_Comm comm, const char *function, const char *what, uint64_t bytes) __attribute__((cold));

/* Is it a communicator that can communicate now? One test covers null and foreign handles, and a call too
   early or too late. */
static inline bool shim_comm_ok(MPI_Comm comm)
{
    return SHIM_LIKELY(comm != NULL && comm->magic == SHIM_COMM && comm->stream != NULL);
}

static inline bool shim_type_ok(MPI_Datatype type)
{
    return SHIM_LIKELY(type != NULL && type->magic == SHIM_TYPE && type->committed);
}

/* Checks. Each returns MPI_SUCCESS or what shim_raise returned. */
static inline int shim_check_running(const char *function)
{
    return SHIM_LIKELY(shim.stage == SHIM_RUNNING) ? MPI_SUCCESS : shim_bad_time(function);
}

static inline int shim_check_count(MPI_Comm comm, const char *function, const char *what, long long count)
{
    return SHIM_LIKELY(count >= 0) ? MPI_SUCCESS : shim_bad_count(comm, function, what, count);
}

static inline int shim_check_type(MPI_Comm comm, const char *function, MPI_Datatype type)
{
    return shim_type_ok(type) ? MPI_SUCCESS : shim_bad_type(comm, function, type);
}

static inline int shim_check_buffer(MPI_Comm comm, const char *function, const char *what, const void *buffer, uint64_t bytes)
{
    return SHIM_LIKELY(buffer != NULL || bytes == 0) ? MPI_SUCCESS : shim_bad_buffer(comm, function, what, bytes);
}

/* count elements of a type are `count * per` base elements; their bytes must fit in 63 bits. Of a type that is not contiguous any buffer
   may be right: its parts may lie at addresses. */
static inline int shim_check_data(MPI_Comm comm, const char *function, const char *what, long long count, MPI_Datatype type,
                                  const void *buffer)
{
    uint64_t bytes;
    int err = shim_check_count(comm, function, what, count);

    if (!err)
        err = shim_check_type(comm, function, type);
    if (err)
        return err;
    if (!SHIM_LIKELY(!__builtin_mul_overflow((uint64_t)count, type->per * type->base_elem, &bytes) && bytes <= INT64_MAX))
        return shim_bad_length(comm, function, what, count, type);
    return shim_check_buffer(comm, function, "the buffer", buffer, type->contiguous ? bytes : 0);
}

static inline int shim_check_root(MPI_Comm comm, const char *function, int root)
{
    return SHIM_LIKELY(root >= 0 && root < comm->size) ? MPI_SUCCESS : shim_bad_root(comm, function, root);
}

/* What collectives of intercommunicators do with the same arguments (intercomm_coll.c). */
int shim_inter_barrier(MPI_Comm comm, uint64_t site);
int shim_inter_bcast(MPI_Comm comm, const char *function, void *buffer, int count, MPI_Datatype type, int root, uint64_t site);
int shim_inter_allgather(MPI_Comm comm, const char *function, const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                         int recvcount, MPI_Datatype recvtype, uint64_t site);
int shim_inter_allgatherv(MPI_Comm comm, const char *function, const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                          const int *recvcounts, const int *displs, MPI_Datatype recvtype, uint64_t site);
int shim_inter_check_root(MPI_Comm comm, const char *function, int root);

/* Who is in it, as ranks of MPI_COMM_WORLD; of an intercommunicator, in this rank's group. */
static inline const int *shim_comm_ranks(MPI_Comm comm) { return comm->inter ? comm->members.local->ranks : comm->members.ranks; }

/* So many ranks can be named in messages. */
static inline int shim_comm_peers(MPI_Comm comm) { return (int)comm->members.n; }

/* What a call that only moves data tells the engine: base elements, so that 4 x contiguous(2, int) and 8 x int
   are the same call. */
static inline struct ft_type shim_base(MPI_Datatype type)
{
    return (struct ft_type){.elem = type->base_elem, .kind = type->base, .layout = type->layout};
}

/* MPI_Allreduce and MPI_Bcast with a key of the bootstrap cache (cached.c), "": none. comm is one. */
int shim_allreduce_cached(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                          const char *key, uint64_t site);
int shim_bcast_cached(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, const char *key, uint64_t site);

/* Communicators that are there (comm_new.c). open: `members` is what the engine made. new: without any, NULL: no memory; finish: they are
   there, and it gets comm's error handler; put_back: they are not; failed: as the engine says. drop_attributes: an error of comm's if a delete
   function fails. close: all that the program made and did not free, after MPI_Finalize. */
void shim_comm_open(MPI_Comm comm);
MPI_Comm shim_comm_new(void);
MPI_Comm shim_comm_finish(MPI_Comm comm, MPI_Comm new);
void shim_comm_put_back(MPI_Comm new);
int shim_comm_failed(MPI_Comm comm, const char *function, int err, const struct ft_error *e);
int shim_comm_drop_attributes(MPI_Comm comm, const char *function);
void shim_comms_close(void);

/* A copy of info's hints for an object, NULL without any; info may be NULL or MPI_INFO_NULL (info.c). */
int shim_info_hints(MPI_Info info, MPI_Info *hints);

/* Created objects leave their number in Fortran, if they have one (fortran.c); 0 is none. */
void shim_comm_unnumber(MPI_Comm comm);
void shim_type_unnumber(MPI_Datatype type);
void shim_op_unnumber(MPI_Op op);
void shim_errhandler_unnumber(MPI_Errhandler errhandler);
void shim_group_unnumber(MPI_Group group);
void shim_info_unnumber(MPI_Info info);
void shim_request_unnumber(MPI_Request request);
void shim_message_unnumber(MPI_Message message);

/* A handler of the program's own, one reference; NULL without memory (errhandler.c). */
MPI_Errhandler shim_errhandler_new(int language);

/* Attributes (keyval.c). drop: deletes all, the latest first, and stops at a delete function that fails with what it
   returned; kind 1 is a communicator, 2 a datatype. copy: to a duplicate that has none, as their copy functions say; stops at one that
   fails with what it returned, MPI_ERR_NO_MEM. predefine: those that MPI_COMM_WORLD has from the start; MPI_ERR_NO_MEM. */
int shim_attributes_drop(int kind, void *object, struct shim_attribute **list);
int shim_attributes_copy(int kind, void *from, struct shim_attribute *list, void *to, struct shim_attribute **copies);
int shim_attributes_predefine(struct shim_attribute **list, int size);

/* The largest error code there is: MPI_LASTUSEDCODE in MPI_COMM_WORLD's list. */
void shim_attributes_last_code(struct shim_attribute *list, int code);

/* Error handler references (errhandler.c); NULL has none. hold: one more, returns the handler. */
MPI_Errhandler shim_errhandler_hold(MPI_Errhandler errhandler);
void shim_errhandler_release(MPI_Errhandler errhandler);

#pragma GCC visibility pop

#endif
