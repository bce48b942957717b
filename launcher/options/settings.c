/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/options/settings.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "ft/base/util.h"
#include "launcher/base/nearest.h"
#include "launcher/options/options.h"
#include "launcher/options/readers.h"
#include "launcher/options/values.h"

#define AT(field) offsetof(struct ft_options, field), NULL
#define BY(reader) 0, ft_read_##reader
#define HEADING(text) {"", NULL, FT_HEADING, 0, NULL, NULL, text, false}
#define COMMAND(names, arg, reader, text) {names, arg, FT_COMMAND, 0, ft_read_##reader, NULL, text, false}
#define COMMAND2(names, arg, reader, text) {names, arg, FT_COMMAND, 0, ft_read_##reader, NULL, text, true}
#define FLAG(names, field, text) {names, NULL, FT_FLAG, offsetof(struct ft_options, field), NULL, "no", text, false}

static const struct ft_setting settings[] = {
    HEADING("What runs"),
    COMMAND("n np c", "N", count, "number of ranks (default 1, or the slots of the host list or Slurm allocation)"),
    COMMAND("wdir wd | chdir set-cwd-to", "DIR", wdir, "directory the ranks start in"),
    COMMAND("app | configfile", "FILE", app, "programs and their options from a file, one program a line"),
    {"job-name", "NAME", FT_TEXT, AT(job_name), "none", "what ftrun list and status call the job", false},

    HEADING("Where ranks run"),
    COMMAND("host H | hosts", "LIST", host, "hosts, and how many ranks each takes: a:4,b"),
    COMMAND("hostfile machinefile", "FILE", hostfile, "the same from a file: a slots=4, or a:4, in a line"),
    COMMAND("f", "FILE", hydra_hostfile, "the same; a host without a number takes one rank"),
    COMMAND("N ppn npernode | perhost", "N", per_host, "ranks per host"),
    {"bind-to", "UNIT", FT_TEXT, BY(bind), "none",
     "bind each rank to a hwthread, core, l3cache, numa node or socket of its own (default none)", false},
    {"map-by", "UNIT", FT_TEXT, BY(map), "slot",
     "slot: fill one host after the other (default); node: all in turn; core, socket and so on: spread bound ranks over these; :PE=N gives each N cores, ppr:N:UNIT starts N on each", false},
    {"rank-by", "UNIT", FT_TEXT, BY(order), "as mapped", "slot or core: number the ranks along the cores", false},
    COMMAND("use-hwthread-cpus", NULL, hwthreads, "count hardware threads, not cores"),
    {"cores", "auto|near|far", FT_TEXT, BY(cores), "auto",
     "whether the ranks' processors share a cache (default auto: as the system tells)", false},
    {"allreduce", "doubled|halved", FT_TEXT, BY(allreduce), "doubled",
     "of two ranks each makes all of a middling allreduce, or a half (default doubled)", false},
    FLAG("report-bindings", report_bindings, "say which rank runs on which processors"),
    FLAG("display-map", display_map, "say which rank runs which program"),
    COMMAND("display", "LIST", display, "map, bind: as the two options above"),
    COMMAND("oversubscribe", NULL, oversubscribe, "do not warn when there are more ranks than slots; they run in any case"),
    COMMAND("| nooversubscribe", NULL, nooversubscribe, "warn of it"),
    COMMAND("| pernode", NULL, pernode, "one rank per host"),
    COMMAND("| bind-to-core bind-to-socket bind-to-none bycore bysocket byslot bynode", NULL, old_placement, "Open MPI 1.6 had these"),

    HEADING("Environment of the ranks"),
    COMMAND("x", "NAME[=VALUE]", export, "set a variable, or pass it on; repeatable"),
    COMMAND2("genv", "NAME VALUE", genv, "set a variable for all programs (-env: for one)"),
    COMMAND2("| env", "NAME VALUE", env, "set a variable for this program"),
    COMMAND("genvlist | envlist", "NAME,...", genvlist, "pass on only these variables and FTMPI_*"),
    COMMAND("genvnone | envnone", NULL, genvnone, "pass on only FTMPI_*"),
    COMMAND("| genvall envall", NULL, genvall, "pass on all variables, which is the default"),
    {"other-mpi", "end|allow", FT_TEXT, BY(other_mpi), "end",
     "if a rank starts another MPI, in which it would be alone: end the job, or let it run (default end)", false},

    HEADING("Output and input"),
    FLAG("tag-output l prepend-rank", tag_output, "print the rank before each line"),
    FLAG("timestamp-output", timestamp_output, "print the time before each line"),
    FLAG("tty", tty, "programs take stdout and stderr for a terminal: colors, bars"),
    FLAG("merge-stderr-to-stdout", merge_stderr, "the ranks' stderr goes to stdout, too"),
    {"output-filename", "DIR", FT_TEXT, AT(output_dir), "none", "the ranks' output also goes to files in DIR", false},
    COMMAND("output", "LIST", output, "tag, timestamp, merge, dir=DIR: as the four options above"),
    {"stdin", "N|none", FT_TEXT, BY(stdin), "0", "the rank that reads our standard input (default 0)", false},

    HEADING("Recovery"),
    {"max-restarts", "N", FT_NUMBER, BY(max_restarts), "unlimited", "restarts in the whole job; 0: none (default unlimited)", false},
    {"restart-on", "LIST", FT_LIST, BY(restart_on), "signal,129-159",
     "which ends are followed by a restart: signal, exit codes N or N-M, or none (default signal,129-159)", false},
    {"start-over", "safe|always", FT_TEXT, BY(start_over), "safe",
     "whether a rank without snapshot or checkpoint starts from its beginning: if it has changed no files that it read (default safe), or always", false},
    {"hang-timeout", "SECONDS", FT_SECONDS, AT(hang_timeout_ms), "0", "restart a rank that all others have waited for so long", false},
    {"snapshot", "auto|off|SECONDS", FT_TEXT, BY(snapshot), "auto",
     "how often ranks are copied, so that they come back soon: for less than 1 percent of the time, never, or every so many seconds (default auto)", false},
    {"snapshot-threads", "on|off", FT_TEXT, BY(snapshot_threads), "on",
     "also ranks with several threads, whose threads stand still for it; off: those go on from their beginning (default on)", false},
    {"replay-time", "on|off", FT_TEXT, BY(replay_time), "on",
     "a rank that comes back is given the times of its first run; off: clocks go on, and cost nothing (default on)", false},
    {"sockets", NULL, FT_FLAG, BY(sockets), "auto",
     "keep connections of ranks that come back; --sockets=off: do not; --sockets: or refuse the job (default auto: where ranks are recorded)", false},
    {"ckpt-dir", "DIR", FT_TEXT, AT(ckpt_dir), "none", "also write the program's checkpoints to files in DIR; the last two stay", false},
    {"ckpt-every", "N|SECONDSs", FT_TEXT, BY(ckpt_every), "1",
     "write every Nth checkpoint, or one in so many seconds (\"30s\"); never more than one at a time (default 1)", false},
    {"resume", NULL, FT_FLAG, BY(resume), "no", "go on from the newest checkpoint in --ckpt-dir; --resume=auto: if there is one", false},
    {"check-replay", NULL, FT_FLAG, BY(check_replay), "no",
     "find programs that are not deterministic: kill each rank again and again, and compare; --check-replay=N: at other times; =compare: kill none", false},
    FLAG("bootstrap-cache", bootstrap_cache, "keep results of calls before the first checkpoint, for ranks that come back by a later one"),
    {"log-limit", "SIZE", FT_SIZE, BY(log_limit), "auto",
     "memory for the log (default auto: a quarter of what there is)", false},
    {"log-full", "spill|forget", FT_TEXT, BY(log_full), "spill",
     "if that is full: write the oldest part to disk, or forget it; a rank that needs it then restarts all (default spill)", false},
    {"log-spill", "DIR", FT_TEXT, AT(log_spill), "$TMPDIR or /tmp", "directory on a disk to spill to (default $TMPDIR or /tmp; /var/tmp if that is memory)", false},
    {"log-prepare", "SIZE", FT_SIZE, AT(log_prepare), "0", "log memory made ready before the start (default 0)", false},
    FLAG("rabit", rabit, "XGBoost 1.7 trains over ftmpi; fail if no rank does"),
    FLAG("xgboost-tracker", xgboost_tracker, "be the tracker of XGBoost 2.1 and later: ranks find it by DMLC_TRACKER_URI and _PORT"),

    HEADING("Several hosts"),
    {"rdzv", "URL|slurm", FT_TEXT, BY(rdzv), "none",
     "the hosts find each other: this command is started on each; rdzv://HOST/JOB, etcd://HOST/JOB; slurm: by srun, on each node", false},
    {"nodes", "MIN[:MAX]", FT_TEXT, AT(nodes), "none",
     "with --rdzv: how many hosts the job begins with; those beyond are spares (default 1)", false},
    COMMAND("join", NULL, join, "with --rdzv: be a host of a job that others lead; no program is needed"),
    {"rdzv-secret-file", "FILE", FT_TEXT, AT(rdzv_secret_file), "none", "with --rdzv: what is in it keeps strangers out; the same on each host", false},
    {"launcher bootstrap", "ssh|srun|exec:COMMAND", FT_TEXT, BY(launcher), "ssh",
     "what starts ftrun on other hosts (default ssh; srun on nodes of a Slurm allocation); COMMAND is called as COMMAND HOST PROGRAM ARGUMENT...", false},
    COMMAND("launch-arg", "WORD", launch_arg, "one more argument for ssh, srun or COMMAND; repeatable"),
    {"launch-tree", "N|auto", FT_TEXT, BY(launch_tree), "auto",
     "each host starts N others, if there are more; 0: this one starts all (default auto: 32 with ssh, else 0)", false},
    {"prefix", "DIR", FT_TEXT, AT(prefix), "none", "where ftmpi is installed on the other hosts", false},
    {"spares", "N", FT_NUMBER, AT(spares), "0", "the last N hosts of the list wait, to replace lost ones", false},
    {"wait-for-host", "SECONDS", FT_SECONDS, AT(wait_ms), "0", "how long to wait for a lost host to come back", false},
    {"start-timeout", "SECONDS", FT_SECONDS, AT(start_ms), "60", "how long a host may take to answer (default 60)", false},
    {"survive", "rank|host", FT_TEXT, BY(survive), "rank",
     "what the job survives: loss of a rank, or of a host as well; hosts then keep the whole log for each other (default rank)", false},
    {"lease", "SECONDS", FT_SECONDS, AT(lease_ms), "3", "a host that is silent for so long is lost (default 3)", false},
    {"iface", "NAME|CIDR", FT_TEXT, AT(iface), "none", "network interface, or network, for use between hosts", false},

    HEADING("The job's end"),
    {"timeout", "SECONDS", FT_SECONDS, AT(timeout_ms), "0", "end the job after this time, with code 110 (0: never)", false},
    {"grace", "SECONDS", FT_SECONDS, AT(grace_ms), "2", "between SIGTERM and SIGKILL to ranks (default 2)", false},
    FLAG("die-with-launcher", die_with_launcher, "end the job if one of ftrun's processes is killed"),

    HEADING("What ftrun tells"),
    {"report", "FILE", FT_TEXT, AT(report), "none", "write what happened as JSON: times, deaths, memory", false},
    {"events", "FILE|unix:PATH", FT_TEXT, AT(events), "none", "write what happens, as it happens, as JSON lines", false},
    {"timeline", "FILE", FT_TEXT, AT(timeline), "none", "draw what each rank did when, as SVG", false},
    {"verbose v | vv vvv", NULL, FT_FLAG, BY(verbose), "no",
     "say what happens to the job; -vv: each step as well; -vvv: what looking for a fault in ftrun takes", false},
    FLAG("quiet q", quiet, "say only what is wrong"),
    COMMAND("help h", NULL, help, "print this"),
    COMMAND("version V", NULL, version, "print the version"),
    COMMAND("tune", NULL, tune, "try which ways of copying are faster on this host, and print settings"),

    HEADING("Accepted for the sake of scripts, without effect"),
    COMMAND("allow-run-as-root", NULL, nothing, "root is allowed"),
    COMMAND2("mca | gmca prtemca pmixmca omca", "NAME VALUE", foreign, "Open MPI's parameters do not exist here"),
    COMMAND("| rmk", "NAME", rmk, "of clusters; a Slurm allocation is used without a word"),
};

