/* SPDX-License-Identifier: BSD-3-Clause */
/* ftmpi_info: what this installation is, where its parts are, what it chooses on this machine, and every setting with the value it
   has here and now. One item a line; --parsable is for programs. */
#include "config.h"

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ft/shm/layout.h"
#include "launcher/base/library.h"
#include "launcher/base/memory.h"
#include "launcher/base/nearest.h"
#include "launcher/options/options.h"
#include "launcher/options/parse.h"
#include "launcher/options/settings.h"
#include "mpi_shim/mpi.h"
#include "tools/check.h"

enum { NAME_BYTES = 64, VALUE_BYTES = PATH_MAX };

/* The walk over all items: prints those that are asked for. */
struct walk {
    bool parsable;
    const char *wanted;          /* NULL: all items */
    const char *check;           /* a program to look at instead; NULL: none */
    const char *section;         /* whose heading is printed; NULL: none yet */
    bool found;
    char nearest[NAME_BYTES];    /* to wanted, if it is not found */
    size_t distance;
};

/* True if the item is asked for. */
static bool meet(struct walk *w, const char *name, const char *alias)
{
    size_t far;

    if (!w->wanted)
        return true;
    if (!strcmp(w->wanted, name) || (alias && !strcmp(w->wanted, alias)))
        return w->found = true;
    far = ft_nearest_distance(w->wanted, strlen(w->wanted), name, strlen(name));
    if (far < w->distance) {
        w->distance = far;
        snprintf(w->nearest, sizeof w->nearest, "%s", name);
    }
    return false;
}

static void head(struct walk *w, const char *section, const char *heading)
{
    if (!w->parsable && !w->wanted && w->section != section)
        printf("%s%s\n", w->section ? "\n" : "", heading);
    w->section = section;
}

static __attribute__((format(printf, 5, 6))) void item(struct walk *w, const char *section, const char *heading, const char *name,
                                                       const char *format, ...)
{
    char value[VALUE_BYTES];
    va_list args;

    if (!meet(w, name, NULL))
        return;
    va_start(args, format);
    vsnprintf(value, sizeof value, format, args);
    va_end(args);
    head(w, section, heading);
    if (w->parsable)
        printf("%s:%s:%s\n", section, name, value);
    else
        printf("%s%s = %s\n", w->wanted ? "" : "  ", name, value);
}

static void version(struct walk *w)
{
    static const char section[] = "version", heading[] = "Version";

    item(w, section, heading, "version", "%s", PACKAGE_VERSION);
    item(w, section, heading, "mpi", "%d.%d", MPI_VERSION, MPI_SUBVERSION);
    item(w, section, heading, "binary-interface", "Open MPI %d.%d.%d, libmpi.so.40", OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION,
         OMPI_RELEASE_VERSION);
    item(w, section, heading, "layout", "%d", FT_LAYOUT_VERSION);
}

static void build(struct walk *w)
{
    static const char section[] = "build", heading[] = "How it was built";
    const char *arguments = &FT_BUILD_ARGUMENTS[strspn(FT_BUILD_ARGUMENTS, " ")];

    item(w, section, heading, "compiler", "%s (%s)", FT_BUILD_CC, __VERSION__);
    item(w, section, heading, "cflags", "%s", FT_BUILD_CFLAGS);
    item(w, section, heading, "configure", "%s", *arguments ? arguments : "(no arguments)");
    item(w, section, heading, "host", "%s", FT_BUILD_HOST);
}

/* Where things are found now, which is not where configure was told to put them if the installation was moved. */
static void paths(struct walk *w)
{
    static const char section[] = "path", heading[] = "Where things are";
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    char dir[PATH_MAX] = "", *slash;
    struct ft_error e;
    ssize_t n = readlink("/proc/self/exe", dir, sizeof dir - 1);

    if (n > 0 && (slash = strrchr(dir, '/')))
        *slash = 0;
    item(w, section, heading, "bindir", "%s", n > 0 ? dir : BINDIR);
    if (ft_library_compat(dir, sizeof dir, &e) < 0) {
        item(w, section, heading, "libdir", "%s", e.text);
    } else {
        item(w, section, heading, "compat-dir", "%s", dir);
        *strrchr(dir, '/') = 0;
        item(w, section, heading, "libdir", "%s", dir);
    }
    item(w, section, heading, "configuration", "%s/ftmpi.conf", SYSCONFDIR);
    if (config && *config == '/')
        item(w, section, heading, "user-configuration", "%s/ftmpi/ftmpi.conf", config);
    else
        item(w, section, heading, "user-configuration", "%s/.config/ftmpi/ftmpi.conf", home && *home == '/' ? home : "");
}

/* What the engine would do in a job of as many ranks as there are processors. */
static void engine(struct walk *w, const struct ft_options *o)
{
    static const char section[] = "engine", heading[] = "What it does on this machine (sizes in bytes, for one rank per processor)";
    uint32_t processors = ft_topology_processors();
    uint64_t memory = ft_memory_here(), limit = o->log_limit ? o->log_limit : memory / 4;
    struct ft_params p;

    ft_params_default(&p, processors, processors, limit);
    item(w, section, heading, "processors", "%u", processors);
    item(w, section, heading, "memory", "%llu", (unsigned long long)memory);
    item(w, section, heading, "ranks-max", "%d", FT_RANKS_MAX);
    item(w, section, heading, "log-bytes", "%llu", (unsigned long long)(p.nextents * p.extent_bytes));
    item(w, section, heading, "log-extent", "%llu", (unsigned long long)p.extent_bytes);
    item(w, section, heading, "short-max", "%u", p.short_max);
    item(w, section, heading, "rooted-short-max", "%u", p.rooted_max);
    item(w, section, heading, "gather-short-max", "%u", p.gather_max);
    item(w, section, heading, "short-depth", "%u", p.short_depth);
    item(w, section, heading, "segment", "%u", p.slot_bytes);
    item(w, section, heading, "segments-in-flight", "%u", p.slot_depth);
    item(w, section, heading, "calls-remembered", "%u", p.trail);
}

