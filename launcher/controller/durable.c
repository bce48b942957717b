/* SPDX-License-Identifier: BSD-3-Clause */
/* One state machine in one file, though it is long: a round goes from stage to stage with what nodes say, and is given up from any of them. */
#include "config.h"
#include "launcher/controller/durable.h"

#include <event2/event.h>
#include <stdlib.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "ft/shm/models.h"
#include "launcher/base/timer.h"
#include "launcher/ckpt/series.h"
#include "launcher/ckpt/writer.h"
#include "launcher/controller/base.h"
#include "launcher/controller/files.h"
#include "launcher/controller/job.h"
#include "launcher/controller/peers.h"
#include "launcher/options/map.h"
#include "launcher/stdio/memory.h"
#include "launcher/stdio/merge.h"
#include "launcher/stdio/sink.h"
#include "launcher/wire/models.h"

enum { COMING = 1 };             /* slot of what is fetched, in the memory for models */
enum { AGAIN_MS = 50, PRINTED_MS = 5 };

/* Why no rank can write over what is being fetched. A node that holds version p keeps its ranks from writing the next but one, so no node commits a later one
   than the next. So of what the nodes hold as their newest, the least and the greatest are neighbours, and who holds the lesser one gets the greater one, which
   nobody can write over until then. */
enum stage {
    IDLE,
    NEWEST,                      /* every node is asked to hold its newest version */
    SAME,                        /* those that hold another one than the newest of all are asked to hold that */
    FETCH,                       /* all hold the same: it is fetched */
    PRINT,                       /* ... and nobody holds it any more; what was printed before it is still on its way */
    WRITE
};

/* A node's part in it. */
struct part {
    bool said;                   /* held is what it was asked for */
    struct ft_wire_held held;
    uint32_t model;              /* the next piece */
    uint64_t at;
};

struct ft_controller_durable {
    struct ft_controller *c;
    struct ft_ckpt_series series;
    struct ft_controller_base base;  /* what the job was resumed from */
    int models;                  /* ft_models_create: slot 0 is base's, slot 1 what is coming */
    struct ft_ckpt_writer *writer;
    struct event *done, *later;
    enum stage stage;
    struct ft_wire_hold hold;    /* as last said to all; its round goes on counting in `round` */
    uint64_t round;
    struct part *parts;          /* by node */
    struct ft_ckpt_header header;  /* FETCH, PRINT */
    uint64_t version, printed[2];  /* PRINT: once all nodes' output is here, it is out when so much of the spools is, ... */
    uint64_t filed;              /* ... and ft_files_written says that */
    bool all_here;
    bool loaded;                 /* the program has loaded what the job was resumed from; a node that replays that from a log says no more of it */
    bool unloaded;               /* nothing is written */
    bool final, over;            /* the job ends; nothing more comes of it */
    bool looked;                 /* then: for what had been written */
    bool last_try;               /* this round was begun then: ranks are dead, and what a node has not it will not get */
};

static struct ft_controller_durable *of(const struct ft_controller *c) { return c->durable; }
static const struct ft_map *map_of(const struct ft_controller_durable *d) { return d->c->map; }
static uint32_t section_of(const struct ft_controller_durable *d, uint32_t node, uint32_t model)
{
    return ft_controller_section(map_of(d), node, model);
}

static uint64_t area_of(uint32_t section)
{
    return section ? ft_models_local(section - 1, COMING) : ft_models_global(COMING);
}

/* Rank 0's global model is the job's. */
static bool has_rank_0(const struct ft_controller_durable *d, uint32_t node)
{
    return map_of(d)->rank_at[map_of(d)->first[node]] == 0;
}

const struct ft_durable_totals *ft_controller_durable_totals(const struct ft_controller *c)
{
    return of(c) ? &of(c)->series.totals : NULL;
}

bool ft_controller_durable_busy(const struct ft_controller *c)
{
    return of(c) && of(c)->stage == WRITE && !of(c)->over;
}

/* ---- the end ---- */

