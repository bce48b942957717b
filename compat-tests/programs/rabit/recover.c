/* SPDX-License-Identifier: BSD-3-Clause */
/* Rabit's recovery scenarios over its C API:

     recover model=global|local|lazy|none [boot=none|before|site|keys] [floats=10000] [rounds=3] [pause=MS] [progress=DIR] [mock=R,V,S,T ...]

   A round takes the maximum of what the ranks have, broadcasts from some of them, adds up, and makes a checkpoint; every value is held
   against what it must be, and lines with the rank in front and a hash tell what was computed. All numbers are whole and small, so
   that floats are exact in any order. model=none makes no checkpoints: a restarted rank is replayed. pause is before each checkpoint.

   boot: what a program does once, and each restarted rank again: the size of the data, a seed, a histogram. before: in front of the
   load. site, keys: in the first round of each life, whatever round that is, as XGBoost does; keys: by MPIX_Allreduce_cached. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compat-tests/chaos/progress.h"
#include "ftmpi.h"
#include "mock.h"
#include "rabit/c_api.h"

enum { OP_MAX = 0, OP_SUM = 2 };
enum { TYPE_ULONG = 5, TYPE_FLOAT = 6 };
enum { BINS = 64, EXTRA = 5 };

static struct {
    const char *model, *boot, *progress;
    size_t floats;
    int rounds, pause;
} option = {.model = "global", .boot = "none", .floats = 10000, .rounds = 3};

static int rank, ranks, version, seq;
static float *model, *mine; /* what all have alike; with model=local this rank's own, and up to EXTRA floats more in a checkpoint */
static float *data;         /* what is reduced */

static bool is(const char *value, const char *what)
{
    return strcmp(value, what) == 0;
}

static void check(bool good, const char *what, size_t i)
{
    if (good)
        return;
    fprintf(stderr, "%d wrong in version %d, operation %d: %s, at %zu\n", rank, version, seq, what, i);
    exit(1);
}

/* Ranks that broadcast are this far apart. */
static int stride(void)
{
    return ranks < 3 ? 1 : ranks / 3;
}

static int roots(void)
{
    return (ranks + stride() - 1) / stride();
}

/* The next operation is about to be made. */
static void step(void)
{
    unsigned long every_round = 3 + 2 * (unsigned long)roots();

    mock_here(rank, version, seq);
    progress_advance((unsigned long)version * every_round + (unsigned long)seq);
    seq++;
}

static void tell(const char *what)
{
    uint64_t h = 14695981039346656037u;
    const unsigned char *p = (const unsigned char *)model;

    for (size_t i = 0; i < option.floats * sizeof *model; i++)
        h = (h ^ p[i]) * 1099511628211u;
    printf("%d round %d: %s %016llx\n", rank, version, what, (unsigned long long)h);
}

/* ---- what is done once ---- */

static void bootstrap_max(uint64_t *n)
{
    if (is(option.boot, "keys"))
        MPIX_Allreduce_cached(MPI_IN_PLACE, n, 1, MPI_UNSIGNED_LONG, MPI_MAX, MPI_COMM_WORLD, "size of the data");
    else
        RabitAllreduce(n, 1, TYPE_ULONG, OP_MAX, NULL, NULL);
}

static void bootstrap_seed(uint32_t *seed)
{
    if (is(option.boot, "keys"))
        MPIX_Bcast_cached(seed, sizeof *seed, MPI_BYTE, ranks - 1, MPI_COMM_WORLD, "seed");
    else
        RabitBroadcast(seed, sizeof *seed, ranks - 1);
}

static void bootstrap_bins(uint64_t *bins)
{
    if (is(option.boot, "keys"))
        MPIX_Allreduce_cached(MPI_IN_PLACE, bins, BINS, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD, "histogram");
    else
        RabitAllreduce(bins, BINS, TYPE_ULONG, OP_SUM, NULL, NULL);
}

