/* SPDX-License-Identifier: BSD-3-Clause */
/* The least that an operation between two cores takes: two threads that do nothing but move its bytes, in the ways one knows, with and without writing the
   result once to memory that no cache holds, which is what a log is. No MPI, no library: no calls to check, nobody who may die. What is faster
   than the fastest of these needs another idea; what a fault-tolerant library can win over another one is at most that one's time over this one's
   "logged" (docs/performance.md).

     bare [-m SIZE,...] [-r ROUNDS] [-t MICROSECONDS] [-l | -v] OPERATION...

   OPERATION: allreduce, bcast, reduce, allgather (floats; SIZE bytes of each rank, or of the root). Every way, with pieces of 4, 8, 32 and 128 KiB, runs for
   MICROSECONDS (20,000) at a time, by turns, ROUNDS (7) times. Prints for each size the least of the medians without a log and with one, microseconds, and
   the way it is of; -v: all of them; -l: of those with a log the least only, size and microseconds, as the MPI programs do. Pieces of which an operation has more than
   MOST_PIECES are left out. Built with the instructions of this processor (benchmarks/compare does) it moves bytes in its widest stores. bcast and reduce are timed as the benchmarks do: behind a meeting of the two, from the moment the first one enters
   until the last one is out. Pieces take turns in slots of 4 MiB together, which is more than a core's own cache, and what the other core has written is
   read by lines (docs/internals/sizes.md, "Reading them"). The results are compared with what they must be. */
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "bytes.h"

enum { LINE = BYTES_LINE, SLOTS = 8, RING = 4 << 20, MAX_PIECE = 131072, MAX_TIMES = 100000, MAX_SIZES = 32, MAX_ROUNDS = 99, MOST_PIECES = 256, LOG_BYTES = 512 << 20, MAX_WAYS = 32 };

/* One rank: its memory, its slots, and what it says of itself, each word in a line of its own. */
struct rank {
    _Alignas(128) _Atomic uint64_t sent;    /* pieces in its slots, of all operations */
    _Alignas(128) _Atomic uint64_t taken;   /* pieces it needs no more */
    _Alignas(128) _Atomic uint64_t made;    /* results of pieces that are in the log or in its slots */
    _Alignas(128) _Atomic uint64_t met;
    char *own, *result, *slots, *results;
    uint64_t meetings;
    int number;
};

static struct rank ranks[2];
static char *log_memory;
static _Atomic bool stop;

/* ---- copies ---- */

static void plain(char *to, const char *from, size_t n) { memcpy(to, from, n); }

static void lines(char *to, const char *from, size_t n) { bytes_lines(to, from, n); }

static void past(char *to, const char *from, size_t n) { bytes_past_and(to, NULL, from, n); }

static void fold(char *to, const char *a, const char *b, size_t n) { bytes_add((float *)(void *)to, (const float *)(const void *)a, (const float *)(const void *)b, n / sizeof(float)); }

/* ---- ways ---- */

/* A piece of an operation: n bytes at `at`, in the ring's place `slot`; of an allreduce by halves the first `half` bytes are rank 0's to add. */
struct piece { size_t at, n, half, step; char *log; uint64_t number; };
struct way {
    const char *operation, *name;
    bool logs;
    enum { BOTH = -1, ROOT = 0, OTHER = 1 } sender;                   /* not both: its end waits for nobody */
    void (*send)(struct rank *, struct rank *, const struct piece *); /* before `sent` */
    void (*take)(struct rank *, struct rank *, const struct piece *); /* once the other one has sent */
    void (*read)(struct rank *, struct rank *, const struct piece *); /* once the other one has made its half */
    void (*behind)(struct rank *, struct rank *, const struct piece *); /* not NULL: after `sent`, by who sends, which is read where it is: it waits for that */
};

static char *slot(struct rank *r, const struct piece *p) { return r->slots + p->number % (RING / p->step) * p->step; }
static char *made(struct rank *r, const struct piece *p) { return r->results + p->number % (RING / p->step) * p->step; }

static void send_slot(struct rank *me, struct rank *other, const struct piece *p)
{
    (void)other;
    plain(slot(me, p), me->own + p->at, p->n);
}

