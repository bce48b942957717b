/* SPDX-License-Identifier: BSD-3-Clause */
/* setjmp for who asks it to keep what is blocked, and sigsetjmp: ft_jump_keep (wrap_jump.c), then the C library's, which returns to the caller. */

        .text
        .globl setjmp
        .type setjmp, @function
setjmp:
        mov     $1, %esi
        .globl __sigsetjmp
        .type __sigsetjmp, @function
__sigsetjmp:
        .cfi_startproc
        push    %rdi
        .cfi_adjust_cfa_offset 8
        push    %rsi
        .cfi_adjust_cfa_offset 8
        sub     $8, %rsp
        .cfi_adjust_cfa_offset 8
        call    ft_jump_keep
        add     $8, %rsp
        .cfi_adjust_cfa_offset -8
        pop     %rsi
        .cfi_adjust_cfa_offset -8
        pop     %rdi
        .cfi_adjust_cfa_offset -8
        jmp     *%rax
        .cfi_endproc
        .size __sigsetjmp, . - __sigsetjmp
        .size setjmp, . - setjmp

        .section .note.GNU-stack, "", @progbits