static void bootstrap(void)
{
    uint64_t n = 1000 + (uint64_t)rank, bins[BINS];
    uint32_t seed = rank == ranks - 1 ? 4711 : 0;

    mock_here(rank, version, MOCK_BOOTSTRAP);
    bootstrap_max(&n);
    check(n == 1000 + (uint64_t)ranks - 1, "bootstrap: size", n);
    mock_here(rank, version, MOCK_BOOTSTRAP - 1);
    bootstrap_seed(&seed);
    check(seed == 4711, "bootstrap: seed", seed);
    for (size_t i = 0; i < BINS; i++)
        bins[i] = i * (uint64_t)(rank + 1) + seed;
    mock_here(rank, version, MOCK_BOOTSTRAP - 2);
    bootstrap_bins(bins);
    for (size_t i = 0; i < BINS; i++)
        check(bins[i] == i * (uint64_t)(ranks * (ranks + 1) / 2) + seed * (uint64_t)ranks, "bootstrap: histogram", i);
}

/* ---- a round ---- */

/* What rank r brings to a reduction over i modulo z. */
static float input(size_t i, int r, size_t z)
{
    return (float)(i * (size_t)(r + 1) % z) + model[i] + (is(option.model, "local") ? (float)r : 0);
}

/* With a local model the input is made of that, and not of the model that all have. */
static void fill(size_t z)
{
    const float *from = is(option.model, "local") ? mine : model;

    for (size_t i = 0; i < option.floats; i++)
        data[i] = (float)(i * (size_t)(rank + 1) % z) + from[i];
}

static size_t modulus; /* for prepare */

static void prepare(void *arg)
{
    int known = 1;

    MPIX_Replaying(MPI_COMM_WORLD, &known);
    check(arg == &modulus && !known, "prepare is called though the result is known", 0);
    fill(modulus);
}

/* The result is the next model. */
static void take(bool lazily)
{
    for (size_t i = 0; i < option.floats; i++) {
        if (!lazily)
            model[i] = fmodf(data[i], 4096);
        mine[i] = model[i] + (float)rank;
    }
}

static void largest(void)
{
    modulus = (size_t)version + 111;
    memset(data, 0, option.floats * sizeof *data);
    step();
    RabitAllreduce(data, option.floats, TYPE_FLOAT, OP_MAX, prepare, &modulus);
    for (size_t i = 0; i < option.floats; i++) {
        float most = input(i, 0, modulus);

        for (int r = 1; r < ranks; r++)
            most = fmaxf(most, input(i, r, modulus));
        check(data[i] == most, "max", i);
    }
    take(is(option.model, "lazy"));  /* a model that is saved lazily stands still until the next checkpoint's operation */
    tell("max");
}

static void total(void)
{
    modulus = (size_t)version + 131;
    fill(modulus);
    step();
    RabitAllreduce(data, option.floats, TYPE_FLOAT, OP_SUM, NULL, NULL);
    for (size_t i = 0; i < option.floats; i++) {
        float sum = 0;

        for (int r = 0; r < ranks; r++)
            sum += input(i, r, modulus);
        check(data[i] == sum, "sum", i);
    }
    take(false);
    tell("sum");
}

/* A string, as Rabit does it: its length, then what is in it. */
static void broadcast(int root)
{
    uint64_t n = rank == root ? option.floats : 0;
    char *text;

    step();
    RabitBroadcast(&n, sizeof n, root);
    check(n == option.floats, "broadcast: length", n);
    text = calloc(n + 1, 1);
    for (size_t i = 0; i < n && rank == root; i++)
        text[i] = (char)((i + (size_t)root + (size_t)version) % 126 + 1);
    step();
    RabitBroadcast(text, n, root);
    for (size_t i = 0; i < n; i++)
        check(text[i] == (char)((i + (size_t)root + (size_t)version) % 126 + 1), "broadcast", i);
    free(text);
}

/* ---- models ---- */