static void send_and_log(struct rank *me, struct rank *other, const struct piece *p)
{
    send_slot(me, other, p);
    past(p->log, me->own + p->at, p->n);
}
static void send_log(struct rank *me, struct rank *other, const struct piece *p) { (void)other; plain(p->log, me->own + p->at, p->n); }
static void send_log_past(struct rank *me, struct rank *other, const struct piece *p) { (void)other; past(p->log, me->own + p->at, p->n); }

static void take_slot(struct rank *me, struct rank *other, const struct piece *p) { lines(me->result + p->at, slot(other, p), p->n); }
static void take_log(struct rank *me, struct rank *other, const struct piece *p) { (void)other; lines(me->result + p->at, p->log, p->n); }
static void take_and_log(struct rank *me, struct rank *other, const struct piece *p) { bytes_past_and(p->log, me->result + p->at, slot(other, p), p->n); }
static void take_then_log(struct rank *me, struct rank *other, const struct piece *p)
{
    take_slot(me, other, p);
    past(p->log, me->result + p->at, p->n);
}

static void root_folds(struct rank *me, struct rank *other, const struct piece *p) { fold(me->result + p->at, me->own + p->at, slot(other, p), p->n); }
static void root_folds_and_logs(struct rank *me, struct rank *other, const struct piece *p)
{
    root_folds(me, other, p);
    past(p->log, me->result + p->at, p->n);
}
static void root_folds_other_logs(struct rank *me, struct rank *other, const struct piece *p)
{
    fold(p->log, me->own + p->at, slot(other, p), p->n);
    plain(me->result + p->at, p->log, p->n);
}

/* allgather: results are own and other's side by side; the log too */
static char *side(char *base, const struct rank *r, const struct piece *p, size_t whole) { return base + (r->number ? whole : 0) + p->at; }
static size_t whole_of;
static void keep_own(struct rank *me, const struct piece *p) { plain(side(me->result, me, p, whole_of), me->own + p->at, p->n); }
static void gather_keep(struct rank *me, struct rank *other, const struct piece *p)
{
    (void)other;
    keep_own(me, p);
}
static void gather_send(struct rank *me, struct rank *other, const struct piece *p)
{
    send_slot(me, other, p);
    keep_own(me, p);
}
static void gather_send_and_log(struct rank *me, struct rank *other, const struct piece *p)
{
    send_slot(me, other, p);
    bytes_past_and(p->log + (me->number ? whole_of : 0), side(me->result, me, p, whole_of), me->own + p->at, p->n);
}
static void gather_log(struct rank *me, struct rank *other, const struct piece *p)
{
    (void)other;
    plain(p->log + (me->number ? whole_of : 0), me->own + p->at, p->n);
    keep_own(me, p);
}
static void gather_log_past(struct rank *me, struct rank *other, const struct piece *p)
{
    (void)other;
    bytes_past_and(p->log + (me->number ? whole_of : 0), side(me->result, me, p, whole_of), me->own + p->at, p->n);
}
static void gather_take(struct rank *me, struct rank *other, const struct piece *p) { lines(side(me->result, other, p, whole_of), slot(other, p), p->n); }
static void gather_take_log(struct rank *me, struct rank *other, const struct piece *p)
{
    lines(side(me->result, other, p, whole_of), p->log + (other->number ? whole_of : 0), p->n);
}
static void gather_take_and_log(struct rank *me, struct rank *other, const struct piece *p)
{
    bytes_past_and(p->log + (other->number ? whole_of : 0), side(me->result, other, p, whole_of), slot(other, p), p->n);
}

/* single copy: the kernel reads in another process's memory, which may as well be our own */
static void read_where_it_is(char *to, const char *from, size_t n)
{
    struct iovec here = {to, n}, there = {(void *)(uintptr_t)from, n};
    if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)n) return;
    perror("bare: process_vm_readv");
    exit(2);
}
static void send_nothing(struct rank *me, struct rank *other, const struct piece *p) { (void)me, (void)other, (void)p; }
static void take_where_it_is(struct rank *me, struct rank *other, const struct piece *p) { read_where_it_is(me->result + p->at, other->own + p->at, p->n); }
static void fold_where_it_is(struct rank *me, struct rank *other, const struct piece *p)
{
    take_where_it_is(me, other, p);
    fold(me->result + p->at, me->own + p->at, me->result + p->at, p->n);
}
static void gather_where_it_is(struct rank *me, struct rank *other, const struct piece *p) { read_where_it_is(side(me->result, other, p, whole_of), other->own + p->at, p->n); }

