/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/outcome/robust.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ft/outcome/real.h"
#include "ft/outcome/record.h"

enum { INHERITS = 1 };           /* of a pointer in the list, as the kernel reads it */

/* The C library says it of nobody, but it writes it in a mutex. */
static uint32_t number_in_mutexes(void)
{
    pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    int number;

    ft_real()->pthread_mutex_lock(&mutex);
    number = mutex.__data.__owner;
    ft_real()->pthread_mutex_unlock(&mutex);
    return (uint32_t)number;
}

/* By the kernel's way: for whatever process. */
static void wake_one(_Atomic uint32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0); }

/* As handle_futex_death in the kernel. `pending`: it was being taken, or let go of; then it may be free, and another one be asleep. */
static void let_go(_Atomic uint32_t *word, uint32_t number, bool pending)
{
    uint32_t now = atomic_load(word);

    if (pending && !now) {
        wake_one(word);
        return;
    }
    do
        if ((now & FUTEX_TID_MASK) != number)
            return;
    while (!atomic_compare_exchange_weak(word, &now, (now & FUTEX_WAITERS) | FUTEX_OWNER_DIED));
    if (now & FUTEX_WAITERS)
        wake_one(word);
}

static _Atomic uint32_t *word_of(const struct robust_list_head *head, const struct robust_list *entry)
{
    return (_Atomic uint32_t *)((uintptr_t)entry + (uintptr_t)head->futex_offset); /* NOLINT(performance-no-int-to-ptr) */
}

static bool is_inheriting(const struct robust_list *entry) { return (uintptr_t)entry & INHERITS; }

void ft_robust_end(void)
{
    struct robust_list_head *head = NULL;
    struct robust_list *entry, *next, *pending;
    uint32_t number = number_in_mutexes();
    size_t bytes;

    if (number == (uint32_t)syscall(SYS_gettid) || syscall(SYS_get_robust_list, 0, &head, &bytes) != 0 || !head)
        return;
    pending = head->list_op_pending;
    entry = head->list.next;
    /* Read first: whoever is told takes the mutex, and has it in a list of its own. Inheriting ones, which processes share, are left alone. */
    for (int i = 0; i < ROBUST_LIST_LIMIT && entry != &head->list && !is_inheriting(entry); i++, entry = next) {
        next = entry->next;
        if (entry != pending)
            let_go(word_of(head, entry), number, false);
    }
    if (pending && !is_inheriting(pending))
        let_go(word_of(head, pending), number, true);
    /* The kernel finds none. From one that is another thread's now it would go on in that thread's list, where a number of before may be
       the one that this thread has. */
    head->list.next = &head->list;
    head->list_op_pending = NULL;
}

/* ---- one of them ---- */

/* As the C library marks them (nptl/pthread_mutex_lock.c): in the kind, and who is told that its owner has died is this owner until it has called
   pthread_mutex_consistent. */
enum { IS_ROBUST = 0x10, IS_INHERITING = 0x20, INCONSISTENT = INT_MAX };

/* Its pointers are to where the kernel finds the next one. */
static __pthread_list_t *entry_at(void *next) { return (__pthread_list_t *)(void *)((char *)next - offsetof(__pthread_list_t, __next)); }

void ft_robust_give_back(pthread_mutex_t *mutex)
{
    struct robust_list_head *head = NULL;
    __pthread_list_t *list = &mutex->__data.__list;
    size_t bytes;

    if (!(mutex->__data.__kind & IS_ROBUST) || mutex->__data.__owner != INCONSISTENT) {
        ft_real()->pthread_mutex_unlock(mutex);
        return;
    }
    if (mutex->__data.__kind & IS_INHERITING || syscall(SYS_get_robust_list, 0, &head, &bytes) != 0 ||
        head->list.next != (struct robust_list *)(void *)&list->__next)
        ft_recorder_lost("when its snapshot was made a thread waited for a robust mutex that inherits priorities, and its owner has died since");
    /* Unlocked it would be lost for all. It is the first in this thread's list. */
    head->list_op_pending = head->list.next;
    head->list.next = (struct robust_list *)(void *)list->__next;
    entry_at(list->__next)->__prev = list->__prev;
    list->__prev = list->__next = NULL;
    let_go((_Atomic uint32_t *)(void *)&mutex->__data.__lock, number_in_mutexes(), true);
    head->list_op_pending = NULL;
}

/* ---- the end of a thread ---- */

static pthread_key_t key;
static bool made;

/* As data of the thread that are destroyed, and are there again, as often as the C library asks: in the last round all other destructors
   have had theirs. */
static void destroy(void *round)
{
    if ((uintptr_t)round < PTHREAD_DESTRUCTOR_ITERATIONS)
        pthread_setspecific(key, (char *)round + 1);
    else
        ft_robust_end();
}

static void make_key(void) { made = pthread_key_create(&key, destroy) == 0; }

void ft_robust_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    ft_real()->pthread_once(&once, make_key);
    if (made)
        pthread_setspecific(key, (void *)(uintptr_t)1); /* NOLINT(performance-no-int-to-ptr) */
}
