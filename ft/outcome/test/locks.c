/* SPDX-License-Identifier: BSD-3-Clause */
/* outcome_locks ROW; outcome_locks -rows; outcome_locks -check FILE; outcome_locks -cost (locks.h). */
#include "ft/outcome/test/locks.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_THREADS = 8, NAMES = 26 };

uint64_t locks_hash(uint64_t hash, unsigned thread, unsigned step) { return (hash ^ (thread + 1)) * 0x9e3779b97f4a7c15u + step; }

static void put(const char *line, int n)
{
    if (write(1, line, (size_t)n) != n)
        _exit(5);
}

void locks_step(struct chain *c, unsigned thread)
{
    char line[80];

    c->hash = locks_hash(c->hash, thread, c->steps);
    c->who[c->steps % LOCKS_SHOWN] = (char)('a' + thread);
    if (++c->steps % LOCKS_SHOWN == 0)
        put(line, snprintf(line, sizeof line, "%c %u %.16s %016" PRIx64 "\n", c->name, c->steps, c->who, c->hash));
}

void locks_say(const char *name, long value)
{
    char line[80];

    put(line, snprintf(line, sizeof line, "%s %ld\n", name, value));
}

unsigned locks_random(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 8;
}

void locks_work(unsigned *seed, unsigned most)
{
    volatile unsigned x = *seed;

    for (unsigned n = locks_random(seed) % most; n; n--)
        x = x * 1103515245u + 12345u;
}

void locks_run(int threads, void *(*run)(void *thread))
{
    pthread_t other[MOST_THREADS];

    for (int i = 1; i < threads; i++)
        pthread_create(&other[i], NULL, run, (void *)(uintptr_t)i);
    run(NULL);
    for (int i = 1; i < threads; i++)
        pthread_join(other[i], NULL);
}

/* ---- checking ---- */

static struct chain chains[NAMES];

static bool is_chain(const char *line)
{
    unsigned steps;
    char name, who[LOCKS_SHOWN + 1];
    uint64_t hash;
    struct chain *c;

    if (sscanf(line, "%c %u %16s %" SCNx64, &name, &steps, who, &hash) != 4 || name < 'A' || name > 'Z')
        return false;
    c = &chains[name - 'A'];
    for (int i = 0; i < LOCKS_SHOWN; i++)
        c->hash = locks_hash(c->hash, (unsigned)(who[i] - 'a'), c->steps++);
    return steps == c->steps && hash == c->hash;
}

/* Each thread's own lines, "thread 2 17 ...", come in order. */
static bool is_in_order(const char *line)
{
    static unsigned next[MOST_THREADS];
    unsigned thread, n;

    return sscanf(line, "thread %u %u", &thread, &n) == 2 && thread < MOST_THREADS && n == next[thread]++;
}

int locks_check(const char *path)
{
    char line[256] = "";
    FILE *f = fopen(path, "r");
    int n = 0;

    while (f && fgets(line, sizeof line, f)) {
        bool is_good = line[0] >= 'A' && line[0] <= 'Z' ? is_chain(line) : strncmp(line, "thread ", 7) != 0 || is_in_order(line);

        n++;
        if (is_good && strchr(line, '\n'))
            continue;
        printf("line %d breaks it: %s\n", n, line);
        return 1;
    }
    if (strncmp(line, "end ", 4) != 0) {
        printf("the last line, %d, is another one: %s\n", n, line);
        return 1;
    }
    for (int i = 0; i < NAMES; i++)
        if (chains[i].steps)
            printf("%c %u\n", 'A' + i, chains[i].steps);
    printf("%s", line);
    return 0;
}

int main(int argc, char **argv)
{
    const struct locks_row *const all[] = {locks_of_threads, locks_of_robust, locks_of_openmp, locks_of_cpp, locks_of_torture};

    if (argc == 3 && strcmp(argv[1], "-check") == 0)
        return locks_check(argv[2]);
    if (argc == 2 && strcmp(argv[1], "-cost") == 0) {
        locks_cost();
        return 0;
    }
    for (int i = 0; argc == 2 && i < (int)(sizeof all / sizeof *all); i++)
        for (const struct locks_row *row = all[i]; row->name; row++)
            if (strcmp(argv[1], "-rows") == 0) {
                puts(row->name);
            } else if (strcmp(argv[1], row->name) == 0) {
                row->run();
                return 0;
            }
    return argc == 2 && strcmp(argv[1], "-rows") == 0 ? 0 : 2;
}
