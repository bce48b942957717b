/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading in the memory of another process, process_vm_readv(2), such that what is read proves whose it is. */
#ifndef FT_SHM_FOREIGN_H
#define FT_SHM_FOREIGN_H

#include <stdbool.h>
#include <stdint.h>

/* What a reader finds in the other one's memory besides what it is after. */
struct ft_token {
    uint64_t nonce, rank, number;  /* of the region; of the stream; of the loan, 0: none */
};

/* This process, as others are to name it. */
uint64_t ft_foreign_self(void);

/* n bytes from address `from` of process `process`, where the expected token is at token_at: it is read by the system calls that read the bytes. No token
   expected: whose memory it is, is known (ft/shm/alive.h). False: they could not be read, or it is another token; `to` has anything. */
bool ft_foreign_read(uint64_t process, uint64_t token_at, const struct ft_token *expected, uint64_t from, void *to, uint64_t n);

/* Makes n bytes of this process's that a fork's child has, too, this one's alone, as if all of it were written to; they are what they were. Memory that cannot be written to, or an
   older kernel (before Linux 5.14): they stay shared. */
void ft_foreign_unshare(const void *at, uint64_t n);

#endif
