/* SPDX-License-Identifier: BSD-3-Clause */
/* versions ROUNDS [lazy|mixed] [slow] [snapshot] [late] [big=BYTES] [flood=VERSION] [kill=RANK,VERSION,PLACE,LIFE]... [stop=...]... [lose=...,USEC]...: a program that makes a checkpoint in each
   round, with models whose sizes differ by version and rank, zero bytes among them, and looks at all it is given back. Its output
   follows from ROUNDS and the number of ranks only. It is killed at the PLACEth place of a version (-1: before the load) of a life of the
   rank; stop: it stands still there; lose: its node is killed, by SIGKILL for both of its ftrun processes, so many microseconds later. slow: a pause in each round. lazy: MPIX_Checkpoint_lazy, some of them in a second; mixed: every third version is a normal one. snapshot: MPIX_Snapshot in each round. late: two rounds and their
   checkpoints before the first load. flood: 40 MiB are logged after that version.

   What goes wrong: poor: rank 1 has no memory for version 3, and no rank makes it; differ: rank 1 has another idea of version 1; strange:
   restarted, it calls more before it loads than before; speechless: the model cannot be serialised; errors: arguments. */
#include <ftmpi.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "lose_node.h"
#include "compat-tests/abi/world.h"

static int rank, size, life, version = -1, place;
static int rounds, big, flood = -1;
static bool snapshots, late;

struct kill { int rank, version, place, life, signal, node_after; /* of the rank; 0: the node, so many microseconds later */ };
static struct kill kills[64];
static int nkills;

static char **words;
static bool is(const char *word)
{
    for (char **w = words; *w; w++)
        if (!strcmp(*w, word))
            return true;
    return false;
}

/* A place to die at. */
static void here(void)
{
    MPIX_Incarnation(&life); /* one that a snapshot has made is another one */
    for (int i = 0; i < nkills; i++)
        if (kills[i].rank == rank && kills[i].version == version && kills[i].place == place && kills[i].life == life) {
            if (kills[i].signal)
                raise(kills[i].signal);
            else
                lose_node(kills[i].node_after);
        }
    place++;
}

static void options(int argc, char **argv)
{
    rounds = atoi(argv[1]);
    for (int i = 2; i < argc; i++) {
        struct kill *k = &kills[nkills];

        k->signal = !strncmp(argv[i], "kill=", 5) ? SIGKILL : !strncmp(argv[i], "stop=", 5) ? SIGSTOP : 0;
        if (sscanf(argv[i], "kill=%d,%d,%d,%d", &k->rank, &k->version, &k->place, &k->life) == 4 ||
            sscanf(argv[i], "stop=%d,%d,%d,%d", &k->rank, &k->version, &k->place, &k->life) == 4 ||
            sscanf(argv[i], "lose=%d,%d,%d,%d,%d", &k->rank, &k->version, &k->place, &k->life, &k->node_after) == 5)
            nkills++;
        else if (sscanf(argv[i], "big=%d", &big) != 1 && sscanf(argv[i], "flood=%d", &flood) != 1)
            continue;
    }
    words = argv;
    snapshots = is("snapshot");
    late = is("late");
}

/* ---- models ---- */

static size_t bytes_of(int v, int owner)
{
    static const int sizes[] = {0, 1, 4096, 100001, 7, 0, 65536};

    if (owner == 0)
        return big ? (size_t)big : (size_t)sizes[(v + 3) % 7];
    return v % 3 == 2 ? 0 : (size_t)sizes[(v * 5 + owner) % 7];
}

static unsigned char *model_of(int v, int owner, size_t *n)
{
    unsigned char *bytes;
    unsigned x = (unsigned)(v * 1000 + owner);

    *n = bytes_of(v, owner);
    bytes = malloc(*n + 1);
    CHECK(bytes, "no memory");
    for (size_t i = 0; i < *n; i++)
        bytes[i] = (unsigned char)((x = x * 1103515245u + 12345u) >> 16);
    return bytes;
}

static bool is_lazy(int v) { return is("lazy") || (is("mixed") && v % 3); }

static void compare(const char *what, int v, int owner, const void *got, MPI_Count n)
{
    size_t want;
    unsigned char *bytes = model_of(v, owner, &want);

    CHECK((size_t)n == want && (!n || !memcmp(got, bytes, want)), "rank %d life %d: %s model of version %d, %lld bytes", rank, life, what, v,
          (long long)n);
    free(bytes);
}

/* A line in a file for each load: rank and version. */
static void note_load(void)
{
    const char *name = getenv("VERSIONS_LOADS");
    FILE *file = name ? fopen(name, "ae") : NULL;

    CHECK(!name || file, "%s", name);
    if (file) {
        fprintf(file, "%d %d\n", rank, version);
        fclose(file);
    }
}

static void load(void)
{
    void *global = &global, *local = &local;
    MPI_Count nglobal = -1, nlocal = -1;
    int told;

    OK(MPIX_Checkpoint_load(&global, &nglobal, &local, &nlocal, &version));
    note_load();
    OK(MPIX_Checkpoint_version(&told));
    CHECK(told == version, "%d, not %d", told, version);
    if (version == 0) {
        CHECK(!global && !nglobal && !local && !nlocal, "a model of nothing");
        return;
    }
    compare("global", version, 0, global, nglobal);
    if (is_lazy(version))
        CHECK(!local && !nlocal, "a local model of a lazy version");
    else
        compare("local", version, rank + 1, local, nlocal);
}

static unsigned char *lazy_bytes;