enum { NSETTINGS = sizeof settings / sizeof settings[0] };
_Static_assert((int)NSETTINGS <= (int)FT_SETTINGS_MAX, "struct ft_options has no room for their origins");

const struct ft_setting *ft_settings_at(size_t i)
{
    return i < NSETTINGS ? &settings[i] : NULL;
}

bool ft_settings_is_setting(const struct ft_setting *s)
{
    return s->type > FT_COMMAND;
}

const char *ft_settings_type(const struct ft_setting *s)
{
    static const char *const types[] = {"heading", "command", "flag", "number", "size", "seconds", "text", "list"};

    return types[s->type];
}

const char *ft_settings_name(const struct ft_setting *s, char *text, size_t size)
{
    snprintf(text, size, "%.*s", (int)strcspn(s->names, " "), s->names);
    return text;
}

const char *ft_settings_variable(const struct ft_setting *s, char *text, size_t size)
{
    snprintf(text, size, "FTMPI_%.*s", (int)strcspn(s->names, " "), s->names);
    for (char *c = text; *c; c++)
        *c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
    return text;
}

/* The next name in a list; NULL after the last. */
static const char *next_name(const char *name, size_t *len)
{
    name += strspn(name, " |");
    *len = strcspn(name, " ");
    return *len ? name : NULL;
}

