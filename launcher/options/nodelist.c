/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/options/nodelist.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "launcher/options/hosts.h"

enum { NAME_BYTES = 256, DIGITS = 9 };

/* The work in progress. */
struct reader {
    struct ft_options *o;
    const char *text, *who;
    struct ft_hosts *hosts;
    struct ft_error *e;
    char name[NAME_BYTES];     /* as far as it is read */
};

static int wrong(const struct reader *r)
{
    return ft_err_set(r->e, FT_EINVAL, "%s is \"%.120s\", which is not a list of nodes", r->who, r->text);
}

static int add(struct reader *r)
{
    struct ft_host host = {.name = ft_options_keep(r->o, "%s", r->name)};
    size_t before = r->hosts->n;

    if (before == FT_NODES_MAX)
        return ft_err_set(r->e, FT_EINVAL, "%s is \"%.120s\": too many nodes, a job has at most %d hosts", r->who, r->text,
                          (int)FT_NODES_MAX);
    if (!host.name || ft_hosts_add(r->o, r->hosts, &host) < 0)
        return ft_err_set(r->e, FT_EINVAL, "out of memory");
    return r->hosts->n > before ? 0 : ft_err_set(r->e, FT_EINVAL, "%s is \"%.120s\": %s is in it twice", r->who, r->text, host.name);
}

static int read_name(struct reader *r, size_t len, const char *rest);

/* A number of at most DIGITS digits; *digits: how many. */
static bool read_number(const char **text, uint64_t *number, size_t *digits)
{
    *number = 0;
    *digits = strspn(*text, "0123456789");
    if (*digits < 1 || *digits > DIGITS)
        return false;
    for (size_t i = 0; i < *digits; i++)
        *number = *number * 10 + (uint64_t)((*text)[i] - '0');
    *text += *digits;
    return true;
}

/* "3" or "08-10" at `range`; what follows the bracket is at rest. As many digits as the first number has. */
static int expand(struct reader *r, size_t len, const char **range, const char *rest)
{
    uint64_t from, to;
    size_t width, digits;
    int err = 0;

    if (!read_number(range, &from, &width))
        return wrong(r);
    to = from;
    if (**range == '-' && (++*range, !read_number(range, &to, &digits)))
        return wrong(r);
    if (to < from || (**range != ',' && **range != ']'))
        return wrong(r);
    for (uint64_t i = from; i <= to && !err; i++) {
        int n = snprintf(r->name + len, sizeof r->name - len, "%0*llu", (int)width, (unsigned long long)i);

        err = len + (size_t)n < sizeof r->name ? read_name(r, len + (size_t)n, rest) : wrong(r);
    }
    return err;
}

/* The rest of a name, to the comma after it, of which len characters are known. */
static int read_name(struct reader *r, size_t len, const char *rest)
{
    size_t plain = strcspn(rest, "[,");
    const char *end;
    int err;

    if (len + plain >= sizeof r->name)
        return wrong(r);
    memcpy(r->name + len, rest, plain);
    r->name[len += plain] = 0;
    rest += plain;
    if (*rest != '[') {
        if (!ft_hosts_is_name(r->name) || strpbrk(r->name, "@:%")) /* those are ssh's */
            return wrong(r);
        return add(r);
    }
    end = strchr(rest, ']');
    if (!end)
        return wrong(r);
    do {
        rest++; /* the bracket or a comma */
        err = expand(r, len, &rest, end + 1);
    } while (!err && *rest == ',');
    return err;
}

/* Where the next name begins, or the end: commas within brackets do not count. */
static const char *next_name(const char *text)
{
    bool inside = false;

    for (; *text && (inside || *text != ','); text++)
        inside = *text == '[' || (inside && *text != ']');
    return text;
}

int ft_nodelist_names(struct ft_options *o, const char *text, const char *who, struct ft_hosts *hosts, struct ft_error *e)
{
    struct reader r = {.o = o, .text = text, .who = who, .hosts = hosts, .e = e};

    for (const char *name = text;; name++) {
        if (read_name(&r, 0, name) < 0)
            return FT_EINVAL;
        name = next_name(name);
        if (!*name)
            return 0;
    }
}

int ft_nodelist_numbers(const char *text, const char *who, uint32_t *numbers, size_t most, size_t *n, struct ft_error *e)
{
    const char *at = text;

    *n = 0;
    for (;; at++) {
        uint64_t number, times = 1;
        size_t digits;
        bool good = read_number(&at, &number, &digits) && number >= 1 && number <= FT_RANKS_MAX;

        if (good && *at == '(') {
            good = at[1] == 'x' && (at += 2, read_number(&at, &times, &digits)) && times >= 1 && *at == ')';
            at += good;
        }
        if (!good || (*at && *at != ','))
            return ft_err_set(e, FT_EINVAL, "%s is \"%.120s\", which is not a number for each node (like \"2(x3),1\")", who, text);
        for (uint64_t i = 0; i < times && *n + i < most; i++)
            numbers[*n + i] = (uint32_t)number;
        *n += (size_t)times;
        if (!*at)
            return 0;
    }
}
