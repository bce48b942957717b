/* SPDX-License-Identifier: BSD-3-Clause */
/* One state machine in one file, though it is long: what is done about a node depends on the stage that the job is in, on the other nodes'
   logs and on the hosts that are free, and each of them changes with what is done. */
#include "config.h"
#include "launcher/policy/nodes_policy.h"

#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"
#include "launcher/policy/nodes_state.h"
#include "launcher/policy/rank_policy.h"

/* There is room for what one step may do at most. */
static struct ft_nodes_effect *effect(struct ft_nodes *p, enum ft_nodes_effect_kind kind, const struct ft_nodes_node *node)
{
    struct ft_nodes_effect *e;

    FT_INVARIANT(p->neffects < p->room, "a step has room for its effects");
    e = &p->effects[p->neffects++];
    *e = (struct ft_nodes_effect){.kind = kind, .epoch = p->epoch};
    if (node) {
        e->node = (uint32_t)(node - p->nodes);
        e->host = node->host;
        e->incarnation = node->incarnation;
    }
    return e;
}

static struct ft_nodes_effect *tell(struct ft_nodes *p, enum ft_nodes_reason reason, const struct ft_nodes_node *node, uint64_t number)
{
    struct ft_nodes_effect *e = effect(p, FT_ND_TELL, node);

    e->reason = reason;
    e->number = number;
    e->to = e->host;
    e->lost = node->losses != 0;
    return e;
}

static void say_job(struct ft_nodes *p, enum ft_job_phase phase)
{
    struct ft_nodes_effect *e = effect(p, FT_ND_JOB, NULL);

    e->phase = phase;
    e->code = p->code;
}

static void start(struct ft_nodes *p, struct ft_nodes_node *node)
{
    node->life = STARTING;
    node->connected = false;
    node->until = p->now + p->config.start_ms;
    node->phase = FT_NODE_STARTING;
    effect(p, FT_ND_START, node);
}

/* Its ranks leave one host for another. */
static void move(struct ft_nodes *p, struct ft_nodes_node *node, uint32_t host)
{
    p->hosts[node->host].used -= node->ranks;
    node->host = host;
    p->hosts[host].used += node->ranks;
    node->tries = 0;
}

static void start_all(struct ft_nodes *p)
{
    p->stage = RUNNING;
    p->stranded = false;
    p->epoch++;
    for (uint32_t i = 0; i < p->config.nnodes; i++) {
        p->nodes[i].incarnation++;
        p->nodes[i].tries = 0;
        p->nodes[i].whole = p->nodes[i].talks = false;
        p->nodes[i].wanted_since = 0;
        start(p, &p->nodes[i]);
    }
    effect(p, FT_ND_TABLE, NULL);
}

static void finish_if_gone(struct ft_nodes *p)
{
    if (p->stage == OVER || p->stage == RUNNING)
        return;
    for (uint32_t i = 0; i < p->config.nnodes; i++)
        if (p->nodes[i].life != GONE)
            return;
    if (p->stage == RENEWING) {
        effect(p, FT_ND_RENEW, NULL);
        start_all(p);
        say_job(p, FT_JOB_RUN);
        return;
    }
    p->stage = OVER;
    effect(p, FT_ND_FINISH, NULL)->code = p->code;
}

static void gone(struct ft_nodes *p, struct ft_nodes_node *node)
{
    node->life = GONE;
    node->connected = false;
    effect(p, FT_ND_DROP, node);
}

/* Those that have not come so far never will: whoever starts late finds no controller, or the wrong incarnation. */
static void leave_unstarted(struct ft_nodes *p)
{
    for (uint32_t i = 0; i < p->config.nnodes; i++)
        if (p->nodes[i].life == STARTING || p->nodes[i].life == WAITING)
            gone(p, &p->nodes[i]);
}

/* All that live are told, and the last one's leaving is the end. */
static void begin(struct ft_nodes *p, enum ft_nodes_stage stage, enum ft_job_phase phase)
{
    p->stage = stage;
    leave_unstarted(p);
    say_job(p, phase);
    finish_if_gone(p);
}

static void end(struct ft_nodes *p, int code)
{
    if (p->stage == RUNNING || p->stage == RENEWING)
        p->code = code;
    else if (p->stage != SIGNALLED)
        return; /* what came first stands */
    begin(p, ENDING, FT_JOB_END);
}

/* Somebody else could begin where the job began. */
static bool has_log(const struct ft_nodes *p, const struct ft_nodes_node *but)
{
    for (const struct ft_nodes_node *n = p->nodes; n < p->nodes + p->config.nnodes; n++)
        if (n != but && n->life == UP && n->whole)
            return true;
    return false;
}

