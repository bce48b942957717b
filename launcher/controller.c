/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/controller.h"

#include <errno.h>
#include <event2/event.h>
#include <limits.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "launcher/address.h"
#include "launcher/auth.h"
#include "launcher/control.h"
#include "launcher/controller_peers.h"
#include "launcher/controller_status.h"
#include "launcher/controller_tell.h"
#include "launcher/deadlines.h"
#include "launcher/description.h"
#include "launcher/map.h"
#include "launcher/merge.h"
#include "launcher/relay.h"
#include "launcher/remote.h"
#include "launcher/say.h"
#include "launcher/signals.h"
#include "launcher/sink.h"
#include "launcher/stdio_memory.h"

enum { LEAVE_MS = 5000 /* for starters of nodes that have left */, TEXT = 1024, NICE = -10 };

_Static_assert((int)FT_SECRET_BYTES == (int)FT_JOB_SECRET_BYTES, "one secret");

/* What is remembered of a node beside its life (nodes_policy.h). */
struct node {
    char why[TEXT];            /* why it could not be started */
    uint64_t signals;          /* how many it has had */
    uint64_t got;              /* said with the last GOT */
    bool said_state;           /* on this connection */
    struct ft_wire_state state;
};

struct controller {
    const struct ft_options *o;
    const struct ft_map *map;
    struct ft_say say;
    struct ft_signals signals;
    struct ft_stdio_memory *stdio;
    struct event_base *base;
    struct ft_sink *sinks[2];
    struct ft_merge *merge;
    struct ft_relay *relay;    /* NULL: no rank reads our standard input */
    uint32_t reader;           /* the node of the rank that does */
    struct ft_nodes *policy;
    struct ft_auth *auth;
    struct ft_peers *peers;
    struct ft_remote *remote;
    struct event *signalled, *due, *timeout;
    struct ft_control *control; /* NULL: the job cannot be asked anything */

    struct ft_description d;   /* what is the same for all nodes */
    int listener;
    struct ft_wire_job job;    /* as last said */
    int *sent;                 /* signals to ranks, in order */
    uint64_t nsent;
    struct node *nodes;
    uint64_t begin_ms;
    bool finished, over;       /* all nodes are gone; so is what they printed */
    int code;
};

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_BOOTTIME, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static struct ft_telling telling(const struct controller *c, uint32_t node)
{
    return (struct ft_telling){.options = c->o, .why = c->nodes[node].why};
}

/* ---- what the policy says is done ---- */

static void step(struct controller *c, struct ft_nodes_event ev);

static uint32_t *first_incarnations(const struct controller *c, uint32_t node)
{
    uint32_t n = ft_description_count(&c->d, node), *list = calloc(n + 1, sizeof *list);

    for (uint32_t r = 0; list && r < n && r < c->nodes[node].state.nranks; r++)
        list[r] = c->nodes[node].state.ranks[r].incarnation + 1; /* ranks of the one before count on */
    return list;
}

static void start_node(struct controller *c, const struct ft_nodes_effect *fx)
{
    const struct ft_host *host = &c->map->hosts.list[fx->host];
    struct ft_description d = c->d;
    char *text = NULL;

    d.node = fx->node;
    d.incarnation = fx->incarnation;
    d.epoch = fx->epoch;
    d.host = host->name;
    d.incarnations = first_incarnations(c, fx->node);
    if (d.incarnations)
        text = ft_description_write(c->o, &d);
    free(d.incarnations);
    ft_merge_replaced(c->merge, fx->node);
    c->nodes[fx->node].got = 0;
    c->nodes[fx->node].signals = 0;
    c->nodes[fx->node].why[0] = 0;
    c->nodes[fx->node].said_state = false;
    c->nodes[fx->node].state.phase = FT_NODE_STARTING; /* what its ranks were stays: they count on from there */
    if (!text) {
        ft_say(&c->say, "out of memory");
        step(c, (struct ft_nodes_event){.kind = FT_NV_STOP, .code = FT_CODE_JOB});
        return;
    }
    ft_say_detail(&c->say, "node %u starts on %s", fx->node, host->name);
    ft_remote_start(c->remote, fx->node, host, text);
}

