/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/join/host.h"

#include <errno.h>
#include <event2/event.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "ft/shm/random.h"
#include "launcher/base/address.h"
#include "launcher/base/child.h"
#include "launcher/base/say.h"
#include "launcher/base/timer.h"
#include "launcher/net/auth.h"
#include "launcher/net/words.h"

enum { AGAIN_MS = 100, FIRST_MS = 10000 /* for the controller to answer at all */, BEATS = 4 /* in a lease */ };

struct agent {
    LIST_ENTRY(agent) link;
    struct ft_join_host *h;
    pid_t pid;
    uint32_t node;
    uint64_t incarnation;
    struct ft_child child;
    struct ft_child_config lines;
    char said[FT_SAID_BYTES];  /* its last line */
};

struct ft_join_host {
    struct ft_join_host_config config;
    uint64_t id;               /* of this process, and another one when it begins anew */
    unsigned char secret[FT_JOB_SECRET_BYTES];
    struct ft_address controllers[FT_ADDRESSES];
    size_t ncontrollers;
    bool follows;
    struct ft_auth *auth;
    struct ft_dial *dial;
    struct ft_channel *channel;
    struct ft_words words;
    struct event *again, *beat;
    uint64_t heard_ns, lease_ms;
    char leader[FT_WIRE_NAME]; /* "": it has not answered yet */
    bool leaving;
    int nice;
    char path[PATH_MAX];       /* of ftrun */
    LIST_HEAD(, agent) agents;
};

static uint64_t patience_ms(const struct ft_join_host *h) { return *h->leader ? h->lease_ms : ft_max(h->lease_ms, FIRST_MS); }

static uint64_t silent_ms(const struct ft_join_host *h) { return (ft_timer_boot_ns() - h->heard_ns) / 1000000; }

static void hang_up(struct ft_join_host *h)
{
    if (h->dial)
        ft_auth_hang_up(h->dial);
    h->dial = NULL;
    ft_channel_free(h->channel);
    h->channel = NULL;
    ft_words_forget(&h->words);
    event_del(h->beat);
    event_del(h->again);
}

static void say(struct ft_join_host *h, const struct ft_share_word *w)
{
    if (h->channel)
        ft_words_send(h->channel, w, NULL);
}

/* ---- agents ---- */

static void on_line(void *arg, int stream, char *line)
{
    struct agent *a = arg;
    struct ft_share_word w = {.kind = FT_SHARE_LINE, .node = a->node, .text = line};

    (void)stream;
    snprintf(a->said, sizeof a->said, "%s", line);
    if (a->h->channel)
        say(a->h, &w);
    else
        ft_say_detail(a->h->config.say, "%s", line);
}

static void free_agent(struct agent *a)
{
    LIST_REMOVE(a, link);
    ft_child_close(&a->child);
    free(a);
}

static void say_ended(struct agent *a, int status)
{
    struct ft_share_word w = {.kind = FT_SHARE_ENDED, .node = a->node, .id = a->incarnation, .status = status, .text = a->said};

    say(a->h, &w);
    free_agent(a);
}

static void start(struct ft_join_host *h, const struct ft_share_word *w, const char *text)
{
    struct agent *a = calloc(1, sizeof *a);
    const char *words[] = {h->path, "--node", NULL};
    char *whole = text ? ft_description_with_secret(text, h->secret) : NULL, *line = NULL;

    if (!a)
        return; /* its --start-timeout ends */
    *a = (struct agent){.h = h, .node = w->node, .incarnation = w->id};
    a->lines = (struct ft_child_config){.base = h->config.base, .signals = h->config.signals, .nice = h->nice, .line = on_line, .arg = a};
    LIST_INSERT_HEAD(&h->agents, a, link);
    if (whole && asprintf(&line, "%s\n", whole) < 0)
        line = NULL;
    ft_child_wipe(whole);
    a->pid = line ? ft_child_start(&a->child, &a->lines, words, line, false) : -1;
    if (a->pid < 0) {
        snprintf(a->said, sizeof a->said, "cannot start a process: %s", strerror(line ? errno : ENOMEM));
        say_ended(a, -1);
    }
    ft_child_wipe(line);
}

