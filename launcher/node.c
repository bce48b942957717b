/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/node.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "ft/shm/wait.h"
#include "launcher/act.h"
#include "launcher/auth.h"
#include "launcher/fetch.h"
#include "launcher/job.h"
#include "launcher/links.h"
#include "launcher/ranks.h"
#include "launcher/shared.h"
#include "launcher/sink.h"
#include "launcher/stdio_memory.h"
#include "launcher/sweep.h"
#include "launcher/uplink.h"

enum {
    FIRST_PULSE = 12,           /* of these in a lease; a BEAT every other */
    STATE_PULSES = 12,          /* the state is said so often whether it has changed or not */
    SOON_MS = 10,               /* for several changes to become one */
    BYE_MS = 1000,              /* for the controller to hear the last word */
    MEET_MS = 2000,             /* at least, for the first connection; else two leases */
    NICE = -10,
    BEATS = 64,                 /* without an answer, that are remembered */
    CONTROLLERS = FT_ADDRESSES
};

/* In shared memory: what a successor of this agent has to know. */
struct shared {
    _Atomic uint64_t heard_ns;  /* CLOCK_BOOTTIME: the controller has heard of us since, or we have begun then */
    _Atomic uint32_t met;       /* it has taken us */
    bool ready;                 /* ranks may be started */
    bool fenced;
    bool stranded;
    bool left;                  /* said, or about to be */
    bool input_ended;
    uint64_t signals;           /* number of the last one */
    enum ft_job_phase phase;
    int code;
};

struct ft_node {
    struct ft_job *job;
    const struct ft_description *d;
    struct shared *shared;
    struct ft_address controllers[CONTROLLERS];
    size_t ncontrollers;
    struct ft_links *links;     /* to the other nodes; NULL: there are none */
    struct ft_wire_hello hello;
    int input;                  /* what is written there comes out of standard input; -1: no rank here reads it */

    /* of the agent */
    struct ft_auth *auth;
    struct ft_fetch *fetch;     /* NULL: not now */
    struct ft_uplink *uplink;
    struct ft_wire_table table;
    struct event *pulse, *soon, *room, *bye;
    struct evbuffer *waiting;   /* input that found no room */
    unsigned pulses;
    uint64_t sent_ns[BEATS];    /* when BEAT i % BEATS of this connection was */
    uint64_t sent, answered;
    bool dirty;                 /* STATE is to be said */
    bool let_go;                /* the controller has heard the last word, or will not */
};

static uint64_t lease_ns(const struct ft_node *n)
{
    return n->job->options->lease_ms * 1000000;
}

/* What a person looks for where ssh's stderr goes: the controller does not hear it from us. */
static void say_here(const struct ft_node *n, const char *what)
{
    ft_say(&(struct ft_say){0}, "node %u (host %s): %s", n->d->node, ft_say_host(), what);
}

/* ---- what is said ---- */

static enum ft_node_phase phase_of(const struct ft_node *n)
{
    int code;

    if (n->shared->left)
        return FT_NODE_LEFT;
    if (n->shared->stranded)
        return FT_NODE_STRANDED;
    if (ft_policy_ends(n->job->policy, &code))
        return FT_NODE_ENDED;
    if (ft_policy_stays(n->job->policy))
        return FT_NODE_DONE;
    return n->shared->ready ? FT_NODE_RUNNING : FT_NODE_STARTING;
}

static enum ft_node_rank rank_state(enum ft_phase phase)
{
    switch (phase) {
    case FT_PROC_NEW:
    case FT_PROC_STARTING:
        return FT_NODE_RANK_STARTING;
    case FT_PROC_RUNNING:
        return FT_NODE_RANK_UP;
    case FT_PROC_RETIRED:
        return FT_NODE_RANK_DOWN;
    default:
        return FT_NODE_RANK_RESTARTING;
    }
}

/* Bytes of standard input that have been taken over, wherever they are by now: the kernel counts, so a killed agent's are known. */
static uint64_t input_place(const struct ft_node *n)
{
    const struct ft_store *store = &n->job->stdio->store;
    int queued = 0, between = 0;

    if (n->input < 0)
        return 0;
    ioctl(0, FIONREAD, &queued);
    if (store->middle[0] >= 0)
        ioctl(store->middle[0], FIONREAD, &between);
    return (uint64_t)lseek(store->to, 0, SEEK_CUR) + (uint64_t)queued + (uint64_t)between;
}

