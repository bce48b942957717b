/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks of an explored job do with messages (letters_program.c), and what is looked at in each of them (letters.c).

   A rank's sends and receives that are under way have numbers, from 0 to MOST_LETTERS - 1. How many bytes a message has, and which, follows
   from who sends it to whom and with which tag. All that return bool: false: something has failed, which has been said. */
#ifndef FT_TEST_LETTERS_H
#define FT_TEST_LETTERS_H

#include "ft/test/explore.h"

enum {
    TAGS = 64,       /* of a call */
    LETTER_SIZES = 5, /* of messages, by their tags: nothing, 8 and 16 bytes, which are in their slots, 17, job.sc.count * 4 */
    LETTER_SITE = 30
};

uint32_t next_of(const struct actor *r);
uint32_t previous_of(const struct actor *r);
int tag_of(const struct actor *r, int i);  /* number i of the call's */
uint64_t bytes_of(int tag);

bool is_good(const struct actor *r, int err, const struct ft_error *e);

/* The rank was told something that nothing else decides: each of its incarnations must be told the same. */
void note_word(struct actor *r, uint64_t word);
void note_told(struct actor *r, const struct ft_told *told);

/* It is what was asked for; it is what was sent: room bytes of it, at most, and 8 untouched ones after that. */
void check_asked(const struct actor *r, const struct ft_told *told, int source, int tag);
void check_letter(struct actor *r, const struct ft_told *told, const unsigned char *bytes, uint64_t room);

bool send_letter(struct actor *r, uint32_t to, int tag, enum ft_send_mode mode);
bool start_letter(struct actor *r, uint32_t i, uint32_t to, int tag, enum ft_send_mode mode);
bool receive_letter(struct actor *r, int from, int tag, uint64_t room);
bool start_receive(struct actor *r, uint32_t i, int from, int tag, uint64_t room);
void begins_to_receive(const struct actor *r);  /* from now on synchronous sends to it may be over */

bool await_letter(struct actor *r, uint32_t i);
bool take_letter(struct actor *r, uint32_t i);  /* one that is over: it is looked at, and its number is free */
bool finish_letter(struct actor *r, uint32_t i);
bool finish_letters(struct actor *r);           /* all that there are */
bool receive_taken(struct actor *r, struct ft_message *m, const struct ft_told *told);  /* what a probe has taken, and told of */

#endif
