/* SPDX-License-Identifier: BSD-3-Clause */
/* Jumps, mostly out of signals' handlers. The C library keeps and sets what is blocked past every name, and in a replay that is not what the program has
   blocked. So sigsetjmp notes that, in words of the buffer that nobody uses: the kernel's mask is the first of sixteen. The jump sets it as
   pthread_sigmask does, and lets the C library set none. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>

#include "ft/outcome/left.h"
#include "ft/outcome/mask.h"
#include "ft/outcome/real.h"
#include "ft/outcome/signals.h"

enum { STACK = 6 /* the word in which the stack's pointer is kept */, NOTED = 14, MASK = 15, NEAR = 4096 };

static const unsigned long NOTE = 0x6a6d7000a57c0de5;

/* A handler may jump: nobody looks for libraries there (ft_real_watch). */
static const struct ft_real *real(void) { return ft_real_found()->siglongjmp ? ft_real_found() : ft_real(); }

/* ---- sigsetjmp (jump.S): what it returns is the C library's ---- */

void *ft_jump_keep(struct __jmp_buf_tag *to, int keeps) __attribute__((visibility("hidden")));
void *ft_jump_keep(struct __jmp_buf_tag *to, int keeps)
{
    sigset_t *kept = &to->__saved_mask, programs;

    if (keeps)
        kept->__val[NOTED] = 0;
    if (keeps && (ft_threads_many || ft_mask_is_held())) { /* else the kernel's is the program's, and no replay begins before it is kept */
        ft_signals_masked(&programs);
        kept->__val[MASK] = programs.__val[0];
        kept->__val[NOTED] = NOTE;
    }
    return (void *)real()->__sigsetjmp;
}

/* ---- siglongjmp ---- */

/* The C library keeps the pointer by a secret of the thread. */
static uintptr_t stack_of(const struct __jmp_buf_tag *kept)
{
    uintptr_t secret, at = (uintptr_t)kept->__jmpbuf[STACK];

    __asm__("mov %%fs:0x30, %0" : "=r"(secret));
    return (at >> 17 | at << 47) ^ secret;
}

/* False: in this C library it is otherwise. */
static bool is_known(void)
{
    jmp_buf here;
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

    return _setjmp(here) == 0 && stack_of(here) - (frame - NEAR) < 2 * NEAR;
}

/* Who jumps without a mask may have a shorter buffer. */
static bool is_noted(const struct __jmp_buf_tag *to) { return to->__mask_was_saved && to->__saved_mask.__val[NOTED] == NOTE; }

static _Noreturn void jump(void (*with)(struct __jmp_buf_tag *to, int value), struct __jmp_buf_tag *to, int value)
{
    struct __jmp_buf_tag without;
    sigset_t programs;
    int error = errno;

    if (ft_left_any())
        ft_left_by_jump(is_known() ? stack_of(to) : UINTPTR_MAX);
    if (to->__mask_was_saved && (is_noted(to) || ft_threads_many || ft_mask_is_held())) {
        programs = to->__saved_mask;
        if (is_noted(to))
            programs.__val[0] = programs.__val[MASK];
        without = *to;
        without.__mask_was_saved = 0;
        to = &without;
        ft_mask(SIG_SETMASK, &programs, NULL);
    }
    errno = error;
    with(to, value);
    __builtin_unreachable();
}

void longjmp(struct __jmp_buf_tag to[1], int value) { jump(real()->longjmp, to, value); }
void _longjmp(struct __jmp_buf_tag to[1], int value) { jump(real()->_longjmp, to, value); }
void siglongjmp(struct __jmp_buf_tag to[1], int value) { jump(real()->siglongjmp, to, value); }

/* The three of a program that is compiled with _FORTIFY_SOURCE. */
void __longjmp_chk(struct __jmp_buf_tag *to, int value) { jump(real()->__longjmp_chk, to, value); }
