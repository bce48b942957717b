/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/events/events.h"

#include <event2/event.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"
#include "ft/shm/wait.h"
#include "launcher/base/say.h"
#include "launcher/base/timer.h"
#include "launcher/events/outlet.h"
#include "launcher/events/told.h"
#include "launcher/options/options.h"
#include "launcher/report/report.h"

/* What the words say: the job's begin and end; restarts of the report, by number; the version on disk; ...; then a word for each
   rank, and two for each node. */
enum { JOB, RESTARTS, CHECKPOINT, ALL, STOPPED, LOSSES, RANKS };
enum { BEGUN = 1, OVER = 2 };

/* A rank's word: these, how far its last restart has been told, and the number of that one, + 1, from bit SHIFT on. */
enum { STARTED = 1, ENDED = 2, DIED = 4, RESTARTED = 8, BACK = 16, SHIFT = 32 };
#define TOLD_OF_RESTART ((uint64_t)(DIED | RESTARTED | BACK))

/* A look every LOOK_MS; of thousands of ranks it takes this part of a processor at most. */
enum { LOOK_MS = 50, SHARE = 50 };

/* A node's: the incarnation, + 1, that was started, and from bit SHIFT on that was there; the loss, + 1, whose replacement is not
   there yet. */

struct ft_events {
    const struct ft_options *o;
    const struct ft_say *say;
    uint32_t nranks, nnodes;
    struct ft_outlet *outlet;
    struct ft_told *told;

    /* of the process that tells */
    struct event *timer;
    void (*look)(void *arg);
    void *arg;
};

/* ---- lines ---- */

static json_t *line(const struct ft_events *ev, const struct ft_events_view *v, const char *what, uint64_t at_ns)
{
    const struct ft_report *r = v->report;
    double since = at_ns > r->begin_ns ? (double)(at_ns - r->begin_ns) / 1e9 : 0;

    return json_pack("{sf ss ss}", "time", r->began_at + since, "event", what, "job", ev->o->job_id);
}

static void add(json_t *l, const char *name, json_t *value)
{
    json_object_set_new(l, name, value);
}

static json_t *text_of(const char *text)
{
    json_t *s = text ? json_string(text) : json_null();

    return s ? s : json_string("(not UTF-8)");
}

/* null if one of the two moments never came. */
static json_t *span(uint64_t from_ns, uint64_t to_ns)
{
    return from_ns && to_ns ? json_real(to_ns > from_ns ? (double)(to_ns - from_ns) / 1e9 : 0) : json_null();
}

static json_t *some(uint64_t number)
{
    return number ? json_integer((json_int_t)number) : json_null();
}

static const char *host_name(const struct ft_report *r, uint32_t host)
{
    return r->hosts ? r->hosts->names[host] : ft_say_host();
}

static json_t *rank_line(const struct ft_events *ev, const struct ft_events_view *v, const char *what, uint64_t at_ns, uint32_t rank,
                         uint32_t host, pid_t pid)
{
    json_t *l = line(ev, v, what, at_ns);

    add(l, "rank", json_integer(rank));
    add(l, "host", text_of(host_name(v->report, host)));
    add(l, "pid", some((uint64_t)pid));
    return l;
}

static void add_death(json_t *l, int signal, int code, bool known)
{
    add(l, "signal", some(known ? (uint64_t)signal : 0));
    add(l, "exit_code", known && !signal ? json_integer(code) : json_null());
}

static void tell(struct ft_events *ev, json_t *l, size_t word, uint64_t value)
{
    ft_told_line(ev->told, l, &(struct ft_told_change){word, value}, 1);
}

/* ---- the job ---- */

static json_t *words_of(char **argv)
{
    json_t *list = json_array();

    for (; *argv; argv++)
        json_array_append_new(list, text_of(*argv));
    return list;
}

static void tell_begin(struct ft_events *ev, const struct ft_events_view *v)
{
    const struct ft_report *r = v->report;
    json_t *l = line(ev, v, "job_began", r->begin_ns), *hosts = json_array();

    for (uint32_t h = 0; h < (r->hosts ? r->hosts->n : 1); h++)
        json_array_append_new(hosts, text_of(host_name(r, h)));
    add(l, "name", text_of(r->name));
    add(l, "version", json_string(PACKAGE_VERSION));
    add(l, "command", words_of(r->argv));
    add(l, "host", text_of(ft_say_host()));
    add(l, "hosts", hosts);
    add(l, "ranks", json_integer(r->nranks));
    tell(ev, l, JOB, BEGUN);
}

