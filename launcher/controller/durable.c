/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/controller/durable.h"

#include <stdlib.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "ft/shm/models.h"
#include "launcher/base/shared.h"
#include "launcher/ckpt/turn.h"
#include "launcher/controller/base.h"
#include "launcher/controller/job.h"
#include "launcher/controller/peers.h"
#include "launcher/controller/round.h"
#include "launcher/options/map.h"
#include "launcher/wire/wire.h"

enum { COMING = 1 };             /* slot of what is fetched, in the memory for models */
enum { AGAIN_MS = 50 };          /* after a round that came to nothing */

/* In shared memory; the turn and the round are of the process that runs the job, and what they were at when it died is begun again. */
struct ft_controller_durable {
    struct ft_controller *c;
    struct ft_ckpt_series series;
    struct ft_controller_base base;  /* what the job was resumed from */
    int models;                  /* ft_models_create: slot 0 is base's, slot 1 what is coming */
    struct ft_ckpt_turn turn;    /* final: the job ends, and nodes stay until it is over */
    struct ft_controller_round *round;
    bool loaded;                 /* the program has loaded what the job was resumed from; a node that replays that from a log says no more of it */
    bool unloaded;               /* nothing is written */
};

static struct ft_controller_durable *of(const struct ft_controller *c) { return c->durable; }

const struct ft_durable_totals *ft_controller_durable_totals(const struct ft_controller *c)
{
    return of(c) ? &of(c)->series.totals : NULL;
}

bool ft_controller_durable_busy(const struct ft_controller *c)
{
    return of(c) && of(c)->turn.busy && !of(c)->turn.over;
}

/* ---- the end ---- */

/* Nodes that stay for us may leave. */
static void settle(struct ft_controller_durable *d)
{
    struct ft_controller *c = d->c;

    ft_ckpt_turn_end(&d->turn);
    if (!c->job.stay)
        return;
    c->job.stay = false;
    ft_peers_send_all(c->peers, ft_wire_put_job(&c->job));
}

/* ---- a round ---- */

static void give_up(struct ft_controller_durable *d)
{
    if (!ft_controller_round_is_on(d->round))
        return;
    ft_controller_round_give_up(d->round);
    ft_ckpt_turn_later(&d->turn, AGAIN_MS);
}

static bool is_wanted(void *arg, uint64_t version)
{
    struct ft_controller_durable *d = arg;

    if (version <= d->series.totals.last)
        return false;
    d->unloaded = d->series.totals.resumed && !d->loaded;
    if (d->unloaded)
        ft_ckpt_series_tell_unloaded(&d->series);
    return !d->unloaded;
}

static void ready(void *arg, const struct ft_ckpt_header *h)
{
    struct ft_controller_durable *d = arg;

    ft_ckpt_turn_write(&d->turn, h, COMING);
}

static void none(void *arg, bool last)
{
    struct ft_controller_durable *d = arg;

    ft_ckpt_turn_later(&d->turn, AGAIN_MS);
    if (last || (d->unloaded && d->turn.final))
        settle(d);
}

/* ---- when ---- */

static bool all_are_there(const struct ft_controller_durable *d)
{
    const struct ft_controller *c = d->c;

    for (uint32_t i = 0; i < d->c->map->nnodes; i++)
        if (!c->nodes[i].said_state || !ft_nodes_is_up(c->policy, i) || !ft_peers_connected(c->peers, i))
            return false;
    return true;
}

/* The newest that all have committed. */
static uint64_t newest(const struct ft_controller_durable *d)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t i = 0; i < d->c->map->nnodes; i++)
        least = ft_min(least, d->c->nodes[i].state.version);
    return least;
}

