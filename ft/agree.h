/* SPDX-License-Identifier: BSD-3-Clause */
/* A unit by which ranks agree on a word: what checkpoints and the like are committed by. */
#ifndef FT_AGREE_H
#define FT_AGREE_H

#include <stdint.h>

#include "ft/base/sig.h"
#include "ft/ft.h"

/* *word becomes the largest of what the ranks give; what counts is what was contributed first, so incarnations may give different
   ones. call and count are the signature. Errors as any collective's. */
int ft_agree(struct ft_stream *s, enum ft_call call, uint64_t count, uint64_t *word, uint64_t site, struct ft_error *e);

/* Where the stream is after that, were it the next call: the end of its record, and the hash of all calls. */
void ft_agree_after(const struct ft_stream *s, enum ft_call call, uint64_t count, uint64_t *end, uint64_t *chain);

#endif
