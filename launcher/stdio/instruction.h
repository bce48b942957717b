/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests: a process that is run one instruction at a time, and killed at one of them. Instructions that change nothing a successor looks at
   make no difference; a first run finds those that do. */
#ifndef LAUNCHER_STDIO_INSTRUCTION_H
#define LAUNCHER_STDIO_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>

enum { CHANGES_MOST = 4096, LOOK_MOST = 36 << 10 };

/* Numbers of instructions after which something had changed. */
struct changes {
    long at[CHANGES_MOST];
    int n;
};

struct stepped {
    void (*run)(void *scene);                /* what the process does */
    size_t (*look)(void *scene, char *to);   /* what a successor looks at: at most LOOK_MOST bytes */
    void *scene;
};

/* Lets a process run so many instructions, or to its end, then kills it. changes may be NULL. */
void run_some(const struct stepped *s, long most, struct changes *changes);

/* For PROGRAM [KILLS [KIND]]: so many kills for each kind (default 8; FT_TIER=full: 40), 0: after each change. Which ones is decided by seed 1;
   FT_TIER=full: by any, which is printed, or FT_SEED. */
struct plan {
    int kills;
    bool whole;                              /* the fixed seed of every run */
};
struct plan begin_stepping(int argc, char **argv);

/* Calls try(kind, first, second) for kills of one kind, after a first run whose changes are known: killed after so many instructions, and (second,
   not 0) its successor likewise. */
void try_changes(const struct plan *plan, int kind, const struct changes *changes, void (*try)(int kind, long first, long second));

#endif