/* A node that has left ends by itself, and what started it does likewise. */
static void drop_node(struct controller *c, uint32_t node)
{
    if (c->nodes[node].state.phase != FT_NODE_LEFT)
        ft_remote_end(c->remote, node);
    ft_peers_drop(c->peers, node);
    if (c->relay && node == c->reader)
        ft_relay_stop(c->relay);
}

/* Its representative has left for good: no links come from there. */
static bool is_done(const struct ft_wire_state *s)
{
    return s->phase == FT_NODE_DONE || (s->phase == FT_NODE_RUNNING && s->nranks && s->ranks[0].state == FT_NODE_RANK_DOWN);
}

static void say_table(struct controller *c)
{
    struct ft_wire_table table = {.nnodes = c->map->nnodes, .nodes = calloc(c->map->nnodes, sizeof *table.nodes)};

    for (uint32_t i = 0; table.nodes && i < table.nnodes; i++) {
        const struct ft_wire_hello *hello = ft_peers_hello(c->peers, i);
        struct ft_wire_node *n = &table.nodes[i];

        n->up = hello && ft_nodes_is_up(c->policy, i);
        n->incarnation = ft_nodes_incarnation(c->policy, i);
        n->done = c->nodes[i].said_state && is_done(&c->nodes[i].state);
        snprintf(n->host, sizeof n->host, "%s", c->map->hosts.list[ft_nodes_host(c->policy, i)].name);
        if (!n->up)
            continue;
        n->naddresses = hello->naddresses;
        memcpy(n->addresses, hello->addresses, sizeof n->addresses);
        n->port = hello->port;
    }
    for (uint32_t i = 0; table.nodes && i < table.nnodes; i++)
        ft_peers_send(c->peers, i, ft_wire_put_table(&table));
    free(table.nodes);
}

static void say_job(struct controller *c, enum ft_job_phase phase, int code)
{
    c->job = (struct ft_wire_job){.phase = phase, .code = code};
    for (uint32_t i = 0; i < c->map->nnodes; i++)
        ft_peers_send(c->peers, i, ft_wire_put_job(&c->job));
}

static void leave_if_written(struct controller *c)
{
    if (c->finished && !ft_sink_pending(c->sinks[0]) && !ft_sink_pending(c->sinks[1]) && !ft_remote_busy(c->remote)) {
        c->over = true;
        event_base_loopbreak(c->base);
    }
}

static void set_timer(struct event *timer, uint64_t ms)
{
    struct timeval wait = {.tv_sec = (time_t)(ms / 1000), .tv_usec = (suseconds_t)(ms % 1000 * 1000)};

    event_add(timer, &wait);
}

static void finish(struct controller *c, int code)
{
    c->code = code;
    c->finished = true;
    set_timer(c->due, LEAVE_MS);
    leave_if_written(c);
}

static void do_effect(struct controller *c, const struct ft_nodes_effect *fx)
{
    struct ft_wire_job end = {.phase = FT_JOB_END, .code = FT_CODE_JOB};
    struct ft_telling t = telling(c, fx->node);

    switch (fx->kind) {
    case FT_ND_START:
        start_node(c, fx);
        break;
    case FT_ND_DROP:
        drop_node(c, fx->node);
        break;
    case FT_ND_JOB:
        say_job(c, fx->phase, fx->code);
        break;
    case FT_ND_END_ONE:
        ft_peers_send(c->peers, fx->node, ft_wire_put_job(&end));
        break;
    case FT_ND_TABLE:
        say_table(c);
        break;
    case FT_ND_RENEW:
        break; /* positions in the output stay: what is printed again is known */
    case FT_ND_TELL:
        ft_controller_tell(&c->say, &t, fx);
        break;
    case FT_ND_FINISH:
        finish(c, fx->code);
        break;
    }
}

