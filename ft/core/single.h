/* SPDX-License-Identifier: BSD-3-Clause */
/* Single copy: of two ranks one reads what the other one contributes out of its memory, process_vm_readv(2), while both are in the call; what it is worth, and
   where, is in docs/design.md, section 3.

   What is read proves itself. Who lends has a token in its own memory, which says which loan of which rank of which job it is, and it is read by the
   system call that reads the buffer. So whatever has become of that process number (another process has it, or in the reader's namespace it was never the
   lender's), bytes that came with the token are the lender's: a process that is killed meanwhile keeps its memory until the system call returns, and nobody leaves
   the call before the other one has read. A process that has shown its token once need not again, if it is seen to be alive behind the read (ft/shm/alive.h): then nobody
   else had its number meanwhile. A token costs 0.3 us, as much as 10 KiB.

   Nobody relies on it: what is lent is written into the log as well, by the lender, and whoever cannot read it takes it from there. And the log decides: what
   has been read counts only if the log has it from the incarnation that lent it. */
#ifndef FT_CORE_SINGLE_H
#define FT_CORE_SINGLE_H

#include "ft/core/stream.h"

/* What was read, or not: the loan's number, and the first unit that its lender itself does. */
struct ft_loan {
    uint64_t number, from;
};

/* This incarnation may lend and read from now on: a stream of two ranks that has been opened or resumed. Until it is closed. */
void ft_single_open(struct ft_stream *s);
/* False: the calling thread is not the one that opened it; then the memory that is shared must stay where it is. */
bool ft_single_close(struct ft_stream *s);

/* Lends a contribution of n bytes for the operation in progress. Before what says that this rank is in it. */
void ft_single_lend(struct ft_stream *s, const void *contribution, uint64_t n);

/* Behind a fork whose child lives: what was lent more than once since the last one, and is likely to be lent again, is this process's alone, as if it had been written to. Else the one
   that reads it has the kernel do that, page by page, each with an interrupt of this rank's processor. */
void ft_single_unshare(struct ft_stream *s);

/* n bytes at `at` of it. False: they could not be read (the lender is dead, or gone on; it is not allowed),
   or it is faster to take them from the log: the cores are far from each other, or the lender has just made them (pace.h); `to` has anything. */
bool ft_single_read(struct ft_stream *s, uint32_t lender, uint64_t at, void *to, uint64_t n, struct ft_loan *loan);

/* Whether what was read is what the log has of unit u, which its lender has done. */
bool ft_single_stands(const struct ft_stream *s, uint32_t lender, const struct ft_loan *loan, uint64_t u);

/* This rank reads nothing more of what is lent for units below. */
void ft_single_taken(struct ft_stream *s, uint64_t unit);

#endif
