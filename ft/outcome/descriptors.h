/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of the process's descriptors. In a replay the table is the predecessor's, as it was when that was killed, so
   nothing is asked of the kernel then: outcomes say which descriptors there are. */
#ifndef FT_OUTCOME_DESCRIPTORS_H
#define FT_OUTCOME_DESCRIPTORS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum ft_descriptor_kind {
    FT_DESCRIPTOR_UNKNOWN,  /* not asked yet */
    FT_DESCRIPTOR_FILE,     /* regular: it has an offset */
    FT_DESCRIPTOR_APPEND,   /* regular, O_APPEND */
    FT_DESCRIPTOR_PIPE,
    FT_DESCRIPTOR_OTHER
};

/* All that are open now are accounted for, and nothing else is known of them: at the start, and at each cut. */
void ft_descriptors_open(void);

/* An outcome says: there is one, new; there is none; it shares its offset with another, so nobody can keep count of that. */
void ft_descriptors_add(int fd);
void ft_descriptors_remove(int fd);
void ft_descriptors_share(int fd);
bool ft_descriptors_knows(int fd);

/* Every descriptor may have been moved by somebody else: a child has been made. */
void ft_descriptors_share_all(void);

/* Asks the kernel, the first time. Only of a live call, or of one under way. */
enum ft_descriptor_kind ft_descriptors_kind(int fd);

/* The offset of a regular file before a call: counted, or asked for. -1: it has none. */
off_t ft_descriptors_offset(int fd);
void ft_descriptors_set_offset(int fd, off_t at);   /* -1: to be asked for */

/* F_SETFL, which may change O_APPEND. */
void ft_descriptors_forget(int fd);

/* The library's own: with a number that no program uses, close-on-exec; the one given is closed. -1: errno. */
int ft_descriptors_own(int fd);
bool ft_descriptors_is_own(int fd);

/* In a process that has just been made of a copy: what is open now and not accounted for yet was left by its predecessor. */
void ft_descriptors_left(void);

/* Of those, one that no outcome accounts for yet: the result of an open that was under way. -1: there is none. */
int ft_descriptors_stray(bool (*is_it)(int fd, const void *arg), const void *arg);

/* Closes those that no outcome has accounted for at the log's end. */
void ft_descriptors_sweep(void);

#endif
