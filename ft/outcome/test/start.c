/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests' ranks have preloaded: the recorder, with snapshot zero before main, in the memory of test/agent.c. */
#define FT_LOCK_TESTED /* the points are here */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ft/outcome/children.h"
#include "ft/outcome/condition.h"
#include "ft/outcome/copies.h"
#include "ft/outcome/descriptors.h"
#include "ft/outcome/lock.h"
#include "ft/outcome/point.h"
#include "ft/outcome/record.h"
#include "ft/outcome/stand.h"
#include "ft/outcome/test/shared.h"
#include "ft/shm/word.h"

static struct shared *shared;
static struct ft_copies copies;
static uint64_t messages;
static long first;   /* incarnation */

/* From here on points count. */
static void begin(void)
{
    if (atomic_load(&shared->begins) == TEST_TRACED)
        atomic_store(&shared->begins, TEST_BEGUN);
}

/* The mapping is copied as all others are. An incarnation that has been let go comes here. */
static bool keeps(bool keep)
{
    if (!keep && syscall(SYS_getpid) != first)
        begin();
    return true;
}

/* test/guard.c: calls of some functions are faults from here on, or none any more. */
__attribute__((weak)) extern void test_cutting(bool begins);

static bool cut(void)
{
    bool woken;

    if (test_cutting)
        test_cutting(true);
    woken = ft_copies_make(&copies, &(struct ft_stand){0});
    if (woken)
        ft_stand_put_back();
    if (test_cutting)
        test_cutting(false);
    return woken;
}

static void end_copies(void) { ft_copies_end(&copies); }

static void ring(void) {}

static void wait_a_little(void) { syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 20000}, NULL); }

/* One that is due is the one. The agent gives up none that it was asked for, unless the rank is killed. */
static bool cut_now(void)
{
    uint32_t life = ft_threads_life;
    uint64_t number;

    atomic_fetch_add(&shared->asked, 1);
    while (life == ft_threads_life && ((number = ft_look(&copies.words->want)) == 0 || number == copies.answered))
        wait_a_little();
    if (life != ft_threads_life || cut())
        return true;
    while (life == ft_threads_life && atomic_load(&shared->stands) < number && ft_look(&copies.words->refused) != number)
        wait_a_little();
    return life != ft_threads_life;
}

/* The program's: its next contribution; what the peer answers. */
__attribute__((visibility("default"))) uint64_t test_message(uint64_t contribution);
uint64_t test_message(uint64_t contribution)
{
    uint64_t k = messages++;

    if (k >= atomic_load(&shared->contributed)) {
        if (ft_recorder_replays())
            ft_recorder_lost("message %llu comes before the log's end", (unsigned long long)k);
        ft_recorder_live();
        shared->contribution[k] = contribution;
        atomic_store(&shared->contributed, k + 1);
    } else if (shared->contribution[k] != contribution) {
        ft_recorder_lost("message %llu is another one", (unsigned long long)k);
    }
    ft_inside();
    while (atomic_load(&shared->answered) <= k)
        wait_a_little();
    ft_outside();
    return shared->answer[k];
}

/* The program's: what it does from here on, by its row in calls.table. */
__attribute__((visibility("default"))) void test_row(const char *name);
void test_row(const char *name)
{
    uint64_t next = !atomic_load(&shared->row);

    snprintf(shared->rows[next], sizeof shared->rows[next], "%s", name);
    atomic_store(&shared->row, next);
}

static void come_to(uint32_t point)
{
    uint32_t kill = atomic_load(&shared->lock_kill);

    if (kill == LOCK_KILLS || shared->lock_kills[kill].point != point + 1 || atomic_fetch_sub(&shared->lock_kills[kill].left, 1) != 1)
        return;
    shared->lock_kills[kill].pid = (pid_t)syscall(SYS_getpid);
    shared->lock_kills[kill].copy = copies.answered;
    atomic_store(&shared->lock_kill, kill + 1);
    for (;;)
        syscall(SYS_kill, (pid_t)syscall(SYS_getpid), SIGKILL);
}

/* Its threads come to points of lock operations; it, a copy, or the next incarnation, to points of a cut. */
void ft_lock_point(enum ft_lock_point point) { come_to(point); }
void ft_cut_point(enum ft_cut_point point) { come_to(point); }

bool ft_start_is_recorded(void) { return getenv(TEST_FDS) != NULL; }

__attribute__((constructor)) static void start(void)
{
    const char *text = getenv(TEST_FDS);
    int memory, bell, life;
    struct shared head;

    if (!text || sscanf(text, "%d,%d,%d", &memory, &bell, &life) != 3 || pread(memory, &head, sizeof head, 0) != sizeof head)
        return;
    unsetenv(TEST_FDS);
    if (getenv("FT_TEST_LOCKS"))
        ft_lock_most = strtoull(getenv("FT_TEST_LOCKS"), NULL, 10);
    shared = mmap(NULL, head.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    close(memory);
    bell = ft_descriptors_own(bell); /* programs close all descriptors that they have not opened */
    life = ft_descriptors_own(life);
    if (shared == MAP_FAILED || bell < 0 || life < 0 || ft_copies_open(&copies, &shared->block, bell, life, keeps) < 0)
        abort();
    copies.own.mapping.start = shared;
    copies.own.mapping.bytes = head.bytes;
    if (!ft_children_open(&copies.own))
        abort();
    ft_recorder.want = &shared->block.snap.want;
    ft_recorder.answered = &copies.answered;
    ft_recorder.cut = cut;
    ft_recorder.cut_now = cut_now;
    ft_recorder.end_copies = end_copies;
    ft_recorder.ring = ring;
    shared->mapped = (uint64_t)(uintptr_t)shared;
    shared->position = (uint64_t)(uintptr_t)&ft_recorder.log.at;
    first = syscall(SYS_getpid);
    while (atomic_load(&shared->begins) == TEST_HELD)
        wait_a_little();
    if (ft_recorder_start((char *)shared + LOG_AT, head.bytes - LOG_AT)) {
        cut();
        ft_copies_await(&copies);
        begin();
    }
}