static void do_effects(struct controller *c, struct ft_nodes_effects effects)
{
    struct ft_nodes_effect *list = malloc((effects.n + 1) * sizeof *list);

    FT_INVARIANT(list != NULL, "there is memory for a few effects");
    memcpy(list, effects.e, effects.n * sizeof *list); /* what is done may be a step */
    for (uint32_t i = 0; i < effects.n; i++)
        do_effect(c, &list[i]);
    free(list);
}

static void step(struct controller *c, struct ft_nodes_event ev)
{
    uint64_t due;

    ev.now_ms = now_ms();
    do_effects(c, ft_nodes_step(c->policy, &ev));
    due = ft_nodes_due(c->policy);
    if (!c->finished && due != UINT64_MAX)
        set_timer(c->due, due > ev.now_ms ? due - ev.now_ms : 1);
}

static void on_due(evutil_socket_t fd, short what, void *arg)
{
    struct controller *c = arg;

    (void)fd;
    (void)what;
    if (!c->finished) {
        step(c, (struct ft_nodes_event){.kind = FT_NV_TIME});
        return;
    }
    for (uint32_t i = 0; i < c->map->nnodes; i++)
        ft_remote_end(c->remote, i); /* its agent has left, or is lost: this is a ssh that hangs */
    leave_if_written(c);
}

/* ---- what nodes say ---- */

/* As long as what is written is read by somebody, more may come. */
static void acknowledge(struct controller *c, uint32_t node)
{
    uint64_t got = ft_merge_got(c->merge, node);

    if (got == c->nodes[node].got || ft_sink_full(c->sinks[0]) || ft_sink_full(c->sinks[1]))
        return;
    c->nodes[node].got = got;
    ft_peers_send(c->peers, node, ft_wire_put_got(got));
}

static void on_room(void *arg)
{
    struct controller *c = arg;

    for (uint32_t i = 0; i < c->map->nnodes; i++)
        acknowledge(c, i);
    leave_if_written(c);
}

static void on_output(void *arg, int stream, const char *data, size_t len)
{
    const struct controller *c = arg;

    ft_sink_add(c->sinks[stream], data, len);
    ft_control_tap(c->control, stream, data, len);
}

static int take_output(struct controller *c, uint32_t node, const struct ft_wire_frame *f, struct ft_error *e)
{
    const uint8_t *data;
    uint64_t place;
    uint32_t len;

    if (ft_wire_get_out(f, &place, &data, &len, e) < 0 || ft_merge_take(c->merge, node, place, data, len, e) < 0)
        return FT_EDAMAGED;
    acknowledge(c, node);
    return 0;
}

/* Those that it has not had. */
static void send_signals(struct controller *c, uint32_t node)
{
    struct node *n = &c->nodes[node];

    if (!n->said_state)
        return;
    while (n->signals < c->nsent) {
        n->signals++;
        ft_peers_send(c->peers, node, ft_wire_put_signal(n->signals, c->sent[n->signals - 1]));
    }
}

static int take_state(struct controller *c, uint32_t node, const struct ft_wire_frame *f, struct ft_error *e)
{
    struct node *n = &c->nodes[node];
    struct ft_wire_state state;
    uint64_t restarts = 0;
    bool first = !n->said_state, was_done = is_done(&n->state);

    if (ft_wire_get_state(f, &state, e) < 0)
        return FT_EDAMAGED;
    ft_wire_state_free(&n->state);
    n->state = state;
    n->said_state = true;
    if (first)
        n->signals = state.signals;
    send_signals(c, node);
    if (c->relay && node == c->reader) {
        if (first)
            ft_relay_from(c->relay, state.input);
        ft_relay_had(c->relay, state.input);
    }
    for (uint32_t r = 0; r < state.nranks; r++)
        restarts += state.ranks[r].restarts;
    step(c, (struct ft_nodes_event){.kind = FT_NV_STATE, .node = node, .phase = state.phase, .code = state.code, .whole = state.whole,
                                    .committed = state.committed, .restarts = restarts});
    if (is_done(&n->state) != was_done)
        say_table(c);
    return 0;
}

