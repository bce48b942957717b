/* SPDX-License-Identifier: BSD-3-Clause */
/* A round goes from stage to stage with what nodes say, and is given up from any of them. */
#include "config.h"
#include "launcher/controller/round.h"

#include <event2/event.h>
#include <stdlib.h>

#include "ft/base/util.h"
#include "ft/shm/models.h"
#include "launcher/base/timer.h"
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

enum { PRINTED_MS = 5 };

/* Why no rank can write over what is being fetched. A node that holds version p keeps its ranks from writing the next but one, so no node
   commits a later one than the next. So of what the nodes hold as their newest, the least and the greatest are neighbours, and who holds
   the lesser one gets the greater one, which nobody can write over until then. */
enum stage {
    IDLE,
    NEWEST,                      /* every node is asked to hold its newest version */
    SAME,                        /* those that hold another one than the newest of all are asked to hold that */
    FETCH,                       /* all hold the same: it is fetched */
    PRINT                        /* ... and nobody holds it any more; what was printed before it is still on its way */
};

/* A node's part in it. */
struct part {
    bool said;                   /* held is what it was asked for */
    struct ft_wire_held held;
    uint32_t model;              /* the next piece */
    uint64_t at;
};

struct ft_controller_round {
    struct ft_controller_round_config config;
    struct ft_controller *c;
    enum stage stage;
    bool last;
    struct ft_wire_hold hold;    /* as last said to all; its round goes on counting in `number` */
    uint64_t number;
    struct part *parts;          /* by node */
    struct ft_ckpt_header header;  /* FETCH, PRINT */
    uint64_t version, printed[2];  /* PRINT: once all nodes' output is here, it is out when so much of the spools is, ... */
    uint64_t filed;              /* ... and ft_files_written says that */
    bool all_here;
    struct event *later;         /* PRINT */
};

static const struct ft_map *map_of(const struct ft_controller_round *r) { return r->c->map; }
static uint32_t section_of(const struct ft_controller_round *r, uint32_t node, uint32_t model)
{
    return ft_controller_section(map_of(r), node, model);
}

/* Rank 0's global model is the job's. */
static bool has_rank_0(const struct ft_controller_round *r, uint32_t node)
{
    return map_of(r)->rank_at[map_of(r)->first[node]] == 0;
}

bool ft_controller_round_is_on(const struct ft_controller_round *r) { return r->stage != IDLE; }

static void forget_parts(struct ft_controller_round *r)
{
    for (uint32_t i = 0; i < map_of(r)->nnodes; i++) {
        free(r->parts[i].held.models);
        r->parts[i] = (struct part){.said = false};
    }
}

static void say_hold(struct ft_controller_round *r, uint64_t number)
{
    r->hold = (struct ft_wire_hold){.wanted = r->hold.wanted, .round = number};
    ft_peers_send_all(r->c->peers, ft_wire_put_hold(&r->hold));
}

void ft_controller_round_give_up(struct ft_controller_round *r)
{
    if (r->stage == IDLE)
        return;
    if (r->stage == FETCH || r->stage == PRINT) {
        ft_ckpt_header_free(&r->header);
        r->config.series->begun_ns = 0;
    }
    r->stage = IDLE;
    say_hold(r, 0);
    forget_parts(r);
}

/* Nothing is to be had. */
static void end(struct ft_controller_round *r)
{
    ft_controller_round_give_up(r);
    r->config.none(r->config.arg, r->last);
}

void ft_controller_round_begin(struct ft_controller_round *r, bool last)
{
    forget_parts(r);
    r->last = last;
    r->stage = NEWEST;
    say_hold(r, ++r->number);
}

void ft_controller_round_keep(struct ft_controller_round *r, uint64_t version)
{
    if (r->hold.wanted == version)
        return;
    r->hold.wanted = version;
    say_hold(r, 0);
}

void ft_controller_round_greet(struct ft_controller_round *r, uint32_t node)
{
    struct ft_wire_hold hold = {.wanted = r->hold.wanted};

    ft_peers_send(r->c->peers, node, ft_wire_put_hold(&hold));
}

