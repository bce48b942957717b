/* SPDX-License-Identifier: BSD-3-Clause */
/* What patterns.c and the files of its patterns share: messages whose contents every rank can tell, and what a rank makes of them. */
#ifndef CHAOS_PATTERNS_H
#define CHAOS_PATTERNS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { MOST_RANKS = 16, TAGS = 400, LARGE = 2 << 20 };

/* What this rank is and has come to. */
extern struct own {
    int me, ranks;
    bool ordered;          /* -o */
    unsigned step;
    const char *what;      /* the pattern */
    uint64_t sum;          /* of all it has received, in an order of no meaning */
    uint64_t carry;        /* sum when this step began; in the first 8 bytes of what it sends */
    uint64_t came;         /* the sum of this step alone */
    uint64_t order;        /* 0, or with -o also the order in which all came; in the next 8 bytes */
    unsigned any;          /* messages that it has taken of any source */
} own;

struct message {
    int from, to, tag;
    size_t size;
    uint64_t key;          /* its contents follow from it */
    bool taken;
};

/* One pattern being played by the ranks of a communicator. Every rank knows all of its messages. */
struct play {
    MPI_Comm comm;
    int me, n;             /* in comm */
    int tag;               /* the first of TAGS */
    uint64_t rng;          /* the same on every rank */
    uint64_t mine;         /* another one on every rank */
    unsigned way;          /* which of the pattern's ways, the same on every rank */
    struct message *messages;
    int count;
    /* Receives under way: of[i] comes in requests[i] to data[i]; of[i] may be NULL. */
    MPI_Request *requests;
    struct message **of;
    unsigned char **data;
    int pending;
    struct play *others;   /* on other communicators */
};

enum where { ANY_COMM, ANY_TAG_COMM, ALL_FREE_COMM, ERRORS_COMM };

struct pattern {
    const char *name;
    void (*start)(struct play *); /* posts */
    void (*take)(struct play *);  /* needs only what others have posted in start; NULL: start is all of it */
    int least;                    /* ranks */
    enum where where;
};
extern const struct pattern patterns[];
extern const int npatterns;

/* What a pattern is played with; each wait for others to the end of the step. */
void play_init(struct play *p, MPI_Comm comm, int tag, uint64_t seed);
enum { TWINS = 5 };
extern MPI_Comm twins[TWINS];

/* ---- random numbers: splitmix64 ---- */

static inline uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline uint64_t draw(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    return mix(*state);
}

static inline unsigned below(uint64_t *state, unsigned n)
{
    return (unsigned)((draw(state) >> 33) % n);
}

/* ---- what is wrong ---- */

#define CHECK(condition, ...)                                                                                   \
    do {                                                                                                        \
        if (!(condition)) {                                                                                     \
            fprintf(stderr, "%d wrong: step %u, %s, %s:%d: ", own.me, own.step, own.what, __FILE__, __LINE__);  \
            fprintf(stderr, __VA_ARGS__);                                                                       \
            fprintf(stderr, "\n");                                                                              \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                                       \
        }                                                                                                       \
    } while (0)
#define OK(call) CHECK((call) == MPI_SUCCESS, "%s failed", #call)

/* ---- of one step ---- */

/* Room for size bytes, until the step is over. Whoever writes behind it is found out. */
void *space(size_t size);
/* Is waited for at the end of the step. */
void end_later(MPI_Request request);
void end_step(void);
/* With -o: something came about that could have been otherwise. */
void note(uint64_t what);

/* ---- messages ---- */

/* 0 bytes to most; few are large. */
size_t draw_size(uint64_t *rng, size_t most);
struct message *add(struct play *p, int from, int to, int tag, size_t size);
/* count messages between random ranks, with the first tags of p's. */
void add_random(struct play *p, int count, int tags, size_t most);
/* The first message to this rank that was not taken; MPI_ANY_TAG: whatever its tag. It is taken now. */
struct message *expected(struct play *p, int from, int tag);
/* How many are to this rank and not taken; *most: the size of the largest. */
int left(const struct play *p, size_t *most);

/* Contents: 8 bytes carry, 8 bytes of the sender's order, and what follows from key and carry. Shorter ones: from key. */
void fill(void *data, size_t size, uint64_t key, uint64_t carry);
/* Of contents that are as they should be: their carry. */
uint64_t verify(const void *data, size_t size, uint64_t key);
/* This message has come; *status, if not NULL, says so. */
void came(const struct message *m, const void *data, const MPI_Status *status);

/* Contents of a message of this rank's. */
void *contents(const struct message *m);
/* Sends all messages from this rank, in the order of the list. */
void send_all(struct play *p, bool synchronous);
/* Posts receives for all that are left, in random order; source: m->from or MPI_ANY_SOURCE. */
void receive(struct play *p, struct message *m, int source, size_t room);
void receive_all(struct play *p);
void receive_now(struct play *p, int source, int tag, int from, MPI_Status *status);
void shuffle_pending(struct play *p);

/* Patterns in two halves, and those that go back and forth. The last of the halves is played with -k only. */
#define HALVES(X)                                                                                                      \
    X(pairs, 1, ANY_COMM) X(alltoall, 1, ANY_COMM) X(late, 1, ANY_COMM) X(anytag, 1, ANY_TAG_COMM) X(some, 1, ANY_COMM) \
    X(probes, 1, ANY_COMM) X(anysource, 1, ANY_COMM) X(synchronous, 1, ANY_COMM) X(cancel, 1, ANY_COMM)                 \
    X(truncate, 1, ERRORS_COMM) X(selves, 1, ANY_COMM) X(freed, 1, ANY_COMM) X(twin, 1, ANY_COMM) X(typed, 1, ANY_COMM) \
    X(gaps, 1, ANY_COMM) X(anysome, 1, ANY_COMM)                                                                        \
    X(flood, 1, ANY_COMM)
#define WHOLES(X)                                                                                                      \
    X(ring, 1, ANY_COMM) X(shift, 1, ANY_COMM) X(nowhere, 1, ANY_COMM) X(server, 2, ANY_COMM) X(work, 2, ANY_COMM)      \
    X(pipeline, 2, ANY_COMM) X(rendezvous, 1, ANY_COMM) X(ready, 1, ANY_COMM) X(buffered, 1, ANY_COMM)                  \
    X(persistent, 1, ANY_COMM) X(allfree, 1, ALL_FREE_COMM) X(fresh, 1, ANY_COMM)                             \
    X(leisure, 1, ANY_COMM) X(groups, 2, ANY_COMM) X(spread, 1, ANY_COMM)

#define DECLARE_HALVES(name, least, where) void name##_start(struct play *p); void name##_take(struct play *p);
#define DECLARE_WHOLE(name, least, where) void name##_play(struct play *p);
HALVES(DECLARE_HALVES)
WHOLES(DECLARE_WHOLE)

#endif
