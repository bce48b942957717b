/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "launcher/nearest.h"
#include "launcher/values.h"

/* An option's reader: 0, or FT_EINVAL with e filled, or left empty for "bad value". text is NULL without argument. */
typedef int reader(struct ft_options *o, const char *text, struct ft_error *e);

/* The context that is being read. */
static struct ft_context *last(struct ft_options *o)
{
    return &o->contexts[o->ncontexts - 1];
}

static int read_np(struct ft_options *o, const char *text, struct ft_error *e)
{
    uint64_t n;

    if (ft_values_number(text, &n) < 0)
        return FT_EINVAL;
    if (n < 1)
        return ft_err_set(e, FT_EINVAL, "-n %s: a job has at least one rank", text);
    if (n > FT_RANKS_MAX)
        return ft_err_set(e, FT_EINVAL, "-n %s: too many, at most %d ranks run on one host", text, FT_RANKS_MAX);
    last(o)->nranks = (uint32_t)n;
    return 0;
}

static int read_export(struct ft_options *o, const char *text, struct ft_error *e)
{
    struct ft_context *c = last(o);
    const char **list;

    if (!*text || *text == '=')
        return FT_EINVAL;
    list = realloc(c->exports, (c->nexports + 1) * sizeof *list);
    if (!list)
        return ft_err_set(e, FT_EINVAL, "out of memory");
    c->exports = list;
    c->exports[c->nexports++] = text;
    return 0;
}

static int read_wdir(struct ft_options *o, const char *text, struct ft_error *e)
{
    (void)e;
    last(o)->wdir = text;
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
    return ft_values_number(text, &o->max_restarts);
}

static int read_restart_on(struct ft_options *o, const char *text, struct ft_error *e)
{
    (void)e;
    return ft_values_restart_on(text, &o->restart_on);
}

static int read_log_limit(struct ft_options *o, const char *text, struct ft_error *e)
{
    if (ft_values_size(text, &o->log_limit) < 0)
        return FT_EINVAL;
    return o->log_limit ? 0 : ft_err_set(e, FT_EINVAL, "--log-limit %s: the log needs some memory", text);
}

static int read_log_prepare(struct ft_options *o, const char *text, struct ft_error *e)
{
    (void)e;
    return ft_values_size(text, &o->log_prepare);
}

static int read_log_spill(struct ft_options *o, const char *text, struct ft_error *e)
{
    (void)e;
    o->log_spill = text;
    return 0;
}

static int read_seconds(const char *text, double most, uint64_t *ms)
{
    char *end;
    double seconds = strtod(text, &end);

    if (end == text || *end || !(seconds >= 0 && seconds <= most))
        return FT_EINVAL;
    *ms = (uint64_t)(seconds * 1000);
    return 0;
}

static int read_grace(struct ft_options *o, const char *text, struct ft_error *e)
{
    (void)e;
    return read_seconds(text, 86400, &o->grace_ms);
}

static int read_timeout(struct ft_options *o, const char *text, struct ft_error *e)
{
    (void)e;
    return read_seconds(text, 1e9, &o->timeout_ms);
}

static int read_hang_timeout(struct ft_options *o, const char *text, struct ft_error *e)
{
    (void)e;
    return read_seconds(text, 1e9, &o->hang_timeout_ms);
}

static int read_stdin(struct ft_options *o, const char *text, struct ft_error *e)
{
    uint64_t rank;

    (void)e;
    if (!strcmp(text, "none")) {
        o->stdin_rank = -1;
        return 0;
    }
    if (ft_values_number(text, &rank) < 0 || rank >= FT_RANKS_MAX)
        return FT_EINVAL;
    o->stdin_rank = (int64_t)rank; /* whether there is such a rank is known at the end */
    return 0;
}

static int read_output_dir(struct ft_options *o, const char *text, struct ft_error *e)
{
    (void)e;
    if (!*text)
        return FT_EINVAL;
    o->output_dir = text;
    return 0;
}