/* ---- what was printed before ---- */

static bool is_printed(struct ft_controller_round *r)
{
    const struct ft_controller *c = r->c;

    for (uint32_t i = 0; !r->all_here && i < map_of(r)->nnodes; i++)
        if (ft_merge_got(c->merge, i) < r->parts[i].held.tail)
            return false;
    if (!r->all_here) {
        for (int i = 0; i < 2; i++)
            r->printed[i] = c->stdio->spools[i].state->tail;
        r->filed = ft_files_given(c->files);
        r->all_here = true;
    }
    for (int i = 0; i < 2; i++)
        if (ft_sink_pending(c->sinks[i]) && c->stdio->spools[i].written < r->printed[i])
            return false;
    return ft_files_written(c->files) >= r->filed;
}

static void await_printed(struct ft_controller_round *r)
{
    if (!is_printed(r)) {
        ft_timer_set(r->later, PRINTED_MS);
        return;
    }
    r->stage = IDLE;
    forget_parts(r);
    r->config.ready(r->config.arg, &r->header);
}

static void on_later(evutil_socket_t fd, short what, void *arg)
{
    struct ft_controller_round *r = arg;

    (void)fd;
    (void)what;
    if (r->stage == PRINT)
        await_printed(r);
}

/* ---- fetching ---- */

static bool is_fetched(const struct ft_controller_round *r)
{
    for (uint32_t i = 0; i < map_of(r)->nnodes; i++)
        if (r->parts[i].model < r->parts[i].held.nmodels)
            return false;
    return true;
}

static void ask(struct ft_controller_round *r, uint32_t node)
{
    struct part *p = &r->parts[node];
    struct ft_wire_part m = {.round = r->number};

    while (p->model < p->held.nmodels && p->at == p->held.models[p->model].bytes) {
        p->model++;
        p->at = 0;
    }
    if (p->model == p->held.nmodels)
        return;
    m.model = p->model;
    m.at = p->at;
    m.length = (uint32_t)ft_min(FT_WIRE_MODEL_PIECE, p->held.models[p->model].bytes - p->at);
    ft_peers_send(r->c->peers, node, ft_wire_put_give(&m));
}

static void end_fetch(struct ft_controller_round *r)
{
    if (!is_fetched(r))
        return;
    say_hold(r, 0);
    r->stage = PRINT;
    r->all_here = false;
    await_printed(r);
}

/* One that cannot be written for want of memory is as one for which the disk is full. */
static void fail(struct ft_controller_round *r, int err, const struct ft_error *e)
{
    struct ft_ckpt_written written = {.version = r->version, .err = err, .e = *e};
    uint64_t begun_ns = r->config.series->begun_ns;

    ft_ckpt_series_note(r->config.series, &written);
    end(r);
    r->config.series->begun_ns = begun_ns;
}

static void start_fetch(struct ft_controller_round *r)
{
    struct ft_error e;

    if (ft_ckpt_header_new(&r->header, map_of(r)->world, &e) < 0) {
        end(r);
        return;
    }
    r->stage = FETCH;
    ft_ckpt_series_begin(r->config.series, &r->header, r->version);
    for (uint32_t i = 0; i < map_of(r)->nnodes; i++) {
        struct part *p = &r->parts[i];

        p->model = !has_rank_0(r, i);
        for (uint32_t m = p->model; m < p->held.nmodels; m++) {
            r->header.sections[section_of(r, i, m)] = p->held.models[m];
            ft_models_end(r->config.models, ft_ckpt_area(section_of(r, i, m), r->config.slot), p->held.models[m].bytes);
        }
    }
    for (uint32_t i = 0; i < map_of(r)->nnodes; i++)
        ask(r, i);
    end_fetch(r);
}