/* Nodes that stay for us may leave. */
static void settle(struct ft_controller_durable *d)
{
    struct ft_controller *c = d->c;

    d->over = true;
    ft_ckpt_series_tell_end(&d->series);
    if (!c->job.stay)
        return;
    c->job.stay = false;
    ft_peers_send_all(c->peers, ft_wire_put_job(&c->job));
}

/* ---- a round ---- */

static void forget_parts(struct ft_controller_durable *d)
{
    for (uint32_t i = 0; i < map_of(d)->nnodes; i++) {
        free(d->parts[i].held.models);
        d->parts[i] = (struct part){.said = false};
    }
}

static void say_hold(struct ft_controller_durable *d, uint64_t round)
{
    d->hold = (struct ft_wire_hold){.wanted = d->hold.wanted, .round = round};
    ft_peers_send_all(d->c->peers, ft_wire_put_hold(&d->hold));
}

static void give_up(struct ft_controller_durable *d)
{
    if (d->stage == IDLE || d->stage == WRITE)
        return;
    if (d->stage == FETCH || d->stage == PRINT) {
        ft_ckpt_header_free(&d->header);
        d->series.begun_ns = 0;
    }
    d->stage = IDLE;
    say_hold(d, 0);
    forget_parts(d);
    ft_timer_set(d->later, AGAIN_MS);
}

/* Nothing was to be had. */
static void end_round(struct ft_controller_durable *d)
{
    bool last = d->last_try;

    give_up(d);
    if (last)
        settle(d);
}

static void begin_round(struct ft_controller_durable *d)
{
    forget_parts(d);
    d->last_try = d->final;
    d->stage = NEWEST;
    say_hold(d, ++d->round);
}

static void start_writing(struct ft_controller_durable *d)
{
    d->stage = WRITE;
    forget_parts(d);
    ft_ckpt_writer_begin(d->writer, &d->header, COMING, d->series.totals.last);
}

static bool is_printed(struct ft_controller_durable *d)
{
    const struct ft_controller *c = d->c;

    for (uint32_t i = 0; !d->all_here && i < map_of(d)->nnodes; i++)
        if (ft_merge_got(c->merge, i) < d->parts[i].held.tail)
            return false;
    if (!d->all_here) {
        for (int i = 0; i < 2; i++)
            d->printed[i] = c->stdio->spools[i].state->tail;
        d->filed = ft_files_given(c->files);
        d->all_here = true;
    }
    for (int i = 0; i < 2; i++)
        if (ft_sink_pending(c->sinks[i]) && c->stdio->spools[i].written < d->printed[i])
            return false;
    return ft_files_written(c->files) >= d->filed;
}

static void await_printed(struct ft_controller_durable *d)
{
    if (is_printed(d))
        start_writing(d);
    else
        ft_timer_set(d->later, PRINTED_MS);
}

static bool is_fetched(const struct ft_controller_durable *d)
{
    for (uint32_t i = 0; i < map_of(d)->nnodes; i++)
        if (d->parts[i].model < d->parts[i].held.nmodels)
            return false;
    return true;
}

static void ask(struct ft_controller_durable *d, uint32_t node)
{
    struct part *p = &d->parts[node];
    struct ft_wire_part m = {.round = d->round};

    while (p->model < p->held.nmodels && p->at == p->held.models[p->model].bytes) {
        p->model++;
        p->at = 0;
    }
    if (p->model == p->held.nmodels)
        return;
    m.model = p->model;
    m.at = p->at;
    m.length = (uint32_t)ft_min(FT_WIRE_MODEL_PIECE, p->held.models[p->model].bytes - p->at);
    ft_peers_send(d->c->peers, node, ft_wire_put_give(&m));
}

static void end_fetch(struct ft_controller_durable *d)
{
    if (!is_fetched(d))
        return;
    say_hold(d, 0);
    d->stage = PRINT;
    d->all_here = false;
    await_printed(d);
}

