/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenes of torture: threads that compute and allocate, with registers and stacks full. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "compat-tests/threads/torture.h"

enum { ROUNDS = 200, SLOTS = 24, MOST = 150000 };

/* ---- registers: no call for long ---- */

typedef double vector __attribute__((vector_size(64)));

/* As wide as the processor's. */
#if defined(__x86_64__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
static double turn_vectors(long n)
{
    vector v[4] = {{1, 2, 3, 4, 5, 6, 7, 8}, {2, 3, 5, 7, 11, 13, 17, 19}, {1, 1, 2, 3, 5, 8, 13, 21}, {8, 6, 7, 5, 3, 0, 9, 1}};
    double sum = 0;

    for (long i = 0; i < n; i++) {
        v[0] = v[0] * 0.75 + v[1];
        v[1] = v[1] * 0.25 - v[2];
        v[2] = v[2] * 0.5 + v[3];
        v[3] = v[3] * 0.125 - v[0] * 0.0625;
    }
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 8; k++)
            sum += v[i][k];
    return sum;
}

static long double turn_long(long n)
{
    long double x = 1, y = 0.5L, z = 3;

    for (long i = 0; i < n; i++) {
        x = x * 0.75L + y;
        y = y * 0.5L + 1 / (z + 2);
        z = z * 0.25L + x;
    }
    return x + y + z;
}

static uint64_t bits_of(const void *value, size_t n)
{
    uint64_t bits = 0;

    memcpy(&bits, value, n < sizeof bits ? n : sizeof bits);
    return bits;
}

/* Twice the same: the second time with cuts elsewhere. */
static void *play_computer(void *arg)
{
    struct actor *a = arg;
    long n = 20000 + torture_below(&a->chance, 400000);
    double v = turn_vectors(n), v2 = turn_vectors(n);
    long double x = turn_long(n), x2 = turn_long(n);

    must(bits_of(&v, sizeof v) == bits_of(&v2, sizeof v2) && bits_of(&x, 8) == bits_of(&x2, 8));
    a->hash = torture_mix(bits_of(&v, sizeof v), bits_of(&x, 8));
    return NULL;
}

static void play_computers(struct party *p) { torture_act(p, 2 + torture_below(&p->chance, 4), play_computer, NULL); }

/* ---- memory: freed by whom it was not allocated ---- */

struct block {
    size_t n;
    unsigned char byte, bytes[];
};

struct market {
    pthread_mutex_t mutex;
    struct block *slots[SLOTS];
};

static void look_at(const struct block *b)
{
    for (size_t i = 0; i < b->n; i += 61)
        must(b->bytes[i] == b->byte);
    must(b->n == 0 || b->bytes[b->n - 1] == b->byte);
}

static struct block *make_block(uint64_t *chance)
{
    size_t n = (size_t)torture_below(chance, torture_once_in(chance, 8) ? MOST : 600);
    struct block *b = NULL;

    if (torture_once_in(chance, 4))
        must(posix_memalign((void **)&b, 64, sizeof *b + n) == 0);
    else
        b = torture_once_in(chance, 2) ? malloc(sizeof *b + n) : calloc(1, sizeof *b + n);
    must(b != NULL);
    b->n = n;
    b->byte = (unsigned char)torture_below(chance, 256);
    memset(b->bytes, b->byte, n);
    return b;
}

static struct block *grow(struct block *b, uint64_t *chance)
{
    size_t n = b->n + (size_t)torture_below(chance, 2000);
    struct block *grown = realloc(b, sizeof *b + n);

    must(grown != NULL);
    memset(grown->bytes + grown->n, grown->byte, n - grown->n);
    grown->n = n;
    return grown;
}

static void *play_trader(void *arg)
{
    struct actor *a = arg;
    struct market *m = a->scene;
    struct block *mine = make_block(&a->chance);

    for (int i = 0; i < ROUNDS; i++) {
        struct block **slot = &m->slots[torture_below(&a->chance, SLOTS)], *theirs;

        pthread_mutex_lock(&m->mutex);
        theirs = *slot;
        *slot = mine;
        pthread_mutex_unlock(&m->mutex);
        if (theirs) {
            look_at(theirs);
            if (torture_once_in(&a->chance, 3))
                theirs = grow(theirs, &a->chance);
            look_at(theirs);
            free(theirs);
        }
        mine = make_block(&a->chance);
        if (i % 16 == 0)
            torture_breathe(a);
    }
    look_at(mine);
    free(mine);
    a->hash = ROUNDS;
    return NULL;
}

static void play_market(struct party *p)
{
    struct market m = {.mutex = PTHREAD_MUTEX_INITIALIZER};

    torture_act(p, 2 + torture_below(&p->chance, 4), play_trader, &m);
    for (int i = 0; i < SLOTS; i++)
        if (m.slots[i]) {
            look_at(m.slots[i]);
            free(m.slots[i]);
        }
}

/* ---- stacks ---- */

static uint64_t go_down(uint64_t *chance, int depth)
{
    volatile uint64_t here[6];
    uint64_t sum = 0;

    for (int i = 0; i < 6; i++)
        sum += here[i] = torture_random(chance);
    torture_compute(chance, 20000);
    if (depth)
        sum += go_down(chance, depth - 1);
    for (int i = 0; i < 6; i++)
        sum -= here[i];
    return sum;
}

struct small {
    uint64_t chance, left;
    pthread_mutex_t *mutex;
    int *count, depth, pipe[2], pair[2];
};

static void send_and_receive(const struct small *s)
{
    char c = 'x';

    must(write(s->pipe[1], &c, 1) == 1 && read(s->pipe[0], &c, 1) == 1 && c == 'x');
    must(send(s->pair[1], "y", 1, 0) == 1 && recv(s->pair[0], &c, 1, 0) == 1 && c == 'y');
    must(nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL) == 0);
}

/* Calls that need little of a stack. */
static void *play_small(void *arg)
{
    struct small *s = arg;

    for (int i = 0; i < 8; i++) {
        s->left += go_down(&s->chance, s->depth);
        send_and_receive(s);
        pthread_mutex_lock(s->mutex);
        ++*s->count;
        pthread_mutex_unlock(s->mutex);
    }
    return NULL;
}

static void play_stacks(struct party *p)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    struct small smalls[ACTORS];
    pthread_t threads[ACTORS];
    int n = 2 + torture_below(&p->chance, 5), count = 0;

    for (int i = 0; i < n; i++) {
        bool is_small = i % 2 == 0;

        smalls[i] = (struct small){torture_random(&p->chance) | 1, 0, &mutex, &count, is_small ? 10 : 300, {0}, {0}};
        must(pipe2(smalls[i].pipe, O_CLOEXEC) == 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, smalls[i].pair) == 0);
        threads[i] = torture_thread(&p->chance, play_small, &smalls[i], false, is_small);
    }
    for (int i = 0; i < n; i++)
        must(pthread_join(threads[i], NULL) == 0 && smalls[i].left == 0);
    for (int i = 0; i < n; i++)
        must(close(smalls[i].pipe[0]) == 0 && close(smalls[i].pipe[1]) == 0 && close(smalls[i].pair[0]) == 0 &&
             close(smalls[i].pair[1]) == 0);
    must(count == 8 * n);
    p->hash = torture_mix(p->hash, (uint64_t)count);
}

const struct scene torture_bodies[] = {{"compute", play_computers}, {"market", play_market}, {"stacks", play_stacks}, {0}};
