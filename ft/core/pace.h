/* SPDX-License-Identifier: BSD-3-Clause */
/* How contributions are written into slots: into the cache, or past it.

   A slot's lines are in the caches of those who read the last contribution, and are taken back one by one when the next one is
   written. Between cores that share a cache that is the fastest way. Where they do not (other dies, other sockets, or a virtual
   machine whose processors are moved about) it is two to three times as slow as to write past the cache and to read from memory
   (docs/design.md, section 10: figures). Topologies do not say which it is: a virtual machine's does not follow its moves. So a
   rank times some of its own copies, for each other rank. It decides for itself, and for how the bytes go only: nothing that others
   see depends on it.

   What another rank lends (ft/core/single.h) is read where it is, or out of the log. The former is the faster one for what nobody writes to from call to call, which is in both
   caches then, and the slower one for what its lender has just made, by as much (docs/design.md, section 10). Programs do both, so that is timed, too. */
#ifndef FT_CORE_PACE_H
#define FT_CORE_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct ft_pace {
    uint32_t fills;   /* so far */
    uint32_t against; /* samples one after the other that say that `far` is wrong */
    bool far;
    bool samples;     /* the next one is a sample (ft_pace_next_lent) */
};

/* What is written in fewer bytes at a time has no choice: the order that stores past the cache need costs more than they win. With more ranks than
   FT_PACES, a rank's chunk of a slot is less than that. */
enum { FT_PACE_LEAST = 4096, FT_PACES = 32 };

enum ft_pace_way { FT_PACE_CACHED, FT_PACE_SAMPLE /* the same, timed: ft_pace_saw */, FT_PACE_PAST };

/* Of this process's ranks, from now on: contributions go as if the cores were near, or far, whatever timing says. NULL or "": by timing, as at first. -1: no such word. */
int ft_pace_set(const char *cores);

/* How the next fill goes, of FT_PACE_LEAST bytes or more. */
enum ft_pace_way ft_pace_next(struct ft_pace *p);

/* The same for the reading of what is lent, FT_PACE_PAST: out of the log. A sample is the second of two readings: the first one brings into this rank's cache what nobody writes to, and
   makes it what it is when all are read. `number` is one that the other rank knows as well, so both read in the same call: who does not writes meanwhile, and slows down who does. */
enum ft_pace_way ft_pace_next_lent(struct ft_pace *p, uint64_t number);

/* Of what two ranks write into memory that nobody has, for each other to read: no limit tells which way is the faster one (on one machine what has gone through a cache is read in 2 to 3 ns
   a line where that is right, on another in 8 to 12). So both are tried, in units that both ranks know, and of each the two halves are timed, the writing and the reading. */
struct ft_pace_both {
    struct ft_pace_mean {
        uint64_t ps;      /* of a line, of the last ones about */
        uint32_t samples;
    } mean[2][2];         /* [past the cache][enum ft_pace_half] */
    bool past;
};

enum ft_pace_half { FT_PACE_WRITTEN, FT_PACE_READ };

/* Unit u is tried, one way or the other. */
bool ft_pace_tries(uint64_t u);
/* Unit u, which may be tried, goes past the cache. */
bool ft_pace_gives_past(const struct ft_pace_both *p, uint64_t u);
/* Half of n bytes of unit u, which is tried, took so long. */
void ft_pace_took(struct ft_pace_both *p, uint64_t u, enum ft_pace_half half, uint64_t ns, uint64_t n);

/* From when on cores are far, tenths of ns for a line. Measured (docs/design.md, section 10): writing takes 2 to 8 ns a line where they share a cache, 13 to 33 where they do
   not. What is read in the other one's memory (4 to 8 ns near, with the kernel's share)
   is drawn where writing is; but what has just been made there takes 7 to 11, and 3 to 5 if it is in both caches. */
enum ft_pace_far { FT_PACE_FAR_WRITING = 120, FT_PACE_FAR_LENT = 120, FT_PACE_JUST_MADE = 55 };

/* A sample of n bytes took so long. */
void ft_pace_saw(struct ft_pace *p, uint64_t ns, uint64_t n, enum ft_pace_far limit);

#endif