static uint64_t committed(const struct ft_job *job)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t r = 0; r < job->options->nranks; r++)
        least = ft_min(least, ft_region_progress(&job->region, r));
    return least;
}

static void say_state(struct ft_node *n)
{
    struct ft_job *job = n->job;
    uint32_t nranks = job->options->nranks;
    struct ft_wire_state m = {.phase = phase_of(n), .committed = committed(job), .whole = ft_region_whole(&job->region),
                              .signals = n->shared->signals, .input = input_place(n), .nranks = nranks};

    if (!n->uplink || !ft_uplink_is_up(n->uplink) || !(m.ranks = calloc(nranks, sizeof *m.ranks)))
        return;
    ft_policy_ends(job->policy, &m.code);
    for (uint32_t r = 0; r < nranks; r++)
        m.ranks[r] = (struct ft_wire_rank){rank_state(ft_proc_phase(&job->procs[r])), job->procs[r].incarnation,
                                           (uint32_t)ft_policy_restarts_of(job->policy, r), (uint32_t)job->procs[r].pid};
    ft_uplink_say(n->uplink, ft_wire_put_state(&m));
    ft_wire_state_free(&m);
    n->dirty = false;
}

static void on_soon(evutil_socket_t fd, short what, void *arg)
{
    struct ft_node *n = arg;

    (void)fd;
    (void)what;
    if (n->dirty)
        say_state(n);
}

void ft_node_changed(struct ft_node *n)
{
    struct timeval soon = {.tv_usec = SOON_MS * 1000};

    if (!n || !n->soon || n->dirty)
        return;
    n->dirty = true;
    event_add(n->soon, &soon);
}

/* ---- the lease ---- */

static void fence(struct ft_node *n, const char *why)
{
    if (n->shared->fenced)
        return;
    ft_ranks_signal(n->job, SIGKILL); /* before anything else */
    n->shared->fenced = true;
    say_here(n, why);
    ft_act(n->job, &(struct ft_event){.kind = FT_EV_FENCED});
    if (n->job->sweeping)
        ft_sweep_hurry(n->job);
}

/* The controller has heard of us at `when` or later. */
static void heard(struct ft_node *n, uint64_t when)
{
    atomic_store(&n->shared->heard_ns, ft_max(when, atomic_load(&n->shared->heard_ns)));
}

/* Only as many as are remembered: a controller that is slow to answer gets no more. */
static void beat(struct ft_node *n)
{
    if (!ft_uplink_is_up(n->uplink) || n->sent - n->answered == BEATS)
        return;
    n->sent_ns[n->sent++ % BEATS] = ft_uplink_now();
    ft_uplink_say(n->uplink, ft_wire_put_beat());
}

static int take_answer(struct ft_node *n, struct ft_error *e)
{
    if (n->answered == n->sent)
        return ft_err_set(e, FT_EDAMAGED, "an answer to a BEAT that was not sent");
    heard(n, n->sent_ns[n->answered++ % BEATS]);
    return 0;
}

static uint64_t patience_ns(const struct ft_node *n)
{
    if (atomic_load(&n->shared->met))
        return lease_ns(n) / 3 * 2;
    return ft_max(2 * lease_ns(n), MEET_MS * UINT64_C(1000000));
}

static bool is_silent(const struct ft_node *n, uint64_t more_ns)
{
    uint64_t silent = ft_uplink_now() - atomic_load(&n->shared->heard_ns);

    return silent > more_ns + patience_ns(n);
}

/* A pulse later than the agent itself. Once the ranks are told to die it may take its time. */
bool ft_node_is_late(void *arg)
{
    const struct ft_node *n = arg;

    return !n->shared->fenced && is_silent(n, lease_ns(n) / FIRST_PULSE);
}

static void check_lease(struct ft_node *n)
{
    char why[FT_ERROR_TEXT + 100];

    if (n->shared->fenced || !is_silent(n, 0))
        return;
    if (atomic_load(&n->shared->met))
        snprintf(why, sizeof why, "ftrun has not been heard of for %g s (two thirds of --lease); the ranks here are killed",
                 (double)(lease_ns(n) / 3 * 2) / 1e9);
    else
        snprintf(why, sizeof why, "the ftrun that started it cannot be reached%s%s", *ft_uplink_trouble(n->uplink) ? ": " : "",
                 ft_uplink_trouble(n->uplink));
    fence(n, why);
}

