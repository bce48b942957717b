/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/control/show.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"
#include "launcher/control/table.h"

enum { TEXT = FT_TABLE_TEXT, LINES_MOST = 24 /* of a status: beyond it, less is told apart */, PIDS_MOST = 8 /* of ranks in a line */ };

static long long number(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

static double real(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

/* It is there, and not null. */
static bool has(const json_t *object, const char *name)
{
    const json_t *there = json_object_get(object, name);

    return there && !json_is_null(there);
}

static const char *string(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));

    return text ? text : "";
}

/* "0.3 s", "2 min 05 s", "3 h 12 min", "2 d 03 h". Returns text. */
static const char *duration(double seconds, char *text, size_t size)
{
    unsigned long long s = (unsigned long long)seconds;

    if (seconds < 60)
        snprintf(text, size, "%.1f s", seconds);
    else if (s < 3600)
        snprintf(text, size, "%llu min %02llu s", s / 60, s % 60);
    else if (s < 86400)
        snprintf(text, size, "%llu h %02llu min", s / 3600, s / 60 % 60);
    else
        snprintf(text, size, "%llu d %02llu h", s / 86400, s / 3600 % 24);
    return text;
}

/* "0", "12 KiB", "3.4 MiB". Returns text. */
static const char *size_of(const json_t *object, const char *name, char text[static 32])
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double bytes = real(object, name);
    size_t unit = 0;

    while (bytes >= 1024 && unit + 1 < sizeof units / sizeof units[0]) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text, 32, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
    return text;
}

/* The words of the command, after the job's name if it has one; what could upset a terminal as "?". Returns text, cut with "...". */
static const char *command(const json_t *info, const char *name, char *text, size_t size)
{
    const json_t *words = json_object_get(info, "command"), *word;
    size_t n = (size_t)snprintf(text, size, "%s%s", name, *name ? ": " : ""), i;

    json_array_foreach(words, i, word)
        n += (size_t)snprintf(text + ft_min(n, size - 1), size - ft_min(n, size - 1), "%s%s", i ? " " : "", json_string_value(word));
    if (n >= size)
        memcpy(text + size - 4, "...", 4);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    return text;
}

void ft_show_jobs(FILE *to, const struct ft_jobs *jobs, const char *word)
{
    char since[TEXT], what[80];

    fprintf(to, "%-10s %8s %6s  %-12s  %s\n", "JOB", "PID", "RANKS", "RUNNING FOR", "COMMAND");
    for (size_t i = 0; i < jobs->n; i++) {
        const struct ft_job_entry *job = &jobs->list[i];
        const json_t *info = job->info;
        char where[TEXT] = "", pid[24] = "?";

        if (!ft_jobs_matches(job, word))
            continue;
        if (!info) {
            fprintf(to, "%-10s %8s %6s  %-12s  (does not answer; is its ftrun stopped?)\n", job->id, "?", "?", "?");
            continue;
        }
        if (!job->unreachable)
            snprintf(pid, sizeof pid, "%lld", number(info, "pid"));
        if (job->unreachable)
            snprintf(where, sizeof where, " (its ftrun, on another host, cannot be reached)");
        else if (job->by_node)
            snprintf(where, sizeof where, " (its ftrun is on host %.100s)", string(info, "host"));
        fprintf(to, "%-10s %8s %6lld  %-12s  %s%s\n", job->id, pid, number(info, "ranks"),
                duration(real(info, "wall_seconds"), since, sizeof since), command(info, string(info, "name"), what, sizeof what), where);
    }
}

/* Ranks in the same place. */
struct group {
    struct ft_table_row row;    /* its first cell is the ranks, the third how long */
    double least, most;         /* seconds */
    long long from, to;         /* the run of ranks that is not yet written into the first cell */
    long long ranks, pids[PIDS_MOST];
};

struct groups {
    const char *heads[FT_TABLE_COLUMNS];
    void (*describe)(const json_t *rank, bool coarse, struct group *g);
    struct group *list;
    size_t n;
    bool coarse;
};

