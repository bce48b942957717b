/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/options/appfile.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int ft_appfile_open(struct ft_appfile *a, struct ft_options *o, const char *path, struct ft_error *e)
{
    memset(a, 0, sizeof *a);
    a->o = o;
    a->path = path;
    a->f = fopen(path, "re");
    return a->f ? 0 : ft_err_set(e, FT_EINVAL, "--app %s: %s", path, strerror(errno));
}

/* Takes one word off *from, unquoted in place; NULL: no more. *open: a quote is not closed. */
static char *next_word(char **from, bool *open)
{
    char *in = *from + strspn(*from, " \t"), *word = in, *to = in, quote = 0;

    if (!*in || *in == '#')
        return NULL;
    for (; *in && (quote || !isspace((unsigned char)*in)); in++) {
        if (quote ? *in == quote : *in == '"' || *in == '\'')
            quote = quote ? 0 : *in;
        else if (*in == '\\' && quote != '\'' && in[1])
            *to++ = *++in;
        else
            *to++ = *in;
    }
    *open = quote != 0;
    *from = in + (*in != 0);
    *to = 0;
    return word;
}

/* A line and those it is continued by. -1: no more. */
static ssize_t read_line(struct ft_appfile *a)
{
    size_t used = 0;

    for (;;) {
        char *more = NULL;
        size_t room = 0;
        ssize_t n = getline(&more, &room, a->f);
        char *line = n < 0 ? NULL : realloc(a->line, used + (size_t)n + 1);

        if (line) {
            a->line = line;
            a->number++;
            n -= n > 0 && more[n - 1] == '\n';
            memcpy(a->line + used, more, (size_t)n);
            used += (size_t)n;
            a->line[used] = 0;
        }
        free(more);
        if (!line)
            return used ? (ssize_t)used : -1;
        if (!used || a->line[used - 1] != '\\')
            return (ssize_t)used;
        a->line[used - 1] = ' ';
    }
}

static int split(struct ft_appfile *a, const char *where, struct ft_error *e)
{
    char *text = ft_options_keep(a->o, "%s", a->line), *word;
    char **words = ft_options_own(a->o, calloc(strlen(a->line) / 2 + 2, sizeof *words)); /* at most every other character begins one */
    bool open = false;

    if (!text || !words)
        return ft_err_set(e, FT_EINVAL, "out of memory");
    for (a->nwords = 0; !open && (word = next_word(&text, &open)); )
        words[a->nwords++] = word;
    if (open)
        return ft_err_set(e, FT_EINVAL, "%s: a quote is not closed", where);
    words[a->nwords] = NULL;
    a->words = words;
    return 0;
}

int ft_appfile_next(struct ft_appfile *a, const char **where, struct ft_error *e)
{
    errno = 0;
    while (read_line(a) >= 0) {
        *where = ft_options_keep(a->o, "%s:%u", a->path, a->number);
        if (!*where)
            return ft_err_set(e, FT_EINVAL, "out of memory");
        if (split(a, *where, e) < 0)
            return FT_EINVAL;
        if (a->nwords)
            return 1;
    }
    if (ferror(a->f))
        return ft_err_set(e, FT_EINVAL, "--app %s: %s", a->path, strerror(errno));
    return a->o->ncontexts ? 0 : ft_err_set(e, FT_EINVAL, "--app %s: there is no program in it", a->path);
}

void ft_appfile_close(struct ft_appfile *a)
{
    fclose(a->f);
    free(a->line);
}