static void tell_all(struct ft_events *ev, const struct ft_events_view *v)
{
    for (uint64_t n = ft_told_word(ev->told, ALL); n < v->all; n++)
        tell(ev, line(ev, v, "all_ranks_restart", ft_clock_ns()), ALL, n + 1);
}

static void tell_stop(struct ft_events *ev, const struct ft_events_view *v)
{
    json_t *l;

    if (!v->signal || ft_told_word(ev->told, STOPPED))
        return;
    l = line(ev, v, "job_stopped", ft_clock_ns());
    add(l, "signal", json_integer(v->signal));
    tell(ev, l, STOPPED, 1);
}

static void tell_checkpoint(struct ft_events *ev, const struct ft_events_view *v)
{
    const struct ft_durable_totals *d = v->report->durable;
    json_t *l;

    if (!d || !d->last_ns || d->last <= ft_told_word(ev->told, CHECKPOINT))
        return;
    l = line(ev, v, "checkpoint_written", d->last_ns);
    add(l, "last_version", json_integer((json_int_t)d->last));
    add(l, "last_bytes", some(d->bytes));
    add(l, "written", json_integer((json_int_t)d->written));
    tell(ev, l, CHECKPOINT, d->last);
}

/* ---- nodes ---- */

static size_t word_of_node(const struct ft_events *ev, uint32_t node)
{
    return RANKS + ev->nranks + 2 * (size_t)node;
}

static json_t *node_line(const struct ft_events *ev, const struct ft_events_view *v, const char *what, uint64_t at_ns, uint32_t node,
                         const char *host)
{
    json_t *l = line(ev, v, what, at_ns);

    add(l, "node", json_integer(node));
    add(l, "host", text_of(host));
    return l;
}

static void tell_lives(struct ft_events *ev, const struct ft_events_view *v, uint32_t node)
{
    size_t word = word_of_node(ev, node);
    uint64_t started = ft_told_word(ev->told, word) & UINT32_MAX, up = ft_told_word(ev->told, word) >> SHIFT;
    struct ft_events_node is = {0};
    json_t *l;

    v->node(v->arg, node, &is);
    if (is.started && started < is.incarnation + 1ull) {
        started = is.incarnation + 1ull;
        l = node_line(ev, v, "node_started", ft_clock_ns(), node, is.host);
        add(l, "incarnation", json_integer(is.incarnation));
        tell(ev, l, word, up << SHIFT | started);
    }
    if (is.up && up < is.incarnation + 1ull) {
        up = is.incarnation + 1ull;
        l = node_line(ev, v, "node_up", ft_clock_ns(), node, is.host);
        add(l, "incarnation", json_integer(is.incarnation));
        tell(ev, l, word, up << SHIFT | started);
    }
}

static void tell_replaced(struct ft_events *ev, const struct ft_events_view *v, uint32_t node)
{
    size_t word = word_of_node(ev, node) + 1;
    uint64_t number = ft_told_word(ev->told, word);
    const struct ft_host_loss *loss = number ? &v->report->hosts->losses[number - 1] : NULL;
    json_t *l;

    if (!loss || !loss->up_ns || loss->to < 0)
        return;
    l = node_line(ev, v, "node_replaced", loss->up_ns, node, host_name(v->report, loss->host));
    add(l, "replaced_by", text_of(host_name(v->report, (uint32_t)loss->to)));
    add(l, "replace_seconds", span(loss->lost_ns, loss->up_ns));
    tell(ev, l, word, 0);
}

static void tell_loss(struct ft_events *ev, const struct ft_events_view *v, uint64_t number)
{
    const struct ft_host_loss *loss = &v->report->hosts->losses[number];
    json_t *l;

    tell_replaced(ev, v, loss->node); /* the one before, if it has not been told */
    l = node_line(ev, v, "node_lost", loss->lost_ns, loss->node, host_name(v->report, loss->host));
    add(l, "detect_seconds_at_most", span(loss->heard_ns, loss->lost_ns));
    add(l, "all_ranks", json_boolean(loss->all));
    ft_told_line(ev->told, l, (struct ft_told_change[]){{LOSSES, number + 1}, {word_of_node(ev, loss->node) + 1, number + 1}}, 2);
}

static void look_at_nodes(struct ft_events *ev, const struct ft_events_view *v)
{
    for (uint64_t i = ft_told_word(ev->told, LOSSES); v->report->hosts && i < v->report->hosts->nlosses; i++)
        tell_loss(ev, v, i);
    for (uint32_t i = 0; i < ev->nnodes; i++) {
        tell_lives(ev, v, i);
        tell_replaced(ev, v, i);
    }
}

