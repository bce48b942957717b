/* SPDX-License-Identifier: BSD-3-Clause */
/* What ftrun tells people: one line each on stderr, "ftrun: ..." (STYLE habit 11). Lines go the way of the
   ranks' stderr (sink.h), so that they never land inside one of their lines. */
#ifndef LAUNCHER_BASE_SAY_H
#define LAUNCHER_BASE_SAY_H

#include <stdbool.h>
#include <stddef.h>

struct ft_say {
    void (*put)(void *arg, const char *line, size_t len); /* NULL: straight to descriptor 2, as before and after the
                              event loop */
    void *put_arg;
    bool quiet;            /* no ft_say_notice */
    int verbose;           /* 1: ft_say_detail, 2: ft_say_step, 3: ft_say_debug, too */
    bool timestamp;        /* --timestamp-output: of these lines, too */
    void (*copy)(void *arg, const char *line, size_t len); /* first; --output-filename: of these lines, too. NULL: none */
    void *copy_arg;
    void (*tap)(void *arg, int stream, const char *line, size_t len);  /* sees them too (stream 1: stderr); may be NULL */
    void *tap_arg;
};

/* Errors: always. */
void ft_say(const struct ft_say *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What recovery did: unless --quiet. */
void ft_say_notice(const struct ft_say *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* With -v: what happens to the job. How it is set up, deaths, hosts that start, checkpoints that are safe, sums at the end. */
void ft_say_detail(const struct ft_say *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* With -vv: each step on the way. The first snapshot of a rank, those that are lost, what is fetched and kept, ways of copying that were chosen. */
void ft_say_step(const struct ft_say *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* With -vvv: for who looks for a fault in ftrun. */
void ft_say_debug(const struct ft_say *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A line that another process of ftrun has said to this one. */
void ft_say_line(const struct ft_say *s, const char *text, size_t len);

/* This host's name, for messages; and another one, as the user knows it (it is kept). */
void ft_say_set_host(const char *name);
const char *ft_say_host(void);

#endif