static bool has_begun(const struct ft_nodes *p)
{
    for (const struct ft_nodes_node *n = p->nodes; n < p->nodes + p->config.nnodes; n++)
        if (n->life == UP || n->life == LEAVING || n->committed)
            return true;
    return false;
}

/* The next best host for a node that can have its own no more; false: there is none. One without ranks first. */
static bool find_spare(const struct ft_nodes *p, const struct ft_nodes_node *node, uint32_t *found)
{
    bool any = false;

    for (uint32_t h = 0; h < p->config.nhosts; h++) {
        const struct ft_nodes_host *host = &p->hosts[h];

        if (h == node->host || host->bad || host->away || (host->used + node->ranks > host->slots && host->used && !p->config.oversubscribe))
            continue;
        if (any && p->hosts[*found].used <= host->used)
            continue;
        any = true;
        *found = h;
    }
    return any;
}

/* Its host is tried again for as long as --wait-for-host says, and so is any other that comes free. */
static void wait_or_end(struct ft_nodes *p, struct ft_nodes_node *node, int code)
{
    if (!node->wanted_since)
        node->wanted_since = p->now + !p->now;
    if (p->now - node->wanted_since >= p->config.wait_ms) {
        if (p->config.wait_ms)
            tell(p, FT_NT_NOWHERE, node, 0);
        end(p, code);
        return;
    }
    node->life = WAITING;
    node->tries = 0;
    node->until = p->now + FT_HOST_AGAIN_MS;
}

/* A dead host says nothing, so who is lost without a word starts elsewhere, if there is room. One that has come since then is not dead. */
static uint32_t next_host(struct ft_nodes *p, const struct ft_nodes_node *node, bool silent)
{
    uint32_t host = node->host;

    silent &= p->hosts[host].came <= node->heard;
    p->hosts[host].bad = silent;
    if (silent || p->hosts[host].away)
        find_spare(p, node, &host);
    return host;
}

/* Everything that runs is ended, and all begins again: at once if nothing runs, so the node moves before. */
static void renew(struct ft_nodes *p, struct ft_nodes_node *node, bool silent)
{
    uint32_t to = next_host(p, node, silent);

    tell(p, FT_NT_RENEW, node, node->talks ? 3 : silent)->to = to;
    p->replaced++;
    gone(p, node);
    move(p, node, to);
    begin(p, RENEWING, FT_JOB_END);
}

static void replace(struct ft_nodes *p, struct ft_nodes_node *node, bool silent)
{
    uint32_t to;
    bool left;

    if ((node->talks || !has_log(p, node)) && has_begun(p) && p->config.nnodes > 1) {
        renew(p, node, silent);
        return;
    }
    left = node->phase == FT_NODE_LEFT && p->hosts[node->host].away;
    to = next_host(p, node, silent);
    node->incarnation++;
    node->whole = node->talks = false;
    p->replaced++;
    tell(p, FT_NT_LOST, node, left ? 2 : silent)->to = to;
    move(p, node, to);
    start(p, node);
    effect(p, FT_ND_TABLE, NULL);
}

/* Every node, or every one that has not gone, has come so far. */
static bool all_are(const struct ft_nodes *p, bool ended_too)
{
    for (const struct ft_nodes_node *n = p->nodes; n < p->nodes + p->config.nnodes; n++) {
        bool done = n->life == UP && (n->phase == FT_NODE_DONE || (ended_too && n->phase == FT_NODE_ENDED));

        if (!done && !(ended_too && n->life == GONE))
            return false;
    }
    return true;
}

static void note_loss(struct ft_nodes_node *node)
{
    node->losses = node->committed > node->lost_at ? 1 : node->losses + 1;
    node->lost_at = ft_max(node->lost_at, node->committed);
}

/* An agent and all that was its is dead, or has been for itself since its lease ran out. */
static void lost(struct ft_nodes *p, struct ft_nodes_node *node, bool silent)
{
    node->before += node->restarts;
    node->restarts = 0;
    if (p->stage != RUNNING) {
        gone(p, node);
        if (p->stage == RENEWING)
            move(p, node, next_host(p, node, silent));
        finish_if_gone(p);
        if (p->stage == SIGNALLED && all_are(p, true))
            end(p, p->code);
        return;
    }
    note_loss(node);
    effect(p, FT_ND_DROP, node);
    if (!p->config.max_restarts || node->losses >= FT_NODE_LOSSES) {
        tell(p, p->config.max_restarts ? FT_NT_GIVEN_UP : FT_NT_NO_RESTARTS, node, node->losses);
        node->life = GONE;
        end(p, FT_CODE_JOB);
    } else if (node->talks && !p->config.start_over) {
        tell(p, FT_NT_CONNECTED, node, silent);
        node->life = GONE;
        end(p, FT_CODE_JOB);
    } else {
        replace(p, node, silent);
    }
}