/* ---- ranks ---- */

static size_t word_of_rank(uint32_t rank)
{
    return RANKS + (size_t)rank;
}

static uint32_t host_of(const struct ft_report *r, uint32_t rank)
{
    return r->hosts ? r->hosts->of_rank[rank] : 0;
}

/* What has become of its last death; pid: of its successor. */
static void follow(struct ft_events *ev, const struct ft_events_view *v, uint32_t rank, pid_t pid)
{
    uint64_t told = ft_told_word(ev->told, word_of_rank(rank));
    const struct ft_restart *restart = told >> SHIFT ? &v->report->restarts[(told >> SHIFT) - 1] : NULL;
    json_t *l;

    if (!restart || !restart->started_ns)
        return;
    if (!(told & RESTARTED)) {
        l = rank_line(ev, v, "rank_restarted", restart->started_ns, rank, host_of(v->report, rank), pid);
        add(l, "way_back", json_string(ft_way_back_text(restart->way)));
        add(l, "respawn_seconds", span(restart->died_ns, restart->started_ns));
        tell(ev, l, word_of_rank(rank), told |= RESTARTED);
    }
    if (!(told & BACK) && restart->live_ns) {
        l = rank_line(ev, v, "rank_back", restart->live_ns, rank, host_of(v->report, rank), pid);
        add(l, "way_back", json_string(ft_way_back_text(restart->way)));
        add(l, "recover_seconds", span(restart->died_ns, restart->live_ns));
        add(l, "replay_seconds", span(restart->started_ns, restart->live_ns));
        add(l, "replayed_units", json_integer((json_int_t)restart->replayed));
        tell(ev, l, word_of_rank(rank), told | BACK);
    }
}

static void tell_start(struct ft_events *ev, const struct ft_events_view *v, uint32_t rank, uint64_t at_ns, uint32_t host, pid_t pid)
{
    uint64_t told = ft_told_word(ev->told, word_of_rank(rank));

    if (!(told & STARTED) && at_ns)
        tell(ev, rank_line(ev, v, "rank_started", at_ns, rank, host, pid), word_of_rank(rank), told | STARTED);
}

static void tell_death(struct ft_events *ev, const struct ft_events_view *v, uint64_t number)
{
    const struct ft_restart *restart = &v->report->restarts[number];
    uint64_t told;
    json_t *l;

    if (!restart->died_ns) { /* a launcher process died when it was about to enter it */
        ft_told_silently(ev->told, &(struct ft_told_change){RESTARTS, number + 1}, 1);
        return;
    }
    /* It may have died before it was looked at. When it began is not known before it has begun again. */
    tell_start(ev, v, restart->rank, restart->from_ns ? restart->from_ns : restart->seen_ns, restart->host, restart->pid);
    follow(ev, v, restart->rank, restart->pid);
    told = ft_told_word(ev->told, word_of_rank(restart->rank));
    l = rank_line(ev, v, "rank_died", restart->died_ns, restart->rank, restart->host, restart->pid);
    add_death(l, restart->signal, restart->code, !restart->lost);
    add(l, "host_lost", json_boolean(restart->host_lost));
    told = (told & ~(TOLD_OF_RESTART | ENDED | UINT64_MAX << SHIFT)) | DIED | (number + 1) << SHIFT;
    ft_told_line(ev->told, l, (struct ft_told_change[]){{RESTARTS, number + 1}, {word_of_rank(restart->rank), told}}, 2);
}

/* A death that was to be followed by a restart has been told. */
static void tell_end(struct ft_events *ev, const struct ft_events_view *v, uint32_t rank, pid_t pid)
{
    const struct ft_rank_total *total = &v->report->ranks[rank];
    uint64_t told = ft_told_word(ev->told, word_of_rank(rank));
    const struct ft_restart *restart = told >> SHIFT ? &v->report->restarts[(told >> SHIFT) - 1] : NULL;
    json_t *l;

    if ((told & ENDED) || !(told & STARTED) || !total->ended_ns || (restart && total->ended_ns < restart->started_ns))
        return;
    if (restart && !restart->started_ns) {
        ft_told_silently(ev->told, &(struct ft_told_change){word_of_rank(rank), told | ENDED}, 1);
        return;
    }
    l = rank_line(ev, v, "rank_ended", total->ended_ns, rank, host_of(v->report, rank), pid);
    add_death(l, total->signal, total->code, true);
    tell(ev, l, word_of_rank(rank), told | ENDED);
}