static int take_piece(struct ft_controller_round *r, uint32_t node, const struct ft_wire_frame *f, struct ft_error *e)
{
    struct part *p = &r->parts[node];
    struct ft_wire_part m;
    int err;

    if (ft_wire_get_piece(f, &m, e) < 0)
        return FT_EDAMAGED;
    if (r->stage != FETCH || m.round != r->number)
        return 0;
    if (p->model >= p->held.nmodels || m.model != p->model || m.at != p->at || m.length > p->held.models[p->model].bytes - p->at)
        return ft_err_set(e, FT_EDAMAGED, "a MODEL that was not asked for");
    err = ft_models_write(r->config.models, ft_ckpt_area(section_of(r, node, m.model), r->config.slot), m.at, m.data, m.length, e);
    if (err < 0) {
        fail(r, err, e);
        return 0;
    }
    p->at += m.length;
    ask(r, node);
    end_fetch(r);
    return 0;
}

/* ---- holding one ---- */

/* Of the versions that are held. Ranks that live will come to the newest; among dead ones the oldest is what all may still have. */
static uint64_t choose(const struct ft_controller_round *r)
{
    uint64_t least = UINT64_MAX, most = 0;

    for (uint32_t i = 0; i < map_of(r)->nnodes; i++) {
        least = ft_min(least, r->parts[i].held.version);
        most = ft_max(most, r->parts[i].held.version);
    }
    return r->last ? least : most;
}

/* Those that hold another one. */
static uint32_t ask_for_same(struct ft_controller_round *r)
{
    struct ft_wire_hold hold = {.wanted = r->hold.wanted, .round = r->number, .version = r->version};
    uint32_t asked = 0;

    for (uint32_t i = 0; i < map_of(r)->nnodes; i++) {
        if (r->parts[i].held.version == r->version)
            continue;
        r->parts[i].said = false;
        ft_peers_send(r->c->peers, i, ft_wire_put_hold(&hold));
        asked++;
    }
    return asked;
}

static void all_said(struct ft_controller_round *r)
{
    uint64_t version = choose(r);

    if ((r->stage == SAME && version != r->version) || !r->config.wanted(r->config.arg, version)) {
        end(r);
        return;
    }
    r->version = version;
    if (!ask_for_same(r))
        start_fetch(r);
    else if (r->stage == SAME)
        end(r);
    else
        r->stage = SAME;
}

static int take_held(struct ft_controller_round *r, uint32_t node, const struct ft_wire_frame *f, struct ft_error *e)
{
    struct part *p = &r->parts[node];
    struct ft_wire_held m;
    int err = ft_wire_get_held(f, &m, e);

    if (err < 0)
        return err;
    if (m.round != r->number || (r->stage != NEWEST && r->stage != SAME) || p->said || m.nmodels != ft_controller_models(map_of(r), node)) {
        free(m.models);
        return 0; /* of a round that was given up */
    }
    free(p->held.models);
    p->held = m;
    p->said = true;
    for (uint32_t i = 0; i < map_of(r)->nnodes; i++)
        if (!r->parts[i].said)
            return 0;
    all_said(r);
    return 0;
}

int ft_controller_round_take(struct ft_controller_round *r, uint32_t node, const struct ft_wire_frame *f, struct ft_error *e)
{
    return f->type == FT_WIRE_HELD ? take_held(r, node, f, e) : take_piece(r, node, f, e);
}

/* ---- made and freed ---- */

struct ft_controller_round *ft_controller_round_new(const struct ft_controller_round_config *config)
{
    struct ft_controller_round *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    r->config = *config;
    r->c = config->c;
    r->parts = calloc(map_of(r)->nnodes, sizeof *r->parts);
    r->later = evtimer_new(r->c->base, on_later, r);
    if (r->parts && r->later)
        return r;
    ft_timer_free(r->later);
    free(r->parts);
    free(r);
    return NULL;
}

void ft_controller_round_free(struct ft_controller_round *r)
{
    if (!r)
        return;
    if (r->stage == FETCH || r->stage == PRINT)
        ft_ckpt_header_free(&r->header);
    forget_parts(r);
    free(r->parts);
    ft_timer_free(r->later);
    free(r);
}
