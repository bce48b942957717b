/* SPDX-License-Identifier: BSD-3-Clause */
/* torture [-s SCENE] [-n SCENES] SEED: see torture.h. Ranks are told apart by FTMPI_RANK, which each line begins with.
   torture -l: the names of all scenes. */
#include "compat-tests/threads/torture.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PARTIES = 4, SCENES = 64, LIMIT_S = 100 };

static const struct scene *const all[] = {torture_locks, torture_threads, torture_cancels, torture_calls, torture_bodies, torture_mapped};
static struct scene scenes[SCENES];
static int n_scenes, n_parties, acts = 20;
static const char *rank = "0";

void torture_must(bool is_so, const char *file, int line, const char *what)
{
    char text[256];
    int error = errno, n;

    if (is_so)
        return;
    n = snprintf(text, sizeof text, "%s wrong: %s:%d: %s (errno %d)\n", rank, file, line, what, error);
    _exit(write(1, text, (size_t)n) == n ? 3 : 4);
}

uint64_t torture_random(uint64_t *chance)
{
    *chance ^= *chance << 13;
    *chance ^= *chance >> 7;
    *chance ^= *chance << 17;
    return *chance * 2685821657736338717u >> 16;
}

int torture_below(uint64_t *chance, int n) { return (int)(torture_random(chance) % (uint64_t)n); }

struct timespec torture_in(clockid_t clock, long ns)
{
    struct timespec t;

    clock_gettime(clock, &t);
    t.tv_nsec += ns;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

bool torture_is_past(clockid_t clock, const struct timespec *t)
{
    struct timespec now = torture_in(clock, 0);

    return now.tv_sec > t->tv_sec || (now.tv_sec == t->tv_sec && now.tv_nsec >= t->tv_nsec);
}

/* ---- actors ---- */

void torture_compute(uint64_t *chance, int most)
{
    volatile uint64_t x = *chance;

    for (int n = torture_below(chance, most); n; n--)
        x = x * 6364136223846793005u + 1442695040888963407u;
}

void torture_breathe(struct actor *a)
{
    switch (torture_below(&a->chance, 12)) {
    case 0: sched_yield(); break;
    case 1: nanosleep(&(struct timespec){.tv_nsec = 1000 * (1 + torture_below(&a->chance, 800))}, NULL); break;
    case 2: torture_look(a); break;
    case 3:
    case 4: torture_compute(&a->chance, 40000); break;
    case 5: torture_compute(&a->chance, 2000); break;
    default: break;
    }
}

static size_t stack_of(uint64_t *chance, bool small)
{
    static const size_t large[] = {96 << 10, 128 << 10, 1 << 20, 8 << 20, 64 << 20};
    size_t least = (size_t)sysconf(_SC_THREAD_STACK_MIN);

    if (small)
        return least + ((size_t)torture_below(chance, 4) << 14);
    return large[torture_below(chance, 5)];
}

pthread_t torture_thread(uint64_t *chance, void *(*run)(void *arg), void *arg, bool detached, bool small)
{
    pthread_attr_t attributes;
    pthread_t thread;

    must(pthread_attr_init(&attributes) == 0);
    if (small || torture_once_in(chance, 2))
        must(pthread_attr_setstacksize(&attributes, stack_of(chance, small)) == 0);
    if (torture_once_in(chance, 4))
        must(pthread_attr_setguardsize(&attributes, (size_t)torture_below(chance, 3) << 13) == 0);
    if (detached)
        must(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0);
    must(pthread_create(&thread, &attributes, run, arg) == 0);
    pthread_attr_destroy(&attributes);
    return thread;
}

static void *begin(void *arg)
{
    struct actor *a = arg;
    struct costume *worn = a->bare ? NULL : torture_dress(a);

    a->play(a);
    if (worn)
        torture_undress(a, worn);
    return NULL;
}

void torture_act(struct party *p, int n, void *(*play)(void *actor), void *scene)
{
    struct actor actors[ACTORS];

    must(n <= ACTORS);
    for (int i = 0; i < n; i++) {
        actors[i] = (struct actor){.party = p, .scene = scene, .index = i, .of = n, .chance = torture_random(&p->chance) | 1, .play = play};
        actors[i].thread = torture_thread(&p->chance, begin, &actors[i], false, false);
    }
    for (int i = 0; i < n; i++) {
        must(pthread_join(actors[i].thread, NULL) == 0);
        p->hash = torture_mix(p->hash, actors[i].hash);
    }
}

/* ---- parties: their lines come in turn ---- */

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int line;
} turn = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

static void say(const struct party *p, int act)
{
    char text[120];
    int n = snprintf(text, sizeof text, "%s %d %d %s %016" PRIx64 "\n", rank, act, p->number, p->name, p->hash);

    pthread_mutex_lock(&turn.mutex);
    while (turn.line != act * n_parties + p->number)
        pthread_cond_wait(&turn.changed, &turn.mutex);
    must(write(1, text, (size_t)n) == n);
    turn.line++;
    pthread_cond_broadcast(&turn.changed);
    pthread_mutex_unlock(&turn.mutex);
}

static void *celebrate(void *arg)
{
    struct party *p = arg;

    for (int act = 0; act < acts; act++) {
        const struct scene *s = &scenes[torture_below(&p->chance, n_scenes)];

        p->name = s->name;
        s->play(p);
        say(p, act);
    }
    return NULL;
}

static void pick_scenes(const char *only)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (const struct scene *s = all[i]; s->name; s++)
            if (!only || strcmp(s->name, only) == 0)
                scenes[n_scenes++] = *s;
}

static const char *own_directory(void)
{
    static char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

    must(n > 0);
    path[n] = 0;
    *strrchr(path, '/') = 0;
    return path;
}

int main(int argc, char **argv)
{
    struct party parties[PARTIES];
    pthread_t threads[PARTIES];
    const char *only = NULL;
    uint64_t seed, hash = 0;
    int option;

    while ((option = getopt(argc, argv, "ls:n:")) != -1) {
        switch (option) {
        case 'l':
            pick_scenes(NULL);
            for (int i = 0; i < n_scenes; i++)
                puts(scenes[i].name);
            return 0;
        case 's': only = optarg; break;
        case 'n': acts = atoi(optarg); break;
        default: return 2;
        }
    }
    pick_scenes(only);
    if (optind + 1 != argc || !n_scenes)
        return 2;
    alarm(LIMIT_S);
    if (getenv("FTMPI_RANK"))
        rank = getenv("FTMPI_RANK");
    seed = (strtoull(argv[optind], NULL, 10) * 16 + strtoull(rank, NULL, 10)) * 1299709 + 1;
    for (int i = 0; i < 8; i++)
        torture_random(&seed);
    torture_wardrobe(own_directory());
    n_parties = 2 + torture_below(&seed, PARTIES - 1);
    for (int i = 0; i < n_parties; i++)
        parties[i] = (struct party){.number = i, .chance = torture_random(&seed) | 1};
    for (int i = 1; i < n_parties; i++)
        threads[i] = torture_thread(&seed, celebrate, &parties[i], false, false);
    celebrate(&parties[0]);
    for (int i = 0; i < n_parties; i++) {
        if (i)
            must(pthread_join(threads[i], NULL) == 0);
        hash = torture_mix(hash, parties[i].hash);
    }
    printf("%s end %016" PRIx64 "\n", rank, hash);
    return 0;
}
