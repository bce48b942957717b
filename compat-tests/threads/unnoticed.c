/* SPDX-License-Identifier: BSD-3-Clause */
/* unnoticed SECONDS times|streams|signals|children|numbers...: see unnoticed.h. Prints how often each kind was done, then "end". */
#include "compat-tests/threads/unnoticed.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KINDS = 64, LIMIT_S = 60 };

static _Thread_local const char *name = "main";
static _Thread_local pthread_t helper;
static uint64_t end_ns;

static struct watch {
    const struct kind *kind;
    pthread_t thread;
    long times;
} watches[KINDS];

void unnoticed_must(bool is_so, const char *file, int line, const char *what)
{
    char text[256];
    int error = errno, n;

    if (is_so)
        return;
    n = snprintf(text, sizeof text, "wrong: %s: %s:%d: %s (errno %d)\n", name, file, line, what, error);
    _exit(write(1, text, (size_t)n) == n ? 3 : 4);
}

uint64_t unnoticed_begin(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
}

void unnoticed_ended(uint64_t begin, long ms, long early)
{
    int64_t took = (int64_t)(unnoticed_begin() - begin), wanted = ms * MS;
    int error = errno;
    char text[160];
    int n;

    if (took >= wanted - early * MS && took < wanted + (int64_t)LATE_MS * MS)
        return;
    n = snprintf(text, sizeof text, "wrong: %s: it took %lld us in place of %ld (errno %d)\n", name, (long long)took / 1000, ms * 1000, error);
    _exit(write(1, text, (size_t)n) == n ? 3 : 4);
}

struct timespec unnoticed_in(clockid_t clock, long ms)
{
    struct timespec t;

    clock_gettime(clock, &t);
    t.tv_nsec += ms % 1000 * MS;
    t.tv_sec += ms / 1000 + t.tv_nsec / NS;
    t.tv_nsec %= NS;
    return t;
}

struct help {
    const char *name;
    void *(*run)(void *arg);
    void *arg;
};

static void *begin_help(void *arg)
{
    struct help h = *(struct help *)arg;

    free(arg);
    name = h.name;
    return h.run(h.arg);
}

void unnoticed_help(void *(*run)(void *arg), void *arg)
{
    struct help *h = malloc(sizeof *h);

    must(h != NULL);
    *h = (struct help){name, run, arg};
    must(pthread_create(&helper, NULL, begin_help, h) == 0);
}

void unnoticed_helped(void) { must(pthread_join(helper, NULL) == 0); }

static void *watch(void *arg)
{
    struct watch *w = arg;

    name = w->kind->name;
    do {
        w->kind->once();
        w->times++;
    } while (unnoticed_begin() < end_ns);
    return NULL;
}

static int add(const struct kind *kinds, int n)
{
    for (; kinds->name && n < KINDS; kinds++)
        watches[n++].kind = kinds;
    return n;
}

static const struct {
    const char *name;
    const struct kind *kinds;
} groups[] = {{"times", unnoticed_times}, {"streams", unnoticed_streams}, {"signals", unnoticed_signals}, {"children", unnoticed_children}, {"numbers", unnoticed_numbers}};

int main(int argc, char **argv)
{
    int n = 0, seconds = argc > 2 ? atoi(argv[1]) : 0;

    for (int i = 2; i < argc; i++)
        for (size_t k = 0; k < sizeof groups / sizeof *groups; k++)
            if (strcmp(argv[i], groups[k].name) == 0)
                n = add(groups[k].kinds, n);
    if (seconds <= 0 || n == 0)
        return 2;
    alarm((unsigned)seconds + LIMIT_S);
    end_ns = unnoticed_begin() + (uint64_t)seconds * NS;
    for (int i = 0; i < n; i++)
        must(pthread_create(&watches[i].thread, NULL, watch, &watches[i]) == 0);
    for (int i = 0; i < n; i++) {
        must(pthread_join(watches[i].thread, NULL) == 0);
        printf("%s %ld\n", watches[i].kind->name, watches[i].times);
    }
    printf("end\n");
    return 0;
}