static void append(char *text, const char *more)
{
    size_t n = strlen(text);

    snprintf(text + n, TEXT - n, "%s", more);
}

static void add_run(char *text, long long from, long long to)
{
    char run[64];

    if (strlen(text) > TEXT - sizeof run) {
        if (strcmp(text + strlen(text) - 3, "..."))
            append(text, ",...");
        return;
    }
    snprintf(run, sizeof run, from == to ? "%s%lld" : "%s%lld-%lld", *text ? "," : "", from, to);
    append(text, run);
}

static void tell_awaited(const json_t *rank, char text[TEXT])
{
    const json_t *list = json_object_get(rank, "waits_for"), *one;
    long long from = -1, to = -1, more = number(rank, "waits_for_count") - (long long)json_array_size(list);
    char rest[48];
    size_t i;

    json_array_foreach(list, i, one) {
        long long r = json_integer_value(one);

        if (from >= 0 && r != to + 1) {
            add_run(text, from, to);
            from = r;
        } else if (from < 0) {
            from = r;
        }
        to = r;
    }
    if (from >= 0)
        add_run(text, from, to);
    if (more > 0) {
        snprintf(rest, sizeof rest, " and %lld more", more);
        append(text, rest);
    }
    if (json_is_true(json_object_get(rank, "waits_for_memory")))
        append(text, *text ? ", log memory" : "log memory");
    if (json_is_true(json_object_get(rank, "waits_for_hosts")))
        append(text, "other hosts");
    if (json_is_true(json_object_get(rank, "waits_for_disk")))
        append(text, *text ? ", the disk (--ckpt-dir)" : "the disk (--ckpt-dir)");
}

/* "; 12 unexpected messages of 3.4 KiB, the oldest from rank 1 with tag 5; 2 not looked at; 3 open requests" */
static void tell_queue(const json_t *queue, char text[TEXT])
{
    long long unexpected = number(queue, "unexpected"), unseen = number(queue, "unseen"), requests = number(queue, "requests");
    const char *before = *text ? "; " : "";
    char more[TEXT], bytes[32];

    if (unexpected) {
        snprintf(more, sizeof more, "%s%lld unexpected message%s of %s, the oldest from rank %lld with tag %lld", before, unexpected,
                 ft_plural((uint64_t)unexpected), size_of(queue, "unexpected_bytes", bytes), number(queue, "oldest_source"), number(queue, "oldest_tag"));
        append(text, more);
        before = "; ";
    }
    if (unseen) {
        snprintf(more, sizeof more, "%s%lld message%s not looked at", before, unseen, ft_plural((uint64_t)unseen));
        append(text, more);
        before = "; ";
    }
    if (requests > 1) {
        snprintf(more, sizeof more, "%s%lld open requests, %lld posted receive%s", before, requests, number(queue, "receives"),
                 ft_plural((uint64_t)number(queue, "receives")));
        append(text, more);
    }
}

static void tell_what(const json_t *rank, bool coarse, char text[TEXT])
{
    long long restarts = number(rank, "restarts");
    char more[TEXT] = "", stream[48] = "";

    if (has(rank, "stream") && !coarse)
        snprintf(stream, sizeof stream, "stream %lld, ", number(rank, "stream"));
    if (has(rank, "operation") && (coarse || !has(rank, "site")))
        snprintf(text, TEXT, "%s%s", stream, string(rank, "operation"));
    else if (has(rank, "operation"))
        snprintf(text, TEXT, "%sunit %lld: %s at %s", stream, number(rank, "unit"), string(rank, "operation"), string(rank, "site"));
    else if (!coarse && !strcmp(string(rank, "state"), "outside MPI"))
        snprintf(text, TEXT, "%lld unit%s done", number(rank, "units"), ft_plural((uint64_t)number(rank, "units")));
    if (has(rank, "node")) { /* of several */
        snprintf(more, sizeof more, "on %.100s%s%.140s", string(rank, "host"), *text ? ": " : "", text);
        strcpy(text, more);
    }
    if (has(rank, "to_replay") && !coarse) {
        snprintf(more, sizeof more, "%s%lld of %lld unit%s replayed", *text ? "; " : "", number(rank, "replayed"),
                 number(rank, "to_replay"), ft_plural((uint64_t)number(rank, "to_replay")));
        append(text, more);
    }
    if (has(rank, "queue") && !coarse)
        tell_queue(json_object_get(rank, "queue"), text);
    if (restarts) {
        snprintf(more, sizeof more, "%s%lld restart%s", *text ? "; " : "", restarts, ft_plural((uint64_t)restarts));
        append(text, more);
    }
}

