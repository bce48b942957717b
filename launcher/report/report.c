/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/report/report.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ft/base/util.h"
#include "launcher/base/say.h"
#include "launcher/base/shared.h"

int ft_report_open(struct ft_report *r, const char *path, char **argv, uint32_t nranks, uint64_t now_ns, struct ft_error *e)
{
    struct timespec t;

    memset(r, 0, sizeof *r);
    r->file.fd = -1;
    r->argv = argv;
    r->nranks = nranks;
    r->begin_ns = now_ns;
    clock_gettime(CLOCK_REALTIME, &t);
    r->began_at = (double)t.tv_sec + (double)t.tv_nsec / 1e9;
    r->ranks = ft_shared_new(nranks * sizeof *r->ranks);
    r->restarts = ft_shared_new(FT_RESTARTS_MAX * sizeof *r->restarts);
    if (!r->ranks || !r->restarts)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    if (path && ft_outfile_open(&r->file, "--report", path, e) < 0) {
        ft_report_close(r);
        return FT_ESYS;
    }
    r->wanted = path;
    return 0;
}

struct ft_restart *ft_report_restart(struct ft_report *r)
{
    return r->nrestarts < FT_RESTARTS_MAX ? &r->restarts[r->nrestarts++] : NULL;
}

struct ft_restart *ft_report_last(struct ft_report *r, uint32_t rank)
{
    for (uint64_t i = r->nrestarts; i-- > 0;)
        if (r->restarts[i].rank == rank)
            return &r->restarts[i];
    return NULL;
}

void ft_report_astray(struct ft_report *r, uint32_t rank, uint64_t at_ns)
{
    struct ft_restart *restart = ft_report_last(r, rank);

    r->ranks[rank].away = true;
    if (!restart || restart->astray_ns == at_ns)
        return;
    restart->started_ns = restart->live_ns = restart->replayed = 0;
    restart->astray++;
    restart->astray_ns = at_ns;
}

/* A launcher process may be killed between any two of these lines; its successor comes here again. */
void ft_report_started(struct ft_report *r, uint32_t rank, enum ft_way_back way, uint64_t at_ns)
{
    struct ft_rank_total *total = &r->ranks[rank];
    struct ft_restart *restart = ft_report_last(r, rank);
    uint64_t *at = way == FT_BACK_SNAPSHOT ? &total->cut_ns : way == FT_BACK_CHECKPOINT ? &total->checkpoint_ns : &total->origin_ns;

    if (restart && (!restart->from_ns || (restart->astray && !restart->started_ns && restart->way != way))) /* not the way tried before */
        restart->from_ns = *at;
    *at = at_ns;
    if (restart && !restart->started_ns) {
        restart->way = way;
        restart->started_ns = at_ns;
    }
}

void ft_report_cut(struct ft_report *r, uint32_t rank, uint64_t at_ns, uint64_t unit, uint64_t cost_ns)
{
    struct ft_rank_total *total = &r->ranks[rank];

    if (r->timeline)
        ft_timeline_cut(r->timeline, rank, at_ns);
    total->cut_ns = at_ns;
    total->cut_unit = unit;
    total->cuts++;
    total->cuts_cost_ns += cost_ns;
    total->cuts_most_ns = ft_max(total->cuts_most_ns, cost_ns);
}

void ft_report_still(struct ft_report *r, uint32_t rank, uint64_t still_ns, uint64_t most_ns, uint64_t threads)
{
    struct ft_rank_total *total = &r->ranks[rank];

    total->still_ns = ft_min(total->still_ns + ft_min(still_ns, INT64_MAX), INT64_MAX);
    total->still_most_ns = ft_max(total->still_most_ns, ft_min(most_ns, INT64_MAX));
    total->threads = (uint32_t)ft_min(threads, UINT32_MAX);
}