static void not_started(struct ft_nodes *p, struct ft_nodes_node *node, bool fatal, int code)
{
    uint32_t spare;
    bool other = find_spare(p, node, &spare);

    if (node->life != STARTING)
        return;
    effect(p, FT_ND_DROP, node);
    node->tries++;
    node->incarnation++; /* what was started may come yet */
    /* A host that has just lost the node, and does not answer, is not asked again while there is another one: the job stands still. */
    if (!fatal && node->tries < p->config.tries && !node->wanted_since && !(node->losses && other)) {
        node->life = WAITING;
        node->until = p->now + (uint64_t)FT_START_AGAIN_MS * node->tries;
        return;
    }
    p->hosts[node->host].bad = true;
    if (other) {
        tell(p, FT_NT_CANNOT_START, node, node->tries)->to = spare;
        move(p, node, spare);
        start(p, node);
        effect(p, FT_ND_TABLE, NULL);
        return;
    }
    if (fatal && p->config.nlater && !p->hosts[node->host].away) { /* it is there and refuses: so would others */
        tell(p, FT_NT_CANNOT_START, node, node->tries);
        end(p, code);
        return;
    }
    if (!node->wanted_since)
        tell(p, FT_NT_CANNOT_START, node, node->tries)->waits = p->config.wait_ms > 0;
    wait_or_end(p, node, code);
}

static void said_hello(struct ft_nodes *p, struct ft_nodes_node *node)
{
    node->connected = true;
    node->heard = p->now;
    if (node->life == STARTING) {
        node->life = UP;
        node->tries = 0;
        node->wanted_since = 0;
        p->hosts[node->host].bad = false;
        effect(p, FT_ND_TABLE, NULL);
    } else if (node->life == LEAVING) {
        effect(p, FT_ND_END_ONE, node); /* it may not have heard it */
    }
}

uint64_t ft_nodes_restarts(const struct ft_nodes *p)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < p->config.nnodes; i++)
        n += p->nodes[i].restarts + p->nodes[i].before;
    return n;
}

/* Another node's log helps it, once. If it did not, what is there of logs is not enough for all. */
static void stranded(struct ft_nodes *p, struct ft_nodes_node *node)
{
    bool renewed = p->stranded || !has_log(p, node);

    if (renewed)
        note_loss(node); /* else when it has left */
    if (node->losses >= FT_NODE_LOSSES) {
        tell(p, FT_NT_GIVEN_UP, node, node->losses);
        end(p, FT_CODE_JOB);
        return;
    }
    if (renewed) {
        tell(p, FT_NT_RENEW, node, 2);
        p->replaced++;
        begin(p, RENEWING, FT_JOB_END); /* it leaves with the others */
        return;
    }
    p->stranded = true;
    tell(p, FT_NT_STRANDED, node, 0);
    node->life = LEAVING;
    effect(p, FT_ND_END_ONE, node);
}

static void said_state(struct ft_nodes *p, struct ft_nodes_node *node, const struct ft_nodes_event *ev)
{
    if (node->life != UP && node->life != LEAVING)
        return;
    node->phase = ev->phase;
    node->whole = ev->whole;
    node->talks |= ev->connected;
    node->committed = ft_max(node->committed, ev->committed);
    node->restarts = ev->restarts;
    if (ev->phase == FT_NODE_LEFT) {
        lost(p, node, false);
    } else if (p->stage == SIGNALLED) {
        if (all_are(p, true))
            end(p, p->code);
    } else if (p->stage != RUNNING) {
        return;
    } else if (ev->phase == FT_NODE_ENDED && node->life == LEAVING) {
        return; /* as it was told to: it leaves alone */
    } else if (ev->phase == FT_NODE_ENDED) {
        end(p, ev->code);
    } else if (ev->phase == FT_NODE_STRANDED && node->life == UP) {
        stranded(p, node);
    } else if (p->config.max_restarts && ft_nodes_restarts(p) > p->config.max_restarts) {
        tell(p, FT_NT_MAX_RESTARTS, node, ft_nodes_restarts(p) - 1);
        end(p, FT_CODE_JOB);
    } else if (all_are(p, false)) {
        begin(p, FINISHING, FT_JOB_FINISH);
    }
}