static int on_frame(void *arg, uint32_t node, const struct ft_wire_frame *f, struct ft_error *e)
{
    struct controller *c = arg;

    switch (f->type) {
    case FT_WIRE_STATE:
        return take_state(c, node, f, e);
    case FT_WIRE_OUT:
        step(c, (struct ft_nodes_event){.kind = FT_NV_HEARD, .node = node});
        return take_output(c, node, f, e);
    case FT_WIRE_BEAT:
        step(c, (struct ft_nodes_event){.kind = FT_NV_HEARD, .node = node});
        ft_peers_send(c->peers, node, ft_wire_put_beat()); /* its lease goes on from when it said this */
        return 0;
    default:
        return ft_err_set(e, FT_EDAMAGED, "a node does not say frames of type %d", (int)f->type);
    }
}

static bool on_welcome(void *arg, const struct ft_wire_hello *hello)
{
    const struct controller *c = arg;

    return !strcmp(hello->version, PACKAGE_VERSION) && ft_nodes_is_expected(c->policy, hello->node) &&
           hello->incarnation == ft_nodes_incarnation(c->policy, hello->node);
}

static void on_hello(void *arg, uint32_t node)
{
    struct controller *c = arg;

    ft_say_detail(&c->say, "node %u on %s is there (pid %u)", node, ft_peers_hello(c->peers, node)->host, ft_peers_hello(c->peers, node)->pid);
    c->nodes[node].said_state = false;
    ft_merge_reconnected(c->merge, node);
    ft_remote_up(c->remote, node);
    step(c, (struct ft_nodes_event){.kind = FT_NV_HELLO, .node = node});
    say_table(c);
    ft_peers_send(c->peers, node, ft_wire_put_job(&c->job));
    c->nodes[node].got = 0; /* what was acknowledged may not have come */
    acknowledge(c, node);
}

static void on_closed(void *arg, uint32_t node, const struct ft_error *e)
{
    struct controller *c = arg;

    ft_say_detail(&c->say, "node %u: %s", node, e->text);
    c->nodes[node].said_state = false;
    if (c->relay && node == c->reader)
        ft_relay_stop(c->relay);
    step(c, (struct ft_nodes_event){.kind = FT_NV_CLOSED, .node = node});
}

static void on_connection(void *arg, int fd, enum ft_auth_kind kind, const struct ft_error *e)
{
    struct controller *c = arg;

    (void)kind;
    (void)e;
    ft_peers_add(c->peers, fd);
}

/* ---- what starts them ---- */

static const char *without_name(const char *line)
{
    return strncmp(line, "ftrun: ", 7) ? line : line + 7;
}

/* No more tries: nothing about these changes in a second. */
static bool is_fatal(int status, const char *why)
{
    static const char *const words[] = {"Permission denied", "Host key verification failed", "Could not resolve hostname"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(why, words[i]))
            return true;
    return status != -1 && WIFEXITED(status) && WEXITSTATUS(status) != 255;
}

/* 127 for a command that is not there, as on one host. */
static int code_of(int status)
{
    int code = status != -1 && WIFEXITED(status) ? WEXITSTATUS(status) : 0;

    return code && code != 255 ? code : FT_CODE_JOB;
}

static void on_starter_ended(void *arg, uint32_t node, int status, const char *said)
{
    struct controller *c = arg;

    if (ft_nodes_is_expected(c->policy, node) && !ft_nodes_is_up(c->policy, node)) {
        ft_remote_how(status, without_name(said), c->nodes[node].why, sizeof c->nodes[node].why);
        step(c, (struct ft_nodes_event){.kind = FT_NV_NOT_STARTED, .node = node, .fatal = is_fatal(status, c->nodes[node].why),
                                        .code = code_of(status)});
    }
    leave_if_written(c);
}

/* A line that does not come from the agent's own sink: it is about to die, or ssh has something to say. */
static void on_starter_line(void *arg, uint32_t node, const char *line)
{
    const struct controller *c = arg;
    if (!ft_nodes_is_ending(c->policy) || c->say.verbose)
        ft_say(&c->say, "host %s: %s", c->map->hosts.list[ft_nodes_host(c->policy, node)].name, without_name(line));
}

