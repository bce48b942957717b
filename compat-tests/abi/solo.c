/* SPDX-License-Identifier: BSD-3-Clause */
/* A world of one: every function of the library outside the collectives' numbers, and every way an error
   takes. Each test runs in a process of its own, so each may start and end MPI, or be ended by it. */
#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ftmpi.h"
#include "world.h"

#define RAISES(call, class) CHECK((call) == (class), "not " #class)

/* Runs f and returns its exit code (or 128 + signal); what it wrote to stderr is in text. */
static int run(void (*f)(void), char *text, size_t size)
{
    int ends[2], status;
    size_t got = 0;
    ssize_t n;
    pid_t pid;

    fflush(stdout);
    if (pipe(ends) != 0 || (pid = fork()) < 0)
        exit(99);
    if (pid == 0) {
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        f();
        exit(0);
    }
    close(ends[1]);
    while ((n = read(ends[0], text + got, size - 1 - got)) > 0)
        got += (size_t)n;
    text[got] = '\0';
    close(ends[0]);
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void start(void)
{
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
}

/* --- life --- */

static void life(void)
{
    int flag = -1, major = 0, minor = 0, len = 0, level = -1;
    char version[MPI_MAX_LIBRARY_VERSION_STRING];

    OK(MPI_Initialized(&flag));
    CHECK(!flag, "initialized before Init");
    OK(MPI_Finalized(&flag));
    CHECK(!flag, "finalized before Init");
    OK(MPI_Get_version(&major, &minor));
    CHECK(major == 3 && minor == 1, "version");
    OK(MPI_Get_library_version(version, &len));
    CHECK(strncmp(version, "ftmpi ", 6) == 0 && len == (int)strlen(version), "library version %s", version);
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Initialized(&flag));
    CHECK(flag, "not initialized after Init");
    OK(MPI_Query_thread(&level));
    CHECK(level == MPI_THREAD_SINGLE, "thread level %d", level);
    OK(MPI_Is_thread_main(&flag));
    CHECK(flag, "not the main thread");
    OK(MPI_Finalize());
    OK(MPI_Finalized(&flag));
    CHECK(flag, "not finalized");
    OK(MPI_Initialized(&flag));
    CHECK(flag, "MPI_Initialized stays true");
    OK(MPI_Get_version(&major, &minor));
}

static void threads(void)
{
    int level = -1;

    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level));
    CHECK(level == MPI_THREAD_MULTIPLE, "promised thread level %d", level);
    OK(MPI_Query_thread(&level));
    CHECK(level == MPI_THREAD_MULTIPLE, "thread level %d", level);
    OK(MPI_Finalize());
}

static void place_and_time(void)
{
    char name[MPI_MAX_PROCESSOR_NAME], host[256];
    int len, rank = -1, size = -1;
    double t, tick;

    start();
    OK(MPI_Get_processor_name(name, &len));
    gethostname(host, sizeof host);
    CHECK(strcmp(name, host) == 0 && len == (int)strlen(host), "name %s", name);
    t = MPI_Wtime();
    CHECK(MPI_Wtime() >= t, "time goes back");
    tick = MPI_Wtick();
    CHECK(tick > 0 && tick < 1e-3, "tick %g", tick);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK(rank == 0 && size == 1, "rank %d of %d", rank, size);
    OK(MPI_Comm_rank(MPI_COMM_SELF, &rank));
    OK(MPI_Comm_size(MPI_COMM_SELF, &size));
    CHECK(rank == 0 && size == 1, "self: rank %d of %d", rank, size);
    OK(MPI_Finalize());
}

