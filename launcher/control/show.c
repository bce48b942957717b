/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/control/show.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"

enum { TEXT = 256, COLUMNS = 5, LINES_MOST = 24 /* of a status: beyond it, less is told apart */ };

static long long number(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
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

        if (!ft_jobs_matches(job, word))
            continue;
        if (!info)
            fprintf(to, "%-10s %8s %6s  %-12s  (does not answer; is its ftrun stopped?)\n", job->id, "?", "?", "?");
        else
            fprintf(to, "%-10s %8lld %6lld  %-12s  %s\n", job->id, number(info, "pid"), number(info, "ranks"),
                    duration(json_number_value(json_object_get(info, "seconds")), since, sizeof since),
                    command(info, string(info, "name"), what, sizeof what));
    }
}

/* Ranks in the same place. */
struct group {
    char cells[COLUMNS][TEXT];  /* the first is the ranks, the third how long */
    double least, most;         /* seconds */
    long long from, to;         /* the run of ranks that is not yet written into cells[0] */
    long long ranks, pid;
};

struct groups {
    const char *heads[COLUMNS];
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

static void tell_what(const json_t *rank, bool coarse, char text[TEXT])
{
    long long restarts = number(rank, "restarts");
    char more[TEXT] = "";

    if (json_object_get(rank, "operation") && coarse)
        snprintf(text, TEXT, "%s", string(rank, "operation"));
    else if (json_object_get(rank, "operation"))
        snprintf(text, TEXT, "unit %lld: %s at %s", number(rank, "unit"), string(rank, "operation"), string(rank, "site"));
    else if (!coarse && !strcmp(string(rank, "state"), "outside MPI"))
        snprintf(text, TEXT, "%lld units done", number(rank, "units"));
    if (json_object_get(rank, "host")) {
        snprintf(more, sizeof more, "on %.100s%s%.140s", string(rank, "host"), *text ? ": " : "", text);
        strcpy(text, more);
    }
    if (json_object_get(rank, "to_replay") && !coarse) {
        snprintf(more, sizeof more, "%s%lld of %lld units replayed", *text ? "; " : "", number(rank, "replayed"),
                 number(rank, "to_replay"));
        append(text, more);
    }
    if (restarts) {
        snprintf(more, sizeof more, "%s%lld restart%s", *text ? "; " : "", restarts, restarts == 1 ? "" : "s");
        append(text, more);
    }
}

static void describe_place(const json_t *rank, bool coarse, struct group *g)
{
    snprintf(g->cells[1], TEXT, "%s%s", string(rank, "state"), json_is_true(json_object_get(rank, "stopped")) ? ", stopped" : "");
    tell_what(rank, coarse, g->cells[3]);
    if (!coarse)
        tell_awaited(rank, g->cells[4]);
    g->least = g->most = json_object_get(rank, "seconds") ? json_number_value(json_object_get(rank, "seconds")) : -1;
    g->pid = number(rank, "pid");
}

static void describe_ways(const json_t *rank, bool coarse, struct group *g)
{
    const json_t *ways = json_object_get(rank, "ways_back"), *snapshot = json_object_get(rank, "snapshot"), *way;
    size_t i;

    (void)coarse;
    json_array_foreach(ways, i, way) {
        append(g->cells[1], i ? ", " : "");
        append(g->cells[1], json_string_value(way));
    }
    g->least = g->most = snapshot ? json_number_value(json_object_get(snapshot, "seconds")) : -1;
    snprintf(g->cells[3], TEXT, "%s", string(rank, "no_snapshot"));
    if (json_object_get(rank, "no_start")) {
        append(g->cells[3], *g->cells[3] ? "; no start from its beginning: " : "no start from its beginning: ");
        append(g->cells[3], string(rank, "no_start"));
    }
}

static bool alike(const struct group *a, const struct group *b)
{
    return !strcmp(a->cells[1], b->cells[1]) && !strcmp(a->cells[3], b->cells[3]) && !strcmp(a->cells[4], b->cells[4]);
}

static void join(struct group *g, const struct group *one)
{
    g->least = one->least < g->least ? one->least : g->least;
    g->most = one->most > g->most ? one->most : g->most;
    g->ranks++;
    if (one->from != g->to + 1) {
        add_run(g->cells[0], g->from, g->to);
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

static void finish_group(struct group *g)
{
    char least[TEXT], most[TEXT], pid[48];

    add_run(g->cells[0], g->from, g->to);
    if (g->most < 0)
        return;
    duration(g->least, least, sizeof least);
    duration(g->most, most, sizeof most);
    if (strcmp(least, most))
        snprintf(g->cells[2], TEXT, "%.100s to %.100s", least, most);
    else
        snprintf(g->cells[2], TEXT, "%s", most);
    if (g->ranks == 1 && g->pid) {
        snprintf(pid, sizeof pid, "%spid %lld", *g->cells[3] ? "; " : "", g->pid);
        append(g->cells[3], pid);
    }
}

static void print_groups(FILE *to, const struct groups *gs)
{
    const char *const *heads = gs->heads;
    size_t width[COLUMNS];

    for (int c = 0; c < COLUMNS; c++) {
        width[c] = strlen(heads[c]);
        for (size_t i = 0; i < gs->n; i++)
            width[c] = ft_max(width[c], strlen(gs->list[i].cells[c]));
    }
    for (size_t i = 0; i <= gs->n; i++) {
        int last = COLUMNS - 1;

        while (last > 0 && !*(i ? gs->list[i - 1].cells[last] : heads[last]))
            last--;
        for (int c = 0; c < last; c++)
            fprintf(to, "%-*s  ", (int)width[c], i ? gs->list[i - 1].cells[c] : heads[c]);
        fprintf(to, "%s\n", i ? gs->list[i - 1].cells[last] : heads[last]);
    }
}

static void show_ranks(FILE *to, const json_t *ranks, const struct groups *what)
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
        print_groups(to, &gs);
    }
    free(gs.list);
}

/* Of one host. */
static void show_memory(FILE *to, const json_t *m)
{
    fprintf(to, "memory: %lld of %lld MiB used%s (programs %lld, snapshots %lld, log %lld, slots %lld, ftrun %lld); %lld promised to "
            "snapshots\n", number(m, "used"), number(m, "limit"), json_is_true(json_object_get(m, "group")) ? " in the control group" : "",
            number(m, "programs"), number(m, "snapshots"), number(m, "log"), number(m, "slots"), number(m, "launcher"), number(m, "promised"));
}

/* Of a job on several hosts. */
static void show_nodes(FILE *to, const json_t *nodes)
{
    const json_t *node;
    size_t i;

    json_array_foreach(nodes, i, node) {
        fprintf(to, "node %lld on %s: %s, %lld units", number(node, "node"), string(node, "host"), string(node, "state"), number(node, "units"));
        if (number(node, "incarnation"))
            fprintf(to, ", started %lld times", number(node, "incarnation") + 1);
        fprintf(to, "%s\n", json_is_true(json_object_get(node, "whole_log")) ? "" : ", not the whole log");
        if (json_object_get(node, "memory"))
            show_memory(to, json_object_get(node, "memory"));
    }
}

void ft_show_status(FILE *to, const json_t *status)
{
    static const struct groups places = {.heads = {"RANKS", "STATE", "FOR", "WHERE", "WAITS FOR RANKS"}, .describe = describe_place};
    static const struct groups ways = {.heads = {"RANKS", "WAYS BACK", "SNAPSHOT'S AGE", "NO NEWER ONE BECAUSE", ""}, .describe = describe_ways};
    const json_t *ranks = json_object_get(status, "rank");
    const json_t *cache = json_object_get(status, "bootstrap_cache");
    const char *name = string(status, "name");
    char since[TEXT], what[TEXT];

    fprintf(to, "job %s (%s%spid %lld, host %s), %lld rank%s, running for %s: %s\n", string(status, "job"), name, *name ? ", " : "",
            number(status, "pid"), string(status, "host"), number(status, "ranks"), number(status, "ranks") == 1 ? "" : "s",
            duration(json_number_value(json_object_get(status, "seconds")), since, sizeof since), command(status, "", what, sizeof what));
    show_nodes(to, json_object_get(status, "node"));
    show_ranks(to, ranks, &places);
    if (json_object_get(status, "memory"))
        show_memory(to, json_object_get(status, "memory"));
    if (json_object_get(status, "durable_version"))
        fprintf(to, "last checkpoint on disk: version %lld\n", number(status, "durable_version"));
    if (cache)
        fprintf(to, "bootstrap cache: %lld results, %lld bytes%s; %lld calls answered from it\n", number(cache, "results"), number(cache, "bytes"),
                json_is_true(json_object_get(cache, "complete")) ? "" : " (not all: there was no memory)", number(cache, "answers"));
    if (json_object_get(json_array_get(ranks, 0), "ways_back"))
        show_ranks(to, ranks, &ways);
}
