/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/stdio/instruction.h"

#include <limits.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void die(const char *what)
{
    perror(what);
    exit(99);
}

static void note_change(const struct stepped *s, char *before, long at, struct changes *changes)
{
    static _Alignas(64) char now[LOOK_MOST];
    size_t n = s->look(s->scene, now);

    if (!memcmp(before, now, n) || changes->n == CHANGES_MOST)
        return;
    memcpy(before, now, n);
    changes->at[changes->n++] = at;
}

void run_some(const struct stepped *s, long most, struct changes *changes)
{
    static _Alignas(64) char before[LOOK_MOST];
    pid_t pid;
    int status;

    s->look(s->scene, before);
    pid = fork();
    if (pid == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
            _exit(99);
        raise(SIGSTOP);
        s->run(s->scene);
        _exit(0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
        die("cannot trace a child");
    for (long n = 1; n <= most; n++) {
        if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
            return;
        if (changes)
            note_change(s, before, n, changes);
    }
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
}

/* The two processes take turns: waking one on another processor takes ten times as long. */
static void stay_here(void)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
}

/* What has a stage comes from pages that nobody has to clear: its 64 KiB, an instruction a byte when traced, were six of seven instructions. */
static void fresh_pages(void)
{
    mallopt(M_MMAP_THRESHOLD, 32 << 10);
    mallopt(M_TOP_PAD, 0);
    malloc_trim(0);
}

/* Either kill may be of any change; the second is not always. */
static void try_changes(int kind, int kills, const struct changes *changes, void (*try)(int, long, long, struct changes *))
{
    int step = kills ? changes->n / kills + 1 : 1;

    for (int i = rand() % step; i < changes->n; i += step)
        try(kind, changes->at[i], rand() % 3 ? 0 : changes->at[rand() % changes->n], NULL);
}

int try_all(int argc, char **argv, const char *const *kinds, int nkinds, void (*try)(int kind, long first, long second, struct changes *changes))
{
    static struct changes changes;
    const char *tier = getenv("FT_TIER"), *chosen = getenv("FT_SEED");
    bool full = tier && strcmp(tier, "full") == 0;
    unsigned seed = chosen ? (unsigned)atoi(chosen) : full ? (unsigned)time(NULL) : 1;
    int kills = argc > 1 ? atoi(argv[1]) : full ? 40 : 8, only = argc > 2 ? atoi(argv[2]) : -1;

    stay_here();
    fresh_pages();
    srand(seed);
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("FT_SEED=%u\n", seed);
    for (int kind = 0; kind < nkinds; kind++) {
        if (only >= 0 && kind != only)
            continue;
        changes.n = 0;
        try(kind, LONG_MAX, 0, &changes);
        printf("%s: %d instructions of %ld change something\n", kinds[kind], changes.n, changes.at[changes.n - 1]);
        try_changes(kind, kills, &changes, try);
    }
    if (argc == 1 && !full && seed == 1)
        puts("searched whole");
    return 0;
}