static void on_pulse(evutil_socket_t fd, short what, void *arg)
{
    struct ft_node *n = arg;

    (void)fd;
    (void)what;
    check_lease(n);
    n->pulses++;
    if (n->pulses % STATE_PULSES == 0)
        say_state(n);
    if (n->pulses % 2 == 0)
        beat(n);
}

/* ---- standard input ---- */

static void end_input(struct ft_node *n)
{
    if (n->shared->input_ended && !evbuffer_get_length(n->waiting))
        shutdown(n->input, SHUT_WR); /* for all that hold it; may be done twice */
}

static void on_room(evutil_socket_t fd, short what, void *arg)
{
    struct ft_node *n = arg;

    (void)fd;
    (void)what;
    evbuffer_write(n->waiting, n->input);
    if (evbuffer_get_length(n->waiting))
        event_add(n->room, NULL);
    end_input(n);
    ft_node_changed(n);
}

/* What is there already is dropped, what comes too early will come again. */
static int take_input(struct ft_node *n, const struct ft_wire_frame *f, struct ft_error *e)
{
    const uint8_t *data;
    uint64_t place, have;
    uint32_t len;
    bool last;

    if (ft_wire_get_input(f, &place, &last, &data, &len, e) < 0)
        return FT_EDAMAGED;
    if (n->input < 0)
        return 0;
    have = input_place(n) + evbuffer_get_length(n->waiting);
    if (place > have || place + len < have)
        return 0;
    evbuffer_add(n->waiting, data + (have - place), len - (uint32_t)(have - place));
    n->shared->input_ended |= last;
    on_room(-1, 0, n);
    return 0;
}

/* ---- what is heard ---- */

/* That a peer's representative is gone for good is news for ours. */
static void tell_gone(const struct ft_node *n)
{
    for (uint32_t i = 0; n->d->nnodes > 1 && i < n->table.nnodes; i++)
        if (i != n->d->node && n->table.nodes[i].done)
            ft_announce(&ft_region_link(&n->job->region, i)->gone, 1);
}

static bool look_up(void *arg, uint32_t node, struct ft_whereabouts *peer)
{
    const struct ft_node *n = arg;
    const struct ft_wire_node *w = node < n->table.nnodes ? &n->table.nodes[node] : NULL;

    if (!w)
        return false;
    *peer = (struct ft_whereabouts){.incarnation = w->incarnation, .up = w->up};
    for (uint32_t i = 0; i < w->naddresses && peer->naddresses < FT_ADDRESSES; i++)
        peer->naddresses += ft_address_parse(&peer->addresses[peer->naddresses], w->addresses[i].text, (uint16_t)w->port);
    return true;
}

/* Our representative needs no links any more, and never will. */
static bool has_left(void *arg)
{
    const struct ft_node *n = arg;
    int code;

    return ft_proc_phase(&n->job->procs[0]) == FT_PROC_RETIRED && !ft_policy_ends(n->job->policy, &code);
}

static void make_ready(struct ft_node *n)
{
    int code;

    if (ft_policy_ends(n->job->policy, &code))
        return;
    n->shared->ready = true;
    ft_ranks_start(n->job);
    ft_node_changed(n);
}

static void on_fetched(void *arg, uint64_t units, uint64_t bytes, const struct ft_error *e)
{
    struct ft_node *n = arg;

    n->fetch = NULL;
    ft_say_detail(&n->job->say, "node %u (host %s) has fetched %llu units of log, %llu bytes%s%s", n->d->node, ft_say_host(),
                  (unsigned long long)units, (unsigned long long)bytes, e->text[0] ? ": " : "", e->text);
    make_ready(n);
}

/* A node that replaces a lost one replays out of its own memory: what there is of the log comes before the ranks. */
static bool start_fetch(struct ft_node *n)
{
    struct ft_fetch_config config = {.base = n->job->base, .secret = n->d->secret, .say = &n->job->say, .node = n->d->node,
                                     .incarnation = n->d->incarnation, .region = &n->job->region, .keeper = n->job->keeper,
                                     .spill_fd = ft_keeper_spill_fd(n->job->keeper)};
    struct ft_source *sources = calloc(n->table.nnodes, sizeof *sources);
    size_t count = 0;

    for (uint32_t i = 0; sources && i < n->table.nnodes; i++) {
        struct ft_whereabouts peer;

        if (i == n->d->node || !look_up(n, i, &peer) || !peer.up || !peer.naddresses)
            continue;
        sources[count] = (struct ft_source){.node = i, .incarnation = peer.incarnation, .naddresses = peer.naddresses};
        memcpy(sources[count++].addresses, peer.addresses, sizeof peer.addresses);
    }
    if (count)
        n->fetch = ft_fetch_start(&config, sources, count, on_fetched, n);
    free(sources);
    return n->fetch;
}