/* One that cannot be written for want of memory is as one for which the disk is full. */
static void fail(struct ft_controller_durable *d, int err, const struct ft_error *e)
{
    struct ft_ckpt_written r = {.version = d->version, .err = err, .e = *e};
    uint64_t begun_ns = d->series.begun_ns;

    ft_ckpt_series_note(&d->series, &r);
    end_round(d);
    d->series.begun_ns = begun_ns;
}

static void start_fetch(struct ft_controller_durable *d)
{
    struct ft_error e;

    if (ft_ckpt_header_new(&d->header, map_of(d)->world, &e) < 0) {
        end_round(d);
        return;
    }
    d->stage = FETCH;
    ft_ckpt_series_begin(&d->series, &d->header, d->version);
    for (uint32_t i = 0; i < map_of(d)->nnodes; i++) {
        struct part *p = &d->parts[i];

        p->model = !has_rank_0(d, i);
        for (uint32_t m = p->model; m < p->held.nmodels; m++) {
            d->header.sections[section_of(d, i, m)] = p->held.models[m];
            ft_models_end(d->models, area_of(section_of(d, i, m)), p->held.models[m].bytes);
        }
    }
    for (uint32_t i = 0; i < map_of(d)->nnodes; i++)
        ask(d, i);
    end_fetch(d);
}

/* Of the versions that are held. Ranks that live will come to the newest; among dead ones the oldest is what all may still have. */
static uint64_t choose(const struct ft_controller_durable *d)
{
    uint64_t least = UINT64_MAX, most = 0;

    for (uint32_t i = 0; i < map_of(d)->nnodes; i++) {
        least = ft_min(least, d->parts[i].held.version);
        most = ft_max(most, d->parts[i].held.version);
    }
    return d->last_try ? least : most;
}

/* Those that hold another one. */
static uint32_t ask_for_same(struct ft_controller_durable *d)
{
    struct ft_wire_hold hold = {.wanted = d->hold.wanted, .round = d->round, .version = d->version};
    uint32_t asked = 0;

    for (uint32_t i = 0; i < map_of(d)->nnodes; i++) {
        if (d->parts[i].held.version == d->version)
            continue;
        d->parts[i].said = false;
        ft_peers_send(d->c->peers, i, ft_wire_put_hold(&hold));
        asked++;
    }
    return asked;
}

static void all_said(struct ft_controller_durable *d)
{
    uint64_t version = choose(d);

    if (version <= d->series.totals.last || (d->stage == SAME && version != d->version)) {
        end_round(d);
        return;
    }
    if (d->series.totals.resumed && !d->loaded) {
        ft_ckpt_series_tell_unloaded(&d->series);
        d->unloaded = true;
        give_up(d);
        if (d->final)
            settle(d);
        return;
    }
    d->version = version;
    if (!ask_for_same(d))
        start_fetch(d);
    else if (d->stage == SAME)
        end_round(d);
    else
        d->stage = SAME;
}

/* ---- when ---- */

static bool all_are_there(const struct ft_controller_durable *d)
{
    const struct ft_controller *c = d->c;

    for (uint32_t i = 0; i < map_of(d)->nnodes; i++)
        if (!c->nodes[i].said_state || !ft_nodes_is_up(c->policy, i) || !ft_peers_connected(c->peers, i))
            return false;
    return true;
}

/* The newest that all have committed. */
static uint64_t newest(const struct ft_controller_durable *d)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t i = 0; i < map_of(d)->nnodes; i++)
        least = ft_min(least, d->c->nodes[i].state.version);
    return least;
}

/* What was written may have been removed since: then it is written again. */
static void look_at_the_end(struct ft_controller_durable *d)
{
    if (!d->looked) {
        d->looked = true;
        d->stage = WRITE;
        ft_ckpt_writer_look(d->writer, d->series.totals.last);
    } else if (all_are_there(d) && !d->unloaded) {
        begin_round(d);
    } else {
        settle(d);
    }
}

