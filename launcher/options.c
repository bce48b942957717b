/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"

/* An option's reader: 0, or FT_EINVAL with e filled, or left empty for "bad value". text is NULL without argument. */
typedef int reader(struct ft_options *o, const char *text, struct ft_error *e);

static int number(const char *text, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 10);
    return *text < '0' || *text > '9' || *end || errno ? FT_EINVAL : 0;
}

static int read_np(struct ft_options *o, const char *text, struct ft_error *e)
{
    uint64_t n;

    if (number(text, &n) < 0)
        return FT_EINVAL;
    if (n < 1)
        return ft_err_set(e, FT_EINVAL, "-n %s: a job has at least one rank", text);
    if (n > FT_RANKS_MAX)
        return ft_err_set(e, FT_EINVAL, "-n %s: too many, at most %d ranks run on one host", text, FT_RANKS_MAX);
    o->nranks = (uint32_t)n;
    return 0;
}

static int read_export(struct ft_options *o, const char *text, struct ft_error *e)
{
    const char **list;

    if (!*text || *text == '=')
        return FT_EINVAL;
    list = realloc(o->exports, (o->nexports + 1) * sizeof *list);
    if (!list)
        return ft_err_set(e, FT_EINVAL, "out of memory");
    o->exports = list;
    o->exports[o->nexports++] = text;
    return 0;
}

static int read_wdir(struct ft_options *o, const char *text, struct ft_error *e)
{
    (void)e;
    o->wdir = text;
    return 0;
}

static int read_bind(struct ft_options *o, const char *text, struct ft_error *e)
{
    (void)e;
    if (!strcmp(text, "core"))
        o->bind = FT_BIND_CORE;
    else if (!strcmp(text, "none"))
        o->bind = FT_BIND_NONE;
    else
        return FT_EINVAL;
    return 0;
}

static int read_max_restarts(struct ft_options *o, const char *text, struct ft_error *e)
{
    (void)e;
    return number(text, &o->max_restarts);
}

static int read_restart_on(struct ft_options *o, const char *text, struct ft_error *e)
{
    (void)e;
    return ft_options_restart_on(text, &o->restart_on);
}

static int read_log_limit(struct ft_options *o, const char *text, struct ft_error *e)
{
    if (ft_options_size(text, &o->log_limit) < 0)
        return FT_EINVAL;
    return o->log_limit ? 0 : ft_err_set(e, FT_EINVAL, "--log-limit %s: the log needs some memory", text);
}

static int read_log_prepare(struct ft_options *o, const char *text, struct ft_error *e)
{
    (void)e;
    return ft_options_size(text, &o->log_prepare);
}

static int read_log_spill(struct ft_options *o, const char *text, struct ft_error *e)
{
    (void)e;
    o->log_spill = text;
    return 0;
}

static int read_grace(struct ft_options *o, const char *text, struct ft_error *e)
{
    char *end;
    double seconds = strtod(text, &end);

    (void)e;
    if (end == text || *end || !(seconds >= 0 && seconds <= 86400))
        return FT_EINVAL;
    o->grace_ms = (uint64_t)(seconds * 1000);
    return 0;
}

static int read_report(struct ft_options *o, const char *text, struct ft_error *e)
{
    (void)e;
    o->report = text;
    return 0;
}

#define FLAG(field)                                                                             \
    static int read_##field(struct ft_options *o, const char *text, struct ft_error *e)         \
    {                                                                                           \
        (void)text;                                                                             \
        (void)e;                                                                                \
        o->field = true;                                                                        \
        return 0;                                                                               \
    }
FLAG(rabit)
FLAG(verbose)
FLAG(quiet)
FLAG(help)
FLAG(version)

static int read_nothing(struct ft_options *o, const char *text, struct ft_error *e)
{
    (void)o;
    (void)text;
    (void)e;
    return 0;
}