/* ---- signals, time, standard input ---- */

static void signal_ranks(struct controller *c, int signal)
{
    int *list = realloc(c->sent, (c->nsent + 1) * sizeof *list);

    if (!list)
        return;
    c->sent = list;
    c->sent[c->nsent++] = signal;
    for (uint32_t i = 0; i < c->map->nnodes; i++)
        send_signals(c, i);
}

static void stop(struct controller *c, int signal)
{
    if (c->finished) {
        c->over = true; /* nobody reads what is waiting */
        event_base_loopbreak(c->base);
        return;
    }
    if (!ft_nodes_is_ending(c->policy))
        ft_say(&c->say, "told to stop by signal %d (SIG%s); the job is ended", signal, sigabbrev_np(signal));
    signal_ranks(c, signal);
    step(c, (struct ft_nodes_event){.kind = FT_NV_SIGNAL, .code = 128 + signal});
}

static void on_signals(evutil_socket_t fd, short what, void *arg)
{
    struct signalfd_siginfo info;
    struct controller *c = arg;

    (void)what;
    while (read(fd, &info, sizeof info) == (ssize_t)sizeof info) {
        int signal = (int)info.ssi_signo;

        if (signal == SIGCHLD)
            ft_remote_reap(c->remote);
        else if (ft_signals_again(&c->signals, signal, info.ssi_code == SI_KERNEL ? 0 : (pid_t)info.ssi_pid, true, now_ms() * 1000000))
            continue;
        else if (signal == SIGUSR1 || signal == SIGUSR2 || signal == SIGCONT || signal == SIGTSTP)
            signal_ranks(c, signal);
        else
            stop(c, signal);
    }
    leave_if_written(c);
}

static void on_timeout(evutil_socket_t fd, short what, void *arg)
{
    struct controller *c = arg;

    (void)fd;
    (void)what;
    ft_say(&c->say, "the time is up (--timeout %g); the job is ended", (double)c->o->timeout_ms / 1e3);
    step(c, (struct ft_nodes_event){.kind = FT_NV_STOP, .code = FT_CODE_TIMEOUT});
}

static void on_input(void *arg, uint64_t place, bool last, const void *data, uint32_t len)
{
    struct controller *c = arg;

    ft_peers_send(c->peers, c->reader, ft_wire_put_input(place, last, data, len));
}

static void on_input_failed(void *arg, const struct ft_error *e)
{
    struct controller *c = arg;

    ft_say(&c->say, "%s; the job is ended", e->text);
    step(c, (struct ft_nodes_event){.kind = FT_NV_STOP, .code = FT_CODE_JOB});
}

/* ---- who asks ---- */

static const struct ft_wire_state *state_of(const void *arg, uint32_t node)
{
    const struct controller *c = arg;

    return &c->nodes[node].state;
}

static struct ft_controller_view view_of(const struct controller *c)
{
    return (struct ft_controller_view){.options = c->o, .policy = c->policy, .state = state_of, .arg = c,
                                       .seconds = (double)(now_ms() - c->begin_ms) / 1e3};
}

static json_t *show_info(void *arg)
{
    struct ft_controller_view v = view_of(arg);

    return ft_controller_info(&v);
}

static json_t *show_status(void *arg)
{
    struct ft_controller_view v = view_of(arg);

    return ft_controller_status(&v);
}

static void asked_to_stop(void *arg)
{
    stop(arg, SIGTERM);
}

static void on_tap(void *arg, int stream, const char *data, size_t len)
{
    const struct controller *c = arg;

    ft_control_tap(c->control, stream, data, len);
}

