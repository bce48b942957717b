/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_SIZES = 64 };

static const struct bench_type types[] = {
    {"mpi_char", MPI_CHAR, 1, BENCH_CHAR},
    {"mpi_int", MPI_INT, 4, BENCH_INT},
    {"mpi_float", MPI_FLOAT, 4, BENCH_FLOAT},
    {"mpi_double", MPI_DOUBLE, 8, BENCH_DOUBLE},
};

struct options {
    size_t sizes[MAX_SIZES];
    int nsizes;
    int iterations, warmup;         /* 0: by size, as OSU does */
    bool full, validate;
    size_t memory;                  /* bytes a rank may allocate */
    const struct bench_type *type;
    int digits;
    int kill_rank;                  /* -1: nobody */
};

static const char usage_text[] =
    "options, as OSU's programs take them:\n"
    "  -m MIN:MAX     message sizes in bytes, doubling; also MAX alone, or a list 8,1024,65536\n"
    "  -i N           timed iterations (default 1000, above 8 KiB 100)\n"
    "  -x N           warm-up iterations (default 200, above 8 KiB 10)\n"
    "  -f             also minimum and maximum over the ranks, and the iterations\n"
    "  -c             validate every byte of every iteration\n"
    "  -M BYTES       largest memory of a rank (default 512 MiB); larger sizes are left out\n"
    "  -T TYPE        mpi_char, mpi_int, mpi_float (default), mpi_double\n"
    "beyond OSU's:\n"
    "  -p DIGITS      digits behind the point (default 2)\n"
    "  -k RANK        that rank kills itself with SIGKILL once after the last size, then all verify\n"
    "                 the results again: for an MPI that survives it (needs FTMPI_INCARNATION)\n";

/* CLOCK_MONOTONIC and not MPI_Wtime: the same clock whatever the MPI, and comparable between processes. */
static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* ---- values ---- */

int64_t bench_input(size_t i, int rank, int iteration)
{
    return (int64_t)((i * 7 + (size_t)iteration * 13) & 127) + rank;
}

int64_t bench_sum(size_t i, int ranks, int iteration)
{
    return bench_input(i, 0, iteration) * ranks + (int64_t)ranks * (ranks - 1) / 2;
}

void bench_put(const struct bench_type *t, void *buffer, size_t i, int64_t value)
{
    switch (t->kind) {
    case BENCH_CHAR: ((unsigned char *)buffer)[i] = (unsigned char)value; break;
    case BENCH_INT: ((int32_t *)buffer)[i] = (int32_t)value; break;
    case BENCH_FLOAT: ((float *)buffer)[i] = (float)value; break;
    case BENCH_DOUBLE: ((double *)buffer)[i] = (double)value; break;
    }
}

int64_t bench_wrong(const struct bench_type *t, const void *buffer, size_t count, int64_t (*value)(size_t i, int a, int b),
                    int a, int b)
{
    int64_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        char want[sizeof(double)];
        bench_put(t, want, 0, value(i, a, b));
        wrong += memcmp((const char *)buffer + i * t->size, want, t->size) != 0;
    }
    return wrong;
}

void bench_fill_part(const struct bench_case *c, void *part, int rank, int iteration)
{
    for (int i = 0; i < c->count; i++)
        bench_put(c->type, part, (size_t)i, bench_input((size_t)i, rank, iteration));
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
    return h;
}

/* ---- command line ---- */

static bool parse_size(const char *text, size_t *out)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 0);
    if (errno || end == text) return false;
    switch (*end) {
    case 'k': case 'K': v <<= 10; end++; break;
    case 'm': case 'M': v <<= 20; end++; break;
    case 'g': case 'G': v <<= 30; end++; break;
    default: break;
    }
    *out = v;
    return *end == '\0';
}

static bool parse_sizes(struct options *o, char *text)
{
    o->nsizes = 0;
    if (strchr(text, ',')) {
        for (char *part = strtok(text, ","); part; part = strtok(NULL, ",")) {
            if (o->nsizes == MAX_SIZES || !parse_size(part, &o->sizes[o->nsizes])) return false;
            o->nsizes++;
        }
        return o->nsizes > 0;
    }
    size_t low = 0, high;
    char *colon = strchr(text, ':');
    if (colon) {
        *colon = '\0';
        if (*text && !parse_size(text, &low)) return false;
        text = colon + 1;
    }
    if (!parse_size(text, &high) || high < low) return false;
    if (low == 0) low = o->type->size;
    for (size_t s = low; s <= high && o->nsizes < MAX_SIZES; s *= 2) o->sizes[o->nsizes++] = s;
    return o->nsizes > 0;
}

