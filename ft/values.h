/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank's side of the job's store (docs/store.md): it numbers its calls, puts each into its box, and waits for the answer. Which call was
   answered how is remembered by who answers, for the whole job: a rank that comes back asks again, with the same numbers. So nothing
   of it is in the log, and it does not matter by which way a rank comes back. */
#ifndef FT_VALUES_H
#define FT_VALUES_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

#include "ft/base/err.h"
#include "ft/base/value.h"

struct ft;
struct ft_values;

/* Zeros to begin with. */
struct ft_values_caller {
    uint64_t version;            /* of the calls counted: checkpoints made or loaded */
    uint32_t calls;              /* so many since then */
    bool asks;                   /* a thread does */
    char *answer;                /* the last one, as it came */
    size_t room;
    struct ft_values *alone;     /* of a world of one without ftrun: its own store, made with the first call */
    void *memory;
    size_t bytes;
};

void ft_values_caller_close(struct ft_values_caller *c);

#endif
