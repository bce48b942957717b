/* SPDX-License-Identifier: BSD-3-Clause */
/* What can be seen in a program's file without running it. */
#ifndef LAUNCHER_BASE_ELF_H
#define LAUNCHER_BASE_ELF_H

#include <stdbool.h>
#include <stddef.h>

enum { FT_ELF_NAME = 64 };

struct ft_elf {
    bool is_elf, ours;             /* ours: for this machine; what follows is known for those only */
    bool cut;                      /* the end of it is missing */
    const char *machine;           /* "aarch64", "?" */
    char interpreter[4096];        /* the dynamic linker, empty: none */
    bool dynamic;                  /* linked dynamically; without a dynamic linker it is a library, or a static program */
    bool sanitized;                /* it needs the runtime of a sanitizer, which wants to be the first library of a process */
    char mpich[FT_ELF_NAME];       /* the library of MPICH's interface that it needs; empty: none */
};

/* Nothing but what lies within the file is read; a damaged file just has fewer facts. */
void ft_elf_read(int fd, struct ft_elf *elf);

/* A library's name, as a program asks for it: is it MPICH's interface? */
bool ft_elf_is_mpich(const char *name);

/* The name of the machine this process runs on, as in struct ft_elf. */
const char *ft_elf_machine(void);

#endif