static void get_ready(struct ft_node *n)
{
    if (n->shared->ready || n->fetch)
        return;
    if (n->d->incarnation && n->d->nnodes > 1 && start_fetch(n))
        return;
    make_ready(n);
}

static int take_table(struct ft_node *n, const struct ft_wire_frame *f, struct ft_error *e)
{
    struct ft_wire_table table;

    if (ft_wire_get_table(f, &table, e) < 0)
        return FT_EDAMAGED;
    if (table.nnodes != n->d->nnodes) {
        ft_wire_table_free(&table);
        return ft_err_set(e, FT_EDAMAGED, "a table of another job");
    }
    ft_wire_table_free(&n->table);
    n->table = table;
    if (table.nodes[n->d->node].incarnation > n->d->incarnation) {
        fence(n, "another one has been started in its place; the ranks here are killed");
        return 0;
    }
    atomic_store(&n->shared->met, 1);
    tell_gone(n);
    ft_links_table_changed(n->links);
    get_ready(n);
    return 0;
}

static int take_job(struct ft_node *n, const struct ft_wire_frame *f, struct ft_error *e)
{
    struct ft_wire_job m;

    if (ft_wire_get_job(f, &m, e) < 0)
        return FT_EDAMAGED;
    n->shared->code = m.code;
    n->shared->phase = m.phase;
    if (m.phase == FT_JOB_END)
        ft_act(n->job, &(struct ft_event){.kind = FT_EV_ENDED, .code = m.code});
    else if (m.phase == FT_JOB_FINISH)
        ft_act(n->job, &(struct ft_event){.kind = FT_EV_ALL_DONE});
    if (n->job->sweeping)
        ft_sweep_step(n->job);
    return 0;
}

static int take_got(struct ft_node *n, const struct ft_wire_frame *f, struct ft_error *e)
{
    uint64_t place;

    if (ft_wire_get_got(f, &place, e) < 0)
        return FT_EDAMAGED;
    if (place > n->job->stdio->spools[0].state->tail)
        return ft_err_set(e, FT_EDAMAGED, "a GOT beyond what there is");
    ft_sink_taken(n->job->sinks[0], place);
    ft_uplink_flush(n->uplink);
    return 0;
}

/* As loop.c does with its own; but only the ranks are stopped. */
static int take_signal(struct ft_node *n, const struct ft_wire_frame *f, struct ft_error *e)
{
    uint64_t number;
    int signal;

    if (ft_wire_get_signal(f, &number, &signal, e) < 0)
        return FT_EDAMAGED;
    if (number <= n->shared->signals)
        return 0;
    n->shared->signals = number;
    if (signal == SIGTSTP)
        ft_ranks_signal(n->job, SIGSTOP);
    else if (signal == SIGUSR1 || signal == SIGUSR2 || signal == SIGCONT)
        ft_ranks_signal(n->job, signal);
    else
        ft_act(n->job, &(struct ft_event){.kind = FT_EV_SIGNAL, .signal = signal});
    ft_node_changed(n);
    return 0;
}

static int take_frame(void *arg, const struct ft_wire_frame *f, struct ft_error *e)
{
    struct ft_node *n = arg;

    if (n->shared->fenced)
        return ft_err_set(e, FT_EDAMAGED, "too late");
    switch (f->type) {
    case FT_WIRE_TABLE:
        return take_table(n, f, e);
    case FT_WIRE_JOB:
        return take_job(n, f, e);
    case FT_WIRE_GOT:
        return take_got(n, f, e);
    case FT_WIRE_SIGNAL:
        return take_signal(n, f, e);
    case FT_WIRE_INPUT_BYTES:
        return take_input(n, f, e);
    case FT_WIRE_BEAT:
        return take_answer(n, e);
    default:
        return ft_err_set(e, FT_EDAMAGED, "a frame for the controller");
    }
}

/* ---- the end ---- */

static void let_go(struct ft_node *n)
{
    n->let_go = true;
    if (n->job->sweeping)
        ft_sweep_step(n->job);
}

static void on_bye(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    let_go(arg);
}