/* Local models have different sizes. */
static size_t local_floats(int of_version)
{
    return option.floats + (size_t)(rank + of_version) % EXTRA;
}

static int serialize(void *state, const void **bytes, MPI_Count *n)
{
    (void)state;
    *bytes = model;
    *n = (MPI_Count)(option.floats * sizeof *model);
    return 0;
}

static void checkpoint(void)
{
    size_t bytes = option.floats * sizeof *model;

    usleep(1000 * (useconds_t)option.pause);
    step();
    if (is(option.model, "global"))
        RabitCheckPoint((const char *)model, bytes, NULL, 0);
    else if (is(option.model, "local"))
        RabitCheckPoint((const char *)model, bytes, (const char *)mine, local_floats(version + 1) * sizeof *mine);
    else if (is(option.model, "lazy"))
        MPIX_Checkpoint_lazy(serialize, NULL);
    version++;
    seq = 0;
    if (!is(option.model, "none"))
        check(RabitVersionNumber() == version, "version number", (size_t)RabitVersionNumber());
}

static void begin(void)
{
    for (size_t i = 0; i < option.floats; i++) {
        model[i] = 1;
        mine[i] = 1 + (float)rank;
    }
}

static void load(void)
{
    char *global = NULL, *local = NULL;
    unsigned long nglobal = 0, nlocal = 0;
    bool both = is(option.model, "local");

    begin();
    if (is(option.model, "none"))
        return;
    mock_here(rank, version, MOCK_LOAD);
    version = RabitLoadCheckPoint(&global, &nglobal, both ? &local : NULL, both ? &nlocal : NULL);
    check(version >= 0 && version <= option.rounds, "version loaded", (size_t)version);
    if (version == 0)
        return;
    check(nglobal == option.floats * sizeof *model, "size of the model", nglobal);
    memcpy(model, global, nglobal);
    if (both) {
        check(nlocal == local_floats(version) * sizeof *mine, "size of the local model", nlocal);
        memcpy(mine, local, nlocal);
        for (size_t i = 0; i < option.floats; i++)
            check(mine[i] == model[i] + (float)rank, "local model", i);
    }
}

static void read_option(const char *argument)
{
    if (mock_parse(argument))
        return;
    if (strncmp(argument, "model=", 6) == 0)
        option.model = argument + 6;
    else if (strncmp(argument, "boot=", 5) == 0)
        option.boot = argument + 5;
    else if (strncmp(argument, "floats=", 7) == 0)
        option.floats = strtoul(argument + 7, NULL, 10);
    else if (strncmp(argument, "rounds=", 7) == 0)
        option.rounds = atoi(argument + 7);
    else if (strncmp(argument, "pause=", 6) == 0)
        option.pause = atoi(argument + 6);
    else if (strncmp(argument, "progress=", 9) == 0)
        option.progress = argument + 9;
    else {
        fprintf(stderr, "recover: what is %s?\n", argument);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    bool lazily, booted = false;

    for (int i = 1; i < argc; i++)
        read_option(argv[i]);
    if (option.progress && progress_open(option.progress) != 0)
        return 1;
    model = calloc(option.floats, sizeof *model);
    mine = calloc(option.floats + EXTRA, sizeof *mine);
    data = calloc(option.floats, sizeof *data);
    RabitInit(argc, argv);
    rank = RabitGetRank();
    ranks = RabitGetWorldSize();
    printf("%d of %d, %zu floats, %d rounds, %s\n", rank, ranks, option.floats, option.rounds, option.model);
    if (is(option.boot, "before"))
        bootstrap();
    lazily = is(option.boot, "site") || is(option.boot, "keys");
    load();
    while (version < option.rounds) {
        if (lazily && !booted)
            bootstrap();
        booted = true;
        largest();
        for (int root = 0; root < ranks; root += stride())
            broadcast(root);
        total();
        checkpoint();
    }
    tell("end");
    RabitFinalize();
    free(model);
    free(mine);
    free(data);
    return 0;
}
