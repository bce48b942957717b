/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/node/durable.h"

#include <stdlib.h>

#include "ft/base/util.h"
#include "ft/shm/models.h"
#include "ft/shm/word.h"
#include "launcher/ckpt/writer.h"
#include "launcher/job/pin.h"
#include "launcher/node/job.h"
#include "launcher/node/uplink.h"
#include "launcher/snap/durable.h"
#include "launcher/stdio/memory.h"
#include "launcher/wire/models.h"

struct ft_node_durable {
    bool watched;                /* there is a --ckpt-dir */
    uint64_t said;               /* newest version, with the last STATE */
    struct ft_wire_hold hold;    /* as last asked */
    bool answered;
    struct ft_version held;      /* version 0: none */

    struct ft_wire_held base;    /* what the job was resumed from; version 0: nothing, or not said yet */
    void (*begun)(struct ft_node *n);  /* NULL: it is not being asked for */
    uint32_t model;              /* the next piece of it */
    uint64_t at;
};

static void fail(struct ft_node *n, const struct ft_error *e)
{
    ft_say(&n->job->say, "--resume: %s; the job is ended", e->text);
    ft_job_post(n->job, &(struct ft_event){.kind = FT_EV_FAILED, .code = FT_CODE_JOB});
}

/* ---- what the controller wants ---- */

static uint64_t newest(const struct ft_node *n)
{
    struct ft_version v;

    return ft_versions_newest(&n->job->region, 0, &v) && !v.base ? v.version : 0;
}

uint64_t ft_node_durable_newest(struct ft_node *n)
{
    return n->durable ? n->durable->said = newest(n) : 0;
}

static struct ft_ckpt_section *list_models(const struct ft_node *n)
{
    const struct ft_version *v = &n->durable->held;
    uint32_t nranks = n->job->options->nranks;
    struct ft_ckpt_section *list = calloc(1 + nranks, sizeof *list);

    if (!list)
        return NULL;
    list[0] = (struct ft_ckpt_section){v->nglobal, v->global_hash};
    for (uint32_t r = 0; r < nranks; r++) {
        const struct ft_model_slot *s = &ft_versions_of(&n->job->region, r)->slot[v->slot];

        list[1 + r] = (struct ft_ckpt_section){ft_peek(&s->nlocal), ft_peek(&s->local_hash)};
    }
    return list;
}

/* What the ranks had printed when they made that version is in the spool by now: they waited for that (cut.c). */
static void answer(struct ft_node *n)
{
    struct ft_node_durable *d = n->durable;
    struct ft_wire_held m = {.round = d->hold.round, .version = d->held.version, .tail = n->job->stdio->spools[0].state->tail,
                             .nmodels = 1 + n->job->options->nranks};

    m.models = list_models(n);
    if (!m.models)
        return; /* the next look tries again */
    ft_uplink_say(n->uplink, ft_wire_put_held(&m));
    free(m.models);
    d->answered = true;
}

static void let_go(struct ft_node *n)
{
    n->durable->held.version = 0;
    ft_pin_drop(&n->job->region, FT_PIN_FILE);
}

/* The log of a node that was replaced goes further than the version it began with: those in between are replayed, and not made here. The one it began with is
   held meanwhile, and the next one waits for that one's place; so to wait for one in between is to wait for ever (resume_hosts.sh, loses_two host). */
static bool has_replayed(const struct ft_node *n, uint64_t version)
{
    return ft_look(&ft_versions_of(&n->job->region, 0)->consumed) >= version;
}

/* False: it may come yet. */
static bool find(struct ft_node *n)
{
    struct ft_node_durable *d = n->durable;
    const struct ft_region *r = &n->job->region;
    bool replayed = has_replayed(n, d->hold.version); /* before it is looked for: ranks that make it now are past it a moment later */

    if (!d->hold.version) {
        if (!ft_pin_newest(r, FT_PIN_FILE, 0, &d->held) || d->held.base)
            let_go(n);
        return true;
    }
    if (ft_pin_version(r, FT_PIN_FILE, d->hold.version, &d->held))
        return true;
    if (newest(n) <= d->hold.version && !n->agent->sweep.on && !replayed)
        return false;
    let_go(n);
    return true;
}

static void hold(struct ft_node *n)
{
    struct ft_node_durable *d = n->durable;

    if (d->hold.round && !d->answered && find(n))
        answer(n);
}

void ft_node_durable_look(struct ft_node *n)
{
    struct ft_node_durable *d = n->durable;

    if (!d || !d->watched)
        return;
    if (newest(n) != d->said)
        ft_node_changed(n);
    hold(n);
}

static int take_hold(struct ft_node *n, const struct ft_wire_frame *f, struct ft_error *e)
{
    struct ft_node_durable *d = n->durable;

    if (ft_wire_get_hold(f, &d->hold, e) < 0)
        return FT_EDAMAGED;
    d->watched = true;
    d->answered = false;
    ft_publish(&ft_versions_head(&n->job->region)->wanted, d->hold.wanted); /* a lazy one is to be kept then */
    if (d->hold.round)
        hold(n);
    else
        let_go(n);
    return 0;
}

