/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "tools/names.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "launcher/base/elf_names.h"
#include "launcher/base/library.h"
#include "mpi_shim/missing.h"

enum { NAME = 80 };

struct info_names {
    struct info_list list; /* sorted */
    bool failed;
};

/* Functions that are there by name only. */
static const char *const missing[] = {
#define X(name) "MPI_" #name,
    SHIM_MISSING(X)
#undef X
#define X(name) "MPIX_" #name,
    SHIM_MISSING_EXTENSIONS(X)
#undef X
#define X(name) #name,
    SHIM_MISSING_OMPI(X)
#undef X
#define X(name) "MPI_" #name,
    SHIM_MISSING_TOOLS(X)
#undef X
};

static bool add(struct info_list *l, const char *name)
{
    if (l->n == l->room) {
        size_t room = 2 * l->room + 16;
        char **list = realloc(l->list, room * sizeof *list);

        if (!list)
            return false;
        l->list = list;
        l->room = room;
    }
    l->list[l->n] = strdup(name);
    return l->list[l->n++] != NULL || (l->n--, false);
}

/* Two bindings of a program may want the same. */
static bool add_once(struct info_list *l, const char *name)
{
    for (size_t i = 0; i < l->n; i++)
        if (!strcmp(l->list[i], name))
            return true;
    return add(l, name);
}

void info_names_drop(struct info_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->list[i]);
    free(l->list);
    *l = (struct info_list){.n = 0};
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void note(void *arg, const char *name, bool here)
{
    struct info_names *names = arg;

    if (here && !add(&names->list, name))
        names->failed = true;
}

struct info_names *info_names_ours(void)
{
    struct info_names *names = calloc(1, sizeof *names);
    char dir[PATH_MAX], path[PATH_MAX + 16];
    struct ft_error e;
    int fd = -1;

    if (names && ft_library_compat(dir, sizeof dir, &e) == 0) {
        snprintf(path, sizeof path, "%s/libmpi.so.40", dir);
        fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    if (fd < 0 || !ft_elf_names(fd, FT_ELF_DYNAMIC, note, names) || names->failed || !names->list.n) {
        info_names_free(names);
        names = NULL;
    } else {
        qsort(names->list.list, names->list.n, sizeof names->list.list[0], by_text);
    }
    if (fd >= 0)
        close(fd);
    return names;
}

void info_names_free(struct info_names *names)
{
    if (names)
        info_names_drop(&names->list);
    free(names);
}

/* "mpi_isend_", "mpi_isend__", "MPI_ISEND" and "mpi_isend_f08_" are MPI_Isend, and so is each with a p before it. */
static void without_fortran(const char *name, char *plain)
{
    size_t n;

    snprintf(plain, NAME, "%s", name);
    for (n = strlen(plain); n && plain[n - 1] == '_'; n--)
        plain[n - 1] = 0;
    if (n > 4 && !strcasecmp(plain + n - 4, "_f08"))
        plain[n - 4] = 0;
}

static const char *is_missing(const char *name, int (*differ)(const char *, const char *))
{
    for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++)
        if (!differ(missing[i], name))
            return missing[i];
    return NULL;
}

void info_names_want(void *arg, const char *name, bool here)
{
    struct info_wanted *w = arg;
    const char *plain = *name == 'P' || *name == 'p' ? name + 1 : name, *found;
    bool c = !strncmp(plain, "MPI_", 4) || !strncmp(plain, "MPIX_", 5) || !strncmp(name, "OMPI_", 5);
    char fortran[NAME];

    if (here || (!c && strncasecmp(plain, "mpi_", 4) && strncasecmp(plain, "mpix_", 5)))
        return;
    found = is_missing(plain, strcmp);
    if (!found && !bsearch(&name, w->ours->list.list, w->ours->list.n, sizeof(char *), by_text)) {
        without_fortran(plain, fortran);
        found = is_missing(fortran, strcasecmp);
        if (!found && c && strcmp(fortran, plain) == 0 && strpbrk(plain + 4, "abcdefghijklmnopqrstuvwxyz")) {
            w->failed |= !add_once(&w->unknown, name);
            return;
        }
    }
    if (found)
        w->failed |= !add_once(&w->missing, found);
    else
        w->there++;
}

const char *info_names_text(struct info_list *l, char *text, size_t size)
{
    size_t at = 0;

    text[0] = 0;
    qsort(l->list, l->n, sizeof l->list[0], by_text);
    for (size_t i = 0; i < l->n && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%s", i ? ", " : "", l->list[i]);
    return text;
}
