/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenes of torture: threads that store into files which they have mapped shared. Each store depends on what is there, so that one which is
   lost, or done twice, is seen. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compat-tests/threads/torture.h"

enum { LARGE = 128 << 10, SMALL = 2 << 10 /* words */, TILES = 6 };

static FILE *file_of(size_t bytes)
{
    FILE *f = tmpfile();

    must(f && ftruncate(fileno(f), (off_t)bytes) == 0);
    return f;
}

static uint64_t *map(FILE *f, size_t bytes)
{
    uint64_t *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(f), 0);

    must(at != MAP_FAILED);
    return at;
}

/* The same in memory of its own, to compare. */
static void store(uint64_t *mapped, uint64_t *own, int n, uint64_t round)
{
    for (int i = 0; i < n; i++) {
        mapped[i] = mapped[i] * 3 + round + (uint64_t)i;
        own[i] = own[i] * 3 + round + (uint64_t)i;
    }
}

static void is_in_file(FILE *f, const uint64_t *own, size_t bytes)
{
    char *text = malloc(bytes);

    must(text && pread(fileno(f), text, bytes, 0) == (ssize_t)bytes && memcmp(text, own, bytes) == 0);
    free(text);
}

/* The first actor makes calls, at one of which a replay ends, and the others compute then. */
static void *play_store(void *arg)
{
    struct actor *a = arg;
    const size_t bytes = LARGE * sizeof(uint64_t);
    FILE *f = file_of(bytes);
    uint64_t *mapped = map(f, bytes), *own = calloc(1, bytes);

    must(own);
    for (uint64_t round = 0; round < (a->index == 0 ? 40 : 60); round++) {
        store(mapped, own, a->index == 0 ? SMALL : LARGE, round);
        if (a->index == 0)
            torture_breathe(a);
    }
    must(memcmp(mapped, own, bytes) == 0);
    is_in_file(f, own, bytes);
    a->hash = torture_mix(own[LARGE - 1], own[SMALL - 1]);
    must(munmap(mapped, bytes) == 0 && fclose(f) == 0);
    free(own);
    return NULL;
}

/* They map files at about the same time, which are not open any more when they store. */
static void *play_tile(void *arg)
{
    struct actor *a = arg;
    uint64_t own[SMALL];

    for (int k = 0; k < TILES; k++) {
        FILE *f = file_of(sizeof own);
        uint64_t *mapped = map(f, sizeof own);

        must(fclose(f) == 0);
        memset(own, 0, sizeof own);
        for (uint64_t round = 0; round < 100; round++)
            store(mapped, own, SMALL, round + (uint64_t)k);
        torture_breathe(a);
        must(memcmp(mapped, own, sizeof own) == 0);
        must(mmap(NULL, sizeof own, PROT_READ, MAP_SHARED, STDIN_FILENO + 1000, 0) == MAP_FAILED); /* nor could it be mapped */
        must(munmap(mapped, sizeof own) == 0);
        a->hash = torture_mix(a->hash, own[SMALL - 1]);
    }
    return NULL;
}

static void play_stores(struct party *p) { torture_act(p, 2 + torture_below(&p->chance, 3), play_store, NULL); }

static void play_tiles(struct party *p) { torture_act(p, 2 + torture_below(&p->chance, 3), play_tile, NULL); }

const struct scene torture_mapped[] = {{"stores", play_stores}, {"tiles", play_tiles}, {0}};
