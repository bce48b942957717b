/* SPDX-License-Identifier: BSD-3-Clause */
/* What an ftrun says to one that starts a share of the nodes for it (`ftrun --starter`), and what that one answers: a line of JSON each.

     to the starter    begin, then start with the description of its own host's node; after its ready start for each node of its share, and all;
                       at any time up or end of a node
     from it           ready; ended or line of a node

   A START is two lines, the second one is the node's description (description.h): the job's secret goes nowhere else.

   An ftrun that waits to be given a node (--rdzv) is told and says the same, in WORD frames (wire.h):

     to it      its own name in welcome; start, and the description, without the secret, in TEXT frames before it; over, with the job's exit code
     from it    come, with its name, slots and the number of its process; ended or line of a node; leave */
#ifndef LAUNCHER_WIRE_SHARES_H
#define LAUNCHER_WIRE_SHARES_H

#include <stddef.h>
#include <stdint.h>

#include "ft/base/err.h"

enum ft_share_kind {
    FT_SHARE_BEGIN, FT_SHARE_START, FT_SHARE_ALL, FT_SHARE_UP, FT_SHARE_END,
    FT_SHARE_READY, FT_SHARE_ENDED, FT_SHARE_LINE,
    FT_SHARE_COME, FT_SHARE_LEAVE, FT_SHARE_WELCOME, FT_SHARE_OVER,
    FT_SHARE_KINDS
};

struct ft_share_word {
    enum ft_share_kind kind;
    uint32_t node;             /* BEGIN: the starter's own */
    int status;                /* ENDED: as ft_remote_config.ended has it. OVER: the job's exit code */
    char *text;                /* START, COME: its host. ENDED, LINE: what was said */
    uint32_t slots;            /* COME */
    uint64_t id;               /* COME: of the process: another one under this name has another one. START, ENDED: the incarnation, where hosts come */
    uint32_t lease_ms;         /* WELCOME: the job's --lease */
    /* BEGIN */
    char *launcher, *path;     /* launcher NULL: ssh */
    char **args;
    uint32_t nnodes, width, start_ms;
};

/* With its newline; free() it. NULL: no memory. */
char *ft_share_write(const struct ft_share_word *w);

/* Strings are to be freed by ft_share_free in any case. FT_EINVAL with a line: not one of those (a login there may print things, too), or
   from another version. */
int ft_share_read(struct ft_share_word *w, const char *line, size_t len, struct ft_error *e);

void ft_share_free(struct ft_share_word *w);

#endif