/* Sums never go down, and a renewal of the log may be noted before and after it has been renewed. */
void ft_report_log(struct ft_report *r, uint64_t bytes, uint64_t released, uint64_t spilled)
{
    r->log_bytes = ft_max(r->log_bytes, r->log_before + bytes);
    r->spilled_bytes = ft_max(r->spilled_bytes, r->spilled_before + spilled);
    r->released_bytes = ft_min(r->log_before + released, r->log_bytes); /* by extents, and more may be logged between the two looks */
    r->peak_log_bytes = ft_max(r->peak_log_bytes, r->log_bytes - r->released_bytes);
}

void ft_report_renew(struct ft_report *r)
{
    r->log_before = r->log_bytes;
    r->spilled_before = r->spilled_bytes;
}

static void add(json_t *object, const char *name, uint64_t number)
{
    json_object_set_new(object, name, json_integer((json_int_t)number));
}

/* null if there is none: 0 stands for that */
static void add_some(json_t *object, const char *name, uint64_t number)
{
    json_object_set_new(object, name, number ? json_integer((json_int_t)number) : json_null());
}

static void add_seconds(json_t *object, const char *name, uint64_t ns)
{
    json_object_set_new(object, name, json_real((double)ns / 1e9));
}

/* null if one of the two moments never came */
static void add_span(json_t *object, const char *name, uint64_t from_ns, uint64_t to_ns)
{
    if (from_ns && to_ns)
        add_seconds(object, name, to_ns > from_ns ? to_ns - from_ns : 0);
    else
        json_object_set_new(object, name, json_null());
}

/* One of the two; both null if it is not known. */
static void add_death(json_t *object, int signal, int code, bool known)
{
    add_some(object, "signal", known && signal ? (uint64_t)signal : 0);
    json_object_set_new(object, "exit_code", known && !signal ? json_integer(code) : json_null());
}

static json_t *string(const char *text)
{
    json_t *s = text ? json_string(text) : json_null(); /* NULL if it is not UTF-8 */

    return s ? s : json_string("(not UTF-8)");
}

static void add_text(json_t *object, const char *name, const char *text)
{
    json_object_set_new(object, name, string(text));
}

static json_t *host_name(const struct ft_report *r, uint32_t host)
{
    return string(r->hosts ? r->hosts->names[host] : ft_say_host());
}

static json_t *host_names(const struct ft_report *r)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < (r->hosts ? r->hosts->n : 1); i++)
        if (!r->hosts || *r->hosts->names[i]) /* else nobody has come */
            json_array_append_new(list, host_name(r, i));
    return list;
}

static json_t *host_losses(const struct ft_report *r)
{
    json_t *list = json_array();

    for (uint64_t i = 0; r->hosts && i < r->hosts->nlosses; i++) {
        const struct ft_host_loss *from = &r->hosts->losses[i];
        json_t *to = json_object();

        add(to, "node", from->node);
        json_object_set_new(to, "host", host_name(r, from->host));
        add_span(to, "at_seconds", r->begin_ns, from->lost_ns);
        add_span(to, "detect_seconds_at_most", from->heard_ns, from->lost_ns);
        json_object_set_new(to, "replaced_by", from->to < 0 || !from->up_ns ? json_null() : host_name(r, (uint32_t)from->to));
        add_span(to, "replace_seconds", from->lost_ns, from->up_ns);
        json_object_set_new(to, "all_ranks", json_boolean(from->all));
        json_array_append_new(list, to);
    }
    return list;
}

static json_t *restarts(const struct ft_report *r)
{
    json_t *list = json_array();

    for (uint64_t i = 0; i < r->nrestarts; i++) {
        const struct ft_restart *from = &r->restarts[i];
        json_t *to = json_object();

        add(to, "rank", from->rank);
        json_object_set_new(to, "host", host_name(r, from->host));
        add_some(to, "pid", (uint64_t)from->pid);
        add_death(to, from->signal, from->code, !from->lost);
        json_object_set_new(to, "host_lost", json_boolean(from->host_lost));
        add_span(to, "at_seconds", r->begin_ns, from->died_ns);
        add_span(to, "detect_seconds_at_most", from->seen_ns, from->died_ns);
        json_object_set_new(to, "way_back", from->started_ns ? json_string(ft_way_back_text(from->way)) : json_null());
        add_span(to, "respawn_seconds", from->died_ns, from->started_ns);
        add_span(to, "replay_seconds", from->started_ns, from->live_ns);
        add_span(to, "recover_seconds", from->died_ns, from->live_ns);
        add_span(to, "lost_seconds", from->from_ns, from->died_ns);
        add(to, "replayed_units", from->replayed);
        add(to, "snapshots_not_followed", from->astray);
        json_array_append_new(list, to);
    }
    return list;
}

