/* SPDX-License-Identifier: BSD-3-Clause */
/* Thousands of collectives, mixed in every way that the first milestone's functions allow, all derived from a seed:
   operation, type, reduction, size (0, 1, odd, up to -m bytes, now and then a few MiB), root, in place or not.
   What a rank contributes depends on everything it has received so far, so one wrong byte anywhere changes all
   that follows. Every rank prints a running checksum now and then; with an MPI that does what it promises,
   the output depends on seed, ranks and options only, whoever was killed.

   Plain MPI: any mpicc compiles it. -e keeps to what every MPI must compute to the same bits.

     mixed [-n OPS] [-s SEED] [-m BYTES] [-b EVERY] [-e] [-p DIR] [-k RANK:OP[,RANK:OP...]] [-w MICROSECONDS] [-v]

   -b  one operation in EVERY is 1 to 4 MiB (0: none)
   -p  keeps DIR/rank.N up to date, see progress.h
   -k  RANK kills itself before its OPth operation, unless it is a restarted one
   -v  a line for every operation, with what it was
   -w  pause after each operation, so that a driver finds time to kill */
#include <getopt.h>
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"

/* ---- pseudo-random numbers: splitmix64 ---- */

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static uint64_t draw(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    return mix(*state);
}

static unsigned below(uint64_t *state, unsigned n)
{
    return (unsigned)((draw(state) >> 33) % n);
}