/* allreduce, each all of it */
static void fold_all(struct rank *me, struct rank *other, const struct piece *p) { fold(me->result + p->at, me->own + p->at, slot(other, p), p->n); }
static void fold_all_and_log(struct rank *me, struct rank *other, const struct piece *p)
{
    size_t from = me->number ? p->half : 0, n = me->number ? p->n - p->half : p->half;
    fold_all(me, other, p);
    past(p->log + from, me->result + p->at + from, n);
}
/* allreduce, each a half */
static void mine_of(const struct rank *me, const struct piece *p, size_t *from, size_t *n)
{
    *from = me->number ? p->half : 0;
    *n = me->number ? p->n - p->half : p->half;
}
static void send_half(struct rank *me, struct rank *other, const struct piece *p)
{
    size_t from, n;
    mine_of(other, p, &from, &n);
    plain(slot(me, p) + from, me->own + p->at + from, n);
}
static void fold_half(struct rank *me, struct rank *other, const struct piece *p)
{
    size_t from, n;
    mine_of(me, p, &from, &n);
    fold(me->result + p->at + from, me->own + p->at + from, slot(other, p) + from, n);
    plain(made(me, p) + from, me->result + p->at + from, n);
}
static void fold_half_and_log(struct rank *me, struct rank *other, const struct piece *p)
{
    size_t from, n;
    mine_of(me, p, &from, &n);
    fold(me->result + p->at + from, me->own + p->at + from, slot(other, p) + from, n);
    bytes_past_and(p->log + from, made(me, p) + from, me->result + p->at + from, n);
}
static void fold_half_in_log(struct rank *me, struct rank *other, const struct piece *p)
{
    size_t from, n;
    mine_of(me, p, &from, &n);
    fold(me->result + p->at + from, me->own + p->at + from, slot(other, p) + from, n);
    plain(p->log + from, me->result + p->at + from, n);
}
static void read_half(struct rank *me, struct rank *other, const struct piece *p)
{
    size_t from, n;
    mine_of(other, p, &from, &n);
    lines(me->result + p->at + from, made(other, p) + from, n);
}
static void read_half_log(struct rank *me, struct rank *other, const struct piece *p)
{
    size_t from, n;
    mine_of(other, p, &from, &n);
    lines(me->result + p->at + from, p->log + from, n);
}

static const struct way ways[] = {
    {"bcast", "slots", false, ROOT, send_slot, take_slot, NULL, NULL},
    {"bcast", "through the log", true, ROOT, send_log, take_log, NULL, NULL},
    {"bcast", "through the log, past the cache", true, ROOT, send_log_past, take_log, NULL, NULL},
    {"bcast", "slots, the receiver logs line by line", true, ROOT, send_slot, take_and_log, NULL, NULL},
    {"bcast", "slots, the receiver logs behind", true, ROOT, send_slot, take_then_log, NULL, NULL},
    {"bcast", "slots, the root logs", true, ROOT, send_and_log, take_slot, NULL, NULL},
    {"bcast", "single copy", false, ROOT, send_nothing, take_where_it_is, NULL, send_nothing},
    {"bcast", "single copy, the root logs", true, ROOT, send_nothing, take_where_it_is, NULL, send_log_past},
    {"reduce", "slots", false, OTHER, send_slot, root_folds, NULL, NULL},
    {"reduce", "slots, logged behind", true, OTHER, send_slot, root_folds_and_logs, NULL, NULL},
    {"reduce", "slots, folded into the log", true, OTHER, send_slot, root_folds_other_logs, NULL, NULL},
    {"reduce", "single copy", false, OTHER, send_nothing, fold_where_it_is, NULL, send_nothing},
    {"reduce", "single copy, who sends logs it", true, OTHER, send_nothing, fold_where_it_is, NULL, send_log_past},
    {"allgather", "slots", false, BOTH, gather_send, gather_take, NULL, NULL},
    {"allgather", "through the log", true, BOTH, gather_log, gather_take_log, NULL, NULL},
    {"allgather", "through the log, past the cache", true, BOTH, gather_log_past, gather_take_log, NULL, NULL},
    {"allgather", "slots, each logs its own", true, BOTH, gather_send_and_log, gather_take, NULL, NULL},
    {"allgather", "slots, each logs the other's", true, BOTH, gather_send, gather_take_and_log, NULL, NULL},
    {"allgather", "single copy", false, BOTH, send_nothing, gather_where_it_is, NULL, gather_keep},
    {"allgather", "single copy, each logs its own", true, BOTH, send_nothing, gather_where_it_is, NULL, gather_log_past},
    {"allreduce", "slots, each all", false, BOTH, send_slot, fold_all, NULL, NULL},
    {"allreduce", "slots, halves", false, BOTH, send_half, fold_half, read_half, NULL},
    {"allreduce", "slots, each all, each logs a half", true, BOTH, send_slot, fold_all_and_log, NULL, NULL},
    {"allreduce", "halves, results in slots and the log", true, BOTH, send_half, fold_half_and_log, read_half, NULL},
    {"allreduce", "halves, through the log", true, BOTH, send_half, fold_half_in_log, read_half_log, NULL},
};
enum { NWAYS = sizeof ways / sizeof ways[0] };
static const size_t pieces[] = {4096, 8192, 32768, MAX_PIECE};
enum { NPIECES = sizeof pieces / sizeof pieces[0] };