static json_t *cuts(const struct ft_rank_total *from)
{
    json_t *to = json_object();

    add(to, "taken", from->cuts);
    add_seconds(to, "seconds", from->cuts_cost_ns);
    json_object_set_new(to, "longest_seconds", from->cuts ? json_real((double)from->cuts_most_ns / 1e9) : json_null());
    add_some(to, "threads", from->cuts ? ft_max(1, from->threads) : 0);
    add_seconds(to, "still_seconds", from->still_ns);
    add_seconds(to, "longest_still_seconds", from->still_most_ns);
    add(to, "refused_for_threads", from->refused);
    return to;
}

static json_t *cuts_of_all(const struct ft_report *r)
{
    struct ft_rank_total all = {.cuts = 0};

    for (uint32_t i = 0; i < r->nranks; i++) {
        const struct ft_rank_total *one = &r->ranks[i];

        all.cuts += one->cuts;
        all.cuts_cost_ns += one->cuts_cost_ns;
        all.cuts_most_ns = ft_max(all.cuts_most_ns, one->cuts_most_ns);
        all.threads = ft_max(all.threads, one->threads);
        all.still_ns += one->still_ns;
        all.still_most_ns = ft_max(all.still_most_ns, one->still_most_ns);
        all.refused += one->refused;
    }
    return cuts(&all);
}

static uint64_t replayed(const struct ft_report *r, uint32_t rank)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < r->nrestarts; i++)
        sum += r->restarts[i].rank == rank ? r->restarts[i].replayed : 0;
    return sum;
}

static json_t *checks(const struct ft_report *r, const struct ft_checks *from)
{
    json_t *to = r->checks ? json_object() : json_null();

    if (!r->checks)
        return to;
    add(to, "replays", from->from_snapshot + from->from_start);
    add(to, "from_snapshot", from->from_snapshot);
    add(to, "from_start", from->from_start);
    add(to, "records", from->records);
    add(to, "differed", from->differed);
    json_object_set_new(to, "to_the_end", json_boolean(!from->unable));
    return to;
}

/* Between hosts there are none. */
static json_t *messages(const struct ft_report *r, const struct ft_message_totals *from)
{
    json_t *to = r->hosts ? json_null() : json_object();

    if (r->hosts)
        return to;
    add(to, "sent", from->sent);
    add(to, "sent_bytes", from->sent_bytes);
    add(to, "received", from->received);
    add(to, "received_bytes", from->received_bytes);
    add(to, "most_unexpected", from->most_unexpected);
    return to;
}

static json_t *ranks(const struct ft_report *r)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < r->nranks; i++) {
        const struct ft_rank_total *from = &r->ranks[i];
        json_t *to = json_object();

        add(to, "rank", i);
        json_object_set_new(to, "host", host_name(r, r->hosts ? r->hosts->of_rank[i] : 0));
        add_some(to, "pid", (uint64_t)from->pid);
        add_death(to, from->signal, from->code, from->ended_ns);
        add_span(to, "ended_at_seconds", r->begin_ns, from->ended_ns);
        add(to, "restarts", from->restarts);
        add(to, "units", from->units);
        add(to, "replayed_units", replayed(r, i));
        json_object_set_new(to, "snapshots", cuts(from));
        json_object_set_new(to, "checks", checks(r, &from->checks));
        json_object_set_new(to, "messages", messages(r, &from->messages));
        json_object_set_new(to, "last_snapshot_unit", from->cuts ? json_integer((json_int_t)from->cut_unit) : json_null());
        json_array_append_new(list, to);
    }
    return list;
}

static json_t *command(const struct ft_report *r)
{
    json_t *list = json_array();

    for (char **arg = r->argv; *arg; arg++)
        json_array_append_new(list, string(*arg));
    return list;
}

