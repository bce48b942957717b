/* SPDX-License-Identifier: BSD-3-Clause */
/* Children of the rank (DESIGN-ranks section 3). They are the outside world: each is made once, and lives on when the rank is killed.
   Then it is an orphan, whose end the agent sees; the log's words say so (struct ft_outcome_child).

   Whether one was made by a fork that was under way, it says itself: it claims that fork, by a word that parent, copies and children
   share, and ends at once if its parent's successor has taken it back. */
#ifndef FT_OUTCOME_CHILDREN_H
#define FT_OUTCOME_CHILDREN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "ft/snap/image.h"

/* What a wait comes to. */
struct ft_waited {
    siginfo_t info;        /* si_pid 0: nothing yet */
    struct rusage usage;
};

/* At the start. False: errno. */
bool ft_children_open(struct ft_image_own *own);

/* In each incarnation that was made of a copy: none is its own. */
void ft_children_begin(uint32_t incarnation);

/* The log's end. Before signals come: those of children that have ended are among them. Then the words say which there are. */
void ft_children_tell(void);
void ft_children_live(void);

/* SIGCHLD has come: what the agent has sent becomes what the kernel would have sent. The program's handler is given it. */
void ft_children_signal(siginfo_t *info);
void ft_children_signalled(const siginfo_t *info);

/* The rank has made it, and has not waited for it. */
bool ft_children_knows(pid_t pid);

/* To the groups of orphans, which were the rank's when it made them. */
void ft_children_kill_groups(int signal);

/* There is one. */
bool ft_children_some(void);

/* There is one, by the words. */
bool ft_children_any(void);

/* One was made: `own`, by this process. */
void ft_children_add(pid_t pid, bool own);

/* It has been waited for. */
void ft_children_remove(pid_t pid);

/* Before a fork: the number of its claim. */
uint32_t ft_children_offer(void);

/* That fork is over in this process, and has made this child; -1: none. */
void ft_children_offered(pid_t pid);

/* There is one under way. */
bool ft_children_offers(void);

/* In the child, first of all. Does not return if the fork was taken back. */
void ft_children_claim(void);

/* Of a fork that was under way: the child that has claimed it; 0: none has, and none will. `strays`: ft_outcome_words, before that fork. */
pid_t ft_children_claimed(uint32_t number, uint64_t strays);

/* As waitid, with WNOWAIT: nothing is taken. -1: errno. */
int ft_children_wait(idtype_t type, id_t id, int options, struct ft_waited *w);

/* The predecessor has found that, and was killed: SIGCHLD of it comes before it is taken, and its name with it. */
void ft_children_found(const struct ft_waited *w);

/* Takes what that has found. */
void ft_children_take(const struct ft_waited *w);

#endif
