/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/options/identity.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "launcher/options/options.h"

static const char *base(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

/* "python3.12" is "python" and digits. */
static bool is_interpreter(const char *name)
{
    static const char *const names[] = {"python", "pypy", "perl", "ruby", "Rscript", "julia", "lua", "node", "sh", "bash", "dash", "zsh"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t len = strlen(names[i]);

        if (!strncmp(name, names[i], len) && !name[len + strspn(name + len, "0123456789.")])
            return true;
    }
    return false;
}

/* What an interpreter is given: its first argument that is no option. NULL: there is none. */
static const char *script(char **argv)
{
    while (*++argv)
        if ((*argv)[0] != '-')
            return base(*argv);
    return NULL;
}

static void write_context(FILE *to, const struct ft_options *o, const struct ft_context *c)
{
    const char *name = base(c->argv[0]), *what = is_interpreter(name) ? script(c->argv) : NULL;

    if (o->ncontexts > 1)
        fprintf(to, "%s%u ", c == o->contexts ? "" : " : ", c->nranks);
    fprintf(to, "%s%s%s", name, what ? " " : "", what ? what : "");
}

char *ft_identity(const struct ft_options *o, char *text, size_t size)
{
    char *all = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&all, &n);

    for (size_t c = 0; to && c < o->ncontexts; c++)
        write_context(to, o, &o->contexts[c]);
    if (to)
        fclose(to);
    if (all && n < size)
        snprintf(text, size, "%s", all);
    else
        snprintf(text, size, "%.*s... %016llx", (int)(size - 24), all ? all : "?", all ? (unsigned long long)XXH3_64bits(all, n) : 0);
    free(all);
    for (char *c = text; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = '?';
    return text;
}
