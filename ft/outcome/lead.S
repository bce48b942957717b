/* SPDX-License-Identifier: BSD-3-Clause */
/* What C has no words for (stand.h), on x86-64: where a call began, as setjmp keeps it, and going on there; going on where a signal stopped a
   thread. struct ft_lead: rbx, rbp, r12 to r15, rsp, rip at 0 to 56; four arguments at 64 to 88; a function at 96. */

        .text

/* here: what the call does; again: what it does when the thread has been led back. What rsp is after the return, and where that goes. */
        .macro saves name, here, again
        .globl \name
        .hidden \name
        .type \name, @function
\name:
        .cfi_startproc
        mov     ft_lead@GOTTPOFF(%rip), %rax
        mov     %rbx, %fs:0(%rax)
        mov     %rbp, %fs:8(%rax)
        mov     %r12, %fs:16(%rax)
        mov     %r13, %fs:24(%rax)
        mov     %r14, %fs:32(%rax)
        mov     %r15, %fs:40(%rax)
        lea     8(%rsp), %r11
        mov     %r11, %fs:48(%rax)
        mov     (%rsp), %r11
        mov     %r11, %fs:56(%rax)
        mov     %rdi, %fs:64(%rax)
        mov     %rsi, %fs:72(%rax)
        mov     %rdx, %fs:80(%rax)
        mov     %rcx, %fs:88(%rax)
        lea     \again(%rip), %r11
        mov     %r11, %fs:96(%rax)
        jmp     \here
        .cfi_endproc
        .size \name, . - \name
        .endm

        saves ft_call_begin_wait, ft_call_begin_here, ft_call_begin_here
        saves ft_waits_led, ft_waits_led_here, ft_waits_led_again

/* ft_lead_follow(void): this thread is in that call again, below what called it. Does not return here. */
        .globl ft_lead_follow
        .hidden ft_lead_follow
        .type ft_lead_follow, @function
ft_lead_follow:
        mov     ft_lead@GOTTPOFF(%rip), %rbx
        mov     %fs:48(%rbx), %rsp
        call    ft_lead_begin
        mov     %fs:64(%rbx), %rdi
        mov     %fs:72(%rbx), %rsi
        mov     %fs:80(%rbx), %rdx
        mov     %fs:88(%rbx), %rcx
        call    *%fs:96(%rbx)
        mov     ft_lead@GOTTPOFF(%rip), %rcx
        mov     %fs:0(%rcx), %rbx
        mov     %fs:8(%rcx), %rbp
        mov     %fs:16(%rcx), %r12
        mov     %fs:24(%rcx), %r13
        mov     %fs:32(%rcx), %r14
        mov     %fs:40(%rcx), %r15
        mov     %fs:48(%rcx), %rsp
        jmp     *%fs:56(%rcx)
        .size ft_lead_follow, . - ft_lead_follow

/* ft_lead_onto(void *stack, void (*function)(void *arg), void *arg): calls it there. Does not return. */
        .globl ft_lead_onto
        .hidden ft_lead_onto
        .type ft_lead_onto, @function
ft_lead_onto:
        mov     %rdi, %rsp
        mov     %rdx, %rdi
        xor     %ebp, %ebp
        call    *%rsi
        hlt
        .size ft_lead_onto, . - ft_lead_onto

/* ft_lead_return(void *frame): rt_sigreturn, with the stack as the restorer finds it. */
        .globl ft_lead_return
        .hidden ft_lead_return
        .type ft_lead_return, @function
ft_lead_return:
        mov     %rdi, %rsp
/* Of our signal's handler. Debuggers know these instructions. */
        .globl ft_lead_restorer
        .hidden ft_lead_restorer
        .type ft_lead_restorer, @function
ft_lead_restorer:
        mov     $15, %rax
        syscall
        .size ft_lead_restorer, . - ft_lead_restorer
        .size ft_lead_return, . - ft_lead_return

        .section .note.GNU-stack, "", @progbits
