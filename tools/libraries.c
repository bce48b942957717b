/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "tools/libraries.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/base/elf.h"
#include "launcher/base/library.h"

/* Two names of one file. */
static bool same(const char *a, const char *b)
{
    struct stat one, two;

    return stat(a, &one) == 0 && stat(b, &two) == 0 && one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

static int add(struct info_libraries *l, const char *name, const char *path, const char *compat)
{
    struct info_library one = {.name = strdup(name), .path = strdup(path)};
    char ours[PATH_MAX + 16];

    if (l->n == l->room) {
        size_t room = 2 * l->room + 16;
        struct info_library *list = realloc(l->list, room * sizeof *list);

        if (list) {
            l->list = list;
            l->room = room;
        }
    }
    if (!one.name || !one.path || l->n == l->room) {
        free(one.name);
        free(one.path);
        return -1;
    }
    snprintf(ours, sizeof ours, "%s/libmpi.so.40", compat);
    one.ours = *path && same(path, ours);
    one.wrapper = !strncmp(name, "libmpi_", 7) && strstr(name, ".so.40");
    l->list[l->n++] = one;
    return 0;
}

/* "\tNAME => PATH (0x...)", "\tNAME => not found", "\tPATH (0x...)" for those that were asked for by a path; else a complaint. */
static int read_line(struct info_libraries *l, char *line, const char *compat)
{
    char *arrow = strstr(line, " => "), *end;

    line[strcspn(line, "\n")] = 0;
    if (*line != '\t') {
        if (*line && !l->error && !(l->error = strdup(line)))
            return -1;
        return 0;
    }
    if (!arrow)
        return 0;
    *arrow = 0;
    arrow += 4;
    end = strstr(arrow, " (0x");
    if (end)
        *end = 0;
    return add(l, line + 1, end ? arrow : "", compat);
}

/* In the child: the loader instead, with the environment of a rank. glibc's goes on after a library that is not there only if it is
   asked as by ldd; others know --list alone, and would run the program. */
static void become_loader(const char *loader, const char *path, const char *compat, int out)
{
    const char *before = getenv("LD_LIBRARY_PATH");
    char list[PATH_MAX + 4096], full[PATH_MAX];

    snprintf(list, sizeof list, "%s%s%s", compat, before && *before ? ":" : "", before ? before : "");
    if (setenv("LD_LIBRARY_PATH", list, 1) || unsetenv("LD_PRELOAD") || dup2(out, 1) < 0 || dup2(out, 2) < 0 || !realpath(path, full))
        _exit(127);
#ifdef __GLIBC__
    if (setenv("LD_TRACE_LOADED_OBJECTS", "1", 1))
        _exit(127);
    execl(loader, loader, full, (char *)NULL);
#else
    execl(loader, loader, "--list", full, (char *)NULL);
#endif
    _exit(127);
}

/* This program's own. */
static bool loader_here(char *loader, size_t size)
{
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct ft_elf elf;

    if (fd < 0)
        return false;
    ft_elf_read(fd, &elf);
    close(fd);
    return snprintf(loader, size, "%s", elf.interpreter) < (int)size && *loader;
}

int info_libraries_read(struct info_libraries *l, const char *path, const char *interpreter)
{
    char loader[PATH_MAX], compat[PATH_MAX], *line = NULL;
    int ends[2], status, err = 0;
    size_t room = 0;
    FILE *said;
    struct ft_error e;
    pid_t pid;

    if (!loader_here(loader, sizeof loader) || ft_library_compat(compat, sizeof compat, &e) < 0)
        return 0;
    if (*interpreter && !same(interpreter, loader))
        return asprintf(&l->error, "%s is not this system's loader, so its libraries are not looked at", interpreter) < 0 ? -1 : 0;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    pid = fork();
    if (pid == 0)
        become_loader(loader, path, compat, ends[1]);
    close(ends[1]);
    said = pid < 0 ? NULL : fdopen(ends[0], "r");
    while (said && !err && getline(&line, &room, said) >= 0)
        err = read_line(l, line, compat);
    free(line);
    if (said)
        fclose(said);
    else
        close(ends[0]);
    if (pid > 0)
        waitpid(pid, &status, 0);
    return said ? err : -1;
}

void info_libraries_drop(struct info_libraries *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->list[i].name);
        free(l->list[i].path);
    }
    free(l->list);
    free(l->error);
}

const struct info_library *info_libraries_find(const struct info_libraries *l, const char *name)
{
    for (size_t i = 0; i < l->n; i++)
        if (!strcmp(l->list[i].name, name))
            return &l->list[i];
    return NULL;
}

const char *info_libraries_mpich(const struct info_libraries *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (ft_elf_is_mpich(l->list[i].name))
            return l->list[i].name;
    return NULL;
}