/* What was asked for before the controller had given up that round is not there. */
static int take_give(struct ft_node *n, const struct ft_wire_frame *f, struct ft_error *e)
{
    const struct ft_node_durable *d = n->durable;
    struct ft_wire_part m;
    struct ft_wire_bytes bytes;
    uint8_t *data;

    if (ft_wire_get_give(f, &m, e) < 0)
        return FT_EDAMAGED;
    if (m.round != d->hold.round || !d->held.version || m.model > n->job->options->nranks)
        return 0;
    bytes = ft_wire_put_piece(&m, &data);
    if (!data || ft_models_read(n->job->models, ft_ckpt_area(m.model, d->held.slot), m.at, data, m.length, e) < 0) {
        free(bytes.data);
        return FT_EDAMAGED; /* it asks again, on another connection */
    }
    ft_uplink_say(n->uplink, bytes);
    return 0;
}

/* ---- what the ranks begin with ---- */

/* All of it is here. */
static void begin(struct ft_node *n)
{
    struct ft_node_durable *d = n->durable;
    void (*done)(struct ft_node *n) = d->begun;
    struct ft_error e;
    uint64_t hash;

    d->begun = NULL;
    for (uint32_t i = 0; i < d->base.nmodels; i++) {
        int err = ft_models_hash(n->job->models, ft_ckpt_area(i, 0), d->base.models[i].bytes, &hash, &e);

        if (!err && hash != d->base.models[i].hash)
            err = ft_err_set(&e, FT_EDAMAGED, "what came to host %s of checkpoint %llu is not what was sent", ft_say_host(),
                             (unsigned long long)d->base.version);
        if (err < 0) {
            fail(n, &e);
            return;
        }
    }
    ft_durable_begin(n->job, d->base.version, d->base.models, NULL);
    done(n);
}

static void ask(struct ft_node *n)
{
    struct ft_node_durable *d = n->durable;
    struct ft_wire_part m = {.round = 0};

    while (d->model < d->base.nmodels && d->at == d->base.models[d->model].bytes) {
        d->model++;
        d->at = 0;
    }
    if (d->model == d->base.nmodels) {
        begin(n);
        return;
    }
    m.model = d->model;
    m.at = d->at;
    m.length = (uint32_t)ft_min(FT_WIRE_MODEL_PIECE, d->base.models[d->model].bytes - d->at);
    ft_uplink_say(n->uplink, ft_wire_put_give(&m));
}

static int take_base(struct ft_node *n, const struct ft_wire_frame *f, struct ft_error *e)
{
    struct ft_node_durable *d = n->durable;
    struct ft_wire_held m;
    int err = ft_wire_get_held(f, &m, e);

    if (err < 0)
        return err;
    if (m.nmodels != 1 + n->job->options->nranks || !m.version) {
        free(m.models);
        return ft_err_set(e, FT_EDAMAGED, "a HELD of another job");
    }
    free(d->base.models);
    d->base = m;
    if (d->begun)
        ask(n); /* what was asked for on the last connection does not come */
    return 0;
}

static int take_piece(struct ft_node *n, const struct ft_wire_frame *f, struct ft_error *e)
{
    struct ft_node_durable *d = n->durable;
    struct ft_wire_part m;

    if (ft_wire_get_piece(f, &m, e) < 0)
        return FT_EDAMAGED;
    if (!d->begun || m.round || m.model != d->model || m.at != d->at || m.length > d->base.models[m.model].bytes - m.at)
        return ft_err_set(e, FT_EDAMAGED, "a MODEL that was not asked for");
    if (ft_models_write(n->job->models, ft_ckpt_area(m.model, 0), m.at, m.data, m.length, e) < 0) {
        d->begun = NULL;
        fail(n, e);
        return 0;
    }
    d->at += m.length;
    ask(n);
    return 0;
}

bool ft_node_durable_begin(struct ft_node *n, void (*done)(struct ft_node *n))
{
    struct ft_node_durable *d = n->durable;
    struct ft_version v;

    if (!d->base.version)
        return false;
    ft_publish(&ft_versions_head(&n->job->region)->base_version, d->base.version); /* its number is what they begin with in any case */
    if (ft_versions_loadable(&n->job->region, 0, &v))
        return false; /* the next node had this later one, and that is what they load */
    for (uint32_t i = 0; i < d->base.nmodels; i++)
        ft_models_end(n->job->models, ft_ckpt_area(i, 0), 0);
    d->begun = done;
    d->model = 0;
    d->at = 0;
    ask(n);
    return true;
}

/* ---- all of it ---- */

int ft_node_durable_take(struct ft_node *n, const struct ft_wire_frame *f, struct ft_error *e)
{
    switch (f->type) {
    case FT_WIRE_HOLD:
        return take_hold(n, f, e);
    case FT_WIRE_GIVE:
        return take_give(n, f, e);
    case FT_WIRE_HELD:
        return take_base(n, f, e);
    default:
        return take_piece(n, f, e);
    }
}

void ft_node_durable_again(struct ft_node *n)
{
    struct ft_node_durable *d = n->durable;

    d->hold = (struct ft_wire_hold){.round = 0};
    let_go(n);
}

int ft_node_durable_serve(struct ft_node *n)
{
    n->durable = calloc(1, sizeof *n->durable);
    if (!n->durable)
        return -1;
    let_go(n);
    return 0;
}

void ft_node_durable_leave(struct ft_node *n)
{
    if (!n->durable)
        return;
    free(n->durable->base.models);
    free(n->durable);
    n->durable = NULL;
}