static bool parse_count(const char *text, int *out)
{
    size_t v;
    if (!parse_size(text, &v) || v > INT_MAX) return false;
    *out = (int)v;
    return true;
}

/* NULL, or what is wrong with the command line. */
static const char *parse(int argc, char **argv, struct options *o)
{
    static char defaults[] = "4:1048576";
    char *sizes = defaults;
    *o = (struct options){.memory = (size_t)512 << 20, .type = &types[2], .digits = 2, .kill_rank = -1, .warmup = -1};
    opterr = 0;
    for (int c; (c = getopt(argc, argv, "m:i:x:fcM:T:p:k:h")) != -1;) {
        switch (c) {
        case 'm': sizes = optarg; break;
        case 'i': if (!parse_count(optarg, &o->iterations) || o->iterations < 1) return "-i wants a number above 0"; break;
        case 'x': if (!parse_count(optarg, &o->warmup)) return "-x wants a number"; break;
        case 'f': o->full = true; break;
        case 'c': o->validate = true; break;
        case 'M': if (!parse_size(optarg, &o->memory)) return "-M wants a number of bytes"; break;
        case 'p': if (!parse_count(optarg, &o->digits) || o->digits > 9) return "-p wants 0 to 9"; break;
        case 'k': if (!parse_count(optarg, &o->kill_rank)) return "-k wants a rank"; break;
        case 'T':
            o->type = NULL;
            for (size_t i = 0; i < sizeof types / sizeof *types; i++)
                if (strcmp(optarg, types[i].name) == 0) o->type = &types[i];
            if (!o->type) return "-T wants mpi_char, mpi_int, mpi_float or mpi_double";
            break;
        case 'h': return "";
        default: return "unknown option";
        }
    }
    if (optind != argc) return "no arguments but options";
    if (!parse_sizes(o, sizes)) return "-m wants MIN:MAX, MAX or a list";
    return NULL;
}

/* ---- output ---- */

static void print_head(const struct bench *b, const struct options *o)
{
    printf("\n# ftmpi MPI %s Latency Test\n", b->title);
    if (!b->unsized) printf("# Datatype: %s.\n%-*s", o->type->name, 10, "# Size");
    printf(b->unsized ? "# Avg Latency(us)" : "%*s", 18, "Avg Latency(us)");
    if (o->full) printf("%*s%*s%*s", 18, "Min Latency(us)", 18, "Max Latency(us)", 12, "Iterations");
    if (o->validate) printf("%*s", 18, "Validation");
    printf("\n");
    fflush(stdout);
}

static void print_row(const struct bench *b, const struct options *o, size_t bytes, const double us[3], int iterations,
                      int64_t wrong)
{
    if (!b->unsized) printf("%-*zu", 10, bytes);
    printf("%*.*f", b->unsized ? 17 : 18, o->digits, us[0]);
    if (o->full) printf("%*.*f%*.*f%*d", 18, o->digits, us[1], 18, o->digits, us[2], 12, iterations);
    if (o->validate) printf("%*s", 18, wrong ? "Fail" : "Pass");
    printf("\n");
    fflush(stdout);
}

/* ---- measuring ---- */