static void describe_place(const json_t *rank, bool coarse, struct group *g)
{
    snprintf(g->row.cells[1], TEXT, "%s%s", string(rank, "state"), json_is_true(json_object_get(rank, "stopped")) ? ", stopped" : "");
    tell_what(rank, coarse, g->row.cells[3]);
    if (!coarse)
        tell_awaited(rank, g->row.cells[4]);
    g->least = g->most = has(rank, "seconds") ? real(rank, "seconds") : -1;
    g->pids[0] = number(rank, "pid");
}

static void describe_ways(const json_t *rank, bool coarse, struct group *g)
{
    const json_t *ways = json_object_get(rank, "ways_back"), *snapshot = json_object_get(rank, "snapshot"), *way;
    char threads[48];
    size_t i;

    (void)coarse;
    json_array_foreach(ways, i, way) {
        append(g->row.cells[1], i ? ", " : "");
        append(g->row.cells[1], json_string_value(way));
        if (!strcmp(json_string_value(way), "snapshot") && number(snapshot, "threads") > 1) {
            snprintf(threads, sizeof threads, " of %lld threads", number(snapshot, "threads"));
            append(g->row.cells[1], threads);
        }
    }
    g->least = g->most = has(rank, "snapshot") ? real(snapshot, "seconds") : -1;
    snprintf(g->row.cells[3], TEXT, "%s", string(rank, "no_snapshot"));
    if (has(rank, "no_start")) {
        append(g->row.cells[3], *g->row.cells[3] ? "; no start from its beginning: " : "no start from its beginning: ");
        append(g->row.cells[3], string(rank, "no_start"));
    }
}

static bool alike(const struct group *a, const struct group *b)
{
    return !strcmp(a->row.cells[1], b->row.cells[1]) && !strcmp(a->row.cells[3], b->row.cells[3]) && !strcmp(a->row.cells[4], b->row.cells[4]);
}

static void join(struct group *g, const struct group *one)
{
    g->least = one->least < g->least ? one->least : g->least;
    g->most = one->most > g->most ? one->most : g->most;
    if (g->ranks < PIDS_MOST)
        g->pids[g->ranks] = one->pids[0];
    g->ranks++;
    if (one->from != g->to + 1) {
        add_run(g->row.cells[0], g->from, g->to);
        g->from = one->from;
    }
    g->to = one->to;
}

/* False: no memory. */
static bool make_groups(struct groups *gs, const json_t *ranks)
{
    const json_t *rank;
    size_t i, k;

    json_array_foreach(ranks, i, rank) {
        struct group one = {.from = number(rank, "rank"), .to = number(rank, "rank"), .ranks = 1}, *list;

        gs->describe(rank, gs->coarse, &one);
        for (k = 0; k < gs->n && !alike(&gs->list[k], &one); k++)
            ;
        if (k < gs->n) {
            join(&gs->list[k], &one);
            continue;
        }
        list = realloc(gs->list, (gs->n + 1) * sizeof *list);
        if (!list)
            return false;
        gs->list = list;
        gs->list[gs->n++] = one;
    }
    return true;
}