static void extensions(void)
{
    int n = -1;

    OK(MPIX_Bootstrap_cache(&n));
    CHECK(n == 0, "a bootstrap cache before there is a job");
    start();
    OK(MPIX_Bootstrap_cache(&n));
    CHECK(n == 0, "a bootstrap cache of one rank alone");
    OK(MPIX_Bootstrap_cache(NULL));
    OK(MPIX_Incarnation(&n));
    CHECK(n == 0, "incarnation %d", n);
    n = -1;
    OK(MPIX_Replaying(MPI_COMM_WORLD, &n));
    CHECK(n == 0, "replaying");
    OK(MPIX_Mark_rabit());
    OK(MPIX_Call_site(&n));
    OK(MPIX_Call_site(NULL));
    RAISES(MPIX_Incarnation(NULL), MPI_ERR_ARG);
    RAISES(MPIX_Replaying(MPI_COMM_NULL, &n), MPI_ERR_COMM);
    RAISES(MPIX_Replaying(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    OK(MPI_Finalize());
}

/* --- datatypes --- */

static void store(void)
{
    static char large[(1 << 20) + 1], longest[1025];
    const void *value;
    MPI_Count n;
    long long sum;
    int there;

    start();
    memset(longest, 'k', 1024);
    OK(MPIX_Store_get("a", &value, &n, &there));
    CHECK(!there && !value && n == 0, "nothing is there");
    OK(MPIX_Store_set("a", "12", 2));
    OK(MPIX_Store_add("a", -13, &sum));
    CHECK(sum == -1, "add");
    OK(MPIX_Store_add("a", 1, NULL));
    OK(MPIX_Store_wait("a", MPIX_STORE_FOREVER, &value, &n, &there));
    CHECK(there && n == 1 && !memcmp(value, "0", 1), "what was added is there");
    OK(MPIX_Store_wait("never", 0, NULL, NULL, &there));
    CHECK(!there, "nobody sets it");
    OK(MPIX_Store_compare_and_swap("a", "1", 1, "x", 1, &there));
    CHECK(!there, "not expected");
    OK(MPIX_Store_compare_and_swap("b", NULL, MPIX_STORE_NONE, large, 1 << 20, &there));
    CHECK(there, "nothing was expected");
    OK(MPIX_Store_set(longest, NULL, 0));
    OK(MPIX_Store_get(longest, &value, &n, &there));
    CHECK(there && n == 0, "an empty value");
    longest[1024 - 1] = 'l';
    RAISES(MPIX_Store_set(NULL, "v", 1), MPI_ERR_ARG);
    RAISES(MPIX_Store_set("", "v", 1), MPI_ERR_ARG);
    RAISES(MPIX_Store_set("k", NULL, 1), MPI_ERR_BUFFER);
    RAISES(MPIX_Store_set("k", "v", -1), MPI_ERR_COUNT);
    RAISES(MPIX_Store_set("k", large, sizeof large), MPI_ERR_COUNT);
    RAISES(MPIX_Store_get("k", &value, NULL, &there), MPI_ERR_ARG);
    RAISES(MPIX_Store_get("k", &value, &n, NULL), MPI_ERR_ARG);
    RAISES(MPIX_Store_wait("k", -2, &value, &n, &there), MPI_ERR_ARG);
    RAISES(MPIX_Store_wait("k", 0.0 / 0.0, &value, &n, &there), MPI_ERR_ARG);
    RAISES(MPIX_Store_add("b", 1, &sum), MPI_ERR_ARG);
    RAISES(MPIX_Store_compare_and_swap("k", NULL, -2, "v", 1, &there), MPI_ERR_COUNT);
    RAISES(MPIX_Store_compare_and_swap("k", large, 1 << 19, large, (1 << 19) + 1, &there), MPI_ERR_COUNT);
    RAISES(MPIX_Store_compare_and_swap("k", NULL, MPIX_STORE_NONE, "v", 1, NULL), MPI_ERR_ARG);
    OK(MPIX_Store_get("k", NULL, NULL, &there));
    CHECK(!there, "what was refused has changed nothing");
    OK(MPI_Finalize());
}

static void long_key(void)
{
    static char key[1026];

    memset(key, 'k', sizeof key - 1);
    OK(MPI_Init(NULL, NULL));
    MPIX_Store_set(key, "v", 1);
}

static void store_too_late(void) { MPI_Init(NULL, NULL); MPI_Finalize(); MPIX_Store_add("k", 1, NULL); }

static void datatypes(void)
{
    MPI_Datatype four, twelve, huge, stale;
    MPI_Aint lb, extent, address;
    MPI_Count big;
    int size;

    start();
    OK(MPI_Type_contiguous(4, MPI_DOUBLE_INT, &four));
    OK(MPI_Type_contiguous(3, four, &twelve));
    OK(MPI_Type_size(twelve, &size));
    OK(MPI_Type_get_extent(twelve, &lb, &extent));
    CHECK(size == 12 * 12 && lb == 0 && extent == 12 * 16, "size %d extent %ld", size, (long)extent);
    OK(MPI_Type_contiguous(INT_MAX, twelve, &huge));
    OK(MPI_Type_size(huge, &size));
    CHECK(size == MPI_UNDEFINED, "size %d", size);
    OK(MPI_Type_size_x(huge, &big));
    CHECK(big == 144LL * INT_MAX, "size %lld", big);
    RAISES(MPI_Type_contiguous(INT_MAX, huge, &stale), MPI_ERR_COUNT);
    RAISES(MPI_Bcast(&size, 1, four, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    OK(MPI_Type_commit(&four));
    OK(MPI_Type_commit(&four));
    stale = four;
    OK(MPI_Type_free(&four));
    CHECK(four == MPI_DATATYPE_NULL, "handle after free");
    RAISES(MPI_Type_size(stale, &size), MPI_ERR_TYPE);
    RAISES(MPI_Bcast(&size, 0, stale, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    OK(MPI_Get_address(&size, &address));
    CHECK(address == (MPI_Aint)&size, "address");
    OK(MPI_Type_free(&huge));
    OK(MPI_Type_free(&twelve));
    OK(MPI_Finalize());
}

/* --- error handlers --- */

static int handled, handled_code;

static void handler(MPI_Comm *comm, int *code, ...)
{
    handled += *comm == MPI_COMM_WORLD;
    handled_code = *code;
}

static void handlers(void)
{
    MPI_Errhandler mine, got;

    OK(MPI_Init(NULL, NULL));
    OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got));
    CHECK(got == MPI_ERRORS_ARE_FATAL, "the default handler");
    OK(MPI_Comm_create_errhandler(handler, &mine));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine));
    OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got));
    CHECK(got == mine, "the handler that was set");
    OK(MPI_Errhandler_free(&got));
    OK(MPI_Errhandler_free(&mine));
    CHECK(mine == MPI_ERRHANDLER_NULL, "handle after free");
    RAISES(MPI_Allreduce(&handled, &handled_code, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_COUNT);
    CHECK(handled == 1 && handled_code == MPI_ERR_COUNT, "the freed but attached handler was not called");
    RAISES(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK(handled == 2, "errors without communicator go to MPI_COMM_WORLD");
    OK(MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER));
    CHECK(handled == 3 && handled_code == MPI_ERR_OTHER, "Comm_call_errhandler");
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER));
    CHECK(handled == 3, "a detached handler was called");
    OK(MPI_Errhandler_create(handler, &mine));
    OK(MPI_Errhandler_set(MPI_COMM_SELF, mine));
    OK(MPI_Errhandler_get(MPI_COMM_SELF, &got));
    CHECK(got == mine, "MPI-1 names");
    OK(MPI_Errhandler_free(&mine));
    OK(MPI_Errhandler_free(&got));
    OK(MPI_Finalize());
}