const struct ft_setting *ft_settings_find(const char *text, size_t len)
{
    for (int i = 0; i < NSETTINGS; i++) {
        const char *name = settings[i].names;

        for (size_t n; (name = next_name(name, &n)); name += n)
            if (n == len && !memcmp(name, text, len))
                return &settings[i];
    }
    return NULL;
}

const struct ft_setting *ft_settings_find_name(const char *text, size_t len)
{
    for (int i = 0; i < NSETTINGS; i++)
        if (ft_settings_is_setting(&settings[i]) && strcspn(settings[i].names, " ") == len && !memcmp(settings[i].names, text, len))
            return &settings[i];
    return NULL;
}

const struct ft_setting *ft_settings_find_variable(const char *text, size_t len)
{
    char name[64];

    for (int i = 0; i < NSETTINGS; i++)
        if (ft_settings_is_setting(&settings[i]) && strlen(ft_settings_variable(&settings[i], name, sizeof name)) == len &&
            !memcmp(name, text, len))
            return &settings[i];
    return NULL;
}

const char *ft_settings_nearest(const char *name, size_t len, bool settings_only, char *text, size_t size)
{
    size_t least = ft_max(len / 2, 2) + 1;

    *text = 0;
    for (int i = 0; i < NSETTINGS; i++) {
        const char *n = settings[i].names;
        bool first = true;

        for (size_t k; (n = next_name(n, &k)); n += k, first = false) {
            size_t far = ft_nearest_distance(name, len, n, k);

            if ((settings_only && (!first || !ft_settings_is_setting(&settings[i]))) || far >= least)
                continue;
            least = far;
            snprintf(text, size, "%.*s", (int)k, n);
        }
    }
    return text;
}

