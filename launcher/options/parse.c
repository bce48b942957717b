/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/options/parse.h"

#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"
#include "launcher/base/outfile.h"
#include "launcher/options/appfile.h"
#include "launcher/options/configure.h"
#include "launcher/options/hosts.h"
#include "launcher/options/map.h"
#include "launcher/options/mpirun.h"
#include "launcher/options/readers.h"
#include "launcher/options/rendezvous.h"
#include "launcher/options/settings.h"
#include "launcher/options/slurm.h"

/* Words of a command line, or of a line of an --app file. */
struct words {
    char **v;
    int n, at;
};

/* The context that is being read. */
static struct ft_context *last(struct ft_options *o)
{
    return &o->contexts[o->ncontexts - 1];
}

/* "--name", "-name": long names are taken with one dash, too. */
static int unknown(const char *word, size_t len, struct ft_error *e)
{
    size_t dashes = strspn(word, "-");
    char near[64];

    ft_settings_nearest(word + dashes, len - dashes, false, near, sizeof near);
    if (!*near)
        return ft_err_set(e, FT_EINVAL, "unknown option %.*s (ftrun --help lists all)", (int)ft_min(len, 80), word);
    return ft_err_set(e, FT_EINVAL, "unknown option %.*s; did you mean %s%s? (ftrun --help lists all)", (int)ft_min(len, 80), word,
                      near[1] && near[strspn(near, "v")] ? "--" : "-", near);
}

static bool takes_value(const struct ft_setting *s)
{
    return s->arg != NULL;
}

/* Reads the option at w->v[w->at] and its argument ("--name value" or "--name=value"); leaves w->at behind them. */
static int read_option(struct ft_options *o, struct words *w, struct ft_error *e)
{
    const char *text = w->v[w->at++];
    size_t dashes = ft_min(strspn(text, "-"), 2), len = dashes == 2 ? strcspn(text, "=") : strlen(text);
    const struct ft_setting *s = ft_settings_find(text + dashes, len - dashes);
    struct ft_word word = {.who = ft_options_keep(o, "%.*s", (int)len, text)};

    if (!word.who)
        return ft_err_set(e, FT_EINVAL, "out of memory");
    if (!s)
        return unknown(text, len, e);
    if (text[len] == '=') {
        if (!takes_value(s) && s->type != FT_FLAG)
            return ft_err_set(e, FT_EINVAL, "%s takes no value", word.who);
        word.value = text + len + 1;
    } else if (takes_value(s)) {
        if (w->at >= w->n)
            return ft_err_set(e, FT_EINVAL, "%s needs a value: %s", text, s->arg);
        word.value = w->v[w->at++];
    }
    if (s->two) {
        if (w->at >= w->n)
            return ft_err_set(e, FT_EINVAL, "%s needs two values: %s", word.who, s->arg);
        word.second = w->v[w->at++];
    }
    return ft_settings_read(o, s, &word, "command line", e);
}

static int read_app(struct ft_options *o, struct ft_error *e);

/* From the next word to the next ":" or the end. */
static int read_context(struct ft_options *o, struct words *w, const char *where, struct ft_error *e)
{
    int err = ft_options_add_context(o, e);

    while (!err && w->at < w->n && w->v[w->at][0] == '-' && w->v[w->at][1]) {
        if (!strcmp(w->v[w->at], "--")) {
            w->at++;
            break;
        }
        err = read_option(o, w, e);
    }
    if (err < 0)
        return err;
    last(o)->argv = w->v + w->at;
    while (w->at < w->n && strcmp(w->v[w->at], ":"))
        w->at++;
    if (w->at < w->n)
        w->v[w->at] = NULL;
    if (last(o)->app)
        return read_app(o, e);
    if (*last(o)->argv || o->help || o->version || o->tune || o->join)
        return 0;
    if (where)
        return ft_err_set(e, FT_EINVAL, "%s: no program", where);
    return o->ncontexts == 1 && w->at == w->n
               ? ft_err_set(e, FT_EINVAL, "no program given (ftrun -n N PROGRAM [ARGUMENT]...; ftrun --help)")
               : ft_err_set(e, FT_EINVAL, "no program given in part %zu of the command line, \":\" stands between programs", o->ncontexts);
}