static void strings(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int class, len;

    for (int code = MPI_SUCCESS; code <= MPI_T_ERR_INVALID_NAME; code++) {
        OK(MPI_Error_class(code, &class));
        CHECK(class == code, "class %d of %d", class, code);
        OK(MPI_Error_string(code, text, &len));
        CHECK(len == (int)strlen(text) && len > 8 && strncmp(text, "MPI_", 4) == 0, "%d: %s", code, text);
    }
}

static int last_code(void)
{
    int *code, there = 0;

    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &code, &there));
    return there ? *code : -1;
}

/* The program's own errors. */
static void added(void)
{
    char text[MPI_MAX_ERROR_STRING], longest[MPI_MAX_ERROR_STRING + 1];
    int own, code, other, class, len, before;
    MPI_Errhandler mine;

    start();
    before = last_code();
    OK(MPI_Add_error_class(&own));
    CHECK(own > before && own == last_code(), "class %d after %d", own, before);
    OK(MPI_Error_string(own, text, &len));
    CHECK(len == 0 && !*text, "no text yet: %s", text);
    OK(MPI_Add_error_code(own, &code));
    OK(MPI_Add_error_code(MPI_ERR_TAG, &other));
    CHECK(other == last_code(), "MPI_LASTUSEDCODE %d", last_code());
    OK(MPI_Add_error_string(code, "the disk is tired"));
    OK(MPI_Add_error_string(code, "the disk is asleep"));
    OK(MPI_Error_string(code, text, &len));
    CHECK(len == 18 && !strcmp(text, "the disk is asleep"), "%s", text);
    OK(MPI_Error_class(code, &class));
    CHECK(class == own, "the class of the code is %d", class);
    OK(MPI_Error_class(other, &class));
    CHECK(class == MPI_ERR_TAG, "the class of the other is %d", class);

    RAISES(MPI_Add_error_class(NULL), MPI_ERR_ARG);
    RAISES(MPI_Add_error_code(own, NULL), MPI_ERR_ARG);
    RAISES(MPI_Add_error_code(code, &class), MPI_ERR_ARG);
    RAISES(MPI_Add_error_code(-1, &class), MPI_ERR_ARG);
    RAISES(MPI_Add_error_string(MPI_ERR_TAG, "mine"), MPI_ERR_ARG);
    RAISES(MPI_Add_error_string(last_code() + 1, "mine"), MPI_ERR_ARG);
    RAISES(MPI_Add_error_string(code, NULL), MPI_ERR_ARG);
    memset(longest, 'x', MPI_MAX_ERROR_STRING);
    longest[MPI_MAX_ERROR_STRING] = '\0';
    RAISES(MPI_Add_error_string(code, longest), MPI_ERR_ARG);

    OK(MPI_Comm_create_errhandler(handler, &mine));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, mine));
    OK(MPI_Errhandler_free(&mine));
    OK(MPI_Comm_call_errhandler(MPI_COMM_SELF, code));
    CHECK(handled_code == code, "the handler was given %d", handled_code);
    OK(MPI_Comm_call_errhandler(MPI_COMM_SELF, own));
    CHECK(handled_code == own, "the handler was given %d", handled_code);
    OK(MPI_Finalize());
}