static const struct option {
    const char *names;  /* separated by one space; the first is the one to show */
    const char *arg;    /* NULL: takes none */
    reader *read;
    const char *text;
} options[] = {
    {"-n -np --np --n -c", "N", read_np, "number of ranks (default 1)"},
    {"-x", "NAME[=VALUE]", read_export, "set an environment variable for the ranks; repeatable"},
    {"--wdir -wdir", "DIR", read_wdir, "directory the ranks start in"},
    {"--bind-to -bind-to", "core|none", read_bind,
     "bind each rank to a core of its own (default none: right for ranks with several threads)"},
    {"--max-restarts", "N", read_max_restarts, "restarts of the whole job; 0 switches recovery off (default: no limit)"},
    {"--restart-on", "LIST", read_restart_on,
     "deaths after which a rank is restarted: signal, exit codes N or N-M, none (default signal,129-159)"},
    {"--log-limit", "SIZE", read_log_limit,
     "memory for the log; beyond it the oldest part goes to disk (default: a quarter of the memory there is)"},
    {"--log-prepare", "SIZE", read_log_prepare, "log memory made ready before the ranks start (default 0)"},
    {"--log-spill", "DIR", read_log_spill, "where the log's oldest part goes (default $TMPDIR or /tmp)"},
    {"--grace", "SECONDS", read_grace, "between SIGTERM and SIGKILL when a job is ended (default 2)"},
    {"--rabit", NULL, read_rabit, "give XGBoost our engine; a job whose ranks do not use it fails"},
    {"--report", "FILE", read_report, "write times, restarts, log and memory as JSON when the job ends"},
    {"-v --verbose", NULL, read_verbose, "say what is done"},
    {"-q --quiet", NULL, read_quiet, "do not report restarts"},
    {"--allow-run-as-root", NULL, read_nothing, "accepted, not needed"},
    {"--oversubscribe -oversubscribe", NULL, read_nothing, "accepted, not needed"},
    {"-h --help -help", NULL, read_help, "print this"},
    {"-V --version", NULL, read_version, "print the version"},
};

enum { NOPTIONS = sizeof options / sizeof options[0], NAME_MAX_LEN = 32 };

/* Calls `visit` for every name until it returns true. */
static const struct option *each_name(bool (*visit)(void *arg, const char *name, size_t len), void *arg)
{
    for (int i = 0; i < NOPTIONS; i++) {
        const char *name = options[i].names;

        while (*name) {
            size_t len = strcspn(name, " ");

            if (visit(arg, name, len))
                return &options[i];
            name += len + (name[len] == ' ');
        }
    }
    return NULL;
}

struct wanted {
    const char *text;
    size_t len;
};

static bool is_wanted(void *arg, const char *name, size_t len)
{
    const struct wanted *w = arg;

    return len == w->len && !memcmp(name, w->text, len);
}

/* Edit distance; texts longer than a name can be are far away. */
static int distance(const char *a, size_t na, const char *b, size_t nb)
{
    int row[NAME_MAX_LEN + 1];

    if (na > NAME_MAX_LEN || nb > NAME_MAX_LEN)
        return NAME_MAX_LEN;
    for (size_t j = 0; j <= nb; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        int diagonal = row[0];

        row[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            int change = diagonal + (a[i - 1] != b[j - 1]);
            int shorter = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;

            diagonal = row[j];
            row[j] = change < shorter ? change : shorter;
        }
    }
    return row[nb];
}

struct nearest {
    struct wanted wanted;
    const char *name;
    size_t len;
    int best;
};

static bool is_nearer(void *arg, const char *name, size_t len)
{
    struct nearest *n = arg;
    int d = distance(n->wanted.text, n->wanted.len, name, len);

    if (d < n->best) {
        n->best = d;
        n->name = name;
        n->len = len;
    }
    return false;
}

static int unknown(const char *text, size_t len, struct ft_error *e)
{
    struct nearest n = {.wanted = {text, len}, .best = NAME_MAX_LEN + 1};

    each_name(is_nearer, &n);
    return ft_err_set(e, FT_EINVAL, "unknown option %.*s; did you mean %.*s? (ftrun --help lists all)", (int)ft_min(len, 80), text,
                      (int)n.len, n.name);
}

/* Reads the option at argv[*i] and its argument ("--name value" or "--name=value"); leaves *i at the last used. */
static int read_option(struct ft_options *o, int argc, char **argv, int *i, struct ft_error *e)
{
    const char *word = argv[*i], *value = NULL;
    size_t len = !strncmp(word, "--", 2) ? strcspn(word, "=") : strlen(word);
    const struct option *opt = each_name(is_wanted, &(struct wanted){word, len});
    int err;

    if (!opt)
        return unknown(word, len, e);
    if (word[len] == '=') {
        if (!opt->arg)
            return ft_err_set(e, FT_EINVAL, "%.*s takes no value", (int)len, word);
        value = word + len + 1;
    } else if (opt->arg) {
        if (*i + 1 >= argc)
            return ft_err_set(e, FT_EINVAL, "%s needs a value: %s", word, opt->arg);
        value = argv[++*i];
    }
    e->text[0] = 0;
    err = opt->read(o, value, e);
    if (err < 0 && !e->text[0])
        ft_err_set(e, err, "%.*s: \"%.80s\" is not a valid value; wanted: %s", (int)len, word, value, opt->arg);
    return err;
}