static void look_at_ranks(struct ft_events *ev, const struct ft_events_view *v)
{
    const struct ft_report *r = v->report;
    struct ft_events_rank is;

    for (uint64_t i = ft_told_word(ev->told, RESTARTS); i < r->nrestarts; i++)
        tell_death(ev, v, i);
    for (uint32_t i = 0; i < ev->nranks; i++) {
        v->rank(v->arg, i, &is);
        tell_start(ev, v, i, r->ranks[i].origin_ns, host_of(r, i), is.pid);
        follow(ev, v, i, is.pid);
        if (is.ended)
            tell_end(ev, v, i, is.pid);
    }
}

/* ---- all of it ---- */

static void tell_trouble(const struct ft_events *ev)
{
    bool gone;
    int error = ft_outlet_trouble(ev->outlet, &gone);

    if (error && gone)
        ft_say_notice(ev->say, "--events: nobody reads %s any more; no more events are written", ev->o->events);
    else if (error)
        ft_say_notice(ev->say, "--events: cannot write %s: %s; it is tried again, and the job goes on", ev->o->events, strerror(error));
}

void ft_events_look(struct ft_events *ev, const struct ft_events_view *v)
{
    if (!ev || !ft_told_is_run(ev->told))
        return;
    if (ft_told_word(ev->told, JOB) == OVER)
        return;
    if (!ft_told_word(ev->told, JOB))
        tell_begin(ev, v);
    look_at_nodes(ev, v);
    tell_all(ev, v);
    look_at_ranks(ev, v);
    tell_checkpoint(ev, v);
    tell_stop(ev, v);
    tell_trouble(ev);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct ft_events *ev = arg;
    uint64_t begin = ft_clock_ns();

    (void)fd;
    (void)what;
    ev->look(ev->arg);
    ft_timer_set(ev->timer, ft_max(LOOK_MS, (ft_clock_ns() - begin) * SHARE / 1000000));
}

int ft_events_new(struct ft_events **out, const struct ft_options *o, const struct ft_say *say, uint32_t nranks, uint32_t nnodes,
                  struct ft_error *e)
{
    struct ft_events *ev = *out = o->events ? calloc(1, sizeof *ev) : NULL;
    int err;

    if (!o->events)
        return 0;
    if (!ev)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    *ev = (struct ft_events){.o = o, .say = say, .nranks = nranks, .nnodes = nnodes};
    err = ft_outlet_new(&ev->outlet, o->events, e);
    if (err == 0 && !(ev->told = ft_told_new(RANKS + nranks + 2 * (size_t)nnodes, ev->outlet)))
        err = ft_err_set(e, FT_ENOMEM, "out of memory");
    if (err < 0) {
        ft_events_free(ev);
        *out = NULL;
    }
    return err;
}

void ft_events_forget(struct ft_events *ev)
{
    if (!ev)
        return;
    ft_told_forget(ev->told);
    ev->timer = NULL;
}

int ft_events_run(struct ft_events *ev, struct event_base *base, void (*look)(void *arg), void *arg)
{
    if (!ev)
        return 0;
    if (ft_told_run(ev->told) < 0)
        return -1;
    ev->look = look;
    ev->arg = arg;
    ev->timer = evtimer_new(base, on_timer, ev);
    if (!ev->timer)
        return -1;
    ft_timer_set(ev->timer, 0);
    return 0;
}

void ft_events_end(struct ft_events *ev, const struct ft_events_view *v, int code)
{
    json_t *l;

    if (!ev || !ft_told_is_run(ev->told))
        return;
    ft_timer_free(ev->timer);
    ev->timer = NULL;
    ft_events_look(ev, v);
    if (ft_told_word(ev->told, JOB) != OVER) {
        l = line(ev, v, "job_ended", ft_clock_ns());
        add(l, "exit_code", json_integer(code));
        add(l, "wall_seconds", span(v->report->begin_ns, ft_clock_ns()));
        tell(ev, l, JOB, OVER);
    }
    ft_outlet_stop(ev->outlet);
    tell_trouble(ev);
    if (!ft_told_written(ev->told) || ft_told_dropped(ev->told))
        ft_say_notice(ev->say, "--events: the last events could not be written to %s", ev->o->events);
}

void ft_events_free(struct ft_events *ev)
{
    if (!ev)
        return;
    ft_told_free(ev->told);
    ft_outlet_free(ev->outlet);
    free(ev);
}
