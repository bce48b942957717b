/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests: a process that is run one instruction at a time, and killed at one of them. Instructions that change nothing a successor looks at
   make no difference; a first run finds those that do. */
#ifndef LAUNCHER_STDIO_INSTRUCTION_H
#define LAUNCHER_STDIO_INSTRUCTION_H

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

/* PROGRAM [KILLS [KIND]]: so many kills for each kind (default 8; FT_TIER=full: 40), 0: after each change. Which ones is decided by seed 1;
   FT_TIER=full: by any, which is printed, or FT_SEED. Calls try(kind, first, second): killed after so many instructions, and (second, not 0) its
   successor likewise. changes is not NULL the first time with each kind, when it is not killed: for run_some. Returns main's code. */
int try_all(int argc, char **argv, const char *const *kinds, int nkinds, void (*try)(int kind, long first, long second, struct changes *changes));

#endif