static void fatal_added(void)
{
    int code;

    OK(MPI_Init(NULL, NULL));
    OK(MPI_Add_error_code(MPI_ERR_TAG, &code));
    OK(MPI_Add_error_string(code, "the disk is asleep"));
    OK(MPI_Comm_call_errhandler(MPI_COMM_WORLD, code));
}

/* --- every argument that can be wrong, under MPI_ERRORS_RETURN --- */

static void plus(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *len; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void wrong_reductions(void)
{
    int a[4] = {1, 2, 3, 4}, b[4] = {0};
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Datatype pair;
    MPI_Op op, stale;

    start();
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Op_create(plus, 1, &op));
    RAISES(MPI_Allreduce(a, b, 1, pair, op, w), MPI_ERR_TYPE);
    OK(MPI_Type_commit(&pair));
    OK(MPI_Allreduce(a, b, 1, pair, op, w));
    RAISES(MPI_Allreduce(a, b, 1, pair, MPI_SUM, w), MPI_ERR_OP);
    RAISES(MPI_Allreduce(a, b, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL), MPI_ERR_COMM);
    RAISES(MPI_Allreduce(a, b, 1, MPI_INT, MPI_SUM, (MPI_Comm)0), MPI_ERR_COMM);
    RAISES(MPI_Allreduce(a, b, 1, MPI_INT, MPI_OP_NULL, w), MPI_ERR_OP);
    RAISES(MPI_Allreduce(a, b, 1, MPI_FLOAT, MPI_BXOR, w), MPI_ERR_OP);
    RAISES(MPI_Allreduce(a, b, 1, MPI_INT, MPI_MINLOC, w), MPI_ERR_OP);
    RAISES(MPI_Allreduce(a, b, 1, MPI_INT, MPI_REPLACE, w), MPI_ERR_OP);
    RAISES(MPI_Allreduce(a, b, 1, MPI_WCHAR, MPI_SUM, w), MPI_ERR_OP);
    RAISES(MPI_Allreduce(a, NULL, 1, MPI_INT, MPI_SUM, w), MPI_ERR_BUFFER);
    RAISES(MPI_Allreduce(NULL, b, 1, MPI_INT, MPI_SUM, w), MPI_ERR_BUFFER);
    RAISES(MPI_Allreduce(a, a, 2, MPI_INT, MPI_SUM, w), MPI_ERR_BUFFER);
    RAISES(MPI_Allreduce(a, MPI_IN_PLACE, 2, MPI_INT, MPI_SUM, w), MPI_ERR_BUFFER);
    RAISES(MPI_Reduce(a, b, 1, MPI_INT, MPI_SUM, 1, w), MPI_ERR_ROOT);
    RAISES(MPI_Reduce(a, b, 1, MPI_INT, MPI_SUM, -1, w), MPI_ERR_ROOT);
    RAISES(MPI_Reduce(a, a, 1, MPI_INT, MPI_SUM, 0, w), MPI_ERR_ARG);
    stale = op;
    OK(MPI_Op_free(&op));
    RAISES(MPI_Allreduce(a, b, 1, MPI_INT, stale, w), MPI_ERR_OP);
    OK(MPI_Reduce_local(a, b, 4, MPI_INT, MPI_SUM));
    CHECK(b[0] == 2 && b[1] == 4 && b[2] == 3, "after Allreduce of a pair and Reduce_local: %d %d %d", b[0], b[1], b[2]);
    OK(MPI_Type_free(&pair));
    OK(MPI_Finalize());
}