/* By type. */
static int read_field(struct ft_options *o, const struct ft_setting *s, const char *value)
{
    void *field = (char *)o + s->offset;

    switch (s->type) {
    case FT_FLAG:
        return ft_values_flag(value, field);
    case FT_NUMBER:
        return ft_values_number(value, field);
    case FT_SIZE:
        return ft_values_size(value, field);
    case FT_SECONDS:
        return ft_values_milliseconds(value, field);
    default:
        if (!*value)
            return FT_EINVAL;
        *(const char **)field = !strcmp(value, "none") && !strcmp(s->fallback, "none") ? NULL : value; /* undoes what a file says */
        return 0;
    }
}

/* What an argument's name stands for, where that is not plain. */
static const char *meaning(const char *arg)
{
    static const char *const meanings[][2] = {
        {"N", ", a number"},
        {"SECONDS", ", a number"},
        {"SIZE", ", like 512M or 2G"},
        {"LIST", ", separated by commas"},
        {"N|SECONDSs", ", a number like 10, or seconds like 30s"},
        {"UNIT", ": none, hwthread, core, l2cache, l3cache, numa or socket"},
    };

    for (size_t i = 0; arg && i < sizeof meanings / sizeof meanings[0]; i++)
        if (!strcmp(arg, meanings[i][0]))
            return meanings[i][1];
    return "";
}

int ft_settings_read(struct ft_options *o, const struct ft_setting *s, const struct ft_word *w, const char *source, struct ft_error *e)
{
    int err;

    e->text[0] = 0;
    err = s->read ? s->read(o, w, e) : read_field(o, s, w->value);
    if (err < 0 && !e->text[0])
        ft_err_set(e, err, "%s: \"%.80s\" is not a valid value; wanted: %s%s", w->who, w->value, s->arg ? s->arg : "yes or no",
                   meaning(s->arg));
    if (!err)
        o->origins[s - settings] = (struct ft_origin){w->value ? w->value : "yes", source};
    return err;
}

struct ft_origin ft_settings_origin(const struct ft_options *o, const struct ft_setting *s)
{
    struct ft_origin origin = o->origins[s - settings];

    return origin.source ? origin : (struct ft_origin){s->fallback, "default"};
}
