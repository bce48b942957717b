/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/lines.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "ft/base/util.h"

/* 32 bits a line: enough to notice a difference, and a job that prints a million lines costs 4 MB. */
static uint32_t hash_of(const char *line, size_t len)
{
    return (uint32_t)XXH3_64bits(line, len);
}

static void remember(struct ft_lines *l, const char *line, size_t len)
{
    if (l->keep) {
        if (l->n == l->room) {
            l->room = l->room ? 2 * l->room : 64;
            l->hash = realloc(l->hash, l->room * sizeof *l->hash);
            FT_INVARIANT(l->hash, "there is memory for the hashes of forwarded lines");
        }
        l->hash[l->n] = hash_of(line, len);
    }
    l->n++;
}

static void note_difference(struct ft_lines *l)
{
    if (!l->differs)
        l->differs = l->at + 1;
}

/* The line that was being shown when its incarnation died, or a new one. */
static void new_line(struct ft_lines *l, const char *line, size_t len, ft_emit *emit, void *arg)
{
    if (l->shown) {
        if (len < l->shown || hash_of(line, l->shown) != l->shown_hash)
            note_difference(l);
        if (len > l->shown)
            emit(arg, line + l->shown, len - l->shown);
        l->shown = 0;
    } else {
        emit(arg, line, len);
    }
    remember(l, line, len);
    l->at++;
}

static void old_line(struct ft_lines *l, const char *line, size_t len)
{
    if (l->keep && l->hash[l->at] != hash_of(line, len))
        note_difference(l);
    l->at++;
}

static void take_line(struct ft_lines *l, const char *line, size_t len, ft_emit *emit, void *arg)
{
    if (l->at < l->n)
        old_line(l, line, len);
    else
        new_line(l, line, len, emit, arg);
}

static void keep_part(struct ft_lines *l, const char *data, size_t len)
{
    if (l->len + len > l->part_room) {
        l->part_room = ft_min(2 * (l->len + len), FT_LINE_MAX);
        l->part = realloc(l->part, l->part_room);
        FT_INVARIANT(l->part, "there is memory for an unfinished line");
    }
    memcpy(l->part + l->len, data, len);
    l->len += len;
}

/* Bytes of data that belong to the line begun in part: up to a newline or the longest a line may be. */
static size_t line_end(const struct ft_lines *l, const char *data, size_t len, bool *whole)
{
    size_t most = ft_min(len, FT_LINE_MAX - l->len);
    const char *newline = memchr(data, '\n', most);

    *whole = newline || l->len + most == FT_LINE_MAX;
    return newline ? (size_t)(newline - data) + 1 : most;
}

/* New whole lines that follow each other are forwarded in one piece. */
static size_t take_run(struct ft_lines *l, const char *data, size_t len, ft_emit *emit, void *arg)
{
    size_t run = 0;
    bool whole;

    for (;;) {
        size_t n = line_end(l, data + run, len - run, &whole);

        if (!whole)
            break;
        remember(l, data + run, n);
        l->at++;
        run += n;
        if (run == len)
            break;
    }
    if (run)
        emit(arg, data, run);
    return run;
}

void ft_lines_feed(struct ft_lines *l, const char *data, size_t len, ft_emit *emit, void *arg)
{
    while (len) {
        bool whole;
        size_t n;

        if (!l->len && !l->shown && l->at == l->n && (n = take_run(l, data, len, emit, arg))) {
            data += n;
            len -= n;
            continue;
        }
        n = line_end(l, data, len, &whole);
        if (l->len || !whole)
            keep_part(l, data, n);
        if (whole) {
            take_line(l, l->len ? l->part : data, l->len ? l->len : n, emit, arg);
            l->len = 0;
        }
        data += n;
        len -= n;
    }
}

bool ft_lines_unfinished(const struct ft_lines *l)
{
    return l->at == l->n && l->len > l->shown;
}

void ft_lines_show(struct ft_lines *l, ft_emit *emit, void *arg)
{
    if (!ft_lines_unfinished(l))
        return;
    if (l->shown && hash_of(l->part, l->shown) != l->shown_hash)
        note_difference(l);
    emit(arg, l->part + l->shown, l->len - l->shown);
    l->shown = l->len;
    l->shown_hash = hash_of(l->part, l->len);
}

void ft_lines_restart(struct ft_lines *l)
{
    l->at = 0;
    l->len = 0;
}

void ft_lines_free(struct ft_lines *l)
{
    free(l->hash);
    free(l->part);
}
