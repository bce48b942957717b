/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard input, when it is a terminal: ranks are in process groups of their own in the terminal's session, so
   a rank that read it would be stopped (SIGTTIN). ftrun reads it, while it is in the foreground, and rank 0 gets a pipe.
   Anything else that standard input can be is handed to rank 0 itself. */
#ifndef LAUNCHER_INPUT_H
#define LAUNCHER_INPUT_H

struct event_base;
struct ft_input;

/* NULL if standard input is no terminal, and when there is no memory (errno). */
struct ft_input *ft_input_new(struct event_base *base);

/* A new pipe for a new incarnation of rank 0: the read end, the caller's to close. -1: errno. What the one before had not
   read is lost. */
int ft_input_open(struct ft_input *in);

/* Its write end, -1: nobody reads. It stays ours. */
int ft_input_fd(const struct ft_input *in);

/* Goes on with a pipe that a dead agent made: our copy of its write end, ours from now on. */
void ft_input_adopt(struct ft_input *in, int fd);

void ft_input_free(struct ft_input *in);

#endif