/* Who waits for a host looks at once. */
static void host_came(struct ft_nodes *p, const struct ft_nodes_event *ev)
{
    struct ft_nodes_host *host = &p->hosts[ev->host];

    host->bad = host->away = false;
    host->slots = ev->slots;
    host->came = p->now;
    for (uint32_t i = 0; i < p->config.nnodes; i++)
        if (p->nodes[i].life == WAITING)
            p->nodes[i].until = p->now;
}

/* An agent there may live, and be heard: it ends its ranks as one that is stranded does, and is replaced when it has left. */
static void host_went(struct ft_nodes *p, uint32_t host)
{
    p->hosts[host].away = true;
    for (uint32_t i = 0; i < p->config.nnodes && p->stage == RUNNING; i++) {
        struct ft_nodes_node *node = &p->nodes[i];

        if (node->host != host)
            continue;
        if (node->life == STARTING)
            not_started(p, node, true, FT_CODE_JOB);
        if (node->life != UP)
            continue;
        node->life = LEAVING;
        effect(p, FT_ND_END_ONE, node);
    }
}

static void signalled(struct ft_nodes *p, int code)
{
    if (p->stage != RUNNING && p->stage != RENEWING)
        return;
    p->stage = SIGNALLED;
    p->code = code;
    leave_unstarted(p);
    if (all_are(p, true))
        end(p, code);
}

/* Whoever slept, or was not given a processor, has heard nobody: that is nobody's fault. It is always safe to declare a loss later. Who is
   awake is called twice as often (ft_nodes_due), also if nobody says anything. */
static void forgive_sleep(struct ft_nodes *p, uint64_t now)
{
    uint64_t slept = now - p->now;

    if (!p->begun || slept <= p->config.lease_ms / 3)
        return;
    for (uint32_t i = 0; i < p->config.nnodes; i++)
        p->nodes[i].heard += slept;
}

static void look_at(struct ft_nodes *p, struct ft_nodes_node *node)
{
    if ((node->life == UP || node->life == LEAVING) && p->now - ft_min(p->now, node->heard) >= p->config.lease_ms) {
        if (p->stage == ENDING && node->talks)
            tell(p, FT_NT_LOST_TOO, node, 0);
        lost(p, node, node->connected);
    } else if (node->life == STARTING && p->now >= node->until)
        not_started(p, node, false, FT_CODE_JOB);
    else if (node->life == WAITING && p->now >= node->until)
        start(p, node);
}

static void look_at_all(struct ft_nodes *p)
{
    for (uint32_t i = 0; i < p->config.nnodes && p->stage != OVER; i++)
        look_at(p, &p->nodes[i]);
}

static void begin_job(struct ft_nodes *p)
{
    p->begun = true;
    for (uint32_t i = 0; i < p->config.nnodes; i++)
        start(p, &p->nodes[i]);
}

static void step(struct ft_nodes *p, const struct ft_nodes_event *ev)
{
    struct ft_nodes_node *node = &p->nodes[ev->node];

    switch (ev->kind) {
    case FT_NV_TIME:
        break;
    case FT_NV_HELLO:
        if (node->life != GONE && node->life != WAITING)
            said_hello(p, node);
        break;
    case FT_NV_HEARD:
        node->heard = p->now;
        break;
    case FT_NV_CLOSED:
        node->connected = false;
        break;
    case FT_NV_STATE:
        node->heard = p->now;
        said_state(p, node, ev);
        break;
    case FT_NV_NOT_STARTED:
        not_started(p, node, ev->fatal, ev->code);
        break;
    case FT_NV_HOST:
        host_came(p, ev);
        break;
    case FT_NV_HOST_AWAY:
        host_went(p, ev->host);
        break;
    case FT_NV_SIGNAL:
        signalled(p, ev->code);
        break;
    case FT_NV_STOP:
        end(p, ev->code);
        break;
    }
    look_at_all(p);
}

/* ---- from step to step ---- */

/* What was to be told and was not, perhaps, comes first. */
static void keep_untold(struct ft_nodes *p)
{
    uint32_t n = p->neffects;

    p->neffects = 0;
    for (uint32_t i = p->done; i < n; i++)
        if (p->effects[i].kind == FT_ND_TELL)
            p->effects[p->neffects++] = p->effects[i];
}