/* Text of --help on one line. */
static void flatten(char *text)
{
    for (; *text; text++)
        if (*text == '\n')
            *text = ' ';
}

static void setting(struct walk *w, const struct ft_options *o, const struct ft_setting *s)
{
    static const char section[] = "setting";
    static const char heading[] = "Settings of ftrun (by configuration files and environment; its command line goes before)";
    struct ft_origin origin = ft_settings_origin(o, s);
    char name[NAME_BYTES], variable[NAME_BYTES], text[512];

    ft_settings_name(s, name, sizeof name);
    ft_settings_variable(s, variable, sizeof variable);
    if (!meet(w, name, variable))
        return;
    head(w, section, heading);
    snprintf(text, sizeof text, "%s", s->text);
    flatten(text);
    if (w->parsable) {
        const char *facts[][2] = {{"value", origin.value}, {"source", origin.source}, {"default", s->fallback},
                                  {"type", ft_settings_type(s)}, {"variable", variable}, {"text", text}};

        for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
            printf("%s:%s:%s:%s\n", section, name, facts[i][0], facts[i][1]);
    } else {
        const char *margin = w->wanted ? "" : "  ";

        printf("%s%s = %s (%s)\n", margin, name, origin.value, origin.source);
        printf("%s    %s; default %s; %s\n", margin, ft_settings_type(s), s->fallback, variable);
        printf("%s    %s\n", margin, text);
    }
}

static void walk(struct walk *w, const struct ft_options *o)
{
    version(w);
    build(w);
    paths(w);
    engine(w, o);
    for (size_t i = 0; ft_settings_at(i); i++)
        if (ft_settings_is_setting(ft_settings_at(i)))
            setting(w, o, ft_settings_at(i));
}

static void help(void)
{
    puts("Usage: ftmpi_info [--parsable] [NAME]\n"
         "       ftmpi_info [--parsable] --check PROGRAM\n"
         "Prints what this ftmpi is, where its parts are, what it does on this machine, and every setting\n"
         "of ftrun with its value and where that comes from; or the item NAME alone.\n\n"
         "  --check        what PROGRAM needs and does not get from ftmpi, without running it: exit code 0\n"
         "                 if all is there, 1 if not, 2 if it cannot be looked at\n"
         "  --parsable     one fact a line: SECTION:NAME:VALUE and setting:NAME:FACT:VALUE\n"
         "  -h, --help     print this\n"
         "  -V, --version  print the version");
}

/* Reads the command line into w. True: go on; false: all is done, with *code. */
static bool read_arguments(struct walk *w, int argc, char **argv, int *code)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];

        if (!strcmp(word, "--parsable") || !strcmp(word, "-parsable") || !strcmp(word, "--parseable")) {
            w->parsable = true;
        } else if (!strcmp(word, "--check") || !strcmp(word, "-check")) {
            w->check = i + 1 < argc ? argv[i + 1] : NULL;
            if (!w->check) {
                fprintf(stderr, "ftmpi_info: --check wants a program\n");
                *code = FT_CODE_USAGE;
                return false;
            }
            return true; /* the rest is the program's */
        } else if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "-help")) {
            help();
            return false;
        } else if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
            puts("ftmpi_info (ftmpi) " PACKAGE_VERSION);
            return false;
        } else if (!strcmp(word, "--all") || !strcmp(word, "-a") || !strcmp(word, "-all")) {
            continue; /* ompi_info's users type it; all is what there is */
        } else if (w->wanted) {
            fprintf(stderr, "ftmpi_info: %s: one name at a time\n", word);
            *code = FT_CODE_USAGE;
            return false;
        } else {
            w->wanted = word + strspn(word, "-");
        }
    }
    return true;
}

static bool missed(const struct walk *w)
{
    if (!w->wanted || w->found)
        return false;
    fprintf(stderr, "ftmpi_info: there is no %.80s; did you mean %s? (without a name, ftmpi_info lists all)\n", w->wanted, w->nearest);
    return true;
}

/* All items, or the one that is asked for; the exit code. */
static int tell(struct walk *w)
{
    struct ft_options options;
    struct ft_error e;
    int code = 0;

    if (ft_options_configure(&options, &e) < 0) {
        fprintf(stderr, "ftmpi_info: %s\n", e.text); /* and the rest, as far as it was read */
        code = FT_CODE_USAGE;
    }
    for (size_t i = 0; i < options.nnotices; i++)
        fprintf(stderr, "ftmpi_info: %s\n", options.notices[i]);
    walk(w, &options);
    if (missed(w))
        code = FT_CODE_USAGE;
    ft_options_free(&options);
    return code;
}

int main(int argc, char **argv)
{
    struct walk w = {.distance = SIZE_MAX};
    int code = 0;

    if (read_arguments(&w, argc, argv, &code))
        code = w.check ? info_check(w.check, w.parsable) : tell(&w);
    if (fflush(stdout) || ferror(stdout)) {
        perror("ftmpi_info: cannot write");
        code = 1;
    }
    return code;
}