static int read_contexts(struct ft_options *o, struct words *w, const char *where, struct ft_error *e)
{
    int err;

    while ((err = read_context(o, w, where, e)) == 0 && w->at < w->n)
        w->at++;
    return err;
}

/* The last context names a file: its lines are contexts in the place of this one. */
static int read_app(struct ft_options *o, struct ft_error *e)
{
    struct ft_context c = *last(o);
    struct ft_appfile file;
    const char *where;
    int err;

    if (*c.argv)
        return ft_err_set(e, FT_EINVAL, "--app %s: and a program, %.80s; the file says which programs run", c.app, *c.argv);
    if (c.counted || c.wdir || c.nexports || c.per_host || c.hosts.n)
        return ft_err_set(e, FT_EINVAL, "--app %s: what concerns one program, as -n does, belongs in the file", c.app);
    o->ncontexts--;
    if (ft_appfile_open(&file, o, c.app, e) < 0)
        return FT_EINVAL;
    while ((err = ft_appfile_next(&file, &where, e)) > 0) {
        struct words w = {.v = file.words, .n = file.nwords};

        err = read_contexts(o, &w, where, e);
        if (err < 0)
            break;
        if (last(o)->app) {
            err = ft_err_set(e, FT_EINVAL, "%s: --app within such a file", where);
            break;
        }
    }
    ft_appfile_close(&file);
    return err;
}

/* What the options of one context mean together. */
static int settle(struct ft_options *o, struct ft_context *c, struct ft_error *e)
{
    uint32_t own = ft_hosts_slots(&c->hosts), common = ft_hosts_slots(&o->hosts), slots = own ? own : common;
    uint32_t most = ft_hosts_most(own ? &c->hosts : &o->hosts);

    if (o->place.each && !c->per_host && o->ncontexts == 1)
        c->per_host = o->place.each * ft_topology_count(o->place.map);
    if (ft_map_wanted(o)) {
        if (ft_map_count(o, c, e) < 0)
            return FT_EINVAL;
    } else {
        if (!c->counted)
            c->nranks = c->per_host ? c->per_host : own ? own : common && o->ncontexts == 1 ? common : 1;
        if (c->per_host && c->nranks > c->per_host)
            return ft_err_set(e, FT_EINVAL, "%u ranks at %u per host need %u hosts; --host names them", c->nranks, c->per_host,
                              (c->nranks + c->per_host - 1) / c->per_host);
        if (most && c->nranks > most)
            return ft_hosts_no_place(c->nranks - most, e);
        if (slots && c->nranks > slots && !o->oversubscribe)
            ft_options_notice(o, "%u ranks on %u slot%s: they share processors", c->nranks, slots, ft_plural(slots));
    }
    for (size_t i = 0; i < o->ngenv; i++)
        if (ft_options_add(&c->exports, &c->nexports, o->genv[i], e) < 0)
            return FT_EINVAL;
    /* to the front: what is said for one program comes after what is said for all */
    for (size_t i = 0; i < o->ngenv; i++) {
        const char *text = c->exports[c->nexports - 1];

        memmove(c->exports + 1, c->exports, (c->nexports - 1) * sizeof *c->exports);
        c->exports[0] = text;
    }
    return 0;
}

/* What is said of other hosts when there are none does nothing; who said it for this job is told. */
static void note_no_hosts(struct ft_options *o)
{
    const struct {
        bool said;
        const char *name;
    } said[] = {{o->spares > 0, "spares"}, {o->survive_host, "survive"}, {o->wait_ms > 0, "wait-for-host"}};

    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        const struct ft_setting *s = ft_settings_find_name(said[i].name, strlen(said[i].name));
        struct ft_origin origin = ft_settings_origin(o, s);

        if (said[i].said && !strcmp(origin.source, "command line"))
            ft_options_notice(o, "--%s %s does nothing: all ranks run on this host (--host names others)", said[i].name, origin.value);
    }
}