static int read_job_name(struct ft_options *o, const char *text, struct ft_error *e)
{
    (void)e;
    o->job_name = text;
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
FLAG(tag_output)
FLAG(timestamp_output)
FLAG(merge_stderr)
FLAG(check_replay)
FLAG(die_with_launcher)
FLAG(report_bindings)
FLAG(display_map)
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
    const char *text;   /* one line, or several where it does not fit */
} options[] = {
    {"-n -np --np --n -c", "N", read_np, "number of ranks (default 1)"},
    {"-x", "NAME[=VALUE]", read_export, "set an environment variable for the ranks; repeatable"},
    {"--wdir -wdir", "DIR", read_wdir, "directory the ranks start in"},
    {"--bind-to -bind-to", "core|none", read_bind,
     "give each rank a core of its own (default none)"},
    {"--report-bindings -report-bindings", NULL, read_report_bindings, "say which rank runs on which processors"},
    {"--display-map -display-map", NULL, read_display_map, "say which rank runs which program"},
    {"--tag-output -tag-output", NULL, read_tag_output, "print the rank before each line"},
    {"--timestamp-output -timestamp-output", NULL, read_timestamp_output, "print the time before each line"},
    {"--merge-stderr-to-stdout", NULL, read_merge_stderr, "the ranks' stderr goes to stdout, too"},
    {"--output-filename -output-filename", "DIR", read_output_dir, "the ranks' output also goes to files in DIR"},
    {"--stdin -stdin", "N|none", read_stdin, "the rank that reads our standard input (default 0)"},
    {"--timeout -timeout", "SECONDS", read_timeout, "end the job after this time, with code 110"},
    {"--hang-timeout", "SECONDS", read_hang_timeout, "restart a rank that all others have waited for\nso long"},
    {"--check-replay", NULL, read_check_replay, "compare what restarted ranks contribute with what\nthey had contributed"},
    {"--die-with-launcher", NULL, read_die_with_launcher, "end the job when ftrun is killed"},
    {"--job-name", "NAME", read_job_name, "what the job is called in lists"},
    {"--max-restarts", "N", read_max_restarts, "restarts in the whole job; 0: none (default: no limit)"},
    {"--restart-on", "LIST", read_restart_on,
     "restart after: signal, exit codes N or N-M, or none (default\nsignal,129-159)"},
    {"--log-limit", "SIZE", read_log_limit,
     "memory for the log, its oldest part then goes to disk\n(default: a quarter of what there is)"},
    {"--log-spill", "DIR", read_log_spill, "directory for that (default $TMPDIR or /tmp)"},
    {"--log-prepare", "SIZE", read_log_prepare, "log memory made ready before the start (default 0)"},
    {"--grace", "SECONDS", read_grace, "between SIGTERM and SIGKILL to ranks (default 2)"},
    {"--rabit", NULL, read_rabit, "give XGBoost our engine; fail if no rank uses it"},
    {"--report", "FILE", read_report, "at the end, write times, restarts, memory as JSON"},
    {"-v --verbose", NULL, read_verbose, "say what is done"},
    {"-q --quiet", NULL, read_quiet, "do not report restarts"},
    {"--allow-run-as-root", NULL, read_nothing, "accepted, not needed"},
    {"--oversubscribe -oversubscribe", NULL, read_nothing, "accepted, not needed"},
    {"-h --help -help", NULL, read_help, "print this"},
    {"-V --version", NULL, read_version, "print the version"},
};

enum { NOPTIONS = sizeof options / sizeof options[0], LEFT = 25 /* columns of --help for the option */ };

/* The next name in a list separated by spaces; NULL after the last. */
static const char *next_name(const char *name, size_t *len)
{
    name += strspn(name, " ");
    *len = strcspn(name, " ");
    return *len ? name : NULL;
}

static const struct option *find(const char *text, size_t len)
{
    for (int i = 0; i < NOPTIONS; i++) {
        const char *name = options[i].names;

        for (size_t n; (name = next_name(name, &n)); name += n)
            if (n == len && !memcmp(name, text, len))
                return &options[i];
    }
    return NULL;
}

static int unknown(const char *text, size_t len, struct ft_error *e)
{
    const char *best = options[0].names;
    size_t best_len = 2, least = SIZE_MAX;

    for (int i = 0; i < NOPTIONS; i++) {
        const char *name = options[i].names;

        for (size_t n; (name = next_name(name, &n)); name += n) {
            size_t far = ft_nearest_distance(text, len, name, n);

            if (far < least) {
                least = far;
                best = name;
                best_len = n;
            }
        }
    }
    return ft_err_set(e, FT_EINVAL, "unknown option %.*s; did you mean %.*s? (ftrun --help lists all)", (int)ft_min(len, 80), text,
                      (int)best_len, best);
}