static uint64_t hash_bytes(uint64_t h, const void *data, size_t n)
{
    const unsigned char *p = data;
    for (; n >= 8; p += 8, n -= 8) {
        uint64_t w;
        memcpy(&w, p, 8);
        h = (h ^ w) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    for (; n; p++, n--) h = (h ^ *p) * 0x100000001b3u;
    return h ^ (h >> 32);
}

/* ---- types and reductions ---- */

enum family { INTEGER, FLOATING, PAIR, MATRIX, GAPS, BYTES };

struct type {
    const char *name;
    MPI_Datatype mpi;
    size_t size;        /* bytes from one element to the next */
    size_t used;        /* of them, the first that carry the value (long double has padding behind) */
    size_t index_at;    /* PAIR: where the int is; 0 bytes of padding are hashed, see put */
    enum family family;
};

struct pair_float { float v; int i; };
struct pair_double { double v; int i; };
struct pair_long { long v; int i; };
struct pair_short { short v; int i; };

/* An affine map x -> a x + b modulo 2^32; composing them is associative and not commutative: ranks combined in
   another order, or one twice, give another result. */
struct affine { uint32_t a, b; };

/* The same, and a gap. */
struct wide { struct affine map; uint32_t gap; };

static struct type types[] = {
    {"int8", MPI_INT8_T, 1, 1, 0, INTEGER},
    {"uint8", MPI_UINT8_T, 1, 1, 0, INTEGER},
    {"signed_char", MPI_SIGNED_CHAR, 1, 1, 0, INTEGER},
    {"short", MPI_SHORT, 2, 2, 0, INTEGER},
    {"unsigned_short", MPI_UNSIGNED_SHORT, 2, 2, 0, INTEGER},
    {"int", MPI_INT, 4, 4, 0, INTEGER},
    {"unsigned", MPI_UNSIGNED, 4, 4, 0, INTEGER},
    {"long", MPI_LONG, 8, 8, 0, INTEGER},
    {"uint64", MPI_UINT64_T, 8, 8, 0, INTEGER},
    {"long_long", MPI_LONG_LONG, 8, 8, 0, INTEGER},
    {"byte", MPI_BYTE, 1, 1, 0, BYTES},
    {"float", MPI_FLOAT, 4, 4, 0, FLOATING},
    {"double", MPI_DOUBLE, 8, 8, 0, FLOATING},
    {"long_double", MPI_LONG_DOUBLE, sizeof(long double), 10, 0, FLOATING},
    {"float_int", MPI_FLOAT_INT, sizeof(struct pair_float), sizeof(struct pair_float), offsetof(struct pair_float, i), PAIR},
    {"double_int", MPI_DOUBLE_INT, sizeof(struct pair_double), 12, offsetof(struct pair_double, i), PAIR},
    {"long_int", MPI_LONG_INT, sizeof(struct pair_long), 12, offsetof(struct pair_long, i), PAIR},
    {"short_int", MPI_SHORT_INT, sizeof(struct pair_short), sizeof(struct pair_short), offsetof(struct pair_short, i), PAIR},
    {"2int", MPI_2INT, 2 * sizeof(int), 2 * sizeof(int), sizeof(int), PAIR},
    {"affine", MPI_DATATYPE_NULL, sizeof(struct affine), sizeof(struct affine), 0, MATRIX},
    {"wide", MPI_DATATYPE_NULL, sizeof(struct wide), sizeof(struct affine), 0, GAPS},
};
enum { NTYPES = sizeof types / sizeof *types, AFFINE = NTYPES - 2, WIDE };

struct reduction {
    const char *name;
    MPI_Op mpi;
    bool arithmetic;    /* SUM, PROD: floats round, and Open MPI 4.1 saturates 8 and 16 bits */
};

static struct reduction for_integers[] = {
    {"sum", MPI_SUM, true}, {"prod", MPI_PROD, true}, {"max", MPI_MAX, false}, {"min", MPI_MIN, false},
    {"band", MPI_BAND, false}, {"bor", MPI_BOR, false}, {"bxor", MPI_BXOR, false}, {"land", MPI_LAND, false},
    {"lor", MPI_LOR, false}, {"lxor", MPI_LXOR, false}};
static struct reduction for_floats[] = {
    {"sum", MPI_SUM, true}, {"prod", MPI_PROD, true}, {"max", MPI_MAX, false}, {"min", MPI_MIN, false}};
static struct reduction for_bytes[] = {{"band", MPI_BAND, false}, {"bor", MPI_BOR, false}, {"bxor", MPI_BXOR, false}};
static struct reduction for_pairs[] = {{"minloc", MPI_MINLOC, false}, {"maxloc", MPI_MAXLOC, false}};
static struct reduction for_affine[] = {{"compose", MPI_OP_NULL, false}}, for_wide[] = {{"compose", MPI_OP_NULL, false}};

#define COUNT(a) ((unsigned)(sizeof(a) / sizeof *(a)))

static const struct reduction *choose_reduction(uint64_t *rng, const struct type *t, bool exact)
{
    switch (t->family) {
    case FLOATING: return exact ? &for_floats[2 + below(rng, 2)] : &for_floats[below(rng, COUNT(for_floats))];
    case BYTES: return &for_bytes[below(rng, COUNT(for_bytes))];
    case PAIR: return &for_pairs[below(rng, COUNT(for_pairs))];
    case MATRIX: return &for_affine[0];
    case GAPS: return &for_wide[0];
    case INTEGER: break;
    }
    unsigned first = exact && t->size <= 2 ? 2 : 0;
    return &for_integers[first + below(rng, COUNT(for_integers) - first)];
}

/* inout[i] = in[i], then inout[i]: the lower rank's map is applied first. */
static void compose(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    const struct affine *first = in;
    struct affine *then = inout;
    for (int i = 0; i < *n; i++) {
        then[i].b += then[i].a * first[i].b;
        then[i].a *= first[i].a;
    }
}

static void compose_wide(void *in, void *inout, int *n, MPI_Datatype *type)
{
    struct wide *first = in, *then = inout;
    int one = 1;

    for (int i = 0; i < *n; i++)
        compose(&first[i].map, &then[i].map, &one, type);
}

/* b comes before a in messages. */
static MPI_Datatype make_wide(void)
{
    int lengths[2] = {sizeof(uint32_t), sizeof(uint32_t)};
    MPI_Aint at[2] = {offsetof(struct wide, map.b), offsetof(struct wide, map.a)};
    MPI_Datatype maps, wide;

    MPI_Type_create_hindexed(2, lengths, at, MPI_BYTE, &maps);
    MPI_Type_create_resized(maps, 0, sizeof(struct wide), &wide);
    MPI_Type_commit(&wide);
    MPI_Type_free(&maps);
    return wide;
}

/* Fills n elements from a seed. Floats stay in a range in which products over hundreds of ranks neither overflow nor
   vanish, and are never NaN; padding is zero. */
static void put(const struct type *t, void *buffer, size_t n, uint64_t seed)
{
    unsigned char *p = buffer;
    uint64_t s = seed;
    if (t->family == INTEGER || t->family == BYTES || t->family == MATRIX || t->family == GAPS) {
        size_t bytes = n * t->size;
        for (; bytes >= 8; p += 8, bytes -= 8) {
            uint64_t v = draw(&s);
            memcpy(p, &v, 8);
        }
        uint64_t v = draw(&s);
        memcpy(p, &v, bytes);
        return;
    }
    memset(buffer, 0, n * t->size);
    for (size_t i = 0; i < n; i++, p += t->size) {
        uint64_t v = draw(&s);
        double d = 1.0 + ((double)(v >> 40) / (1 << 24) - 0.5) / 64;
        if (v & 1) d = -d;
        if (t->family == PAIR) {
            /* Few different values, so that ties happen and the index decides. */
            int index = (int)((v >> 8) & 0xffff), value = (int)(v >> 60);
            if (t->mpi == MPI_FLOAT_INT) { float f = (float)value; memcpy(p, &f, sizeof f); }
            else if (t->mpi == MPI_DOUBLE_INT) { double f = value; memcpy(p, &f, sizeof f); }
            else if (t->mpi == MPI_LONG_INT) { long f = value; memcpy(p, &f, sizeof f); }
            else if (t->mpi == MPI_SHORT_INT) { short f = (short)value; memcpy(p, &f, sizeof f); }
            else memcpy(p, &value, sizeof value);
            memcpy(p + t->index_at, &index, sizeof index);
        } else if (t->mpi == MPI_FLOAT) {
            float f = (float)d;
            memcpy(p, &f, sizeof f);
        } else if (t->mpi == MPI_DOUBLE) {
            memcpy(p, &d, sizeof d);
        } else {
            long double f = (long double)d + (long double)(v & 0xffff) / 1e18L;
            memcpy(p, &f, t->used);
        }
    }
}

/* Hashes the bytes that carry values and zeroes the others, in which an MPI may leave what it likes: a later
   operation may read the buffer as plain bytes. */
static uint64_t hash_elements(uint64_t h, const struct type *t, void *buffer, size_t n)
{
    unsigned char *p = buffer;
    if (t->mpi == MPI_SHORT_INT) {
        for (size_t i = 0; i < n; i++, p += t->size) {
            h = hash_bytes(hash_bytes(h, p, sizeof(short)), p + t->index_at, sizeof(int));
            memset(p + sizeof(short), 0, t->index_at - sizeof(short));
        }
        return h;
    }
    if (t->used == t->size) return hash_bytes(h, p, n * t->size);
    for (size_t i = 0; i < n; i++, p += t->size) {
        h = hash_bytes(h, p, t->used);
        memset(p + t->used, 0, t->size - t->used);
    }
    return h;
}

/* ---- options ---- */

struct options {
    unsigned ops, big_every, pause_us;
    uint64_t seed;
    size_t max;
    bool exact, verbose;
    const char *dir, *kills;
};

static bool parse(int argc, char **argv, struct options *o)
{
    *o = (struct options){.ops = 5000, .big_every = 500, .seed = 1, .max = 300000};
    for (int c; (c = getopt(argc, argv, "n:s:m:b:ep:k:w:v")) != -1;) {
        switch (c) {
        case 'n': o->ops = (unsigned)strtoul(optarg, NULL, 0); break;
        case 's': o->seed = strtoull(optarg, NULL, 0); break;
        case 'm': o->max = strtoull(optarg, NULL, 0); break;
        case 'b': o->big_every = (unsigned)strtoul(optarg, NULL, 0); break;
        case 'e': o->exact = true; break;
        case 'p': o->dir = optarg; break;
        case 'k': o->kills = optarg; break;
        case 'v': o->verbose = true; break;
        case 'w': o->pause_us = (unsigned)strtoul(optarg, NULL, 0); break;
        default: return false;
        }
    }
    return optind == argc && o->max >= 16;
}

static void maybe_die(const struct options *o, int rank, unsigned op)
{
    const char *incarnation = getenv("FTMPI_INCARNATION");
    if (!o->kills || !incarnation || strcmp(incarnation, "0") != 0) return;
    for (const char *p = o->kills; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        int r;
        unsigned at;
        if (sscanf(p, "%d:%u", &r, &at) == 2 && r == rank && at == op) kill(getpid(), SIGKILL);
    }
}

/* ---- the operations ---- */

enum op { ALLREDUCE, BCAST, REDUCE, ALLGATHER, ALLGATHERV, BARRIER, SELF, LOCAL };

struct job {
    struct options o;
    int rank, ranks;
    unsigned char *send, *recv;    /* reused by every operation, never cleared */
    size_t room;                   /* bytes in each */
    int *counts, *displs;
    uint64_t sum;                  /* of everything this rank has received */
    uint64_t common;               /* the same on every rank: only of what all have received */
    const char *what[3];           /* the last operation, its type and its reduction, for -v */
    int n, root;
};

/* Bytes for one operation of `parts` parts; the same on every rank. */
static size_t choose_bytes(struct job *j, uint64_t *rng, unsigned op_number, unsigned parts)
{
    if (j->o.big_every && op_number % j->o.big_every == j->o.big_every - 1)
        return (((size_t)1 << 20) + (size_t)below(rng, 3u << 20)) / parts;
    size_t max = j->o.max / parts;
    unsigned kind = below(rng, 100);
    if (kind < 4) return 0;
    if (kind < 12) return 1;  /* becomes one element */
    if (kind < 50) return 1 + below(rng, 128);
    if (kind < 80) return 1 + below(rng, 4096);
    if (kind < 97) return 1 + below(rng, (unsigned)(max < 65536 ? max : 65536));
    return 1 + below(rng, (unsigned)max);
}

static const struct type *choose_type(uint64_t *rng)
{
    return &types[below(rng, NTYPES)];
}

static int elements(const struct type *t, size_t bytes, size_t most)
{
    size_t n = bytes == 1 ? 1 : bytes / t->size;
    return (int)(n * t->size > most ? most / t->size : n);
}

static void describe(struct job *j, const char *op, const struct type *t, const struct reduction *r, int n, int root)
{
    j->what[0] = op;
    j->what[1] = t->name;
    j->what[2] = r ? r->name : "";
    j->n = n;
    j->root = root;
}

static void do_reduction(struct job *j, uint64_t *rng, unsigned number, bool everywhere)
{
    const struct type *t = choose_type(rng);
    const struct reduction *r = choose_reduction(rng, t, j->o.exact);
    int n = elements(t, choose_bytes(j, rng, number, 1), j->room), root = (int)below(rng, (unsigned)j->ranks);
    bool in_place = below(rng, 3) == 0, mine = everywhere || j->rank == root;
    describe(j, everywhere ? "allreduce" : "reduce", t, r, n, root);
    /* Every few operations of plain integers the last result is the next input. */
    bool again = below(rng, 4) == 0 && (t->family == INTEGER || t->family == BYTES || t->family == MATRIX);
    unsigned char *input = in_place && mine ? j->recv : j->send;
    if (!again) put(t, input, (size_t)n, mix(j->sum ^ mix((uint64_t)j->rank) ^ number));
    const void *send = in_place && mine ? MPI_IN_PLACE : j->send;
    if (everywhere) MPI_Allreduce(send, j->recv, n, t->mpi, r->mpi, MPI_COMM_WORLD);
    else MPI_Reduce(send, mine ? j->recv : NULL, n, t->mpi, r->mpi, root, MPI_COMM_WORLD);
    if (mine) j->sum = hash_elements(j->sum, t, j->recv, (size_t)n);
    if (everywhere) j->common = hash_elements(j->common, t, j->recv, (size_t)n);
    if (again) return;
    /* The send buffer is the program's: nobody may have written to it. */
    if (!(in_place && mine)) j->sum = hash_elements(j->sum, t, j->send, (size_t)(n < 64 ? n : 64));
}

static void do_bcast(struct job *j, uint64_t *rng, unsigned number)
{
    const struct type *t = choose_type(rng);
    int n = elements(t, choose_bytes(j, rng, number, 1), j->room), root = (int)below(rng, (unsigned)j->ranks);
    describe(j, "bcast", t, NULL, n, root);
    put(t, j->recv, (size_t)n, mix(j->sum ^ number ^ (uint64_t)j->rank));
    MPI_Bcast(j->recv, n, t->mpi, root, MPI_COMM_WORLD);
    j->sum = hash_elements(j->sum, t, j->recv, (size_t)n);
    j->common = hash_elements(j->common, t, j->recv, (size_t)n);
}

static void do_allgather(struct job *j, uint64_t *rng, unsigned number)
{
    const struct type *t = choose_type(rng);
    int n = elements(t, choose_bytes(j, rng, number, (unsigned)j->ranks), j->room / (size_t)j->ranks);
    bool in_place = below(rng, 3) == 0;
    describe(j, "allgather", t, NULL, n, in_place);
    unsigned char *own = in_place ? j->recv + (size_t)j->rank * (size_t)n * t->size : j->send;
    put(t, own, (size_t)n, mix(j->sum ^ number ^ mix((uint64_t)j->rank)));
    MPI_Allgather(in_place ? MPI_IN_PLACE : j->send, n, t->mpi, j->recv, n, t->mpi, MPI_COMM_WORLD);
    j->sum = hash_elements(j->sum, t, j->recv, (size_t)n * (size_t)j->ranks);
    j->common = hash_elements(j->common, t, j->recv, (size_t)n * (size_t)j->ranks);
}

/* Parts of different sizes, some empty, in rank order or backwards, with gaps that must stay as they were. */
static void do_allgatherv(struct job *j, uint64_t *rng, unsigned number)
{
    const struct type *t = choose_type(rng);
    size_t part = choose_bytes(j, rng, number, (unsigned)j->ranks * 2), most = j->room / (size_t)j->ranks / 2 / t->size;
    bool in_place = below(rng, 3) == 0, backwards = below(rng, 2);
    unsigned gap = below(rng, 3);
    size_t total = 0;
    for (int i = 0; i < j->ranks; i++) {
        int r = backwards ? j->ranks - 1 - i : i;
        size_t n = (size_t)elements(t, part, j->room);
        if (n) n = below(rng, 5) ? n / 2 + below(rng, (unsigned)n + 1) : 0;
        if (n > most) n = most;
        j->counts[r] = (int)n;
        j->displs[r] = (int)total;
        total += n + (total + n + gap < j->room / t->size - most * (size_t)(j->ranks - 1 - i) ? gap : 0);
    }
    describe(j, "allgatherv", t, NULL, (int)total, in_place);
    memset(j->recv, (int)(number & 0x7f), total * t->size);
    size_t n = (size_t)j->counts[j->rank];
    unsigned char *own = in_place ? j->recv + (size_t)j->displs[j->rank] * t->size : j->send;
    put(t, own, n, mix(j->sum ^ number ^ mix((uint64_t)j->rank)));
    MPI_Allgatherv(in_place ? MPI_IN_PLACE : j->send, (int)n, t->mpi, j->recv, j->counts, j->displs, t->mpi, MPI_COMM_WORLD);
    j->sum = hash_elements(j->sum, t, j->recv, total);
    j->common = hash_elements(j->common, t, j->recv, total);
}

/* A world of one, in between: nothing may be counted or logged where the others do not expect it. */
static void do_self(struct job *j, uint64_t *rng, unsigned number)
{
    uint64_t in[3] = {j->sum, number, draw(rng)}, out[3] = {0};
    MPI_Allreduce(in, out, 3, MPI_UINT64_T, MPI_BXOR, MPI_COMM_SELF);
    MPI_Bcast(out, 3, MPI_UINT64_T, 0, MPI_COMM_SELF);
    MPI_Barrier(MPI_COMM_SELF);
    j->sum = hash_bytes(mix(j->sum), out, sizeof out);  /* out[0] is sum: xor would cancel it */
}

static void do_local(struct job *j, uint64_t *rng, unsigned number)
{
    const struct type *t = choose_type(rng);
    const struct reduction *r = choose_reduction(rng, t, j->o.exact);
    int n = elements(t, 1 + below(rng, 4096), j->room);
    describe(j, "reduce_local", t, r, n, 0);
    put(t, j->send, (size_t)n, mix(j->sum ^ number));
    put(t, j->recv, (size_t)n, mix(j->sum + number));
    MPI_Reduce_local(j->send, j->recv, n, t->mpi, r->mpi);
    j->sum = hash_elements(j->sum, t, j->recv, (size_t)n);
}

static enum op choose_op(uint64_t *rng)
{
    static const unsigned char share[] = {[ALLREDUCE] = 34, [BCAST] = 18, [REDUCE] = 14, [ALLGATHER] = 11, [ALLGATHERV] = 11,
                                          [BARRIER] = 8, [SELF] = 2, [LOCAL] = 2};
    unsigned at = below(rng, 100), op = ALLREDUCE;
    while (at >= share[op]) at -= share[op++];
    return (enum op)op;
}

static void one(struct job *j, unsigned number)
{
    j->what[0] = "barrier or self";
    j->what[1] = j->what[2] = "";
    j->n = j->root = 0;
    uint64_t rng = mix(j->o.seed) ^ mix(number);
    switch (choose_op(&rng)) {
    case ALLREDUCE: do_reduction(j, &rng, number, true); break;
    case REDUCE: do_reduction(j, &rng, number, false); break;
    case BCAST: do_bcast(j, &rng, number); break;
    case ALLGATHER: do_allgather(j, &rng, number); break;
    case ALLGATHERV: do_allgatherv(j, &rng, number); break;
    case BARRIER: MPI_Barrier(MPI_COMM_WORLD); break;
    case SELF: do_self(j, &rng, number); break;
    case LOCAL: do_local(j, &rng, number); break;
    }
}

static void pause_for(unsigned us)
{
    struct timespec t = {us / 1000000, (long)(us % 1000000) * 1000};
    nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
    struct job j = {.sum = 1, .common = 1};
    bool understood = parse(argc, argv, &j.o);
    if (j.o.dir && progress_open(j.o.dir)) return 2;
    progress_phase(PROGRESS_IN_INIT);
    MPI_Init(&argc, &argv);
    progress_phase(PROGRESS_RUNS);
    MPI_Comm_rank(MPI_COMM_WORLD, &j.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &j.ranks);
    if (!understood) {
        if (j.rank == 0)
            fprintf(stderr, "usage: mixed [-n ops] [-s seed] [-m bytes] [-b every] [-e] [-p dir] [-k rank:op,...] [-w us] [-v]\n");
        MPI_Finalize();
        return 2;
    }
    j.room = j.o.max;
    if (j.o.big_every && j.room < (size_t)4 << 20) j.room = (size_t)4 << 20;
    if (j.room < (size_t)j.ranks * 64) j.room = (size_t)j.ranks * 64;
    j.send = calloc(1, j.room + 64);
    j.recv = calloc(1, j.room + 64);
    j.counts = calloc((size_t)j.ranks * 2, sizeof(int));
    if (!j.send || !j.recv || !j.counts) return 2;
    j.displs = j.counts + j.ranks;
    MPI_Type_contiguous((int)sizeof(struct affine), MPI_BYTE, &types[AFFINE].mpi);
    MPI_Type_commit(&types[AFFINE].mpi);
    types[WIDE].mpi = make_wide();
    MPI_Op_create(compose, 0, &for_affine[0].mpi);
    MPI_Op_create(compose_wide, 0, &for_wide[0].mpi);

    setvbuf(stdout, NULL, _IOLBF, 0);
    unsigned every = j.o.ops / 20 ? j.o.ops / 20 : 1;
    for (unsigned i = 0; i < j.o.ops; i++) {
        maybe_die(&j.o, j.rank, i);
        one(&j, i);
        progress_advance(i + 1);
        if (j.o.verbose)
            printf("%d op %u sum %016llx after %s %d %s %s %d\n", j.rank, i + 1, (unsigned long long)j.sum, j.what[0], j.n, j.what[1],
                   j.what[2], j.root);
        else if ((i + 1) % every == 0) printf("%d op %u sum %016llx\n", j.rank, i + 1, (unsigned long long)j.sum);
        if (j.o.pause_us) pause_for(j.o.pause_us);
    }

    /* All ranks have received the same of what all received: one more operation says so. */
    uint64_t mine[2] = {j.common, ~j.common}, low[2];
    MPI_Allreduce(mine, low, 2, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    bool agree = low[0] == ~low[1];
    printf("%d done %u sum %016llx common %016llx%s\n", j.rank, j.o.ops, (unsigned long long)j.sum,
           (unsigned long long)j.common, agree ? "" : " THE RANKS DISAGREE");
    MPI_Op_free(&for_affine[0].mpi);
    MPI_Op_free(&for_wide[0].mpi);
    MPI_Type_free(&types[AFFINE].mpi);
    MPI_Type_free(&types[WIDE].mpi);
    progress_phase(PROGRESS_IN_FINALIZE);
    MPI_Finalize();
    progress_phase(PROGRESS_OVER);
    free(j.send);
    free(j.recv);
    free(j.counts);
    return agree ? 0 : 1;
}
