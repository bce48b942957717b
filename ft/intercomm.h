/* SPDX-License-Identifier: BSD-3-Clause */
/* Intercommunicators (MPI 3.1 sections 6.6, 5.2.2): two groups that have no rank in common. Each names the ranks of the other one, in
   messages and as roots. They have no stream: all they do is messages.

   Errors: those of comm.h and of messages, and FT_EMISMATCH as a collective's. */
#ifndef FT_INTERCOMM_H
#define FT_INTERCOMM_H

#include "ft/comm.h"

enum { FT_ROOT = -4, FT_NOT_ROOT = -2 };  /* of the group of the root: the root, and the others */

/* All of `local` call it, and all of another one. On its rank `leader` it finds the other one's leader as rank `remote` of `peer`, by messages with
   that tag; on others these mean nothing. *shared, said to all: the groups have a rank in common, and nothing is made. */
int ft_intercomm_create(struct ft *ft, const struct ft_comm *local, uint32_t leader, const struct ft_comm *peer, int remote, int tag,
                        struct ft_comm *new, bool *shared, uint64_t site, struct ft_error *e);

/* All ranks of both groups in one communicator; those of the group that says high come last. */
int ft_intercomm_merge(struct ft *ft, const struct ft_comm *c, bool high, struct ft_comm *new, uint64_t site, struct ft_error *e);

/* As ft_comm_split. new->n is 0 also if nobody of the other group has the color. */
int ft_intercomm_split(struct ft *ft, const struct ft_comm *c, int64_t color, int64_t key, struct ft_comm *new, uint64_t site, struct ft_error *e);

int ft_intercomm_dup(struct ft *ft, const struct ft_comm *c, struct ft_comm *new, uint64_t site, struct ft_error *e);

/* Each group has what the other one gives. root: one of the other group, or one of the above. */
int ft_intercomm_barrier(const struct ft_comm *c, uint64_t site, struct ft_error *e);
int ft_intercomm_bcast(const struct ft_comm *c, void *data, uint64_t count, struct ft_type type, int root, uint64_t site, struct ft_error *e);
int ft_intercomm_reduce(const struct ft_comm *c, const void *send, void *recv, uint64_t count, struct ft_type type, const struct ft_op *op,
                        int root, uint64_t site, struct ft_error *e);
int ft_intercomm_allreduce(const struct ft_comm *c, const void *send, void *recv, uint64_t count, struct ft_type type, const struct ft_op *op,
                           uint64_t site, struct ft_error *e);
/* This rank sends so many elements of `sent`. Rank r's part of the other group comes to recv + displs[r] elements, and has counts[r]; displs NULL:
   r * count, and count. */
int ft_intercomm_allgather(const struct ft_comm *c, const void *send, uint64_t sends, struct ft_type sent, void *recv, uint64_t count,
                           const int *counts, const int *displs, struct ft_type type, uint64_t site, struct ft_error *e);

#endif