static void look(struct ft_controller_durable *d)
{
    bool possible = !d->unloaded && all_are_there(d);
    uint64_t version = newest(d);

    if (ft_controller_round_is_on(d->round) || (!possible && !d->turn.final))
        return;
    switch (ft_ckpt_turn_next(&d->turn, version)) {
    case FT_TURN_NONE:
        break;
    case FT_TURN_KEEP:
        ft_controller_round_keep(d->round, ft_ckpt_series_next(&d->series, version));
        break;
    case FT_TURN_WRITE:
        ft_controller_round_begin(d->round, false);
        break;
    case FT_TURN_LAST: /* nodes know better which one that is */
        if (possible)
            ft_controller_round_begin(d->round, true);
        else
            settle(d);
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

static void look_again(void *arg) { look(arg); }

static void written(void *arg)
{
    struct ft_controller_durable *d = arg;

    if (d->turn.over)
        settle(d);
    look(d);
    ft_controller_post(d->c, NULL);
}

/* A line for who has hoped for some. */
static void tell_none(const struct ft_controller_durable *d)
{
    const struct ft_durable_totals *t = &d->series.totals;

    for (uint32_t i = 0; i < d->c->map->nnodes; i++)
        if (d->c->nodes[i].state.version)
            return;
    if (!t->last && !d->c->job.code)
        ft_ckpt_series_tell_none(&d->series);
}

bool ft_controller_durable_stays(struct ft_controller *c)
{
    struct ft_controller_durable *d = of(c);

    if (!d || d->turn.over)
        return false;
    if (!d->turn.final)
        tell_none(d);
    d->turn.final = true;
    look(d);
    return !d->turn.over;
}

void ft_controller_durable_hurry(struct ft_controller *c)
{
    if (!of(c) || !of(c)->turn.final || of(c)->turn.over)
        return;
    give_up(of(c));
    settle(of(c));
}

/* ---- what nodes say ---- */

void ft_controller_durable_gone(struct ft_controller *c)
{
    if (!of(c) || of(c)->turn.over)
        return;
    give_up(of(c)); /* its successor, or the next connection, knows nothing of it */
    look(of(c));
}

void ft_controller_durable_hello(struct ft_controller *c, uint32_t node)
{
    struct ft_controller_durable *d = of(c);

    if (!d)
        return;
    give_up(d);
    ft_controller_base_say(&d->base, c->peers, node);
    ft_controller_round_greet(d->round, node);
}

int ft_controller_durable_take(struct ft_controller *c, uint32_t node, const struct ft_wire_frame *f, struct ft_error *e)
{
    struct ft_controller_durable *d = of(c);

    if (!d)
        return ft_err_set(e, FT_EDAMAGED, "a model, and nobody has asked for one");
    if (f->type == FT_WIRE_GIVE)
        return ft_controller_base_give(&d->base, c->peers, node, f, e);
    return ft_controller_round_take(d->round, node, f, e);
}

/* ---- made and freed ---- */

int ft_controller_durable_make(struct ft_controller *c, struct ft_error *e)
{
    struct ft_controller_durable *d;
    int err;

    if (!c->o->ckpt_dir)
        return 0;
    d = c->durable = ft_shared_new(sizeof *d);
    if (!d) {
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

int ft_controller_durable_open(struct ft_controller *c)
{
    struct ft_controller_durable *d = of(c);
    struct ft_ckpt_turn_config turn = {.base = c->base, .look = look_again, .written = written, .taken = taken, .arg = d};
    struct ft_controller_round_config round = {.c = c, .slot = COMING, .wanted = is_wanted, .ready = ready, .none = none, .arg = d};

    if (!d)
        return 0;
    turn.series = round.series = &d->series;
    turn.models = round.models = d->models;
    d->round = ft_controller_round_new(&round);
    return d->round ? ft_ckpt_turn_open(&d->turn, &turn) : -1;
}

void ft_controller_durable_close(struct ft_controller *c)
{
    struct ft_controller_durable *d = of(c);

    if (!d)
        return;
    ft_controller_round_free(d->round);
    ft_ckpt_turn_close(&d->turn);
}

void ft_controller_durable_free(struct ft_controller *c)
{
    struct ft_controller_durable *d = of(c);

    if (!d)
        return;
    ft_ckpt_series_close(&d->series);
    if (d->models >= 0)
        close(d->models);
    ft_controller_base_free(&d->base);
    ft_shared_free(d, sizeof *d);
}