/* ---- running one ---- */

static uint64_t look(_Atomic uint64_t *w) { return atomic_load_explicit(w, memory_order_acquire); }
static void say(_Atomic uint64_t *w, uint64_t v) { atomic_store_explicit(w, v, memory_order_release); }
static void await(_Atomic uint64_t *w, uint64_t least) { while (look(w) < least) {} }

static void meet(struct rank *me, struct rank *other)
{
    say(&me->met, ++me->meetings);
    await(&other->met, me->meetings);
}

/* One operation of `bytes`; *number: pieces before it, *log_at: where its result goes. */
static void operate(const struct way *w, struct rank *me, struct rank *other, size_t bytes, size_t step, uint64_t *number, size_t *log_at)
{
    size_t whole = strcmp(w->operation, "allgather") ? bytes : 2 * bytes, count = (bytes + step - 1) / step;
    if (*log_at + whole > LOG_BYTES) *log_at = 0;
    for (size_t i = 0; i < count + !!w->read; i++) {
        struct piece p = {.at = i * step, .step = step, .log = log_memory + *log_at + i * step, .number = *number + i};
        if (i < count) {
            p.n = bytes - p.at < step ? bytes - p.at : step;
            p.half = (p.n / 2 + LINE / 2) / LINE * LINE;
            if (p.half > p.n) p.half = p.n;
            if (w->sender != 1 - me->number) {
                if (p.number >= SLOTS) await(&other->taken, p.number - SLOTS + 1);
                w->send(me, other, &p);
            }
            say(&me->sent, p.number + 1);
            if (w->behind && w->sender != 1 - me->number) w->behind(me, other, &p);
            if (w->sender != me->number) {
                await(&other->sent, p.number + 1);
                w->take(me, other, &p);
            }
            if (w->read) say(&me->made, p.number + 1);
            else say(&me->taken, p.number + 1);
        }
        if (w->read && i) {      /* of the piece before: the other one has made it meanwhile */
            struct piece q = {.at = p.at - step, .step = step, .log = p.log - step, .number = p.number - 1};
            q.n = bytes - q.at < step ? bytes - q.at : step;
            q.half = (q.n / 2 + LINE / 2) / LINE * LINE;
            if (q.half > q.n) q.half = q.n;
            await(&other->made, q.number + 1);
            w->read(me, other, &q);
            say(&me->taken, q.number + 1);
        }
    }
    *number += count;
    if (w->behind && w->sender != 1 - me->number) await(&other->taken, *number);
    *log_at += (whole + LINE - 1) / LINE * LINE;
}