static enum ft_job_phase phase_of(const struct ft_nodes *p)
{
    return p->stage == FINISHING ? FT_JOB_FINISH : p->stage == RUNNING || p->stage == SIGNALLED ? FT_JOB_RUN : FT_JOB_END;
}

/* What was started, and whatever came of it, was the predecessor's: another incarnation is. */
static void go_on(struct ft_nodes *p)
{
    say_job(p, phase_of(p));
    for (struct ft_nodes_node *node = p->nodes; node < p->nodes + p->config.nnodes; node++) {
        node->connected = false;
        node->heard = p->now;
        if (node->life != STARTING)
            continue;
        node->incarnation++;
        start(p, node);
    }
    if (p->stage == OVER)
        effect(p, FT_ND_FINISH, NULL)->code = p->code;
}

struct ft_nodes_effects ft_nodes_recover(struct ft_nodes *p, uint64_t now_ms)
{
    ft_nodes_load(p);
    keep_untold(p);
    p->now = now_ms;
    if (!p->begun)
        begin_job(p);
    else
        go_on(p);
    ft_nodes_record(p, &(struct ft_nodes_event){.kind = FT_NV_STOP});
    return (struct ft_nodes_effects){.n = p->neffects, .e = p->effects};
}

struct ft_nodes_effects ft_nodes_step(struct ft_nodes *p, const struct ft_nodes_event *ev)
{
    p->neffects = 0;
    if (p->stage != OVER) {
        forgive_sleep(p, ev->now_ms);
        p->now = ev->now_ms;
        if (!p->begun)
            begin_job(p);
        step(p, ev);
        ft_nodes_record(p, ev);
    }
    return (struct ft_nodes_effects){.n = p->neffects, .e = p->effects};
}

uint64_t ft_nodes_due(const struct ft_nodes *p)
{
    uint64_t due = UINT64_MAX;

    if (p->stage == OVER)
        return due;
    for (const struct ft_nodes_node *n = p->nodes; n < p->nodes + p->config.nnodes; n++) {
        if (n->life == UP || n->life == LEAVING)
            due = ft_min(due, ft_min(n->heard + p->config.lease_ms, p->now + p->config.lease_ms / 6));
        else if (n->life == STARTING || n->life == WAITING)
            due = ft_min(due, n->until);
    }
    return due;
}

struct ft_nodes *ft_nodes_new(void *memory, const struct ft_nodes_config *config)
{
    struct ft_nodes *p = memory ? calloc(1, ft_nodes_half(config)) : NULL;

    if (!p)
        return NULL;
    p->config = *config;
    p->record = memory;
    p->room = ft_nodes_room(config->nnodes);
    ft_nodes_place(p);
    for (uint32_t h = 0; h < config->nhosts; h++)
        p->hosts[h] = (struct ft_nodes_host){.slots = config->slots[h], .away = h + config->nlater >= config->nhosts};
    for (uint32_t i = 0; i < config->nnodes; i++) {
        p->nodes[i] = (struct ft_nodes_node){.ranks = config->ranks[i], .host = config->host[i]};
        p->hosts[config->host[i]].used += config->ranks[i];
    }
    ft_nodes_record(p, &(struct ft_nodes_event){.kind = FT_NV_STOP});
    return p;
}

uint32_t ft_nodes_host(const struct ft_nodes *p, uint32_t node)
{
    return p->nodes[node].host;
}

uint32_t ft_nodes_incarnation(const struct ft_nodes *p, uint32_t node)
{
    return p->nodes[node].incarnation;
}

uint32_t ft_nodes_epoch(const struct ft_nodes *p)
{
    return p->epoch;
}

bool ft_nodes_is_away(const struct ft_nodes *p, uint32_t host)
{
    return p->hosts[host].away;
}

bool ft_nodes_is_up(const struct ft_nodes *p, uint32_t node)
{
    return p->nodes[node].life == UP || p->nodes[node].life == LEAVING;
}

bool ft_nodes_is_expected(const struct ft_nodes *p, uint32_t node)
{
    return ft_nodes_is_up(p, node) || p->nodes[node].life == STARTING;
}

bool ft_nodes_comes_again(const struct ft_nodes *p, uint32_t node)
{
    return p->stage == RENEWING || (p->stage == RUNNING && p->nodes[node].life == LEAVING);
}

bool ft_nodes_is_ending(const struct ft_nodes *p)
{
    return p->stage != RUNNING && p->stage != RENEWING;
}

uint64_t ft_nodes_replaced(const struct ft_nodes *p)
{
    return p->replaced;
}

void ft_nodes_free(struct ft_nodes *p) { free(p); }
