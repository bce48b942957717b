/* SPDX-License-Identifier: BSD-3-Clause */
/* What a checkpoint carries besides models (docs/internals/checkpoints.md, "Messages and communicators"): the messages that were sent
   before it and are received after it, each with its receiver, and where the rank stands in its channels.

   All ranks have come to the checkpoint when it is made, and none has left: what was sent has come, and nothing more does. */
#ifndef FT_CARRY_H
#define FT_CARRY_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/base/err.h"
#include "ft/base/position.h"
#include "ft/base/sig.h"

struct ft;

/* Ranks of this job can exchange messages, and a checkpoint knows of them: in any job on one host that has memory in common. ft NULL: no. */
bool ft_carry_is_on(const struct ft *ft);

/* What is still open here, so that there can be no checkpoint, or no load: a word that others can tell of, too. 0: nothing; else FT_CARRY_OPEN or more. */
#define FT_CARRY_OPEN (1ull << 63)
uint64_t ft_carry_open(const struct ft *ft, enum ft_call call);

/* FT_EINVAL, with the line about such a word, of this rank or another one. */
int ft_carry_tell(const struct ft *ft, enum ft_call call, uint64_t word, struct ft_error *e);

/* It has sent, received or looked for a message, or made a communicator. */
bool ft_carry_is_used(const struct ft *ft);

/* Takes all that has come. So many messages are not received; a negative number: an error. */
int64_t ft_carry_left(struct ft *ft, struct ft_error *e);

/* *bytes, which the caller frees: n of them, the same in any process of this rank; p: where the rank stands in all logs but the world's. 0 or an error. */
int ft_carry_save(struct ft *ft, void **bytes, uint64_t *n, struct ft_positions *p, struct ft_error *e);

/* At a load. again: this rank alone has been started again, and goes on where the checkpoint was made, in the logs that there are. Else all ranks
   have begun anew. FT_ENOMEM, FT_ESYS: it is damaged, FT_EDIVERGED: after all of which the job must be ended. */
int ft_carry_load(struct ft *ft, const void *bytes, uint64_t n, bool again, struct ft_error *e);

#endif
