/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of the process's descriptors. In a replay the table is the predecessor's, as it was when that was killed, so
   nothing is asked of the kernel then: outcomes say which descriptors there are. */
#ifndef FT_OUTCOME_DESCRIPTORS_H
#define FT_OUTCOME_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ft/outcome/log.h"

enum { FT_DESCRIPTORS = FT_OUTCOME_DESCRIPTORS }; /* one from this number on is not followed */

enum ft_descriptor_kind {
    FT_DESCRIPTOR_UNKNOWN,  /* not asked yet */
    FT_DESCRIPTOR_FILE,     /* regular: it has an offset */
    FT_DESCRIPTOR_APPEND,   /* regular, O_APPEND */
    FT_DESCRIPTOR_PIPE,     /* and a stream socket of one host (AF_UNIX) */
    FT_DESCRIPTOR_TCP,
    FT_DESCRIPTOR_DATAGRAM, /* UDP */
    FT_DESCRIPTOR_TERMINAL,
    FT_DESCRIPTOR_EVENT,    /* an eventfd */
    FT_DESCRIPTOR_OTHER
};

/* At the start: all that are open now are accounted for. They came with it, and are as they are. */
void ft_descriptors_open(void);

/* Before that: one that the launcher gave this process for itself. They lie side by side. */
void ft_descriptors_given(int fd);

/* At each cut: likewise, and it is asked what they are. False: one is of a kind that cannot be followed (a socket, say) and neither came
   with the start nor is one of `ours`. */
bool ft_descriptors_look(const int *ours, int nours);
/* It was false for one that nobody has recorded, and that perhaps is gone in a moment. */
bool ft_descriptors_are_passing(void);

/* An outcome says: there is one, new; there is none; it shares its offset with another, so nobody can keep count of that. */
void ft_descriptors_add(int fd);
void ft_descriptors_closed(int fd);
/* It was closed before the kill: whose the number is now, if anybody's, no outcome says. */
void ft_descriptors_lose(int fd);
void ft_descriptors_share(int fd);
bool ft_descriptors_knows(int fd);
/* ... and it shares its offset, or its connection, with no other. */
bool ft_descriptors_is_alone(int fd);

/* Every descriptor may have been moved by somebody else: a child has been made. */
void ft_descriptors_share_all(void);

/* Asks the kernel, the first time. Only of a live call, or of one under way. */
enum ft_descriptor_kind ft_descriptors_kind(int fd);

/* A number of SOL_SOCKET; -1: it is no socket. */
int ft_descriptors_option(int fd, int option);

/* The offset of a regular file before a call: counted, or asked for. -1: it has none. */
off_t ft_descriptors_offset(int fd);
void ft_descriptors_set_offset(int fd, off_t at);   /* -1: to be asked for */

/* "/proc/thread-self/fd/N", in `path`, which is returned. Not /proc/self: that is of the thread that the process began with, which may have
   ended. Of a rank that was put back that is the one that made the copy. */
const char *ft_descriptors_link(int fd, char path[40]);

/* The name of its file, for a message: in `text`, which is returned. */
const char *ft_descriptors_name(int fd, char *text, size_t room);

/* It is of no file, but of this kind: "anon_inode:[eventfd]". */
bool ft_descriptors_is_anonymous(int fd, const char *what);

/* F_SETFL, which may change O_APPEND: of all that may be the same one. */
void ft_descriptors_forget(int fd);

/* The library's own: with a number that no program uses, close-on-exec; the one given is closed. -1: errno. */
int ft_descriptors_own(int fd);
bool ft_descriptors_is_own(int fd);

/* libftmpi's: likewise, but it closes it by close. What cannot be moved stays. */
int ft_descriptors_aside(int fd);

/* The same, and the one given stays open: closing it would end the program's locks on the file. Closed. A record says that this one is. */
int ft_descriptors_hold(int fd);
void ft_descriptors_disown(int own);
void ft_descriptors_adopt(int own);

/* In a process that has just been made of a copy: what is open now and not accounted for yet was left by its predecessor. Sockets among
   those put aside, and those of `ours` that are still the same, are closed at once: at their other ends that is seen. */
void ft_descriptors_left(void);

/* It was open when the predecessor was killed. */
bool ft_descriptors_was_open(int fd);

/* Of those, one that no outcome accounts for yet: the result of an open that was under way. -1: there is none,
   and those that there are have been closed. */
int ft_descriptors_stray(bool (*is_it)(int fd, const void *arg), const void *arg);

/* All threads have been given all: whether a close that was under way was made (wrap_open.c). Before others look for what is theirs. */
void ft_close_settle(struct ft_outcome *o);

/* Closes those that no outcome has accounted for at the log's end. */
void ft_descriptors_sweep(void);

#endif