static void wrong_moves(void)
{
    int a[4] = {0}, b[4] = {0}, one = 1, two = 2, minus = -1, zero = 0;
    MPI_Comm w = MPI_COMM_WORLD;

    start();
    RAISES(MPI_Bcast(a, 1, MPI_INT, 1, w), MPI_ERR_ROOT);
    RAISES(MPI_Bcast(a, -1, MPI_INT, 0, w), MPI_ERR_COUNT);
    RAISES(MPI_Bcast(NULL, 1, MPI_INT, 0, w), MPI_ERR_BUFFER);
    RAISES(MPI_Bcast(a, 1, MPI_DATATYPE_NULL, 0, w), MPI_ERR_TYPE);
    RAISES(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, w), MPI_ERR_ARG);
    RAISES(MPI_Allgather(a, 1, MPI_INT, b, 2, MPI_INT, w), MPI_ERR_TRUNCATE);
    RAISES(MPI_Allgather(a, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, w), MPI_ERR_ARG);
    RAISES(MPI_Allgather(a, 1, MPI_INT, NULL, 1, MPI_INT, w), MPI_ERR_BUFFER);
    RAISES(MPI_Allgatherv(a, 1, MPI_INT, b, &minus, &zero, MPI_INT, w), MPI_ERR_COUNT);
    RAISES(MPI_Allgatherv(a, 1, MPI_INT, b, NULL, &zero, MPI_INT, w), MPI_ERR_COUNT);
    RAISES(MPI_Allgatherv(a, 1, MPI_INT, b, &one, NULL, MPI_INT, w), MPI_ERR_BUFFER);
    RAISES(MPI_Allgatherv(a, 1, MPI_INT, b, &two, &zero, MPI_INT, w), MPI_ERR_TRUNCATE);
    RAISES(MPI_Barrier(NULL), MPI_ERR_COMM);
    OK(MPI_Finalize());
}

/* --- MPI_ERRORS_ARE_FATAL and friends: one line, an exit code, no return --- */