static void serve(struct controller *c)
{
    struct ft_control_job job = {.id = c->o->job_id, .info = show_info, .status = show_status, .stop = asked_to_stop, .arg = c};
    struct ft_error e;

    c->control = ft_control_new(&job, &e);
    if (!c->control)
        ft_say_notice(&c->say, "%s; ftrun list, status, stop, wait and attach do not find this job", e.text);
    else if (ft_control_serve(c->control, c->base) < 0)
        ft_say_notice(&c->say, "no memory to answer ftrun list, status, stop, wait and attach");
    c->say.tap = on_tap;
    c->say.tap_arg = c;
}

/* ---- setting up ---- */

/* What is known to be impossible is said before anything is started. */
static int check_request(const struct ft_options *o, struct ft_error *e)
{
    const struct {
        bool asked;
        const char *what;
    } not_yet[] = {
        {o->bootstrap_cache, "--bootstrap-cache"}, {o->ckpt_dir, "--ckpt-dir"}, {o->output_dir, "--output-filename"},
        {o->report, "--report"}, {o->timeline, "--timeline"}, {o->die_with_launcher, "--die-with-launcher"},
    };

    for (size_t i = 0; i < sizeof not_yet / sizeof not_yet[0]; i++)
        if (not_yet[i].asked)
            return ft_err_set(e, FT_EINVAL, "%s is not there yet for jobs on several hosts", not_yet[i].what);
    return 0;
}

/* FTMPI_* goes along by itself, but for what is of this host, or of the rank that we are perhaps started by. */
static char **environment_of_job(void)
{
    static const char *const own[] = {"FTMPI_RUN_DIR=", "FTMPI_FDS=", "FTMPI_JOB=", "FTMPI_RANK=", "FTMPI_SIZE=", "FTMPI_INCARNATION="};
    size_t n = 0, count = 0;
    char **list;

    while (environ[count])
        count++;
    list = calloc(count + 1, sizeof *list);
    for (size_t i = 0; list && i < count; i++) {
        bool ours = !strncmp(environ[i], "FTMPI_", 6);

        for (size_t k = 0; k < sizeof own / sizeof own[0]; k++)
            ours &= strncmp(environ[i], own[k], strlen(own[k])) != 0;
        if (ours)
            list[n++] = environ[i];
    }
    return list;
}

/* Where the other hosts are, if names say so: we listen towards them only. */
static bool look_up(const struct ft_map *map, struct ft_address *towards)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
    struct addrinfo *found = NULL;

    for (size_t h = 0; h < map->hosts.n; h++) {
        if (map->hosts.list[h].here && ft_hosts_elsewhere(&map->hosts))
            continue;
        if (getaddrinfo(map->hosts.list[h].name, NULL, &hints, &found) != 0)
            return false;
        memcpy(&towards->s, found->ai_addr, found->ai_addrlen);
        towards->len = found->ai_addrlen;
        freeaddrinfo(found);
        return true;
    }
    return false;
}

static int listen_for_nodes(struct controller *c, struct ft_error *e)
{
    struct ft_address list[FT_ADDRESSES], towards;
    bool known = !c->o->iface && look_up(c->map, &towards);
    char text[FT_ADDRESS_TEXT];
    size_t n;

    c->listener = ft_address_listen(c->o->iface, known ? &towards : NULL, list, &n, e);
    if (c->listener < 0)
        return c->listener;
    c->d.controllers = calloc(n + 1, sizeof *c->d.controllers);
    for (size_t i = 0; c->d.controllers && i < n; i++)
        if (!(c->d.controllers[i] = strdup(ft_address_ip(&list[i], text))))
            return ft_err_set(e, FT_ENOMEM, "out of memory");
    c->d.port = ft_address_port(&list[0]);
    c->auth = ft_auth_new(c->base, c->d.secret, &c->say);
    if (!c->d.controllers || !c->auth || ft_auth_listen(c->auth, c->listener, 1u << FT_AUTH_CONTROL, on_connection, c) < 0)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    ft_auth_expect(c->auth, c->map->nnodes);
    return 0;
}

