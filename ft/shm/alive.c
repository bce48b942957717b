/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/alive.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "ft/shm/word.h"

void ft_alive_init(struct ft_alive *alive)
{
    pthread_mutexattr_t kind;

    FT_INVARIANT(pthread_mutexattr_init(&kind) == 0 && pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED) == 0 &&
                 pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST) == 0 && pthread_mutex_init(&alive->held, &kind) == 0,
                 "there are robust mutexes");
    pthread_mutexattr_destroy(&kind);
    ft_note(&alive->who, 0);
}

/* Somebody holds it: false. */
static bool take(struct ft_alive *alive)
{
    int err = pthread_mutex_trylock(&alive->held);

    if (err == EOWNERDEAD)
        err = pthread_mutex_consistent(&alive->held);
    return err == 0;
}

/* Whether the kernel will take it from this thread: it knows of a list, and a word of the mutex has the thread's number as the kernel has it (set_robust_list(2)). A process that was
   cloned past the C library could have its parent's there, and would be taken for alive for ever. */
static bool is_seen(const struct ft_alive *alive)
{
    uint32_t words[sizeof alive->held / sizeof(uint32_t)], self = (uint32_t)syscall(SYS_gettid);
    void *list = NULL;
    size_t bytes;
    bool named = false;

    memcpy(words, &alive->held, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        named |= (words[i] & FUTEX_TID_MASK) == self;
    return named && syscall(SYS_get_robust_list, 0, &list, &bytes) == 0 && list;
}

/* `who` before the mutex, so that nobody finds it held under the name of the one before. */
bool ft_alive_begin(struct ft_alive *alive, uint64_t who)
{
    ft_note(&alive->who, 0);
    atomic_thread_fence(memory_order_seq_cst);
    if (!take(alive))
        return false;
    if (!is_seen(alive)) {
        pthread_mutex_unlock(&alive->held);
        return false;
    }
    ft_publish(&alive->who, who);
    return true;
}

bool ft_alive_end(struct ft_alive *alive)
{
    return pthread_mutex_unlock(&alive->held) == 0;
}

bool ft_alive_is(struct ft_alive *alive, uint64_t who)
{
    if (take(alive)) {
        pthread_mutex_unlock(&alive->held);
        return false;
    }
    atomic_thread_fence(memory_order_seq_cst);
    return ft_look(&alive->who) == who;
}
