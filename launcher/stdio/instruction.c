/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/stdio/instruction.h"

#include <malloc.h>
#include <sched.h>
#include <signal.h>
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

struct plan begin_stepping(int argc, char **argv)
{
    const char *tier = getenv("FT_TIER");
    bool full = tier && strcmp(tier, "full") == 0;
    const char *chosen = getenv("FT_SEED");
    unsigned seed = chosen ? (unsigned)atoi(chosen) : full ? (unsigned)time(NULL) : 1;

    stay_here();
    fresh_pages();
    srand(seed);
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("FT_SEED=%u\n", seed);
    return (struct plan){.kills = argc > 1 ? atoi(argv[1]) : full ? 40 : 8, .whole = argc == 1 && !full && seed == 1};
}

void try_changes(const struct plan *plan, int kind, const struct changes *changes, void (*try)(int kind, long first, long second))
{
    int step = plan->kills ? changes->n / plan->kills + 1 : 1;

    for (int i = rand() % step; i < changes->n; i += step)
        try(kind, changes->at[i], rand() % 3 ? 0 : changes->at[rand() % changes->n]);
}
