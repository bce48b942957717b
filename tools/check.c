/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "tools/check.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "launcher/base/elf.h"
#include "launcher/base/elf_names.h"
#include "launcher/base/library.h"
#include "launcher/options/program.h"
#include "tools/libraries.h"
#include "tools/names.h"

enum { CODE_MISSING = 1, CODE_UNREADABLE = 2, LINE = 65536 };

struct check {
    const char *program;        /* as it was named */
    char path[PATH_MAX];
    bool parsable;
    unsigned missing;           /* findings that are bad */
    struct info_names *ours;    /* what libftmpi has */
    struct ft_elf elf;
};

static __attribute__((format(printf, 4, 5))) void finding(struct check *c, bool good, const char *fact, const char *format, ...)
{
    static char text[LINE]; /* the names of all functions are a few thousand bytes */
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    c->missing += !good;
    if (c->parsable)
        printf("check:%s:%s:%s\n", good ? "there" : "missing", fact, text);
    else
        printf("%s %s = %s\n", good ? " " : "!", fact, text);
}

static int unreadable(const struct check *c, const char *why)
{
    fprintf(stderr, "ftmpi_info: --check %s: %s\n", c->program, why);
    return CODE_UNREADABLE;
}

/* As a shell finds it; what has a slash is a path, also to something that is not executable, like a module of Python's. */
static int find(struct check *c)
{
    const char *list = getenv("PATH");
    struct stat st;

    if (strchr(c->program, '/')) {
        snprintf(c->path, sizeof c->path, "%s", c->program);
        return stat(c->path, &st) < 0 ? -1 : 0;
    }
    for (const char *p = list ? list : "/usr/local/bin:/usr/bin:/bin";;) {
        size_t len = strcspn(p, ":");
        int n = snprintf(c->path, sizeof c->path, "%.*s/%s", len ? (int)len : 1, len ? p : ".", c->program);

        if (n < PATH_MAX && !access(c->path, X_OK) && !stat(c->path, &st) && S_ISREG(st.st_mode))
            return 0;
        if (!p[len])
            break;
        p += len + 1;
    }
    errno = ENOENT;
    return -1;
}

/* ---- scripts, and programs whose files tell little ---- */

static bool is_python(const char *path)
{
    const char *slash = strrchr(path, '/');

    return !strncmp(slash ? slash + 1 : path, "python", 6);
}

static void python(struct check *c)
{
    finding(c, true, "python", "which libraries a script needs shows only when it imports them; check a module's file as a program "
                               "(python3 -c 'import mpi4py.MPI as m; print(m.__file__)')");
}

static void script(struct check *c, char *line)
{
    char *word = line + strspn(line, " \t"), *rest;

    word[strcspn(word, "\r\n")] = 0;
    rest = word + strcspn(word, " \t");
    if (*rest)
        *rest++ = 0;
    if (*word == '/' && access(word, X_OK))
        finding(c, false, "interpreter", "%s is not there: %s", word, strerror(errno));
    else
        finding(c, true, "interpreter", "%s%s%s runs it; programs that it starts are not looked at", word, *rest ? " " : "", rest);
    if (is_python(word) || strstr(rest, "python") || is_python(c->path))
        python(c);
}

/* ---- a program's file ---- */

/* The dynamic loader then takes neither LD_LIBRARY_PATH nor LD_PRELOAD from ftrun. */
static void privileges(struct check *c, const struct stat *st)
{
    bool user = st->st_mode & S_ISUID && st->st_uid != geteuid(), group = st->st_mode & S_ISGID && st->st_gid != getegid();
    bool capable = geteuid() != 0 && getxattr(c->path, "security.capability", NULL, 0) > 0;

    if (user || group || capable)
        finding(c, false, "privileges", "%s: the dynamic loader keeps ftmpi's library and recorder out of it",
                user ? "set-user-ID" : group ? "set-group-ID" : "file capabilities");
}

static void has_mpi(void *arg, const char *name, bool here)
{
    bool *found = arg;

    *found |= here && !strcmp(name, "PMPI_Init");
}

static void snapshots(struct check *c, bool is_static)
{
    if (is_static)
        finding(c, false, "snapshots", "none, and no MPI: nothing of ftmpi gets into a statically linked program");
    else if (c->elf.sanitized)
        finding(c, true, "snapshots", "none: it has a sanitizer's runtime, which keeps the recorder out; a killed rank starts over");
}

static void mpi(struct check *c, const struct info_libraries *l, bool built_in)
{
    const char *mpich = *c->elf.mpich ? c->elf.mpich : info_libraries_mpich(l);
    const struct info_library *found = info_libraries_find(l, "libmpi.so.40");

    if (!found)
        found = info_libraries_find(l, "libftmpi.so.0");
    if (mpich)
        finding(c, false, "mpi", "%s, the interface of MPICH (and Intel MPI): compile it again with ftmpicc", mpich);
    else if (built_in)
        finding(c, false, "mpi", "an MPI that is linked into it: link it with ftmpicc");
    else if (found && found->ours)
        finding(c, true, "mpi", "%s, the interface of Open MPI: runs as it is, on ftmpi's library", found->name);
    else if (found && *found->path)
        finding(c, false, "mpi", "%s is found at %s, which is not ftmpi's (by an rpath?): link it with ftmpicc, or without the rpath",
                found->name, found->path);
    else if (found)
        finding(c, false, "mpi", "%s is not found", found->name);
    else if (c->elf.dynamic)
        finding(c, true, "mpi", "none that it is linked with; what it loads itself is not seen");
}

