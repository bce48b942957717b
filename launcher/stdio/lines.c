/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/stdio/lines.h"

#include <string.h>
#include <xxhash.h>

#include "ft/base/util.h"

/* 32 bits a line: enough to notice a difference. */
static uint32_t hash_of(const char *line, size_t len)
{
    return (uint32_t)XXH3_64bits(line, len);
}

/* A line that has been forwarded. */
static void remember(struct ft_lines *l, const char *line, size_t len)
{
    if (l->keep && l->s.n < l->room)
        l->hash[l->s.n] = hash_of(line, len);
    l->s.n++;
    l->s.at++;
    l->s.open = line[len - 1] != '\n';
}

static void note_difference(struct ft_lines *l)
{
    if (!l->s.differs)
        l->s.differs = l->s.at + 1;
}

/* The line that was being shown when its incarnation died, or a new one. */
static void new_line(struct ft_lines *l, const char *line, size_t len, ft_emit *emit, void *arg)
{
    uint32_t shown = l->s.shown;

    if (shown) {
        if (len < shown || hash_of(line, shown) != l->s.shown_hash)
            note_difference(l);
        if (len > shown)
            emit(arg, false, line + shown, len - shown);
        l->s.shown = 0;
    } else {
        emit(arg, !l->s.open, line, len);
    }
    remember(l, line, len);
}

static void old_line(struct ft_lines *l, const char *line, size_t len)
{
    if (l->keep && l->s.at < l->room && l->hash[l->s.at] != hash_of(line, len))
        note_difference(l);
    l->s.at++;
}

static void keep_part(struct ft_lines *l, const char *data, size_t len)
{
    memcpy(l->part + l->s.len, data, len);
    l->s.len += (uint32_t)len;
}

/* Bytes of data that belong to the line begun in part: up to a newline or the longest a line may be. */
static size_t line_end(const struct ft_lines *l, const char *data, size_t len, bool *whole)
{
    size_t most = ft_min(len, l->longest - l->s.len);
    const char *newline = memchr(data, '\n', most);

    *whole = newline || l->s.len + most == l->longest;
    return newline ? (size_t)(newline - data) + 1 : most;
}

/* Lines that were forwarded before, whole in data. */
static size_t drop_run(struct ft_lines *l, const char *data, size_t len)
{
    size_t run = 0;
    bool whole = true;

    while (run < len && l->s.at < l->s.n) {
        size_t n = line_end(l, data + run, len - run, &whole);

        if (!whole)
            break;
        old_line(l, data + run, n);
        run += n;
    }
    return run;
}

/* New whole lines that follow each other are forwarded in one piece. */
static size_t take_run(struct ft_lines *l, const char *data, size_t len, ft_emit *emit, void *arg)
{
    bool begins = !l->s.open, whole;
    size_t run = 0;

    while (run < len) {
        size_t n = line_end(l, data + run, len - run, &whole);

        if (!whole)
            break;
        remember(l, data + run, n);
        run += n;
        if (l->s.open)
            break;
    }
    if (run)
        emit(arg, begins, data, run);
    return run;
}

size_t ft_lines_step(struct ft_lines *l, const char *data, size_t len, ft_emit *emit, void *arg)
{
    size_t n = 0;
    bool whole;

    if (!l->s.len && l->s.at < l->s.n)
        n = drop_run(l, data, len);
    else if (!l->s.len && !l->s.shown)
        n = take_run(l, data, len, emit, arg);
    if (n)
        return n;
    n = line_end(l, data, len, &whole);
    keep_part(l, data, n);
    if (whole) {
        if (l->s.at < l->s.n)
            old_line(l, l->part, l->s.len);
        else
            new_line(l, l->part, l->s.len, emit, arg);
        l->s.len = 0;
    }
    return n;
}

bool ft_lines_unfinished(const struct ft_lines *l)
{
    return l->s.at == l->s.n && l->s.len > l->s.shown;
}

bool ft_lines_is_bar(const struct ft_lines *l)
{
    return memchr(l->part, '\r', l->s.len) != NULL;
}

void ft_lines_show(struct ft_lines *l, ft_emit *emit, void *arg)
{
    if (!ft_lines_unfinished(l))
        return;
    if (l->s.shown && hash_of(l->part, l->s.shown) != l->s.shown_hash)
        note_difference(l);
    emit(arg, !l->s.shown && !l->s.open, l->part + l->s.shown, l->s.len - l->s.shown);
    l->s.shown = l->s.len;
    l->s.shown_hash = hash_of(l->part, l->s.len);
}

void ft_lines_restart(struct ft_lines *l)
{
    l->s.at = 0;
    l->s.len = 0;
}

void ft_lines_mark(const struct ft_lines *l, struct ft_lines_mark *mark, char *long_part)
{
    mark->at = l->s.at;
    mark->len = l->s.len;
    memcpy(l->s.len > sizeof mark->part ? long_part : mark->part, l->part, l->s.len);
    mark->noted = 1;
}

void ft_lines_return(struct ft_lines *l, const struct ft_lines_mark *mark, const char *long_part)
{
    l->s.at = mark->at;
    keep_part(l, mark->len > sizeof mark->part ? long_part : mark->part, mark->len);
}
