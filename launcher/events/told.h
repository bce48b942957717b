/* SPDX-License-Identifier: BSD-3-Clause */
/* What has been told of a job, in memory that all of its launcher processes share: a few words, each of which says how much of
   something has been told, and the lines themselves. A line and the words that say that it has been told become true at once,
   whoever is killed when; so each is told exactly once. Lines that nobody takes are kept up to a bound; then they are left out,
   and the next one that finds room says how many were. */
#ifndef LAUNCHER_EVENTS_TOLD_H
#define LAUNCHER_EVENTS_TOLD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ft/base/err.h"

struct ft_outlet;
struct ft_told;

enum { FT_TOLD_WORDS = 2 /* that a line changes at most */, FT_TOLD_KEPT = 1 << 20 /* bytes of lines that wait */ };

struct ft_told_change {
    size_t word;
    uint64_t value;
};

/* With so many words, all 0, before the first fork. outlet is borrowed. NULL: no memory. */
struct ft_told *ft_told_new(size_t nwords, struct ft_outlet *outlet);

/* This process tells from now on: finishes what another one was killed in the middle of. -1: errno. */
int ft_told_run(struct ft_told *t);

/* It does; another one than it is forgets that. */
bool ft_told_is_run(const struct ft_told *t);
void ft_told_forget(struct ft_told *t);

uint64_t ft_told_word(const struct ft_told *t, size_t word);

/* Tells one event, an object, which is taken over: it gets "seq", and "dropped" if events before it were left out; n words change
   with it. NULL, or no memory: it counts as left out. */
void ft_told_line(struct ft_told *t, json_t *event, const struct ft_told_change *changes, size_t n);

/* The words alone. */
void ft_told_silently(struct ft_told *t, const struct ft_told_change *changes, size_t n);

/* Events that have been left out, of late. */
uint64_t ft_told_dropped(const struct ft_told *t);

/* All lines that were kept have been written. */
bool ft_told_written(const struct ft_told *t);

void ft_told_free(struct ft_told *t);

#endif
