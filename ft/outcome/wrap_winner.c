/* SPDX-License-Identifier: BSD-3-Clause */
/* What one thread does for all: pthread_once, and the static variables of C++ functions. A replay has the same thread do it. */
#include "ft/outcome/real.h"

#include <pthread.h>
#include <setjmp.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include "ft/outcome/behind.h"
#include "ft/outcome/lock.h"

static void lose(void)
{
    ft_recorder_lost("in a replay another thread than before initialized something (pthread_once, a static variable)");
}

/* ---- once ---- */

/* The call that this thread is in. If it stood in the C library's function when a copy was made it may come to `make` there before whose turn it is. */
struct once {
    void (*function)(void);
    struct ft_lock_at at;
    struct ft_lock given;
    uint32_t life; /* of the process, when that was looked for: */
    bool replay;   /* the operation is in the log */
    bool won;
    jmp_buf out;   /* of the C library's function: it has cleanup handlers, after which nobody has won */
};

static _Thread_local struct once *once __attribute__((tls_model("initial-exec")));

enum { LOST_IT, WON_IT };

/* Who makes it is known only now: the operation comes before all that the function does. */
static void make(void)
{
    struct once *o = once;

    ft_busy();
    if (o->life != ft_threads_life) { /* the C library knows no turns, and whose it is would wait for this thread */
        ft_idle();
        longjmp(o->out, 1);
    }
    o->won = true;
    if (o->replay && !(o->given.record && o->given.record->note[1] == WON_IT))
        lose();
    if (o->replay) {
        ft_lock_again(&o->given, o->at, 0);
    } else {
        uint64_t before = ft_lock_note(o->at);

        ft_lock_record(FT_LOCK_ONCE, 0, before >> FT_LOCK_BITS == ft_thread.number ? 0 : before, WON_IT);
        ft_lock_publish();
        ft_lock_seen(o->at);
    }
    ft_idle();
    o->function();
}

/* Somebody else had. It is after that, and nothing comes after it. */
static void find_made(struct once *o)
{
    ft_busy();
    if (o->life != ft_threads_life) /* it has waited, and this process has been made of a copy meanwhile */
        o->replay = ft_lock_begin(&o->given, FT_LOCK_ONCE);
    if (!o->replay) {
        ft_lock_tell(FT_LOCK_ONCE, 0, ft_lock_look(o->at.word));
        ft_lock_publish();
    } else if (o->given.record && o->given.record->note[1] == WON_IT) {
        lose();
    } else {
        ft_lock_given(&o->given);
    }
    ft_idle();
}

static void begin(struct once *o, const volatile void *control, void (*function)(void))
{
    ft_busy();
    *o = (struct once){.function = function, .at = ft_lock_at(control), .life = ft_threads_life};
    o->replay = ft_lock_begin(&o->given, FT_LOCK_ONCE);
    once = o;
    ft_idle();
}

/* theirs: the C library's function, for `make`. */
static int do_once(void *control, void (*function)(void), int (*theirs)(void *control))
{
    struct once o;
    int result;

    begin(&o, control, function);
    while (setjmp(o.out))
        begin(&o, control, function);
    result = theirs(control);
    if (!o.won)
        find_made(&o);
    return result;
}

static int theirs(void *control) { return ft_real()->pthread_once(control, make); }

int pthread_once(pthread_once_t *control, void (*function)(void))
{
    return ft_locks() ? do_once(control, function, theirs) : ft_real()->pthread_once(control, function);
}

static int theirs_c11(void *flag)
{
    ft_real()->call_once(flag, make);
    return 0;
}

void call_once(once_flag *flag, void (*function)(void))
{
    if (ft_locks())
        do_once(flag, function, theirs_c11);
    else
        ft_real()->call_once(flag, function);
}

/* ---- static variables ---- */

/* Compiled code looks at the first byte itself: who finds it set calls nothing. So only who makes the variable is counted; all others wait
   for the byte. A guard is named by its place in its library. */

enum { NAP_NS = 200000, NAPS = 300 * (1000000000 / NAP_NS) };

int __cxa_guard_acquire(int64_t *guard);

static bool is_made(const int64_t *guard) { return __atomic_load_n((const char *)guard, __ATOMIC_ACQUIRE); }

static uint64_t place_of(const int64_t *guard)
{
    struct ft_code code;

    if (!ft_code_at((uintptr_t)guard, &code))
        return 1;
    return ft_what((int64_t)ft_what_name(code.name), (int64_t)((uintptr_t)guard - code.base), 0);
}

/* This thread has been given all, and so have all others. As a whole: in a copy that is made in between it has more again. */
static bool is_at_end(void)
{
    uint32_t life = ft_threads_life;
    bool ends;

    ft_busy();
    ends = ft_lock_at_end();
    if (ends)
        ft_threads_all_given();
    ft_idle();
    return ends && life == ft_threads_life;
}

/* True: this thread's predecessor made it. False: it is made by now, or all have been given all. */
static bool is_winner(const int64_t *guard, uint64_t place)
{
    const struct ft_outcome *o;

    for (int i = 0; !is_made(guard); i++) {
        o = ft_lock_next(FT_LOCK_GUARD);
        if (o && (uint64_t)o->note[1] == place)
            return true;
        if (is_at_end())
            return false;
        if (i == NAPS)
            ft_recorder_lost("in a replay nobody initialized a static variable");
        syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
    return false;
}

/* It has waited, perhaps, and this process has been made of a copy meanwhile. */
static void tell_made(const int64_t *guard)
{
    struct ft_lock l;

    ft_busy();
    if (ft_lock_begin(&l, FT_LOCK_GUARD)) {
        ft_lock_given(&l);
    } else {
        ft_lock_record(FT_LOCK_GUARD, 0, 0, place_of(guard));
        ft_lock_publish();
    }
    ft_idle();
}

int __cxa_guard_acquire(int64_t *guard)
{
    static int (*real)(int64_t *);
    struct ft_lock l;
    int error = errno;
    bool makes;

    if (!real)
        real = (int (*)(int64_t *))ft_behind("__cxa_guard_acquire", (uintptr_t)__builtin_return_address(0));
    if (!ft_locks())
        return real(guard);
    if (atomic_load(&ft_threads_replay) && is_winner(guard, place_of(guard))) {
        if (!ft_lock_begin(&l, FT_LOCK_GUARD) || !real(guard))
            lose();
        ft_lock_given(&l);
        return 1;
    }
    errno = error;
    makes = real(guard);
    if (makes)
        tell_made(guard);
    return makes;
}