bool ft_join_host_reaped(struct ft_join_host *h, int pid, int status)
{
    struct agent *a;

    LIST_FOREACH(a, &h->agents, link) {
        if (a->pid != pid)
            continue;
        ft_child_drain(&a->child);
        say_ended(a, status);
        return true;
    }
    return false;
}

/* They lead sessions (child.c). Ranks go with their agents. */
void ft_join_host_kill(struct ft_join_host *h)
{
    struct agent *a;

    LIST_FOREACH(a, &h->agents, link)
        kill(-a->pid, SIGKILL);
}

bool ft_join_host_busy(const struct ft_join_host *h) { return !LIST_EMPTY(&h->agents); }

/* ---- the connection ---- */

static void dial(struct ft_join_host *h);

static void later(struct ft_join_host *h) { ft_timer_set(h->again, AGAIN_MS); }

static void lose(struct ft_join_host *h)
{
    char leader[FT_WIRE_NAME];

    snprintf(leader, sizeof leader, "%s", h->leader);
    hang_up(h);
    h->follows = false;
    h->config.lost(h->config.arg, *leader ? leader : NULL);
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
    struct ft_join_host *h = arg;

    (void)fd;
    (void)what;
    if (silent_ms(h) > patience_ms(h))
        lose(h);
    else
        dial(h);
}

static void on_beat(evutil_socket_t fd, short what, void *arg)
{
    struct ft_join_host *h = arg;

    (void)fd;
    (void)what;
    if (silent_ms(h) > patience_ms(h)) {
        lose(h);
        return;
    }
    ft_channel_send(h->channel, ft_wire_put_beat());
    ft_timer_set(h->beat, h->lease_ms / BEATS);
}

static void on_closed(void *arg, struct ft_channel *c, const struct ft_error *e)
{
    struct ft_join_host *h = arg;

    (void)c;
    ft_say_step(h->config.say, "the connection with the job's controller: %s", e->text);
    hang_up(h);
    later(h);
}

static void take_word(struct ft_join_host *h, const struct ft_share_word *w)
{
    switch (w->kind) {
    case FT_SHARE_WELCOME:
        h->lease_ms = w->lease_ms;
        snprintf(h->leader, sizeof h->leader, "%s", w->text ? w->text : "?");
        break;
    case FT_SHARE_START:
        if (!h->leaving)
            start(h, w, h->words.text);
        ft_words_forget(&h->words);
        break;
    case FT_SHARE_OVER:
        h->follows = false;
        hang_up(h); /* it is waited for */
        h->config.over(h->config.arg, w->status);
        break;
    default:
        break; /* a later version's */
    }
}

static void on_frame(void *arg, struct ft_channel *c, const struct ft_wire_frame *f)
{
    struct ft_join_host *h = arg;
    struct ft_share_word w;
    struct ft_error e;
    int err;

    h->heard_ns = ft_timer_boot_ns();
    if (f->type == FT_WIRE_BEAT)
        return;
    err = ft_words_take(&h->words, f, &w, &e);
    if (err > 0) {
        take_word(h, &w);
        ft_share_free(&w);
    }
    if (err < 0)
        on_closed(h, c, &e);
}

static void on_dialled(void *arg, int fd, enum ft_auth_kind kind, const struct ft_error *e)
{
    struct ft_join_host *h = arg;
    struct ft_channel_config config = {.frame = on_frame, .closed = on_closed, .arg = h};
    struct ft_share_word come = {.kind = FT_SHARE_COME, .text = (char *)h->config.name, .slots = h->config.slots, .id = h->id};

    (void)kind;
    h->dial = NULL;
    if (fd >= 0) {
        ft_address_tune(fd);
        h->channel = ft_channel_new(h->config.base, fd, &config);
    } else {
        ft_say_step(h->config.say, "the job's controller: %s", e->text);
    }
    if (!h->channel) {
        later(h);
        return;
    }
    ft_words_send(h->channel, &come, NULL);
    ft_timer_set(h->beat, h->lease_ms / BEATS);
}

