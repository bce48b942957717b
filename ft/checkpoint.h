/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank's side of checkpoints (DESIGN section 4; docs/internals/checkpoints.md): a cut that the program makes itself.

     a checkpoint: models into the slot that holds the older version, once nobody can load that any more (RULE 6);
                   the slot's words; what was printed is noted by the agent; one unit, which commits it
     a load:       the newest committed version; what is printed from now on follows what was noted; the stream stands where it
                   stood after that checkpoint

   What a restarted rank calls before it loads is answered from the store, where rank 0 has put the beginning of the log at the first
   load, so a committed checkpoint is a cut for every rank that has loaded before. */
#ifndef FT_CHECKPOINT_H
#define FT_CHECKPOINT_H

#include "ft/core/stream.h"
#include "ft/ft.h"
#include "ft/shm/model_map.h"
#include "ft/shm/versions.h"

struct ft_checkpoints {
    struct ft_stream *s;              /* the world */
    const struct ft_region *region;   /* NULL: a world of one without ftrun */
    struct ft_version_head *head;
    struct ft_version_words *mine;
    int fd;                           /* memory for models */
    int bell;                         /* tells the agent; -1: there is none to answer requests */

    /* A snapshot has these as they were at its position, which is where they are true again. */
    uint64_t version;                 /* made or loaded */
    uint64_t kept;                    /* the newest of those whose models are in the store, 0: none ... */
    uint32_t slot;                    /* ... and where */
    uint64_t kept_end, kept_ns;       /* lazy ones: log position and time of that, and what it had cost */
    uint64_t cost_ns;
    bool loaded;                      /* in this life */
    void *global, *local;             /* of the last load */
    struct ft_model_map maps[2][2];   /* of this rank: by slot, local and global */

    struct ft_version_words alone;    /* `mine` of a world of one */
};

/* region NULL: a world of one; fd is then made when it is needed. */
void ft_checkpoints_open(struct ft_checkpoints *c, struct ft_stream *world, const struct ft_region *region, int fd, int bell);
void ft_checkpoints_close(struct ft_checkpoints *c);

/* In a forked copy that is the rank now. */
void ft_checkpoints_resume(struct ft_checkpoints *c);

/* ft.h: ft_checkpoint, ft_checkpoint_lazy, ft_load. */
int ft_checkpoints_make(struct ft_checkpoints *c, const struct ft_models *m, uint64_t site, struct ft_error *e);
int ft_checkpoints_make_lazy(struct ft_checkpoints *c, ft_serialize *serialize, void *state, uint64_t site, struct ft_error *e);
int ft_checkpoints_load(struct ft_checkpoints *c, struct ft_models *m, uint64_t site, struct ft_error *e);

/* A request to the agent, which is answered later: its number. */
uint64_t ft_checkpoints_ask(struct ft_checkpoints *c, enum ft_ask kind, uint32_t slot);

#endif