/* Bindings of Open MPI's that programs bring along, and what is not there at all. */
static void libraries(struct check *c, const struct info_libraries *l)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct info_library *one = &l->list[i];

        if (!*one->path)
            finding(c, false, "library", "%s is not found%s", one->name, one->wrapper ? ": it is Open MPI's, of Debian's libopenmpi3" : "");
        else if (one->wrapper)
            finding(c, true, "binding", "%s, Open MPI's at %s, calls ftmpi's library", one->name, one->path);
    }
    if (l->error)
        finding(c, false, "loader", "%s", l->error);
}

/* What `path` mentions. */
static bool functions(struct check *c, const char *name, const char *path, unsigned *used)
{
    static char text[LINE / 2];
    struct info_wanted w = {.ours = c->ours};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool done = fd >= 0 && ft_elf_names(fd, FT_ELF_DYNAMIC, info_names_want, &w);

    if (fd >= 0)
        close(fd);
    *used += w.there + (unsigned)w.missing.n + (unsigned)w.unknown.n;
    if (w.missing.n && c->parsable)
        for (size_t i = 0; i < w.missing.n; i++)
            finding(c, false, "function", "%s", w.missing.list[i]);
    else if (w.missing.n)
        finding(c, false, "functions", "%s mentions %s, which ftmpi has not yet: a call ends the job, or returns an error with that name",
                name, info_names_text(&w.missing, text, sizeof text));
    if (w.unknown.n)
        finding(c, false, "symbols", "%s needs %s, which ftmpi's library has not: it does not start, or ends at that call", name,
                info_names_text(&w.unknown, text, sizeof text));
    info_names_drop(&w.missing);
    info_names_drop(&w.unknown);
    return done && !w.failed;
}

static bool all_functions(struct check *c, const struct info_libraries *l)
{
    unsigned used = 0, before = c->missing;
    bool done = functions(c, "it", c->path, &used);

    for (size_t i = 0; i < l->n && done; i++)
        if (*l->list[i].path && !l->list[i].ours && !l->list[i].wrapper && strncmp(l->list[i].name, "libmpi", 6)) /* an MPI */
            done = functions(c, l->list[i].name, l->list[i].path, &used);
    if (used && before == c->missing)
        finding(c, true, "functions", "%u of MPI's, all of them in ftmpi", used);
    return done;
}

static int look_into(struct check *c, int fd, const struct stat *st)
{
    struct info_libraries l = {.n = 0};
    bool built_in = false, is_static, done;

    if (!c->elf.ours) {
        finding(c, false, "program", "for another machine (%s), this is %s", c->elf.machine, ft_elf_machine());
        return 0;
    }
    is_static = !*c->elf.interpreter && !c->elf.dynamic;
    finding(c, true, "program", "%s, %s", is_static ? "statically linked" : *c->elf.interpreter ? "dynamically linked" : "a library",
            c->elf.machine);
    if (!is_static && info_libraries_read(&l, c->path, c->elf.interpreter) < 0)
        return unreadable(c, "not enough memory");
    done = ft_elf_names(fd, FT_ELF_ALL, has_mpi, &built_in);
    mpi(c, &l, built_in);
    libraries(c, &l);
    done = all_functions(c, &l) && done;
    privileges(c, st);
    snapshots(c, is_static);
    if (is_python(c->path))
        python(c);
    info_libraries_drop(&l);
    return done ? 0 : unreadable(c, "not enough memory");
}

static int look(struct check *c, int fd)
{
    char head[512];
    ssize_t n = pread(fd, head, sizeof head - 1, 0);
    const char *dot = strrchr(c->path, '.'), *fault;
    struct stat st;
    int code = 0;

    if (n < 0 || fstat(fd, &st) < 0)
        return unreadable(c, strerror(errno));
    head[n] = 0;
    ft_elf_read(fd, &c->elf);
    fault = ft_program_fault(&c->elf, head, (size_t)n);
    if (fault)
        return unreadable(c, fault);
    if (!c->parsable)
        printf("%s\n", c->program);
    if (c->elf.is_elf) {
        code = look_into(c, fd, &st);
    } else if (!strncmp(head, "#!", 2)) {
        script(c, head + 2);
    } else if (dot && !strcmp(dot, ".py")) {
        python(c);
    } else {
        return unreadable(c, "is neither a program nor a script that names its interpreter");
    }
    return code;
}

int info_check(const char *program, bool parsable)
{
    struct check c = {.program = program, .parsable = parsable};
    char here[256];
    struct stat st;
    int fd, code;

    if (find(&c) < 0) {
        snprintf(here, sizeof here, "command not found; did you mean ./%.200s?", program);
        return unreadable(&c, strchr(program, '/') ? strerror(errno) : access(program, F_OK) ? "command not found" : here);
    }
    fd = open(c.path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) && (errno = EISDIR)))
        code = unreadable(&c, strerror(errno));
    else if (!(c.ours = info_names_ours()))
        code = unreadable(&c, "ftmpi's own library cannot be read");
    else
        code = look(&c, fd);
    if (fd >= 0)
        close(fd);
    info_names_free(c.ours);
    if (!code && !c.parsable)
        puts(c.missing ? "Not all that it needs is there: see the lines with \"!\"."
                       : "All that it needs is there, as far as its files tell.");
    return code ? code : c.missing ? CODE_MISSING : 0;
}