static void dial(struct ft_join_host *h)
{
    h->dial = ft_auth_dial(h->auth, h->controllers, h->ncontrollers, FT_AUTH_COME, on_dialled, h);
    if (!h->dial)
        later(h);
}

/* "192.0.2.1:80", "[2001:db8::1]:80". */
static bool read_address(struct ft_address *a, char *text)
{
    char *colon = strrchr(text, ':'), *ip = text;
    unsigned long port = colon ? strtoul(colon + 1, NULL, 10) : 0;

    if (!port || port > UINT16_MAX)
        return false;
    *colon = 0;
    if (*ip == '[' && colon > text && colon[-1] == ']') {
        colon[-1] = 0;
        ip++;
    }
    return ft_address_parse(a, ip, (uint16_t)port);
}

static void draw_id(struct ft_join_host *h)
{
    uint64_t before = h->id;

    if (ft_random((unsigned char *)&h->id, sizeof h->id) < 0 || !h->id)
        h->id = before + 1;
}

int ft_join_host_follow(struct ft_join_host *h, const char *addresses, const unsigned char secret[FT_JOB_SECRET_BYTES], struct ft_error *e)
{
    char text[1024], *rest = text, *one;

    ft_join_host_leave(h);
    snprintf(text, sizeof text, "%s", addresses);
    h->ncontrollers = 0;
    while ((one = strsep(&rest, ",")) && h->ncontrollers < FT_ADDRESSES)
        if (!read_address(&h->controllers[h->ncontrollers++], one))
            return ft_err_set(e, FT_EINVAL, "--rdzv: \"%.100s\" is no address of an ftrun", addresses);
    memcpy(h->secret, secret, sizeof h->secret);
    ft_auth_free(h->auth);
    h->auth = ft_auth_new(h->config.base, h->secret, h->config.say);
    if (!h->auth)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    draw_id(h);
    h->leader[0] = 0;
    h->lease_ms = h->config.lease_ms;
    h->heard_ns = ft_timer_boot_ns();
    h->follows = true;
    dial(h);
    return 0;
}

void ft_join_host_leave(struct ft_join_host *h)
{
    hang_up(h);
    h->follows = false;
    ft_join_host_kill(h);
}

bool ft_join_host_say_leave(struct ft_join_host *h)
{
    struct ft_share_word w = {.kind = FT_SHARE_LEAVE};

    h->leaving = true;
    say(h, &w);
    return h->channel;
}

bool ft_join_host_follows(const struct ft_join_host *h) { return h->follows; }

int ft_join_host_new(struct ft_join_host **out, const struct ft_join_host_config *config, struct ft_error *e)
{
    struct ft_join_host *h = calloc(1, sizeof *h);
    ssize_t n;

    if (!h)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    h->config = *config;
    h->nice = getpriority(PRIO_PROCESS, 0);
    LIST_INIT(&h->agents);
    h->again = evtimer_new(config->base, on_again, h);
    h->beat = evtimer_new(config->base, on_beat, h);
    n = readlink("/proc/self/exe", h->path, sizeof h->path - 1);
    *out = h;
    if (!h->again || !h->beat)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    return n > 0 ? 0 : ft_err_set(e, FT_ESYS, "cannot find ftrun itself: %s", strerror(errno));
}

void ft_join_host_free(struct ft_join_host *h)
{
    struct agent *a;

    if (!h)
        return;
    if (h->again && h->beat)
        hang_up(h);
    while ((a = LIST_FIRST(&h->agents)))
        free_agent(a);
    ft_timer_free(h->again);
    ft_timer_free(h->beat);
    ft_auth_free(h->auth);
    explicit_bzero(h->secret, sizeof h->secret);
    free(h);
}