static void fatal_count(void)
{
    int a = 0, b;

    OK(MPI_Init(NULL, NULL));
    MPI_Allreduce(&a, &b, -3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void fatal_self(void)
{
    int a = 0;

    start();
    MPI_Bcast(&a, 1, MPI_INT, 7, MPI_COMM_SELF); /* the handler of MPI_COMM_SELF is still the default */
}

/* MPI_Win_free is not there; take another one when it is. */
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wuser-defined-warnings"
#else
#pragma GCC diagnostic ignored "-Wattribute-warning"
#endif

static void missing(void)
{
    MPI_Win win = MPI_WIN_NULL;
    int class = 0;

    start();
    OK(MPI_Error_class(MPI_Win_free(&win), &class));
    CHECK(class == MPI_ERR_UNSUPPORTED_OPERATION, "not MPI_ERR_UNSUPPORTED_OPERATION");
    OK(MPI_Pcontrol(1, "anything"));
    OK(MPI_Finalize());
}

static void fatal_missing(void)
{
    MPI_Win win = MPI_WIN_NULL;

    OK(MPI_Init(NULL, NULL));
    MPI_Win_free(&win);
}

static void fatal_missing_ompi(void)
{
    int OMPI_Affinity_str(void); /* in no header of ours */

    OK(MPI_Init(NULL, NULL));
    OMPI_Affinity_str();
}

static void too_early(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void too_late(void) { MPI_Init(NULL, NULL); MPI_Finalize(); MPI_Barrier(MPI_COMM_WORLD); }
static void twice(void) { MPI_Init(NULL, NULL); MPI_Init(NULL, NULL); }
static void again(void) { MPI_Init(NULL, NULL); MPI_Finalize(); MPI_Init(NULL, NULL); }
static void abort_7(void) { MPI_Init(NULL, NULL); MPI_Abort(MPI_COMM_WORLD, 7); }
static void abort_0(void) { MPI_Init(NULL, NULL); MPI_Abort(MPI_COMM_SELF, 0); }
static void abort_minus_1(void) { MPI_Init(NULL, NULL); MPI_Abort(MPI_COMM_WORLD, -1); }

static bool one_line(const char *text)
{
    const char *end = strchr(text, '\n');

    return end && end[1] == '\0';
}

int main(void)
{
    static const struct { const char *name; void (*run)(void); int code; const char *words[3]; } tests[] = {
#define FINE(f) {#f, f, 0, {""}}
        FINE(life), FINE(threads), FINE(place_and_time), FINE(extensions), FINE(store), FINE(datatypes), FINE(handlers),
        FINE(strings), FINE(added), FINE(wrong_reductions), FINE(wrong_moves),
        {"missing", missing, 0, {"MPI_Win_free fails: ftmpi has no MPI_Win_free yet"}},
        {"fatal_count", fatal_count, MPI_ERR_COUNT, {"MPI_Allreduce", "MPI_ERR_COUNT: count is -3", "rank 0 on "}},
        {"fatal_self", fatal_self, MPI_ERR_ROOT, {"MPI_Bcast", "MPI_ERR_ROOT", "7"}},
        {"fatal_added", fatal_added, MPI_ERR_TAG, {"MPI_ERR_TAG: the disk is asleep; raised by the program"}},
        {"fatal_missing", fatal_missing, MPI_ERR_UNSUPPORTED_OPERATION, {"MPI_Win_free", "has no MPI_Win_free yet"}},
        {"fatal_missing_ompi", fatal_missing_ompi, MPI_ERR_UNSUPPORTED_OPERATION, {" OMPI_Affinity_str, ", "has no OMPI_Affinity_str yet"}},
        {"too_early", too_early, MPI_ERR_OTHER, {"MPI_Barrier", "before MPI_Init"}},
        {"too_late", too_late, MPI_ERR_OTHER, {"MPI_Barrier", "after MPI_Finalize"}},
        {"long_key", long_key, MPI_ERR_ARG, {"MPIX_Store_set", "the key is too long; it has to have 1 to 1024 bytes"}},
        {"store_too_late", store_too_late, MPI_ERR_OTHER, {"MPIX_Store_add", "called after MPI_Finalize"}},
        {"twice", twice, MPI_ERR_OTHER, {"MPI_Init", "already"}},
        {"again", again, MPI_ERR_OTHER, {"MPI_Init", "after MPI_Finalize"}},
        {"abort_7", abort_7, 7, {"MPI_Abort(MPI_COMM_WORLD) called by rank 0 with code 7"}},
        {"abort_0", abort_0, 1, {"MPI_Abort(MPI_COMM_SELF) called by rank 0 with code 0"}},
        {"abort_minus_1", abort_minus_1, 255, {"code -1"}},
    };
    int failures = 0;

    for (unsigned i = 0; i < sizeof tests / sizeof *tests; i++) {
        char text[4096];
        int code = run(tests[i].run, text, sizeof text);
        bool ok = code == tests[i].code && (*tests[i].words[0] ? one_line(text) : text[0] == '\0');

        for (int w = 0; w < 3 && tests[i].words[w]; w++)
            ok = ok && strstr(text, tests[i].words[w]);
        if (!ok) {
            printf("FAIL %s: exit %d (wanted %d): %s\n", tests[i].name, code, tests[i].code, text);
            failures++;
        }
    }
    printf("solo: %d failures\n", failures);
    return failures > 0;
}
