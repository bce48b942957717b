/* SPDX-License-Identifier: BSD-3-Clause */
/* Inputs by reference (DESIGN-ranks section 3): of a large file that is read only and has not been changed for a while, the log has
   what was read where, and a hash of it. A replay reads it again, by a descriptor of the library, which holds the file whatever
   becomes of its name. */
#ifndef FT_OUTCOME_INPUTS_H
#define FT_OUTCOME_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "ft/outcome/record.h"

/* An open has this result: before ft_call_end_fd, and after ft_call_give_fd. */
void ft_inputs_opened(struct ft_recorded *c, int fd, int flags);
void ft_inputs_given(const struct ft_recorded *c, int fd);

/* The descriptor is closed; `to` is the same as `fd` from now on. */
void ft_inputs_close(int fd);
void ft_inputs_double(int fd, int to);

/* n bytes are read from it in this way: the same in a replay. */
bool ft_inputs_has(int fd, size_t n);
ssize_t ft_inputs_read(int fd, void *to, size_t n);
ssize_t ft_inputs_pread(int fd, void *to, size_t n, off_t at);

/* Not changed for a while: who changes it now is seen by its times. */
bool ft_inputs_is_old(const struct stat *file);

/* So many descriptors of the program's are the file; writes: so many by which it can be changed. */
int ft_inputs_opened_as(const struct stat *file, bool writes);

/* This process is about to change the file. If it is such an input a copy is made now, and the older ones are closed. Not for what
   changes its name only. */
void ft_inputs_before_change(int dir, const char *name);

#endif