/* "; pid 7", "; pids 7,8-10" of ranks that are in one place, in their order. */
static void add_pids(struct group *g)
{
    char text[TEXT] = "";
    long long from = g->pids[0], to = from;

    if (g->ranks > PIDS_MOST || !from)
        return;
    for (long long i = 1; i < g->ranks; i++) {
        if (g->pids[i] == to + 1) {
            to++;
            continue;
        }
        add_run(text, from, to);
        from = to = g->pids[i];
    }
    add_run(text, from, to);
    append(g->row.cells[3], *g->row.cells[3] ? "; " : "");
    append(g->row.cells[3], g->ranks == 1 ? "pid " : "pids ");
    append(g->row.cells[3], text);
}

static void finish_group(struct group *g)
{
    char least[TEXT], most[TEXT];

    add_run(g->row.cells[0], g->from, g->to);
    add_pids(g);
    if (g->most < 0)
        return;
    duration(g->least, least, sizeof least);
    duration(g->most, most, sizeof most);
    if (strcmp(least, most))
        snprintf(g->row.cells[2], TEXT, "%.100s to %.100s", least, most);
    else
        snprintf(g->row.cells[2], TEXT, "%s", most);
}

static const struct ft_table_row *row_of(const void *arg, size_t i)
{
    const struct groups *gs = arg;

    return &gs->list[i].row;
}

static void show_ranks(FILE *to, const json_t *ranks, const struct groups *what, size_t columns)
{
    struct groups gs = *what;
    bool whole = make_groups(&gs, ranks);

    if (whole && gs.n > LINES_MOST) {
        free(gs.list);
        gs = *what;
        gs.coarse = true;
        whole = make_groups(&gs, ranks);
    }
    if (whole) {
        for (size_t i = 0; i < gs.n; i++)
            finish_group(&gs.list[i]);
        ft_table_print(to, gs.heads, gs.n, row_of, &gs, columns);
    }
    free(gs.list);
}

__attribute__((format(printf, 3, 4))) static void line(FILE *to, size_t columns, const char *format, ...)
{
    char *text = NULL;
    va_list args;

    va_start(args, format);
    if (vasprintf(&text, format, args) >= 0) {
        ft_table_line(to, text, columns);
        free(text);
    }
    va_end(args);
}

static void show_log(FILE *to, const json_t *status, size_t columns)
{
    double held = real(status, "log_bytes") - real(status, "released_bytes");
    json_t *is = json_pack("{sf}", "held", held);
    char text[3][32], spilled[64] = "nothing";

    if (real(status, "spilled_bytes") > 0)
        snprintf(spilled, sizeof spilled, "%s of it", size_of(status, "spilled_bytes", text[2]));
    if (has(status, "log_bytes"))
        line(to, columns, "log: %s held, of %s in all; %s went to disk", size_of(is, "held", text[0]), size_of(status, "log_bytes", text[1]), spilled);
    json_decref(is);
}

/* Of one host. */
static void show_memory(FILE *to, const json_t *m, size_t columns)
{
    line(to, columns, "memory: %lld of %lld MiB used%s (programs %lld, snapshots %lld, log %lld, slots %lld, ftrun %lld); %lld promised to "
         "snapshots", number(m, "used"), number(m, "limit"), json_is_true(json_object_get(m, "group")) ? " in the control group" : "",
         number(m, "programs"), number(m, "snapshots"), number(m, "log"), number(m, "slots"), number(m, "launcher"), number(m, "promised"));
}

/* Of a job on several hosts. */
static void show_nodes(FILE *to, const json_t *nodes, size_t columns)
{
    const json_t *node;
    char more[64];
    size_t i;

    json_array_foreach(nodes, i, node) {
        *more = 0;
        if (number(node, "incarnation"))
            snprintf(more, sizeof more, ", started %lld times", number(node, "incarnation") + 1);
        line(to, columns, "node %lld on %s: %s, %lld unit%s%s%s", number(node, "node"), string(node, "host"), string(node, "state"),
             number(node, "units"), ft_plural((uint64_t)number(node, "units")), more,
             json_is_true(json_object_get(node, "whole_log")) ? "" : ", not the whole log");
        if (has(node, "memory"))
            show_memory(to, json_object_get(node, "memory"), columns);
    }
}

