/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests' ranks have preloaded: the recorder, with snapshot zero before main, in the memory of test/agent.c. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "ft/outcome/copies.h"
#include "ft/outcome/descriptors.h"
#include "ft/outcome/record.h"
#include "ft/outcome/test/shared.h"
#include "ft/shm/word.h"

static struct shared *shared;
static struct ft_copies copies;
static uint64_t messages;

static bool cut(void)
{
    uint64_t number = ft_look(&copies.words->want);
    int error = errno;
    bool woken;

    if (!number) {
        copies.answered = number;
        return false;
    }
    woken = ft_copies_make(&copies, number);
    errno = error;
    return woken;
}

/* The program's: its next contribution; what the peer answers. */
uint64_t test_message(uint64_t contribution);
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
    while (atomic_load(&shared->answered) <= k)
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    return shared->answer[k];
}

__attribute__((constructor)) static void start(void)
{
    const char *text = getenv(TEST_FDS);
    int memory, bell, life;
    struct shared head;

    if (!text || sscanf(text, "%d,%d,%d", &memory, &bell, &life) != 3 || pread(memory, &head, sizeof head, 0) != sizeof head)
        return;
    unsetenv(TEST_FDS);
    shared = mmap(NULL, head.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (shared == MAP_FAILED || ft_copies_open(&copies, &shared->snap, &shared->incarnation, bell, life) < 0)
        abort();
    ft_recorder.want = &shared->snap.want;
    ft_recorder.answered = &copies.answered;
    ft_recorder.cut = cut;
    ft_recorder_start((char *)shared + LOG_AT);
    cut();
}
