/* SPDX-License-Identifier: BSD-3-Clause */
/* Words (shares.h) on a channel, each with the text that it is about before it. */
#ifndef LAUNCHER_NET_WORDS_H
#define LAUNCHER_NET_WORDS_H

#include <stddef.h>

#include "launcher/net/channel.h"
#include "launcher/wire/shares.h"

/* text NULL: none. No memory: the channel breaks, later. */
void ft_words_send(struct ft_channel *c, const struct ft_share_word *w, const char *text);

/* What has come for the next word; zeros: nothing. */
struct ft_words {
    char *text;
    size_t len;
};

/* A WORD or a TEXT. 1: w is a word, for ft_share_free, and s->text, if not NULL, is its text; 0: there is more to come; below 0: it is neither,
   or no memory, with a line. */
int ft_words_take(struct ft_words *s, const struct ft_wire_frame *f, struct ft_share_word *w, struct ft_error *e);

/* After the word, and at the end. */
void ft_words_forget(struct ft_words *s);

#endif