int ft_options_number(struct ft_options *o, struct ft_error *e)
{
    uint64_t n = 0;

    for (size_t c = 0; c < o->ncontexts; c++) {
        if (settle(o, &o->contexts[c], e) < 0)
            return FT_EINVAL;
        o->contexts[c].first = (uint32_t)n;
        n += o->contexts[c].nranks;
    }
    if (n > (ft_map_wanted(o) ? FT_WORLD_MAX : FT_RANKS_MAX))
        return ft_err_set(e, FT_EINVAL, "%llu ranks: too many, at most %d run on one host", (unsigned long long)n, FT_RANKS_MAX);
    o->nranks = (uint32_t)n;
    if (ft_map_wanted(o) && ft_map_make(o, e) < 0)
        return FT_EINVAL;
    if (o->stdin_rank >= (int64_t)n)
        return ft_err_set(e, FT_EINVAL, "--stdin %lld: there is no such rank, the last one is %u", (long long)o->stdin_rank, o->nranks - 1);
    return 0;
}

/* Hosts, if nobody has named any; and who has which rank. */
static int take_hosts(struct ft_options *o, struct ft_error *e)
{
    if (ft_mpirun_hosts(o, e) < 0 || ft_slurm_take(o, e) < 0 || ft_mpirun_ssh(o, e) < 0)
        return FT_EINVAL;
    return ft_options_number(o, e);
}

/* What all options mean together. Which hosts there are is known later with --rdzv. */
static int settle_all(struct ft_options *o, struct ft_error *e)
{
    if (ft_rendezvous_take(o, e) < 0 || (!o->rendezvous && take_hosts(o, e) < 0))
        return FT_EINVAL;
    if (o->resume && !o->ckpt_dir)
        return ft_err_set(e, FT_EINVAL, "--resume: from where? --ckpt-dir names the directory of the checkpoints");
    if (o->lease_ms < FT_LEASE_MIN_MS)
        return ft_err_set(e, FT_EINVAL, "--lease %g: at least %g s, or every host would be taken for lost", (double)o->lease_ms / 1e3,
                          FT_LEASE_MIN_MS / 1e3);
    if (o->report && o->timeline && ft_outfile_same(o->report, o->timeline))
        return ft_err_set(e, FT_EINVAL, "--report %.300s and --timeline %.300s are one file: each needs its own", o->report, o->timeline);
    if (o->events && ((o->report && ft_outfile_same(o->report, o->events)) || (o->timeline && ft_outfile_same(o->timeline, o->events))))
        return ft_err_set(e, FT_EINVAL, "--events %.300s is the file of --report or --timeline: each needs its own", o->events);
    if (!o->start_ms)
        return ft_err_set(e, FT_EINVAL, "--start-timeout 0: must be more than 0");
    if (!ft_map_wanted(o) && !o->rendezvous)
        note_no_hosts(o);
    if (o->nforeign)
        ft_options_notice(o, "%s%s ignored: ftmpi has no such parameters", o->foreign, o->nforeign > 1 ? " and others are" : " is");
    return 0;
}

int ft_options_configure(struct ft_options *o, struct ft_error *e)
{
    int err;

    ft_options_defaults(o);
    err = ft_configure_files(o, e);
    return err ? err : ft_configure_environment(o, e);
}

int ft_options_parse(struct ft_options *o, int argc, char **argv, struct ft_error *e)
{
    struct words w = {.v = argv, .n = argc, .at = 1};
    struct ft_error configured;
    int first = ft_options_configure(o, &configured), err = read_contexts(o, &w, NULL, e);

    if (o->help || o->version || o->tune)
        return err; /* those work in any case */
    if (first < 0)
        *e = configured;
    return first < 0 ? first : err < 0 ? err : settle_all(o, e);
}

void ft_options_free(struct ft_options *o)
{
    for (size_t c = 0; c < o->ncontexts; c++) {
        free(o->contexts[c].exports);
        free(o->contexts[c].path);
    }
    free(o->contexts);
    free(o->genv);
    free(o->launch_args);
    ft_map_free(o->map);
    ft_rendezvous_free(o->rendezvous);
    for (size_t i = 0; i < o->nnotices; i++)
        free(o->notices[i]);
    free(o->notices);
    for (size_t i = 0; i < o->nkept; i++)
        free(o->kept[i]);
    free(o->kept);
}