/* Average, minimum and maximum over the ranks of what each measured. */
static void over_ranks(double mine, int ranks, double us[3])
{
    MPI_Reduce(&mine, &us[0], 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&mine, &us[1], 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(&mine, &us[2], 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    us[0] /= ranks;
}

/* The calls back to back, the clock read twice in all. */
static void time_stream(const struct bench *b, const struct bench_case *c, int iterations, int warmup, double us[3])
{
    for (int i = 0; i < warmup; i++) b->call(c);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = now_us();
    for (int i = 0; i < iterations; i++) b->call(c);
    over_ranks((now_us() - begin) / iterations, c->ranks, us);
}

/* Each call behind a barrier, from the moment the last rank enters to the moment the last one leaves. The processes
   must share a clock, so: one host. */
static int time_separate(const struct bench *b, const struct bench_case *c, int iterations, int warmup, double us[3])
{
    double *begin = calloc((size_t)iterations * 2, sizeof *begin), *last = calloc((size_t)iterations * 2, sizeof *last);
    if (!begin || !last) {
        free(begin);
        free(last);
        return -1;
    }
    double *end = begin + iterations, *last_end = last + iterations, mine = 0;
    for (int i = -warmup; i < iterations; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double t0 = now_us();
        b->call(c);
        double t1 = now_us();
        if (i < 0) continue;
        begin[i] = t0;
        end[i] = t1;
        mine += t1 - t0;
    }
    over_ranks(mine / iterations, c->ranks, us);
    MPI_Reduce(begin, last, iterations * 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    double sum = 0;
    for (int i = 0; i < iterations; i++) sum += last_end[i] - last[i];
    us[0] = sum / iterations;
    free(begin);
    free(last);
    return 0;
}

static int64_t time_validated(const struct bench *b, const struct bench_case *c, int iterations, int warmup, double us[3])
{
    int64_t wrong = 0, all = 0;
    double mine = 0;
    for (int i = -warmup; i < iterations; i++) {
        b->fill(c, i + warmup);
        MPI_Barrier(MPI_COMM_WORLD);
        double t0 = now_us();
        b->call(c);
        double t1 = now_us();
        wrong += b->check(c, i + warmup);
        if (i >= 0) mine += t1 - t0;
    }
    over_ranks(mine / iterations, c->ranks, us);
    MPI_Allreduce(&wrong, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* The proof that what was timed can be brought back: a rank dies having forgotten everything, is started
   again, and must arrive here with the same received bytes as the others, and then take part in one more
   validated operation. Returns wrong elements over all ranks. */
static int64_t kill_and_verify(const struct bench *b, const struct bench_case *c, int victim, uint64_t hash)
{
    const char *incarnation = getenv("FTMPI_INCARNATION");
    if (c->rank == victim && incarnation && strcmp(incarnation, "0") == 0) kill(getpid(), SIGKILL);
    uint64_t mine[2] = {hash, ~hash}, low[2];
    MPI_Allreduce(mine, low, 2, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    int64_t wrong = b->same && low[0] != ~low[1], all = 0;
    b->fill(c, 1);
    b->call(c);
    wrong += b->check(c, 1);
    MPI_Allreduce(&wrong, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static int run(const struct bench *b, const struct options *o)
{
    struct bench_case c = {.type = o->type};
    MPI_Comm_rank(MPI_COMM_WORLD, &c.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &c.ranks);
    if (c.rank == 0) print_head(b, o);

    int64_t wrong = 0;
    uint64_t hash = 0;
    bool last = false;
    for (int s = 0; s < o->nsizes && !last; s++) {
        last = s + 1 == o->nsizes || b->unsized;
        c.count = b->unsized ? 1 : (int)(o->sizes[s] / o->type->size);
        c.bytes = (size_t)c.count * o->type->size;
        size_t send = c.bytes * (b->send_all ? (size_t)c.ranks : 1), recv = c.bytes * (b->recv_all ? (size_t)c.ranks : 1);
        if (c.bytes == 0 || send + recv > o->memory) continue;
        c.send = aligned_alloc(4096, (send + 4095) / 4096 * 4096);
        c.recv = b->recv_is_send ? c.send : aligned_alloc(4096, (recv + 4095) / 4096 * 4096);
        c.counts = calloc((size_t)c.ranks * 2, sizeof(int));
        if (!c.send || !c.recv || !c.counts) {
            fprintf(stderr, "rank %d: no memory for %zu + %zu bytes\n", c.rank, send, recv);
            return 2;
        }
        c.displs = c.counts + c.ranks;
        for (int r = 0; r < c.ranks; r++) {
            c.counts[r] = c.count;
            c.displs[r] = r * c.count;
        }
        memset(c.recv, 0, recv);
        b->fill(&c, 0);

        bool big = c.bytes > 8192;
        int iterations = o->iterations ? o->iterations : big ? 100 : 1000;
        int warmup = o->warmup >= 0 ? o->warmup : big ? 10 : 200;
        double us[3] = {0};
        int64_t bad = 0;
        if (o->validate) bad = time_validated(b, &c, iterations, warmup, us);
        else if (!b->separate) time_stream(b, &c, iterations, warmup, us);
        else if (time_separate(b, &c, iterations, warmup, us)) return 2;
        wrong += bad;
        if (c.rank == 0) print_row(b, o, c.bytes, us, iterations, bad);

        hash = hash_bytes(hash, c.recv, recv);
        if (last && o->kill_rank >= 0) {
            int64_t lost = kill_and_verify(b, &c, o->kill_rank, hash);
            if (c.rank == 0)
                printf("# Rank %d killed and back, verification: %s\n", o->kill_rank, lost ? "Fail" : "Pass");
            wrong += lost;
        }
        free(c.counts);
        if (!b->recv_is_send) free(c.recv);
        free(c.send);
    }
    return wrong ? 1 : 0;
}

int bench_main(int argc, char **argv, const struct bench *b)
{
    struct options o;
    MPI_Init(&argc, &argv);
    int rank, code;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *problem = parse(argc, argv, &o);
    if (problem) {
        if (rank == 0) {
            if (*problem) fprintf(stderr, "%s: %s\n", argv[0], problem);
            fputs(usage_text, *problem ? stderr : stdout);
        }
        code = *problem ? 2 : 0;
    } else {
        code = run(b, &o);
    }
    MPI_Finalize();
    return code;
}
