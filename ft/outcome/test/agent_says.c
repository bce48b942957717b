/* SPDX-License-Identifier: BSD-3-Clause */
/* Of the tests' agent: what it says of points that kill by themselves (start.c), which it is told of, and of a rank that hangs. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ft/outcome/test/agent.h"
#include "ft/shm/word.h"

/* "3.17,5.2" */
bool agent_read_lock_kills(struct agent *a, const char *text)
{
    char *end = NULL;

    for (int i = 0; i < LOCK_KILLS; i++, text = end + 1) {
        a->shared->lock_kills[i].point = (uint32_t)strtoul(text, &end, 10) + 1;
        if (end == text || *end != '.')
            return false;
        atomic_store(&a->shared->lock_kills[i].left, (uint32_t)strtoul(end + 1, &end, 10));
        if (*end != ',')
            return !*end;
    }
    return false;
}

/* Where the rank was killed, if that was a point, and what has been woken for it. */
void agent_say_point(struct agent *a)
{
    uint32_t kills = atomic_load(&a->shared->lock_kill);

    for (uint32_t i = 0; i < kills; i++)
        if (a->shared->lock_kills[i].pid == a->dead && a->dead)
            fprintf(stderr, "point %u copy %llu woken %llu\n", a->shared->lock_kills[i].point - 1,
                    (unsigned long long)a->shared->lock_kills[i].copy, (unsigned long long)a->woken);
    a->dead = 0;
}

static void copy_out(pid_t pid, const char *what)
{
    char name[64], text[4096];
    ssize_t n;
    int fd;

    snprintf(name, sizeof name, "/proc/%d/%s", pid, what);
    fd = open(name, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? 0 : read(fd, text, sizeof text);
    fprintf(stderr, "%s: %.*s\n", name, n < 0 ? 0 : (int)n, text);
    close(fd);
}

void agent_tell_hang(struct agent *a)
{
    struct ft_snap_words *w = &a->shared->block.snap;

    fprintf(stderr, "outcome_agent: hangs: rank %d%s%s, copies %d and %d\n", a->rank, a->waking ? ", waking" : "", a->traced ? ", traced" : "",
            a->slots[0].pid, a->slots[1].pid);
    fprintf(stderr, "asked for copy %ld, want %llu, taken %llu, incarnation %u, wake %llu, run %llu, signals %llx\n", a->number,
            (unsigned long long)ft_look(&w->want), (unsigned long long)ft_look(&w->taken), atomic_load(&a->shared->block.incarnation),
            (unsigned long long)ft_look(&w->wake), (unsigned long long)ft_look(&w->run), (unsigned long long)atomic_load(&a->words->signals));
    fprintf(stderr, "waker %llu, copied %llu, copy %llu\n", (unsigned long long)ft_look(&w->waker), (unsigned long long)ft_look(&w->copied),
            (unsigned long long)ft_look(&w->copy));
    for (pid_t *p = (pid_t[]){a->rank, a->slots[ZERO].pid, a->slots[NAMED].pid, 0}; *p; p++) {
        copy_out(*p, "syscall");
        copy_out(*p, "status");
        copy_out(*p, "timers");
    }
    for (int i = 0; i < SLOTS; i++) {
        int status;

        if (a->slots[i].pid && waitpid(a->slots[i].pid, &status, WNOHANG | __WALL) == a->slots[i].pid) {
            fprintf(stderr, "copy %d has ended: %x\n", a->slots[i].pid, status);
            a->slots[i].pid = 0;
        }
    }
}
