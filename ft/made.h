/* SPDX-License-Identifier: BSD-3-Clause */
/* The communicators of this rank, by numbers: in the order in which it has come into them. A program that is started again makes them again
   in that order, so a number is the same communicator then; its stream need not be. */
#ifndef FT_MADE_H
#define FT_MADE_H

#include <stdbool.h>
#include <stdint.h>

struct ft_made_one {
    uint64_t context, number;
};

/* Zeros: none but MPI_COMM_WORLD and MPI_COMM_SELF. Private memory; a snapshot has it. */
struct ft_made {
    struct ft_made_one *there;   /* [n]: those that are not freed */
    uint32_t n, room;
    uint64_t numbers;            /* so many were made */
    uint64_t loaded;             /* ... before the program loaded its checkpoint, ... */
    uint64_t freed;              /* ... of which so many were freed since */
    bool loads;                  /* it has */
};

/* One is made. Not 0: no memory. */
int ft_made_add(struct ft_made *m, uint64_t context);
void ft_made_remove(struct ft_made *m, uint64_t context);
void ft_made_close(struct ft_made *m);

/* The number of the communicator of that context, and back. 0: there is none. */
uint64_t ft_made_number(const struct ft_made *m, uint64_t context);
uint64_t ft_made_context(const struct ft_made *m, uint64_t number);

/* The program loads its checkpoint, or finds that there is none. */
void ft_made_load(struct ft_made *m);

/* So many were made since then and are there. */
uint64_t ft_made_since(const struct ft_made *m);

#endif
