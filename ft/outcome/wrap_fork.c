/* SPDX-License-Identifier: BSD-3-Clause */
/* Handlers of pthread_atfork: before a fork, and in the parent after it, they are called here, around the call that is recorded. So a replay, which
   makes no fork, calls them in the same place; and they may wait for threads that end (OpenBLAS's), which have to say so in the log. The C
   library calls those of the child, and calls before_others and after_others where it forks by itself (forkpty). */
#include "ft/outcome/real.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

#include "ft/outcome/child.h"
#include "ft/outcome/record.h"

enum { MOST = 128 };

static struct {
    void (*before)(void), (*after)(void);
    const void *library;     /* where it begins: it may be unloaded */
} handlers[MOST];
static _Atomic int n;        /* may be more than MOST */

static _Thread_local bool handled __attribute__((tls_model("initial-exec")));

static const void *library_of(void (*handler)(void))
{
    Dl_info info;

    return handler && dladdr((void *)(uintptr_t)handler, &info) ? info.dli_fbase : NULL;
}

/* What pthread_atfork is made of. */
int __register_atfork(void (*before)(void), void (*after)(void), void (*child)(void), void *whose)
{
    extern void *__dso_handle __attribute__((visibility("hidden")));
    int i, result;

    if (whose == &__dso_handle || !(before || after) || (i = atomic_fetch_add(&n, 1)) >= MOST)
        return ft_real()->__register_atfork(before, after, child, whose);
    handlers[i].before = before;
    handlers[i].after = after;
    handlers[i].library = library_of(before ? before : after);
    result = child ? ft_real()->__register_atfork(NULL, NULL, child, whose) : 0;
    if (result != 0)
        handlers[i].library = NULL;
    return result;
}

static void call(void (*handler)(void), const void *library)
{
    if (handler && library && library_of(handler) == library)
        handler();
}

static void call_before(void)
{
    for (int i = n < MOST ? n : MOST; i-- > 0;)
        call(handlers[i].before, handlers[i].library);
}

static void call_after(void)
{
    int error = errno;

    for (int i = 0; i < n && i < MOST; i++)
        call(handlers[i].after, handlers[i].library);
    errno = error;
}

pid_t ft_fork_handled(pid_t (*make)(void))
{
    pid_t pid;

    if (n > MOST && ft_recorder.on)
        ft_recorder_close("more handlers of pthread_atfork than %d would have to run at its fork", MOST);
    call_before();
    handled = true;
    pid = make();
    handled = false;
    if (pid != 0)
        call_after();
    return pid;
}

static void before_others(void)
{
    if (!handled)
        call_before();
}

static void after_others(void)
{
    if (!handled)
        call_after();
}

__attribute__((constructor)) static void watch(void) { pthread_atfork(before_others, after_others, NULL); }