static int describe(struct controller *c, struct ft_error *e)
{
    c->d.nnodes = c->map->nnodes;
    c->d.world = c->map->world;
    c->d.first = c->map->first;
    c->d.rank_at = c->map->rank_at;
    c->d.env = environment_of_job();
    c->d.cwd = getcwd(NULL, 0);
    if (!c->d.cwd)
        return ft_err_set(e, FT_ESYS, "cannot tell the other hosts where to start: %s", strerror(errno));
    if (!c->d.env)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    if (getrandom(c->d.secret, sizeof c->d.secret, 0) != (ssize_t)sizeof c->d.secret)
        return ft_err_set(e, FT_ESYS, "cannot draw the job's secret: %s", strerror(errno));
    return 0;
}

static int set_up_policy(struct controller *c, struct ft_error *e)
{
    const struct ft_map *map = c->map;
    uint32_t *ranks = calloc(map->nnodes, sizeof *ranks), *slots = calloc(map->hosts.n, sizeof *slots);
    struct ft_nodes_config config = {.nnodes = map->nnodes, .ranks = ranks, .host = map->host, .nhosts = (uint32_t)map->hosts.n,
                                     .slots = slots, .oversubscribe = c->o->oversubscribe, .max_restarts = c->o->max_restarts,
                                     .lease_ms = c->o->lease_ms, .start_ms = c->o->start_ms, .wait_ms = c->o->wait_ms};

    if (ranks && slots) {
        for (uint32_t i = 0; i < map->nnodes; i++)
            ranks[i] = map->first[i + 1] - map->first[i];
        for (size_t h = 0; h < map->hosts.n; h++)
            slots[h] = map->hosts.list[h].slots;
        c->policy = ft_nodes_new(&config);
    }
    free(ranks);
    free(slots);
    c->nodes = calloc(map->nnodes, sizeof *c->nodes);
    return c->policy && c->nodes ? 0 : ft_err_set(e, FT_ENOMEM, "out of memory");
}

static int set_up_stdio(struct controller *c, struct ft_error *e)
{
    const struct ft_options *o = c->o;
    struct ft_stdio_config config = {.nranks = 1, .store_dir = o->stdin_rank >= 0 ? o->log_spill : NULL};
    struct ft_merge_config merge = {.nnodes = c->map->nnodes, .world = c->map->world, .tag = o->tag_output, .timestamp = o->timestamp_output,
                                    .put = on_output, .arg = c};
    struct ft_relay_config relay = {.send = on_input, .failed = on_input_failed, .arg = c};

    c->stdio = ft_stdio_memory_new(&config, e);
    if (!c->stdio)
        return FT_ESYS;
    for (int i = 0; i < 2; i++)
        c->sinks[i] = i && c->stdio->one_sink ? c->sinks[0] : ft_sink_new(c->base, &c->stdio->spools[i], i + 1, on_room, c);
    c->say.sink = c->sinks[1];
    c->merge = ft_merge_new(&merge);
    if (!c->sinks[0] || !c->sinks[1] || !c->merge)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    if (c->stdio->store.kind == FT_STORE_NONE)
        return 0;
    for (uint32_t node = 0; node < c->map->nnodes; node++)
        for (uint32_t place = c->map->first[node]; place < c->map->first[node + 1]; place++)
            if (c->map->rank_at[place] == (uint32_t)o->stdin_rank)
                c->reader = node;
    c->relay = ft_relay_new(c->base, c->stdio, &relay);
    return c->relay ? 0 : ft_err_set(e, FT_ENOMEM, "out of memory");
}

