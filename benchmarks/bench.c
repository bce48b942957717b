/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE     /* line.h: processors */
#endif
#include "bench.h"
#include "line.h"
#include "options.h"

#include <ctype.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SMALL = 8192, SETTLE_SIZE_US = 200000, CACHE_LINE = 64 };

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

void bench_fill(const struct bench_case *c, int iteration)
{
    bench_fill_part(c, c->send, c->rank, iteration);
}

int64_t bench_check_sum(const struct bench_case *c, int iteration)
{
    return bench_wrong(c->type, c->recv, (size_t)c->count, bench_sum, c->ranks, iteration);
}

int64_t bench_check_gathered(const struct bench_case *c, int iteration)
{
    int64_t wrong = 0;
    for (int r = 0; r < c->ranks; r++)
        wrong += bench_wrong(c->type, (char *)c->recv + (size_t)r * c->bytes, (size_t)c->count, bench_input, r, iteration);
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

/* ---- output ---- */

static void print_head(const struct bench *b, const struct bench_options *o)
{
    if (!b->unsized) {
        char name[16] = "";
        for (size_t i = 0; i < sizeof name - 1 && o->type->name[i]; i++) name[i] = (char)toupper(o->type->name[i]);
        printf("# Datatype: %s.\n%-*s", name, 10, "# Size");
    }
    printf(b->unsized ? "# Avg Latency(us)" : "%*s", 18, "Avg Latency(us)");
    if (b->streams) printf("%*s%*s", 18, "Bandwidth(MB/s)", 18, "Messages/s");
    if (o->full) printf("%*s%*s%*s", 18, "Min Latency(us)", 18, "Max Latency(us)", 12, "Iterations");
    if (o->validate) printf("%*s", 18, "Validation");
    printf("\n");
    fflush(stdout);
}

static void print_row(const struct bench *b, const struct bench_options *o, size_t bytes, const double us[3], int iterations,
                      int64_t wrong, int pairs)
{
    if (!b->unsized) printf("%-*zu", 10, bytes);
    printf("%*.*f", b->unsized ? 17 : 18, o->digits, us[0]);
    if (b->streams) printf("%*.*f%*.0f", 18, o->digits, (double)bytes * pairs / us[0], 18, pairs * 1e6 / us[0]);
    if (o->full) printf("%*.*f%*.*f%*d", 18, o->digits, us[1], 18, o->digits, us[2], 12, iterations);
    if (o->validate) printf("%*s", 18, wrong ? "Fail" : "Pass");
    printf("\n");
    fflush(stdout);
}

/* A barrier before each call, say, is no part of what is measured, but of the time that a run takes. */
static void print_wall(const struct bench *b, size_t bytes, double us)
{
    if (b->unsized) printf("# Wall - %.3f\n", us);
    else printf("# Wall %zu %.3f\n", bytes, us);
    fflush(stdout);
}

static void print_line(const struct bench *b, size_t bytes, const double ns[2])
{
    if (b->unsized) printf("# Line - %.1f %.1f\n", ns[0], ns[1]);
    else printf("# Line %zu %.1f %.1f\n", bytes, ns[0], ns[1]);
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

/* --touch: as a program does that computes what it contributes, and uses what it receives. A loop that does neither says little of copies out of the
   contributor's memory, which it finds in its own cache, and nothing of results that were written past the cache. */
static void write_lines(const struct bench_case *c)
{
    for (volatile char *p = c->send, *end = p + c->writes; p < end; p += CACHE_LINE) *p = *p;
}

static void call(const struct bench *b, const struct bench_case *c)
{
    b->call(c);
    for (const volatile char *p = c->recv, *end = p + c->reads; p < end; p += CACHE_LINE) (void)*p;
}

static void write_and_call(const struct bench *b, const struct bench_case *c)
{
    write_lines(c);
    call(b, c);
}

/* The calls back to back, the clock read twice in all. */
static void time_stream(const struct bench *b, const struct bench_case *c, int iterations, int warmup, double us[3])
{
    for (int i = 0; i < warmup; i++) write_and_call(b, c);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = now_us();
    for (int i = 0; i < iterations; i++) write_and_call(b, c);
    over_ranks((now_us() - begin) / iterations, c->ranks, us);
}

static void timed_call(const struct bench *b, struct bench_case *c)
{
    c->entered = now_us();
    call(b, c);
    c->left = now_us();
}

/* Each call behind a barrier; with -c its input is new each time and its result is looked at. Of a `separate` operation
   the average is that of the times from the moment the first rank enters to the moment the last one leaves (the processes
   must share a clock, so: one host), of others that over the ranks. From the first one: where ranks share processors, a
   barrier that lets one rank go long before the others would have its work done before the last one enters.
   Returns the elements that are wrong on all ranks; -1 without memory. */
static int64_t time_single(const struct bench *b, struct bench_case *c, const struct bench_options *o, int iterations, int warmup, double us[3])
{
    double *begin = calloc((size_t)iterations * 4, sizeof *begin);
    if (!begin) return -1;
    double *end = begin + iterations, *first = end + iterations, *last = first + iterations, mine = 0;
    int64_t wrong = 0, all = 0;
    for (int i = -warmup; i < iterations; i++) {
        if (o->validate) b->fill(c, i + warmup);
        write_lines(c);
        MPI_Barrier(MPI_COMM_WORLD);
        timed_call(b, c);
        if (o->validate) wrong += b->check(c, i + warmup);
        if (i < 0) continue;
        begin[i] = c->entered;
        end[i] = c->left;
        mine += c->left - c->entered;
    }
    over_ranks(mine / iterations, c->ranks, us);
    if (b->separate) {
        MPI_Reduce(begin, first, iterations, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
        MPI_Reduce(end, last, iterations, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        double sum = 0;
        for (int i = 0; i < iterations; i++) sum += last[i] - first[i];
        us[0] = sum / iterations;
    }
    free(begin);
    MPI_Allreduce(&wrong, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* The proof that what was timed can be brought back: a rank dies having forgotten everything, is started
   again, and must arrive here with the same received bytes as the others, and then take part in one more
   validated operation. Returns wrong elements over all ranks. */
static int64_t kill_and_verify(const struct bench *b, struct bench_case *c, int victim, uint64_t hash)
{
    const char *incarnation = getenv("FTMPI_INCARNATION");
    if (c->rank == victim && incarnation && strcmp(incarnation, "0") == 0) kill(getpid(), SIGKILL);
    uint64_t mine[2] = {hash, ~hash}, low[2];
    MPI_Allreduce(mine, low, 2, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    int64_t wrong = b->same && low[0] != ~low[1], all = 0;
    b->fill(c, 1);
    timed_call(b, c);
    wrong += b->check(c, 1);
    MPI_Allreduce(&wrong, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void free_buffers(const struct bench *b, struct bench_case *c)
{
    free(c->counts);
    if (!b->recv_is_send) free(c->recv);
    free(c->send);
}

/* Whether the memory allows this size; its buffers are there then. */
static bool allocate(const struct bench *b, struct bench_case *c, const struct bench_options *o, size_t bytes, size_t *recv)
{
    c->count = b->unsized ? 1 : bytes / o->type->size > INT_MAX ? 0 : (int)(bytes / o->type->size);
    c->bytes = (size_t)c->count * o->type->size;
    size_t send = c->bytes * (b->send_all ? (size_t)c->ranks : 1);
    *recv = c->bytes * (b->recv_all ? (size_t)c->ranks : 1);
    if (c->bytes == 0 || send + (b->recv_is_send ? 0 : *recv) > o->memory) return false;
    c->send = aligned_alloc(4096, (send + 4095) / 4096 * 4096);
    c->recv = b->recv_is_send ? c->send : aligned_alloc(4096, (*recv + 4095) / 4096 * 4096);
    c->counts = calloc((size_t)c->ranks * 2, sizeof(int));
    if (!c->send || !c->recv || !c->counts) {
        fprintf(stderr, "rank %d: no memory for %zu + %zu bytes\n", c->rank, send, *recv);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    memset(c->send, 0, send);
    memset(c->recv, 0, *recv);
    bool root = c->rank == c->root, gives = root || !b->rooted || !b->recv_is_send, gets = root || !b->rooted || b->recv_is_send;
    c->writes = o->touch && gives ? send : 0;
    c->reads = o->touch && gets ? *recv : 0;
    c->displs = c->counts + c->ranks;
    for (int r = 0; r < c->ranks; r++) {
        c->counts[r] = c->count;
        c->displs[r] = r * c->count;
    }
    return true;
}

/* The clock is looked at every 10 ms or so; all go by what they agree on, as a rank that is repeated has another clock.
   b NULL: barriers. */
static void call_for(const struct bench *b, struct bench_case *c, double us)
{
    double end = now_us() + us;

    for (int calls = 1; calls;) {
        double began = now_us();
        for (int i = 0; i < calls; i++) {
            if (b) write_and_call(b, c);
            else MPI_Barrier(MPI_COMM_WORLD);
        }
        int mine = now_us() >= end ? 0 : now_us() < began + 10000 ? calls * 2 : calls;
        MPI_Allreduce(&mine, &calls, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
}

/* What a job that has run for a while has behind it and one that begins has not: memory written before, for example. */
static void settle(const struct bench *b, struct bench_case *c, const struct bench_options *o)
{
    size_t largest = 0, recv;
    for (int s = 0; s < o->nsizes; s++) largest = o->sizes[s] > largest ? o->sizes[s] : largest;
    if (!o->settle_s || !allocate(b, c, o, largest, &recv)) return;
    call_for(b, c, o->settle_s * 1e6);
    free_buffers(b, c);
}

static struct line meeting;

static void meet(int rank, int ranks, const char *path)
{
    for (int turn = 0; turn < ranks; turn++, MPI_Barrier(MPI_COMM_WORLD)) {
        if (turn != rank || line_open(&meeting, path)) continue;
        perror(path);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
}

/* The s-th size: measures, prints its row, returns wrong elements. */
static int64_t measure(const struct bench *b, struct bench_case *c, const struct bench_options *o, int s)
{
    bool big = c->bytes > SMALL;
    int iterations = o->iterations[s] ? o->iterations[s] : big ? 100 : 1000;
    int warmup = o->warmup[s] >= 0 ? o->warmup[s] : big ? 10 : 200;
    double us[3] = {0}, line[2] = {0}, begin = now_us();
    int64_t wrong = 0;
    b->fill(c, 0);
    if (o->settle_s) call_for(b, c, SETTLE_SIZE_US); /* the buffers of this size are new, and those of the one before were let go */
    if (meeting.path) line[0] = line_ns(&meeting, c->rank, c->ranks);
    if (b->separate || o->validate) wrong = time_single(b, c, o, iterations, warmup, us);
    else time_stream(b, c, iterations, warmup, us);
    if (wrong < 0) {
        fprintf(stderr, "rank %d: no memory for the times of %d iterations\n", c->rank, iterations);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (meeting.path) line[1] = line_ns(&meeting, c->rank, c->ranks);
    for (int i = 0; i < 3 && b->messages; i++) us[i] /= b->messages;
    if (c->rank == 0) print_row(b, o, c->bytes, us, iterations, wrong, c->ranks / 2);
    if (c->rank == 0 && meeting.path) print_line(b, c->bytes, line);
    if (c->rank == 0 && o->wall) print_wall(b, c->bytes, (now_us() - begin) / (iterations + warmup));
    return wrong;
}

/* All sizes of one type. last: nothing comes after it, so this is where --kill kills. */
static int64_t run(const struct bench *b, const struct bench_options *o, int rank, int ranks, bool last)
{
    struct bench_case c = {.type = o->type, .rank = rank, .ranks = ranks, .root = o->root};
    int64_t wrong = 0;
    uint64_t hash = 0;
    int sizes = b->unsized ? 1 : o->nsizes, measured = 0;
    if (rank == 0) print_head(b, o);
    settle(b, &c, o);
    for (int s = 0; s < sizes; s++) {
        size_t recv;
        if (!allocate(b, &c, o, o->sizes[s], &recv)) continue;
        measured++;
        wrong += measure(b, &c, o, s);
        hash = hash_bytes(hash, c.recv, recv);
        if (last && s + 1 == sizes && o->kill_rank >= 0) {
            int64_t lost = kill_and_verify(b, &c, o->kill_rank, hash);
            if (rank == 0) printf("# Rank %d killed and back, verification: %s\n", o->kill_rank, lost ? "Fail" : "Pass");
            wrong += lost;
        }
        free_buffers(b, &c);
    }
    if (measured < sizes && rank == 0)
        fprintf(stderr, "%d sizes are left out: less than an element, or more than -M allows\n", sizes - measured);
    return measured ? wrong : 1;
}

static int run_types(const struct bench *b, struct bench_options *o, int rank, int ranks)
{
    int64_t wrong = 0;
    if (o->line_file && !meeting.path) meet(rank, ranks, o->line_file);
    if (o->start_ms) call_for(NULL, NULL, o->start_ms * 1e3);
    if (rank == 0) printf("\n# ftmpi MPI %s%s Test\n", b->title, b->messages ? "" : " Latency");
    int end = BENCH_TYPES;
    while (!o->use[end - 1]) end--;
    for (int i = 0; i < end; i++) {
        o->type = &bench_types[i];
        if (!o->use[i] || (b->unsized && i + 1 < end) || !bench_options_sizes(o)) continue;
        wrong += run(b, o, rank, ranks, i + 1 == end);
    }
    return wrong ? 1 : 0;
}

int bench_main(int argc, char **argv, const struct bench *b)
{
    struct bench_options o;
    MPI_Init(&argc, &argv);
    int rank, ranks, code;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *problem = bench_options_parse(argc, argv, b, ranks, &o);
    if (problem) {
        if (rank == 0) {
            if (*problem) fprintf(stderr, "%s: %s\n", argv[0], problem);
            fputs(bench_options_usage, *problem ? stderr : stdout);
        }
        code = *problem ? 2 : 0;
    } else {
        code = run_types(b, &o, rank, ranks);
    }
    MPI_Finalize();
    return code;
}