/* Reads the option at argv[*i] and its argument ("--name value" or "--name=value"); leaves *i at the last used. */
static int read_option(struct ft_options *o, int argc, char **argv, int *i, struct ft_error *e)
{
    const char *word = argv[*i], *value = NULL;
    size_t len = !strncmp(word, "--", 2) ? strcspn(word, "=") : strlen(word);
    const struct option *opt = find(word, len);
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

/* 8 characters of which none is easily taken for another. */
static void draw_job_id(char id[16])
{
    static const char digits[32] = "0123456789abcdefghjkmnpqrstvwxyz";
    unsigned char random[8] = {0};

    if (getrandom(random, sizeof random, 0) < 0)
        memcpy(random, &(pid_t){getpid()}, sizeof(pid_t));
    for (size_t i = 0; i < sizeof random; i++)
        id[i] = digits[random[i] % 32];
    id[sizeof random] = 0;
}

static void set_defaults(struct ft_options *o)
{
    const char *tmp = getenv("TMPDIR");

    memset(o, 0, sizeof *o);
    draw_job_id(o->job_id);
    o->max_restarts = UINT64_MAX;
    ft_values_restart_on("signal,129-159", &o->restart_on);
    o->log_spill = tmp && *tmp ? tmp : "/tmp";
    o->grace_ms = 2000;
}

static int add_context(struct ft_options *o, struct ft_error *e)
{
    struct ft_context *list = realloc(o->contexts, (o->ncontexts + 1) * sizeof *list);

    if (!list)
        return ft_err_set(e, FT_EINVAL, "out of memory");
    o->contexts = list;
    o->contexts[o->ncontexts++] = (struct ft_context){.nranks = 1};
    return 0;
}

/* From argv[*i] to the next ":" or the end. */
static int read_context(struct ft_options *o, int argc, char **argv, int *i, struct ft_error *e)
{
    int err = add_context(o, e);

    for (; !err && *i < argc && argv[*i][0] == '-' && argv[*i][1]; ++*i) {
        if (!strcmp(argv[*i], "--")) {
            ++*i;
            break;
        }
        err = read_option(o, argc, argv, i, e);
    }
    if (err < 0)
        return err;
    last(o)->argv = argv + *i;
    while (*i < argc && strcmp(argv[*i], ":"))
        ++*i;
    if (*i < argc)
        argv[*i] = NULL;
    if (*last(o)->argv || o->help || o->version)
        return 0;
    return o->ncontexts == 1 && *i == argc
               ? ft_err_set(e, FT_EINVAL, "no program given (ftrun -n N PROGRAM [ARGUMENT]...; ftrun --help)")
               : ft_err_set(e, FT_EINVAL, "no program given in part %zu of the command line, \":\" stands between programs", o->ncontexts);
}

/* Who is who, now that all contexts are known. */
static int number_ranks(struct ft_options *o, struct ft_error *e)
{
    uint64_t n = 0;

    for (size_t c = 0; c < o->ncontexts; c++) {
        o->contexts[c].first = (uint32_t)n;
        n += o->contexts[c].nranks;
    }
    if (n > FT_RANKS_MAX)
        return ft_err_set(e, FT_EINVAL, "%llu ranks: too many, at most %d run on one host", (unsigned long long)n, FT_RANKS_MAX);
    o->nranks = (uint32_t)n;
    if (o->stdin_rank >= (int64_t)n)
        return ft_err_set(e, FT_EINVAL, "--stdin %lld: there is no such rank, the last one is %u", (long long)o->stdin_rank, o->nranks - 1);
    return 0;
}

int ft_options_parse(struct ft_options *o, int argc, char **argv, struct ft_error *e)
{
    int i = 1, err;

    set_defaults(o);
    while ((err = read_context(o, argc, argv, &i, e)) == 0 && i < argc)
        i++;
    return err < 0 || o->help || o->version ? err : number_ranks(o, e);
}

void ft_options_free(struct ft_options *o)
{
    for (size_t c = 0; c < o->ncontexts; c++) {
        free(o->contexts[c].exports);
        free(o->contexts[c].path);
    }
    free(o->contexts);
}

const struct ft_context *ft_options_context(const struct ft_options *o, uint32_t rank)
{
    const struct ft_context *c = o->contexts;

    while (rank >= c->first + c->nranks)
        c++;
    return c;
}

static void print_option(const struct option *opt)
{
    char left[80];
    size_t used = 0;

    for (const char *n = opt->names; *n && used < sizeof left; n++)
        used += (size_t)snprintf(left + used, sizeof left - used, *n == ' ' ? ", " : "%c", *n);
    if (opt->arg)
        used += (size_t)snprintf(left + used, sizeof left - used, " %s", opt->arg);
    printf("  %-*s", LEFT, left);
    if (used > LEFT - 1)
        printf("\n%*s", LEFT + 2, "");
    for (const char *t = opt->text; *t; t++)
        if (*t == '\n')
            printf("\n%*s", LEFT + 2, "");
        else
            putchar(*t);
    putchar('\n');
}

void ft_options_help(void)
{
    puts("Usage: ftrun [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
         "Runs N ranks of an MPI program on this host. A rank that is killed comes back; the others do not notice.\n");
    for (int i = 0; i < NOPTIONS; i++)
        print_option(&options[i]);
    puts("\nSIZE: bytes, or with K, M, G, T.\n"
         "Exit code: 0 when every rank left with 0; the code of the rank that ended the job, or\n"
         "128 + signal if it died for good; 1 for a rank that left without MPI_Finalize, for\n"
         "--rabit when nobody used it and when ftrun cannot go on; 2 bad usage; 126 the program\n"
         "cannot be run, 127 there is none; 128 + signal when ftrun was told to stop.");
}