static void say_bye(struct ft_node *n)
{
    struct timeval wait = {.tv_sec = BYE_MS / 1000, .tv_usec = BYE_MS % 1000 * 1000};

    n->shared->left = true;
    say_state(n);
    if (ft_uplink_is_up(n->uplink))
        event_add(n->bye, &wait);
}

bool ft_node_may_leave(struct ft_node *n, bool waiting)
{
    if (n->shared->fenced || n->let_go)
        return true;
    if (!waiting && n->shared->phase != FT_JOB_RUN && !n->shared->left)
        say_bye(n);
    return false;
}

static void on_up(void *arg)
{
    struct ft_node *n = arg;

    heard(n, ft_uplink_dialled(n->uplink)); /* it has proved itself with what we have sent since */
    n->sent = n->answered = 0;
    evbuffer_drain(n->waiting, evbuffer_get_length(n->waiting)); /* it comes again, from the place that is said now */
    n->hello.pid = (uint32_t)getpid();
    ft_uplink_say(n->uplink, ft_wire_put_hello(&n->hello));
    say_state(n);
    beat(n);
    if (n->shared->left)
        say_bye(n);
}

static void on_down(void *arg)
{
    struct ft_node *n = arg;

    if (n->shared->left)
        let_go(n);
}

/* ---- made and freed ---- */

/* What comes for the rank that reads standard input goes through a socketpair: it ends when it is shut down, whoever holds it. */
static int replace_stdin(struct ft_node *n, struct ft_error *e)
{
    int pair[2];

    if (n->job->options->stdin_rank < 0)
        return 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 || dup2(pair[0], 0) < 0)
        return ft_err_set(e, FT_ESYS, "no socket for standard input: %s", strerror(errno));
    close(pair[0]);
    n->input = pair[1];
    fcntl(n->input, F_SETFL, O_NONBLOCK);
    return 0;
}

int ft_node_new(struct ft_node **out, struct ft_job *job, struct ft_error *e)
{
    struct ft_node *n = calloc(1, sizeof *n);

    if (!n || !(n->shared = ft_shared_new(sizeof *n->shared))) {
        free(n);
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    }
    n->job = job;
    n->d = job->options->node;
    n->input = -1;
    heard(n, ft_uplink_now());
    *out = n;
    return replace_stdin(n, e);
}

static int find_controllers(struct ft_node *n, struct ft_error *e)
{
    for (char **c = n->d->controllers; *c && n->ncontrollers < CONTROLLERS; c++)
        if (!ft_address_parse(&n->controllers[n->ncontrollers++], *c, n->d->port))
            return ft_err_set(e, FT_EINVAL, "\"%s\" is no address of a controller", *c);
    return n->ncontrollers ? 0 : ft_err_set(e, FT_EINVAL, "there is no address of a controller");
}

static void introduce(struct ft_node *n, const struct ft_address *list, size_t count)
{
    struct ft_wire_hello *h = &n->hello;

    *h = (struct ft_wire_hello){.node = n->d->node, .incarnation = n->d->incarnation, .version = PACKAGE_VERSION, .pid = (uint32_t)getpid()};
    strncpy(h->host, ft_say_host(), sizeof h->host - 1);
    for (size_t i = 0; i < count && i < FT_WIRE_ADDRESSES; i++)
        ft_address_ip(&list[i], h->addresses[h->naddresses++].text);
    h->port = count ? ft_address_port(&list[0]) : 0;
}

static int open_links(struct ft_node *n, int listener, struct ft_error *e)
{
    struct ft_links_config config = {.secret = n->d->secret, .node = n->d->node, .nnodes = n->d->nnodes, .incarnation = n->d->incarnation,
                                     .listener = listener, .region = &n->job->region, .spill_fd = ft_keeper_spill_fd(n->job->keeper),
                                     .look_up = look_up, .left = has_left, .arg = n};

    return ft_links_new(&n->links, &config, e);
}

int ft_node_open(struct ft_node *n, struct ft_error *e)
{
    struct ft_address list[FT_ADDRESSES];
    int listener, err;
    size_t count = 0;

    if (!n)
        return 0;
    if ((err = find_controllers(n, e)) < 0)
        return err;
    if (n->d->nnodes > 1 && n->job->options->log_full == FT_FULL_FORGET)
        return ft_err_set(e, FT_EINVAL, "--log-full forget is not to be had on several hosts yet: another one may need what is forgotten");
    if (n->d->nnodes > 1) {
        listener = ft_address_listen(n->job->options->iface, &n->controllers[0], list, &count, e);
        if (listener < 0)
            return listener;
        if ((err = open_links(n, listener, e)) < 0)
            return err;
    }
    introduce(n, list, count);
    return 0;
}