static int serialize(void *state, const void **bytes, MPI_Count *n)
{
    const char *local = getenv("OMPI_COMM_WORLD_LOCAL_RANK"); /* several hosts: each keeps it */
    size_t count;

    CHECK(local ? !strcmp(local, "0") : rank == 0, "rank %d is asked for the model", rank);
    if (is("speechless"))
        return 1;
    free(lazy_bytes);
    *bytes = lazy_bytes = model_of(*(int *)state, 0, &count);
    *n = (MPI_Count)count;
    return 0;
}

/* False: there is no memory. */
static bool keep(int v)
{
    size_t nglobal, nlocal;
    unsigned char *global, *local;
    int err, told;

    if (is_lazy(v)) {
        OK(MPIX_Checkpoint_lazy(serialize, &v));
        return true;
    }
    global = model_of(v, 0, &nglobal);
    local = model_of(v, rank + 1, &nlocal);
    nglobal -= is("differ") && v == 1 && rank == 1;
    err = MPIX_Checkpoint(global, (MPI_Count)nglobal, local, (MPI_Count)nlocal);
    CHECK(!err || (err == MPI_ERR_NO_MEM && is("poor") && v == 3), "error %d for version %d", err, v);
    CHECK(err || !is("poor") || v < 3, "rank %d makes version %d", rank, v);
    OK(MPIX_Checkpoint_version(&told));
    CHECK(told == (err ? v - 1 : v), "version %d", told);
    free(global);
    free(local);
    return !err;
}

/* ---- what it computes ---- */

static long one_round(int i)
{
    enum { MANY = 40000 };
    static int many[MANY];
    long x = rank + i;
    int word = rank == i % size ? i * 7 : -1, taken;

    printf("rank %d round %d", rank, i);
    if (i % 2)
        fflush(stdout);
    here();
    OK(MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    here();
    OK(MPI_Bcast(&word, 1, MPI_INT, i % size, MPI_COMM_WORLD));
    if (i % 3 == 1) {
        for (int k = 0; k < MANY; k++)
            many[k] = rank * k + i;
        OK(MPI_Allreduce(MPI_IN_PLACE, many, MANY, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
        CHECK(many[MANY - 1] == (size - 1) * (MANY - 1) + i, "%d", many[MANY - 1]);
    }
    if (snapshots)
        OK(MPIX_Snapshot(&taken));
    here();
    printf(": %ld %d\n", x, word);
    return x + word;
}

/* A line that the checkpoint has cut in two: what follows a checkpoint follows its load. */
static void end_line(void)
{
    if (version > 0)
        printf(version % 4 ? " version %d\n" : "version %d\n", version);
}

static void limit_size(rlim_t soft, rlim_t hard)
{
    struct rlimit limit = {soft, hard};

    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0, "setrlimit");
}

static void log_much(void)
{
    enum { MANY = 1 << 20 };
    static char many[MANY];

    for (int i = 0; i < 40; i++) {
        memset(many, i, rank == 0 ? MANY : 0);
        OK(MPI_Bcast(many, MANY, MPI_BYTE, 0, MPI_COMM_WORLD));
        CHECK(many[MANY - 1] == i, "%d", many[MANY - 1]);
    }
}

static void rounds_to(int end)
{
    for (int i = version < 0 ? 0 : version; i < end; i++) {
        struct timespec nap = {.tv_nsec = 60000000};

        end_line();
        if (i == flood)
            log_much();
        one_round(i);
        if (is("lazy") || is("slow"))
            nanosleep(&nap, NULL);
        if ((i + 1) % 4)
            printf("rank %d makes", rank);
        here();
        if (is("poor") && i == 2 && rank == 1)
            limit_size(4096, 4096);
        if (!keep(i + 1)) {
            printf(", but for version %d there is no memory\n", i + 1);
            return;
        }
        version = i + 1;
        place = 0;
        here();
    }
}

static void wrong_arguments(void)
{
    void *p;
    MPI_Count n;
    int v;

    CHECK(MPIX_Checkpoint(NULL, 1, NULL, 0) == MPI_ERR_BUFFER && MPIX_Checkpoint(NULL, 0, NULL, 1) == MPI_ERR_BUFFER, "buffer");
    CHECK(MPIX_Checkpoint(&v, -1, NULL, 0) == MPI_ERR_COUNT && MPIX_Checkpoint(NULL, 0, &v, -1) == MPI_ERR_COUNT, "count");
    CHECK(MPIX_Checkpoint_load(NULL, NULL, NULL, NULL, NULL) == MPI_ERR_ARG && MPIX_Checkpoint_version(NULL) == MPI_ERR_ARG, "version");
    CHECK(MPIX_Checkpoint_load(&p, NULL, NULL, NULL, &v) == MPI_ERR_ARG && MPIX_Checkpoint_load(NULL, NULL, NULL, &n, &v) == MPI_ERR_ARG, "half");
    CHECK(MPIX_Checkpoint_lazy(NULL, NULL) == MPI_ERR_ARG && MPIX_Snapshot(NULL) == MPI_ERR_ARG, "null pointers");
}

int main(int argc, char **argv)
{
    long n;

    options(argc, argv);
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    limit_size(4096, RLIM_INFINITY); /* the library's writes are none of the program's */
    if (is("errors"))
        wrong_arguments();
    printf("rank %d begins\n", rank);
    here();
    n = rank;
    OK(MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    CHECK(n == size * (size - 1) / 2, "%ld", n);
    here();
    if (late) {
        rounds_to(2);
        version = -1;
        place = 10;
    }
    here();
    if (is("strange") && life)
        OK(MPI_Barrier(MPI_COMM_WORLD));
    load();
    place = 0;
    here();
    rounds_to(rounds);
    here();
    if (version == rounds)
        end_line();
    printf("rank %d has made %d versions\n", rank, version);
    MPI_Finalize();
    return 0;
}