static void look(struct ft_controller_durable *d)
{
    uint64_t version, wait;

    if (d->stage != IDLE || d->over)
        return;
    if (d->final) {
        look_at_the_end(d);
        return;
    }
    if (d->unloaded || !all_are_there(d))
        return;
    version = newest(d);
    wait = ft_ckpt_series_wait_ms(&d->series);
    if (wait) {
        ft_timer_set(d->later, wait);
    } else if (ft_ckpt_series_is_due(&d->series, version)) {
        begin_round(d);
    } else if (d->hold.wanted != ft_ckpt_series_next(&d->series, version)) {
        d->hold.wanted = ft_ckpt_series_next(&d->series, version);
        say_hold(d, 0);
    }
}

void ft_controller_durable_state(struct ft_controller *c, uint32_t node)
{
    struct ft_controller_durable *d = of(c);

    if (!d)
        return;
    d->loaded |= c->nodes[node].state.loaded;
    look(d);
}

static void on_later(evutil_socket_t fd, short what, void *arg)
{
    struct ft_controller_durable *d = arg;

    (void)fd;
    (void)what;
    if (d->stage == PRINT)
        await_printed(d);
    else
        look(d);
}

static void on_done(evutil_socket_t fd, short what, void *arg)
{
    struct ft_controller_durable *d = arg;
    struct ft_ckpt_written result;

    (void)fd;
    (void)what;
    if (!ft_ckpt_writer_take(d->writer, &result))
        return;
    d->stage = IDLE;
    ft_ckpt_series_note(&d->series, &result);
    if (d->final && result.version && result.err)
        settle(d); /* once more would not help */
    look(d);
    ft_controller_post(d->c, NULL);
}

/* A line for who has hoped for some. */
static void tell_none(const struct ft_controller_durable *d)
{
    const struct ft_durable_totals *t = &d->series.totals;

    for (uint32_t i = 0; i < map_of(d)->nnodes; i++)
        if (d->c->nodes[i].state.version)
            return;
    if (!t->last && !d->c->job.code)
        ft_ckpt_series_tell_none(&d->series);
}

bool ft_controller_durable_stays(struct ft_controller *c)
{
    struct ft_controller_durable *d = of(c);

    if (!d || d->over)
        return false;
    if (!d->final)
        tell_none(d);
    d->final = true;
    look(d);
    return !d->over;
}

void ft_controller_durable_hurry(struct ft_controller *c)
{
    if (!of(c) || !of(c)->final || of(c)->over)
        return;
    give_up(of(c));
    settle(of(c));
}

/* ---- what nodes say ---- */

void ft_controller_durable_gone(struct ft_controller *c)
{
    if (!of(c) || of(c)->over)
        return;
    give_up(of(c)); /* its successor, or the next connection, knows nothing of it */
    look(of(c));
}

void ft_controller_durable_hello(struct ft_controller *c, uint32_t node)
{
    struct ft_controller_durable *d = of(c);
    struct ft_wire_hold hold;

    if (!d)
        return;
    give_up(d);
    hold = (struct ft_wire_hold){.wanted = d->hold.wanted};
    ft_controller_base_say(&d->base, c->peers, node);
    ft_peers_send(c->peers, node, ft_wire_put_hold(&hold));
}

static int take_held(struct ft_controller_durable *d, uint32_t node, const struct ft_wire_frame *f, struct ft_error *e)
{
    struct part *p = &d->parts[node];
    struct ft_wire_held m;
    int err = ft_wire_get_held(f, &m, e);

    if (err < 0)
        return err;
    if (m.round != d->round || (d->stage != NEWEST && d->stage != SAME) || p->said || m.nmodels != ft_controller_models(map_of(d), node)) {
        free(m.models);
        return 0; /* of a round that was given up */
    }
    free(p->held.models);
    p->held = m;
    p->said = true;
    for (uint32_t i = 0; i < map_of(d)->nnodes; i++)
        if (!d->parts[i].said)
            return 0;
    all_said(d);
    return 0;
}

