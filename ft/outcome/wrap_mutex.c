/* SPDX-License-Identifier: BSD-3-Clause */
/* Mutexes, also those of C11; locks for readers and writers; spin locks; semaphores. Unlocking has no place here: the next one to take
   the lock comes after it. */
#include "ft/outcome/real.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

#include "ft/outcome/lock.h"
#include "ft/outcome/robust.h"

/* ---- mutexes ---- */

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (!ft_locks())
        return ft_real()->pthread_mutex_lock(mutex);
    return FT_LOCK_TAKES(FT_LOCK_MUTEX, ft_lock_at_mutex(mutex), ft_real()->pthread_mutex_lock(mutex),
                         ft_real()->pthread_mutex_lock(mutex),
                         ft_robust_give_back(mutex));
}

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    if (!ft_locks())
        return ft_real()->pthread_mutex_trylock(mutex);
    return FT_LOCK_TAKES(FT_LOCK_TRY, ft_lock_at_mutex(mutex), ft_real()->pthread_mutex_trylock(mutex),
                         ft_real()->pthread_mutex_lock(mutex),
                         ft_robust_give_back(mutex));
}

int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
    if (!ft_locks())
        return ft_real()->pthread_mutex_timedlock(mutex, until);
    return FT_LOCK_TAKES(FT_LOCK_TRY, ft_lock_at_mutex(mutex), ft_real()->pthread_mutex_timedlock(mutex, until),
                         ft_real()->pthread_mutex_lock(mutex),
                         ft_robust_give_back(mutex));
}

int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until)
{
    if (!ft_locks())
        return ft_real()->pthread_mutex_clocklock(mutex, clock, until);
    return FT_LOCK_TAKES(FT_LOCK_TRY, ft_lock_at_mutex(mutex), ft_real()->pthread_mutex_clocklock(mutex, clock, until),
                         ft_real()->pthread_mutex_lock(mutex),
                         ft_robust_give_back(mutex));
}

/* In the C library it is a mutex of the other kind. */
static struct ft_lock_at at_mtx(mtx_t *mutex) { return ft_lock_at_mutex((pthread_mutex_t *)(void *)mutex); }

int mtx_lock(mtx_t *mutex)
{
    if (!ft_locks())
        return ft_real()->mtx_lock(mutex);
    return FT_LOCK_TAKES(FT_LOCK_MUTEX, at_mtx(mutex), ft_real()->mtx_lock(mutex), ft_real()->mtx_lock(mutex),
                         mtx_unlock(mutex));
}

int mtx_trylock(mtx_t *mutex)
{
    if (!ft_locks())
        return ft_real()->mtx_trylock(mutex);
    return FT_LOCK_TAKES(FT_LOCK_TRY, at_mtx(mutex), ft_real()->mtx_trylock(mutex), ft_real()->mtx_lock(mutex),
                         mtx_unlock(mutex));
}

int mtx_timedlock(mtx_t *mutex, const struct timespec *until)
{
    if (!ft_locks())
        return ft_real()->mtx_timedlock(mutex, until);
    return FT_LOCK_TAKES(FT_LOCK_TRY, at_mtx(mutex), ft_real()->mtx_timedlock(mutex, until), ft_real()->mtx_lock(mutex),
                         mtx_unlock(mutex));
}

/* ---- readers and writers ---- */

int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    if (!ft_locks())
        return ft_real()->pthread_rwlock_rdlock(lock);
    return FT_LOCK_TAKES(FT_LOCK_READ, ft_lock_at(lock), ft_real()->pthread_rwlock_rdlock(lock), ft_real()->pthread_rwlock_rdlock(lock),
                         pthread_rwlock_unlock(lock));
}

int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
    if (!ft_locks())
        return ft_real()->pthread_rwlock_tryrdlock(lock);
    return FT_LOCK_TAKES(FT_LOCK_READ, ft_lock_at(lock), ft_real()->pthread_rwlock_tryrdlock(lock), ft_real()->pthread_rwlock_rdlock(lock),
                         pthread_rwlock_unlock(lock));
}

int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *until)
{
    if (!ft_locks())
        return ft_real()->pthread_rwlock_timedrdlock(lock, until);
    return FT_LOCK_TAKES(FT_LOCK_READ, ft_lock_at(lock), ft_real()->pthread_rwlock_timedrdlock(lock, until),
                         ft_real()->pthread_rwlock_rdlock(lock),
                         pthread_rwlock_unlock(lock));
}

int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until)
{
    if (!ft_locks())
        return ft_real()->pthread_rwlock_clockrdlock(lock, clock, until);
    return FT_LOCK_TAKES(FT_LOCK_READ, ft_lock_at(lock), ft_real()->pthread_rwlock_clockrdlock(lock, clock, until),
                         ft_real()->pthread_rwlock_rdlock(lock),
                         pthread_rwlock_unlock(lock));
}

int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    if (!ft_locks())
        return ft_real()->pthread_rwlock_wrlock(lock);
    return FT_LOCK_TAKES(FT_LOCK_WRITE, ft_lock_at(lock), ft_real()->pthread_rwlock_wrlock(lock), ft_real()->pthread_rwlock_wrlock(lock),
                         pthread_rwlock_unlock(lock));
}

int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
    if (!ft_locks())
        return ft_real()->pthread_rwlock_trywrlock(lock);
    return FT_LOCK_TAKES(FT_LOCK_WRITE, ft_lock_at(lock), ft_real()->pthread_rwlock_trywrlock(lock),
                         ft_real()->pthread_rwlock_wrlock(lock),
                         pthread_rwlock_unlock(lock));
}

int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until)
{
    if (!ft_locks())
        return ft_real()->pthread_rwlock_timedwrlock(lock, until);
    return FT_LOCK_TAKES(FT_LOCK_WRITE, ft_lock_at(lock), ft_real()->pthread_rwlock_timedwrlock(lock, until),
                         ft_real()->pthread_rwlock_wrlock(lock),
                         pthread_rwlock_unlock(lock));
}

int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until)
{
    if (!ft_locks())
        return ft_real()->pthread_rwlock_clockwrlock(lock, clock, until);
    return FT_LOCK_TAKES(FT_LOCK_WRITE, ft_lock_at(lock), ft_real()->pthread_rwlock_clockwrlock(lock, clock, until),
                         ft_real()->pthread_rwlock_wrlock(lock),
                         pthread_rwlock_unlock(lock));
}

/* ---- spin locks ---- */

int pthread_spin_lock(pthread_spinlock_t *lock)
{
    if (!ft_locks())
        return ft_real()->pthread_spin_lock(lock);
    return FT_LOCK_TAKES(FT_LOCK_SPIN, ft_lock_at(lock), ft_real()->pthread_spin_lock(lock), ft_real()->pthread_spin_lock(lock),
                         pthread_spin_unlock(lock));
}

int pthread_spin_trylock(pthread_spinlock_t *lock)
{
    if (!ft_locks())
        return ft_real()->pthread_spin_trylock(lock);
    return FT_LOCK_TAKES(FT_LOCK_SPIN, ft_lock_at(lock), ft_real()->pthread_spin_trylock(lock), ft_real()->pthread_spin_lock(lock),
                         pthread_spin_unlock(lock));
}