static void set_defaults(struct ft_options *o)
{
    const char *tmp = getenv("TMPDIR");

    memset(o, 0, sizeof *o);
    o->nranks = 1;
    o->max_restarts = UINT64_MAX;
    ft_options_restart_on("signal,129-159", &o->restart_on);
    o->log_spill = tmp && *tmp ? tmp : "/tmp";
    o->grace_ms = 2000;
}

int ft_options_parse(struct ft_options *o, int argc, char **argv, struct ft_error *e)
{
    int i, err;

    set_defaults(o);
    for (i = 1; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
        if (!strcmp(argv[i], "--")) {
            i++;
            break;
        }
        err = read_option(o, argc, argv, &i, e);
        if (err < 0)
            return err;
    }
    o->argv = argv + i;
    if (!*o->argv && !o->help && !o->version)
        return ft_err_set(e, FT_EINVAL, "no program given (ftrun -n N PROGRAM [ARGUMENT]...; ftrun --help)");
    return 0;
}

void ft_options_free(struct ft_options *o)
{
    free(o->exports);
}

int ft_options_size(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    const char *unit;
    char *end;
    double value;
    int shift = 0;

    if ((*text < '0' || *text > '9') || (text[0] == '0' && (text[1] | 32) == 'x'))
        return FT_EINVAL;
    value = strtod(text, &end);
    if (*end && (unit = strchr(units, *end & ~32))) {
        shift = 10 * (int)(unit - units + 1);
        end++;
        if (*end == 'i')
            end++;
    }
    if (*end == 'B' || *end == 'b')
        end++;
    value *= (double)(1ull << shift);
    if (*end || !(value < 0x1p62))
        return FT_EINVAL;
    *bytes = (uint64_t)value;
    return 0;
}

static int add_codes(const char *item, struct ft_restart_on *on)
{
    unsigned from, to;
    int end = 0;

    if (*item < '0' || *item > '9')
        return FT_EINVAL;
    if (sscanf(item, "%3u%n", &from, &end) != 1)
        return FT_EINVAL;
    to = from;
    if (item[end] == '-') {
        item += end + 1;
        if (*item < '0' || *item > '9' || sscanf(item, "%3u%n", &to, &end) != 1)
            return FT_EINVAL;
    }
    if (item[end] || from < 1 || to > 255 || from > to) /* 0 is success */
        return FT_EINVAL;
    for (unsigned c = from; c <= to; c++)
        on->codes[c / 64] |= 1ull << (c % 64);
    return 0;
}

int ft_options_restart_on(const char *text, struct ft_restart_on *on)
{
    char item[16];

    memset(on, 0, sizeof *on);
    if (!strcmp(text, "none"))
        return 0;
    for (;;) {
        size_t len = strcspn(text, ",");

        if (!len || len >= sizeof item)
            return FT_EINVAL;
        memcpy(item, text, len);
        item[len] = 0;
        if (!strcmp(item, "signal"))
            on->signal = true;
        else if (add_codes(item, on) < 0)
            return FT_EINVAL;
        if (!text[len])
            return 0;
        text += len + 1;
    }
}

static void print_option(const struct option *opt)
{
    char left[80];
    size_t used = 0;

    for (const char *n = opt->names; *n && used < sizeof left; n++)
        used += (size_t)snprintf(left + used, sizeof left - used, *n == ' ' ? ", " : "%c", *n);
    if (opt->arg)
        snprintf(left + used, sizeof left - used, " %s", opt->arg);
    if (strlen(left) > 28)
        printf("  %s\n%32s%s\n", left, "", opt->text);
    else
        printf("  %-29s %s\n", left, opt->text);
}

void ft_options_help(void)
{
    puts("Usage: ftrun [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
         "Runs N ranks of an MPI program on this host. A rank that is killed comes back; the others do not notice.\n");
    for (int i = 0; i < NOPTIONS; i++)
        print_option(&options[i]);
    puts("\nSIZE: bytes, or with K, M, G, T.\n"
         "Exit code: the code of the rank that ended the job, 128 + signal if it was killed for good, else\n"
         "0 all ranks left with 0; 1 a rank left without MPI_Finalize, or --rabit and nobody used it; 2 bad usage;\n"
         "126, 127 the program cannot be run, was not found; 128 + signal when ftrun itself was told to stop.");
}