static json_t *durable(const struct ft_report *r)
{
    const struct ft_durable_totals *from = r->durable;
    json_t *to = from ? json_object() : json_null();

    if (!from)
        return to;
    add_some(to, "resumed_version", from->resumed);
    add_some(to, "last_version", from->last);
    add_span(to, "last_at_seconds", r->begin_ns, from->last_ns);
    add(to, "written", from->written);
    add(to, "failed", from->failed);
    add_some(to, "last_bytes", from->bytes);
    add_seconds(to, "seconds", from->ns);
    json_object_set_new(to, "longest_seconds", from->written ? json_real((double)from->most_ns / 1e9) : json_null());
    return to;
}

static json_t *cache(const struct ft_cache_totals *from)
{
    json_t *to = from->results || from->lost ? json_object() : json_null();

    if (json_is_null(to))
        return to;
    add(to, "results", from->results);
    add(to, "bytes", from->bytes);
    add(to, "answers", from->answers);
    json_object_set_new(to, "complete", json_boolean(!from->lost));
    return to;
}

json_t *ft_report_all(const struct ft_report *r, int exit_code, uint64_t now_ns)
{
    json_t *all = json_object();

    add(all, "format", FT_REPORT_FORMAT);
    add_text(all, "job", r->job);
    add_text(all, "name", r->name);
    add_text(all, "version", PACKAGE_VERSION);
    json_object_set_new(all, "command", command(r));
    add_text(all, "host", ft_say_host());
    json_object_set_new(all, "hosts", host_names(r));
    add(all, "ranks", r->nranks);
    json_object_set_new(all, "began_at", json_real(r->began_at));
    add_span(all, "wall_seconds", r->begin_ns, now_ns);
    json_object_set_new(all, "finished", json_boolean(exit_code != FT_UNFINISHED));
    json_object_set_new(all, "exit_code", exit_code != FT_UNFINISHED ? json_integer(exit_code) : json_null());
    add(all, "log_bytes", r->log_bytes);
    add(all, "released_bytes", r->released_bytes);
    add(all, "peak_log_bytes", r->peak_log_bytes);
    add(all, "spilled_bytes", r->spilled_bytes);
    add_some(all, "peak_memory_bytes", r->peak_memory_bytes);
    json_object_set_new(all, "snapshots", cuts_of_all(r));
    json_object_set_new(all, "durable", durable(r));
    json_object_set_new(all, "bootstrap_cache", cache(&r->cache));
    json_object_set_new(all, "hosts_lost", host_losses(r));
    json_object_set_new(all, "restarts", restarts(r));
    json_object_set_new(all, "per_rank", ranks(r));
    return all;
}

char *ft_report_text(const struct ft_report *r, int exit_code, uint64_t now_ns, size_t *len)
{
    json_t *all = ft_report_all(r, exit_code, now_ns);
    char *json = json_dumps(all, JSON_INDENT(2) | JSON_REAL_PRECISION(15)), *text = json ? realloc(json, strlen(json) + 2) : NULL;

    json_decref(all);
    if (!text) {
        free(json);
        return NULL;
    }
    *len = strlen(strcat(text, "\n"));
    return text;
}

int ft_report_write(struct ft_report *r, int exit_code, uint64_t now_ns, struct ft_error *e)
{
    int failed = 0;
    size_t len;
    char *text;

    if (!ft_outfile_wanted(&r->file))
        return 0;
    text = ft_report_text(r, exit_code, now_ns, &len);
    if (!text || ft_outfile_put(&r->file, text, len) < 0)
        failed = ft_err_set(e, FT_ESYS, "--report: the report could not be written: %s", strerror(errno));
    free(text);
    return failed;
}

void ft_report_close(struct ft_report *r)
{
    ft_outfile_close(&r->file);
    ft_shared_free(r->restarts, FT_RESTARTS_MAX * sizeof *r->restarts);
    ft_shared_free(r->ranks, r->nranks * sizeof *r->ranks);
    *r = (struct ft_report){.file.fd = -1};
}
