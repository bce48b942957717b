/* SPDX-License-Identifier: BSD-3-Clause */
/* Handlers of pthread_atfork. A replay makes no fork, so it calls them itself: before that, and in the parent after it. They take locks, or end
   threads (OpenBLAS's). The C library knows the same ones, and which were of a library that has been unloaded since. */
#include "ft/outcome/real.h"

#include <dlfcn.h>
#include <errno.h>

#include "ft/outcome/child.h"
#include "ft/outcome/record.h"

enum { MOST = 128 };

static struct {
    void (*before)(void), (*after)(void);
    const void *library;     /* where it begins */
} handlers[MOST];
static _Atomic int n;        /* may be more than MOST */

static const void *library_of(void (*handler)(void))
{
    Dl_info info;

    return handler && dladdr((void *)(uintptr_t)handler, &info) ? info.dli_fbase : NULL;
}

/* What pthread_atfork is made of. Of this library itself, what a fork has to do is done where it is recorded. */
int __register_atfork(void (*before)(void), void (*after)(void), void (*child)(void), void *whose)
{
    extern void *__dso_handle __attribute__((visibility("hidden")));
    int result = ft_real()->__register_atfork(before, after, child, whose), i;

    if (result != 0 || whose == &__dso_handle || !(before || after))
        return result;
    i = atomic_fetch_add(&n, 1);
    if (i < MOST) {
        handlers[i].before = before;
        handlers[i].after = after;
        handlers[i].library = library_of(before ? before : after);
    }
    return 0;
}

static void call(void (*handler)(void), const void *library)
{
    if (handler && library && library_of(handler) == library)
        handler();
}

void ft_fork_again(void)
{
    int error = errno;

    for (int i = n; i-- > 0;)
        call(handlers[i].before, handlers[i].library);
    for (int i = 0; i < n; i++)
        call(handlers[i].after, handlers[i].library);
    errno = error;
}

void ft_fork_live(void)
{
    if (n > MOST)
        ft_recorder_close("more handlers of pthread_atfork than %d would have to run at its fork", MOST);
}