static int take_piece(struct ft_controller_durable *d, uint32_t node, const struct ft_wire_frame *f, struct ft_error *e)
{
    struct part *p = &d->parts[node];
    struct ft_wire_part m;
    int err;

    if (ft_wire_get_piece(f, &m, e) < 0)
        return FT_EDAMAGED;
    if (d->stage != FETCH || m.round != d->round)
        return 0;
    if (p->model >= p->held.nmodels || m.model != p->model || m.at != p->at || m.length > p->held.models[p->model].bytes - p->at)
        return ft_err_set(e, FT_EDAMAGED, "a MODEL that was not asked for");
    err = ft_models_write(d->models, area_of(section_of(d, node, m.model)), m.at, m.data, m.length, e);
    if (err < 0) {
        fail(d, err, e);
        return 0;
    }
    p->at += m.length;
    ask(d, node);
    end_fetch(d);
    return 0;
}

int ft_controller_durable_take(struct ft_controller *c, uint32_t node, const struct ft_wire_frame *f, struct ft_error *e)
{
    struct ft_controller_durable *d = of(c);

    if (!d)
        return ft_err_set(e, FT_EDAMAGED, "a model, and nobody has asked for one");
    if (f->type == FT_WIRE_HELD)
        return take_held(d, node, f, e);
    if (f->type == FT_WIRE_GIVE)
        return ft_controller_base_give(&d->base, c->peers, node, f, e);
    return take_piece(d, node, f, e);
}

/* ---- made and freed ---- */

int ft_controller_durable_open(struct ft_controller *c, struct ft_error *e)
{
    struct ft_controller_durable *d;
    int err;

    if (!c->o->ckpt_dir)
        return 0;
    d = c->durable = calloc(1, sizeof *d);
    if (!d || !(d->parts = calloc(c->map->nnodes, sizeof *d->parts))) {
        free(d);
        c->durable = NULL;
        ft_err_set(e, FT_ENOMEM, "out of memory");
        return FT_CODE_JOB;
    }
    d->c = c;
    d->series.dir = -1;
    d->models = ft_models_create(e);
    if (d->models < 0)
        return FT_CODE_JOB;
    if (ft_ckpt_series_open(&d->series, c->o, &c->say, c->map->world, e) < 0)
        return FT_CODE_USAGE;
    d->base = (struct ft_controller_base){.map = c->map, .models = d->models};
    err = ft_controller_base_load(&d->base, &d->series, e);
    return !err ? 0 : err == FT_ENOMEM ? FT_CODE_JOB : FT_CODE_USAGE;
}

static void taken(void *arg)
{
    (void)arg; /* nothing else comes while a file is written */
}

int ft_controller_durable_serve(struct ft_controller *c)
{
    struct ft_controller_durable *d = of(c);
    struct ft_ckpt_writer_config config = {.taken = taken};

    if (!d)
        return 0;
    config.dir = d->series.dir;
    config.path = c->o->ckpt_dir;
    config.series = d->series.id;
    config.models = d->models;
    d->writer = ft_ckpt_writer_new(&config);
    if (!d->writer)
        return -1;
    d->done = event_new(c->base, ft_ckpt_writer_fd(d->writer), EV_READ | EV_PERSIST, on_done, d);
    d->later = evtimer_new(c->base, on_later, d);
    return d->done && d->later ? event_add(d->done, NULL) : -1;
}

void ft_controller_durable_close(struct ft_controller *c)
{
    struct ft_controller_durable *d = of(c);

    if (!d)
        return;
    if (d->stage == FETCH || d->stage == PRINT)
        ft_ckpt_header_free(&d->header);
    forget_parts(d);
    if (d->writer)
        ft_ckpt_writer_free(d->writer);
    ft_timer_free(d->done);
    ft_timer_free(d->later);
    ft_ckpt_series_close(&d->series);
    if (d->models >= 0)
        close(d->models);
    ft_controller_base_free(&d->base);
    free(d->parts);
    free(d);
    c->durable = NULL;
}
