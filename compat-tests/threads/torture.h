/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with threads of all kinds, by seed. What it prints is the same each time, however its threads race.

   Parties run side by side, the first one in main's thread. Each plays its scenes one after the other. A scene is some threads, actors, that
   share something: a mutex of some kind, a queue, a pipe, a child. Each ends with a line, and lines come in turn.
   Every actor wears a costume: what a thread has of its own besides memory and registers. It looks at it again and again. */
#ifndef COMPAT_TESTS_THREADS_TORTURE_H
#define COMPAT_TESTS_THREADS_TORTURE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { ACTORS = 6 };

struct party {
    int number;
    uint64_t chance, hash;
    const char *name;       /* of its scene */
};

struct actor {
    struct party *party;
    void *scene;            /* what they share */
    int index, of;
    uint64_t chance, hash;  /* hash: what it was told, and nothing that chance decides otherwise */
    bool bare;              /* its stack is too small for a costume's calls */
    pthread_t thread;
    void *(*play)(void *actor);
};

/* The end of the program, unless it is so. */
#define must(is_so) torture_must(is_so, __FILE__, __LINE__, #is_so)
void torture_must(bool is_so, const char *file, int line, const char *what);

uint64_t torture_random(uint64_t *chance);
int torture_below(uint64_t *chance, int n);
static inline bool torture_once_in(uint64_t *chance, int n) { return torture_below(chance, n) == 0; }
static inline uint64_t torture_mix(uint64_t hash, uint64_t value) { return (hash ^ value) * 0x9e3779b97f4a7c15u + (hash >> 29); }

/* So many actors, each in a thread with a stack of some size, until they have ended. Their hashes go into the party's. */
void torture_act(struct party *p, int n, void *(*play)(void *actor), void *scene);
/* One thread, with attributes by chance. small: its stack may be as small as the system allows. */
pthread_t torture_thread(uint64_t *chance, void *(*run)(void *arg), void *arg, bool detached, bool small);

/* Between two things: nothing, some computing, a sleep, a look at what it wears. */
void torture_breathe(struct actor *a);
void torture_compute(uint64_t *chance, int most);

/* costume.c. `where`: the directory of the libraries that are loaded. */
void torture_wardrobe(const char *where);
struct costume;
struct costume *torture_dress(struct actor *a);
void torture_look(struct actor *a);
void torture_undress(struct actor *a, struct costume *worn);
/* Threads whose data specific to a thread have been destroyed. */
int torture_destroyed(void);

/* A point in time, from now. */
struct timespec torture_in(clockid_t clock, long ns);
bool torture_is_past(clockid_t clock, const struct timespec *t);

struct scene {
    const char *name;
    void (*play)(struct party *p);
};
extern const struct scene torture_locks[], torture_threads[], torture_cancels[], torture_calls[], torture_bodies[], torture_mapped[];

#endif