static struct job { const struct way *way; size_t bytes, step; int times; bool meets; } job;
static uint64_t number_of[2];
static size_t log_at_of[2];
static double took_us, entered[2][MAX_TIMES], left[2][MAX_TIMES];

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void run(int k)
{
    struct rank *me = &ranks[k], *other = &ranks[1 - k];
    meet(me, other);
    double began = now_us();
    for (int i = 0; i < job.times; i++) {
        if (job.meets) {
            meet(me, other);
            entered[k][i] = now_us();
        }
        operate(job.way, me, other, job.bytes, job.step, &number_of[k], &log_at_of[k]);
        if (job.meets) left[k][i] = now_us();
    }
    meet(me, other);
    if (k) return;
    took_us = (now_us() - began) / job.times;
    if (!job.meets) return;
    took_us = 0;
    for (int i = 0; i < job.times; i++)
        took_us += ((left[0][i] > left[1][i] ? left[0][i] : left[1][i]) - (entered[0][i] < entered[1][i] ? entered[0][i] : entered[1][i])) / job.times;
}

static cpu_set_t own;    /* processors that we may use */
static void pin(int k)
{
    cpu_set_t set;
    for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &own) && seen++ == k) {
            CPU_ZERO(&set);
            CPU_SET(cpu, &set);
            sched_setaffinity(0, sizeof set, &set);
            return;
        }
    fprintf(stderr, "bare: needs two processors\n");
    exit(2);
}

static pthread_barrier_t turn;
static void *partner(void *arg)
{
    (void)arg;
    pin(1);
    for (;;) {
        pthread_barrier_wait(&turn);
        if (stop) return NULL;
        run(1);
    }
}

/* -> microseconds of one. */
static double timed(const struct way *w, size_t bytes, size_t step, int times)
{
    job = (struct job){w, bytes, step, times < MAX_TIMES ? times : MAX_TIMES, w->sender != BOTH};
    pthread_barrier_wait(&turn);
    run(0);
    return took_us;
}

static void check(const struct way *w, size_t bytes)
{
    bool gathers = !strcmp(w->operation, "allgather"), adds = !strcmp(w->operation, "reduce") || !strcmp(w->operation, "allreduce");
    for (int k = 0; k < 2; k++) {
        const float *result = (const float *)(const void *)ranks[k].result, *a = (const float *)(const void *)ranks[0].own, *b = (const float *)(const void *)ranks[1].own;
        if ((!strcmp(w->operation, "bcast") && k == 0) || (!strcmp(w->operation, "reduce") && k == 1)) continue;
        for (size_t i = 0; i < bytes / sizeof(float); i++)
            if (gathers ? result[i] != a[i] || result[bytes / sizeof(float) + i] != b[i] : result[i] != (adds ? a[i] + b[i] : a[i])) {
                fprintf(stderr, "bare: %s, %s: wrong result of rank %d, element %zu\n", w->operation, w->name, k, i);
                exit(1);
            }
        memset(ranks[k].result, 0, (gathers ? 2 : 1) * bytes);
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *of, int n)
{
    qsort(of, (size_t)n, sizeof *of, by_value);
    return n % 2 ? of[n / 2] : (of[n / 2 - 1] + of[n / 2]) / 2;
}

enum show { LEAST, ALL, LOGGED };

/* Whether pieces number k are tried in this way. */
static bool is_tried(const struct way *w, int k, const char *operation, size_t bytes, enum show show)
{
    return !strcmp(w->operation, operation) && (!k || pieces[k - 1] < bytes) && (bytes / pieces[k] <= MOST_PIECES) && (show != LOGGED || w->logs);
}

static void measure(const char *operation, size_t bytes, int rounds, double us, enum show show)
{
    static double found[NWAYS][NPIECES][MAX_ROUNDS];
    double least[2] = {0};
    const char *name[2] = {"", ""};
    size_t of[2] = {0};
    whole_of = bytes;
    for (int r = 0; r < rounds; r++) {
        for (int w = 0; w < NWAYS; w++)
            for (int k = 0; k < NPIECES; k++) {
                if (!is_tried(&ways[w], k, operation, bytes, show)) continue;
                double one = timed(&ways[w], bytes, pieces[k], 3);
                found[w][k][r] = timed(&ways[w], bytes, pieces[k], 1 + (int)(us / one));
                if (!r) check(&ways[w], bytes);
            }
    }
    for (int w = 0; w < NWAYS; w++)
        for (int k = 0; k < NPIECES; k++) {
            if (!is_tried(&ways[w], k, operation, bytes, show)) continue;
            double t = median(found[w][k], rounds);
            if (show == ALL) printf("  %s, %zu: %.3f (%.3f to %.3f)\n", ways[w].name, pieces[k], t, found[w][k][0], found[w][k][rounds - 1]);
            if (!*name[ways[w].logs] || t < least[ways[w].logs]) {
                least[ways[w].logs] = t;
                name[ways[w].logs] = ways[w].name;
                of[ways[w].logs] = pieces[k];
            }
        }
    if (show == LOGGED) printf("%-10zu %17.6f\n", bytes, least[1]);
    else printf("%-10s %9zu %12.3f %12.3f   %s, %zu; %s, %zu\n", operation, bytes, least[0], least[1], name[0], of[0], name[1], of[1]);
    fflush(stdout);
}

static char *memory(size_t n)
{
    char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        perror("bare: memory");
        exit(2);
    }
    return p;
}