static int set_up(struct controller *c, struct ft_error *e)
{
    struct ft_remote_config remote = {.options = c->o, .signals = &c->signals, .nnodes = c->map->nnodes, .ended = on_starter_ended,
                                      .line = on_starter_line, .arg = c};
    struct ft_peers_config peers = {.nnodes = c->map->nnodes, .welcome = on_welcome, .hello = on_hello, .frame = on_frame,
                                    .closed = on_closed, .arg = c};
    int err;

    c->base = event_base_new();
    if (!c->base || ft_signals_take(&c->signals) < 0)
        return ft_err_set(e, FT_ESYS, "cannot set up the event loop: %s", strerror(errno));
    if ((err = set_up_stdio(c, e)) < 0 || (err = describe(c, e)) < 0 || (err = set_up_policy(c, e)) < 0 || (err = listen_for_nodes(c, e)) < 0)
        return err;
    c->signalled = event_new(c->base, c->signals.fd, EV_READ | EV_PERSIST, on_signals, c);
    c->due = evtimer_new(c->base, on_due, c);
    c->timeout = evtimer_new(c->base, on_timeout, c);
    c->peers = ft_peers_new(c->base, &peers);
    if (!c->signalled || !c->due || !c->timeout || !c->peers || event_add(c->signalled, NULL) < 0)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    c->remote = ft_remote_new(c->base, &remote, e);
    if (c->o->timeout_ms)
        set_timer(c->timeout, c->o->timeout_ms);
    return c->remote ? 0 : FT_ESYS;
}

static void check_written(struct controller *c)
{
    for (int i = 0; i < 2; i++) {
        int error = ft_sink_error(c->sinks[i]);

        if (error && !(i && c->sinks[0] == c->sinks[1])) {
            ft_say(&c->say, "output was lost: cannot write to %s: %s", i ? "stderr" : "stdout", strerror(error));
            c->code = c->code ? c->code : FT_CODE_JOB;
        }
    }
}

static int run(struct controller *c)
{
    ft_controller_display(&c->say, c->o);
    serve(c);
    setpriority(PRIO_PROCESS, 0, NICE); /* where that is allowed: nodes that hear no answer in time end themselves */
    step(c, (struct ft_nodes_event){.kind = FT_NV_TIME});
    if (!c->over)
        event_base_dispatch(c->base);
    c->say.sink = NULL;
    check_written(c);
    ft_say_detail(&c->say, "done: %u nodes, %llu of them replaced, %llu restarts of ranks", c->map->nnodes,
                  (unsigned long long)ft_nodes_replaced(c->policy), (unsigned long long)ft_nodes_restarts(c->policy));
    ft_control_end(c->control, c->code);
    return c->code;
}

static void free_event(struct event *ev)
{
    if (ev)
        event_free(ev);
}

static void tear_down(struct controller *c)
{
    c->say.sink = NULL;
    c->say.tap = NULL;
    ft_control_leave(c->control);
    ft_control_free(c->control);
    ft_remote_free(c->remote);
    ft_peers_free(c->peers);
    ft_auth_free(c->auth);
    ft_relay_free(c->relay);
    free_event(c->timeout);
    free_event(c->due);
    free_event(c->signalled);
    if (c->listener >= 0)
        close(c->listener);
    for (uint32_t i = 0; c->nodes && i < c->map->nnodes; i++)
        ft_wire_state_free(&c->nodes[i].state);
    free(c->nodes);
    ft_nodes_free(c->policy);
    ft_merge_free(c->merge);
    if (c->sinks[1] != c->sinks[0])
        ft_sink_free(c->sinks[1]);
    ft_sink_free(c->sinks[0]);
    if (c->base)
        event_base_free(c->base);
    ft_stdio_memory_free(c->stdio);
    for (char **a = c->d.controllers; a && *a; a++)
        free(*a);
    free(c->d.controllers);
    free(c->d.env);
    free(c->d.cwd);
    explicit_bzero(c->d.secret, sizeof c->d.secret);
    free(c->sent);
}

int ft_controller_run(const struct ft_options *options)
{
    struct controller c = {.o = options, .map = options->map, .listener = -1, .begin_ms = now_ms(),
                           .say = {.quiet = options->quiet, .verbose = options->verbose}};
    struct ft_error e;
    int code;

    if (check_request(options, &e) < 0) {
        ft_say(&c.say, "%s", e.text);
        return FT_CODE_USAGE;
    }
    if (set_up(&c, &e) < 0) {
        c.say.sink = NULL;
        ft_say(&c.say, "%s", e.text);
        code = FT_CODE_JOB;
    } else {
        code = run(&c);
    }
    tear_down(&c);
    return code;
}
