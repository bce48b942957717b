/* SPDX-License-Identifier: BSD-3-Clause */
/* The names in a program's or library's file: what it has, and what it wants of others. */
#ifndef LAUNCHER_BASE_ELF_NAMES_H
#define LAUNCHER_BASE_ELF_NAMES_H

#include <stdbool.h>

/* FT_ELF_DYNAMIC: what the dynamic loader sees. FT_ELF_ALL: the linker's table, which a stripped file has not. */
enum ft_elf_table { FT_ELF_DYNAMIC, FT_ELF_ALL };

/* Calls `each` with every name of the table. here: it is defined in this file, else wanted. The names live as long as the
   call. A damaged file, or one for another machine, just has fewer names. False: no memory. */
bool ft_elf_names(int fd, enum ft_elf_table table, void (*each)(void *arg, const char *name, bool here), void *arg);

#endif