void ft_node_forget(struct ft_node *n)
{
    if (!n)
        return;
    ft_links_forget(n->links);
    n->auth = NULL;
    n->fetch = NULL;
    n->uplink = NULL;
    n->table = (struct ft_wire_table){0};
    n->pulse = n->soon = n->room = n->bye = NULL;
    n->waiting = NULL;
    n->dirty = n->let_go = false;
}

static int make_events(struct ft_node *n)
{
    uint64_t pulse_us = ft_max(lease_ns(n) / FIRST_PULSE / 1000, 1000);
    struct timeval pulse = {.tv_sec = (time_t)(pulse_us / 1000000), .tv_usec = (suseconds_t)(pulse_us % 1000000)};

    n->pulse = event_new(n->job->base, -1, EV_PERSIST, on_pulse, n);
    n->soon = evtimer_new(n->job->base, on_soon, n);
    n->bye = evtimer_new(n->job->base, on_bye, n);
    n->waiting = evbuffer_new();
    if (n->input >= 0)
        n->room = event_new(n->job->base, n->input, EV_WRITE, on_room, n);
    if (!n->pulse || !n->soon || !n->bye || !n->waiting || (n->input >= 0 && !n->room))
        return -1;
    event_priority_set(n->pulse, 0); /* one that wakes up late looks at its lease first */
    return event_add(n->pulse, &pulse);
}

int ft_node_serve(struct ft_node *n)
{
    struct ft_job *job = n ? n->job : NULL;
    struct ft_uplink_config config;

    if (!n)
        return 0;
    if (make_events(n) < 0 || !(n->auth = ft_auth_new(job->base, n->d->secret, &job->say)))
        return -1;
    config = (struct ft_uplink_config){.base = job->base, .auth = n->auth, .controllers = n->controllers, .ncontrollers = n->ncontrollers,
                                       .spool = &job->stdio->spools[0], .up = on_up, .down = on_down, .take = take_frame, .arg = n};
    n->uplink = ft_uplink_new(&config);
    setpriority(PRIO_PROCESS, 0, NICE); /* where that is allowed: its beats come between ranks that have all processors (spawn.c) */
    if (!n->uplink || ft_links_serve(n->links, job->base, &job->say) < 0)
        return -1;
    check_lease(n); /* its predecessor may have been stopped for long */
    return 0;
}

bool ft_node_is_ready(const struct ft_node *n)
{
    return !n || n->shared->ready;
}

int ft_node_socket(const struct ft_node *n)
{
    return n && n->links ? ft_links_socket(n->links) : -1;
}

/* A node that was replaced lacks what our log has no more: the representative has found out when they met. */
static bool is_lacked(const struct ft_node *n)
{
    for (uint32_t k = 0; k < n->d->nnodes; k++)
        if (k != n->d->node && ft_look(&ft_region_link(&n->job->region, k)->lacks))
            return true;
    return false;
}

void ft_node_rung(struct ft_node *n)
{
    if (!n)
        return;
    if (n->d->nnodes > 1 && !n->shared->stranded && is_lacked(n))
        ft_node_strand(n);
    ft_links_look(n->links);
}

void ft_node_strand(struct ft_node *n)
{
    n->shared->stranded = true;
    ft_node_changed(n);
}

void ft_node_flush(void *arg)
{
    struct ft_node *n = arg;

    if (n->uplink)
        ft_uplink_flush(n->uplink);
}

static void free_event(struct event *ev)
{
    if (ev)
        event_free(ev);
}

void ft_node_leave(struct ft_node *n)
{
    if (!n)
        return;
    if (n->fetch)
        ft_fetch_stop(n->fetch);
    ft_links_leave(n->links);
    ft_uplink_free(n->uplink);
    ft_auth_free(n->auth);
    ft_wire_table_free(&n->table);
    free_event(n->pulse);
    free_event(n->soon);
    free_event(n->room);
    free_event(n->bye);
    if (n->waiting)
        evbuffer_free(n->waiting);
    ft_node_forget(n);
}

void ft_node_free(struct ft_node *n)
{
    if (!n)
        return;
    ft_links_free(n->links);
    if (n->input >= 0)
        close(n->input);
    ft_shared_free(n->shared, sizeof *n->shared);
    free(n);
}