/* The newest one that ranks have made, in memory, and the one on disk. */
static void show_checkpoints(FILE *to, const json_t *status, const json_t *ranks, size_t columns)
{
    const json_t *durable = json_object_get(status, "durable"), *rank, *newest = NULL;
    char age[TEXT], ago[TEXT + 16] = "";
    size_t i;

    json_array_foreach(ranks, i, rank)
        if (has(rank, "checkpoint") && (!newest || number(rank, "checkpoint") > number(newest, "checkpoint")))
            newest = rank;
    if (newest && has(newest, "checkpoint_seconds"))
        snprintf(ago, sizeof ago, ", %s ago", duration(real(newest, "checkpoint_seconds"), age, sizeof age));
    if (newest)
        line(to, columns, "last checkpoint: version %lld%s", number(newest, "checkpoint"), ago);
    if (has(durable, "last_at_seconds"))
        line(to, columns, "last checkpoint on disk: version %lld, %s ago", number(durable, "last_version"),
             duration(real(status, "wall_seconds") - real(durable, "last_at_seconds"), age, sizeof age));
    else if (has(durable, "last_version"))
        line(to, columns, "last checkpoint on disk: version %lld, of before this job", number(durable, "last_version"));
    else if (has(status, "durable"))
        line(to, columns, "last checkpoint on disk: none yet");
}

static void show_cache(FILE *to, const json_t *cache, size_t columns)
{
    line(to, columns, "bootstrap cache: %lld result%s, %lld bytes%s; %lld call%s answered from it", number(cache, "results"),
         ft_plural((uint64_t)number(cache, "results")), number(cache, "bytes"),
         json_is_true(json_object_get(cache, "complete")) ? "" : " (not all: there was no memory)", number(cache, "answers"),
         ft_plural((uint64_t)number(cache, "answers")));
}

static bool any_has(const json_t *ranks, const char *name)
{
    const json_t *rank;
    size_t i;

    json_array_foreach(ranks, i, rank)
        if (has(rank, name))
            return true;
    return false;
}

static const struct groups places = {.heads = {"RANKS", "STATE", "FOR", "WHERE", "WAITS FOR RANKS"}, .describe = describe_place};

void ft_show_known(FILE *to, const json_t *known, size_t columns)
{
    char since[TEXT], what[TEXT];

    line(to, columns, "job %s, %lld rank%s; those on this host (%s), running for %s: %s", string(known, "job"), number(known, "ranks"),
         ft_plural((uint64_t)number(known, "ranks")), string(known, "host"), duration(real(known, "wall_seconds"), since, sizeof since),
         command(known, "", what, sizeof what));
    show_ranks(to, json_object_get(known, "per_rank"), &places, columns);
}

void ft_show_status(FILE *to, const json_t *status, size_t columns)
{
    static const struct groups ways = {.heads = {"RANKS", "WAYS BACK", "SNAPSHOT'S AGE", "NO NEWER ONE BECAUSE", ""}, .describe = describe_ways};
    const json_t *ranks = json_object_get(status, "per_rank");
    const char *name = string(status, "name");
    char since[TEXT], what[TEXT];

    line(to, columns, "job %s (%s%spid %lld, host %s), %lld rank%s, running for %s: %s", string(status, "job"), name, *name ? ", " : "",
         number(status, "pid"), string(status, "host"), number(status, "ranks"), ft_plural((uint64_t)number(status, "ranks")),
         duration(real(status, "wall_seconds"), since, sizeof since), command(status, "", what, sizeof what));
    show_nodes(to, json_object_get(status, "per_node"), columns);
    show_ranks(to, ranks, &places, columns);
    show_log(to, status, columns);
    if (has(status, "memory"))
        show_memory(to, json_object_get(status, "memory"), columns);
    show_checkpoints(to, status, ranks, columns);
    if (has(status, "bootstrap_cache"))
        show_cache(to, json_object_get(status, "bootstrap_cache"), columns);
    if (any_has(ranks, "ways_back"))
        show_ranks(to, ranks, &ways, columns);
}