static void open_rank(int k, size_t most)
{
    struct rank *r = &ranks[k];
    r->number = k;
    r->own = memory(most + LINE);
    r->result = memory(2 * most + LINE);
    r->slots = memory(RING);
    r->results = memory(RING);
    for (size_t i = 0; i < most / sizeof(float); i++) ((float *)(void *)r->own)[i] = (float)((i * 7 + (size_t)k * 3) % 1000);
    memset(r->result, 1, 2 * most);
    memset(r->slots, 1, RING);
    memset(r->results, 1, RING);
}

static bool known(const char *operation)
{
    for (int w = 0; w < NWAYS; w++)
        if (!strcmp(ways[w].operation, operation)) return true;
    return false;
}

static const char usage[] = "usage: bare [-m SIZE,...] [-r ROUNDS] [-t MICROSECONDS] [-l | -v] allreduce|bcast|reduce|allgather ...\n";

int main(int argc, char **argv)
{
    static const size_t usual[] = {8, 128, 2048, 8192, 32768, 131072, 524288, 2097152, 8388608, 16777216};
    size_t sizes[MAX_SIZES], most = 0;
    int nsizes = sizeof usual / sizeof usual[0], rounds = 7, c;
    double us = 20000;
    enum show show = LEAST;
    bool bad = false;
    pthread_t thread;
    memcpy(sizes, usual, sizeof usual);
    while ((c = getopt(argc, argv, "m:r:t:lv")) != -1) {
        char *word = optarg;
        if (c == 'm') {
            for (nsizes = 0; *word && nsizes < MAX_SIZES; word += *word == ',') sizes[nsizes++] = strtoull(word, &word, 10) / 4 * 4;
            bad |= *word;
        } else if (c == 'r') rounds = atoi(optarg);
        else if (c == 't') us = atof(optarg);
        else if (c == 'l') show = LOGGED;
        else if (c == 'v') show = ALL;
        else return fputs(usage, stderr), 2;
    }
    for (int s = 0; s < nsizes; s++) {
        most = sizes[s] > most ? sizes[s] : most;
        bad |= !sizes[s];
    }
    for (int i = optind; i < argc; i++)
        if (!known(argv[i])) return fprintf(stderr, "bare: no operation %s\n", argv[i]), 2;
    if (bad || optind == argc || rounds < 1 || rounds > MAX_ROUNDS || !most || 2 * most > LOG_BYTES || us <= 0) return fputs(usage, stderr), 2;
    sched_getaffinity(0, sizeof own, &own);
    pin(0);
    open_rank(0, most);
    open_rank(1, most);
    log_memory = memory((size_t)LOG_BYTES + 2 * LINE);
    memset(log_memory, 1, LOG_BYTES);
    if (pthread_barrier_init(&turn, NULL, 2) || pthread_create(&thread, NULL, partner, NULL)) return perror("bare"), 2;
    if (show != LOGGED) printf("%-10s %9s %12s %12s   microseconds; ways and bytes of a piece\n", "operation", "bytes", "no log", "logged");
    for (int i = optind; i < argc; i++)
        for (int s = 0; s < nsizes; s++) measure(argv[i], sizes[s], rounds, us, show);
    stop = true;
    pthread_barrier_wait(&turn);
    pthread_join(thread, NULL);
    return 0;
}
