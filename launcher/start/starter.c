/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/start/starter.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/base/child.h"
#include "launcher/base/say.h"
#include "launcher/base/signals.h"
#include "launcher/base/timer.h"
#include "launcher/options/options.h"
#include "launcher/options/parse.h"
#include "launcher/start/remote.h"
#include "launcher/wire/description.h"
#include "launcher/wire/shares.h"

enum { BLOCK = 64 << 10 };

struct starter {
    struct event_base *base;
    struct event *readable, *signalled;
    struct ft_signals signals;
    struct ft_options options;
    struct ft_remote *remote;
    struct ft_share_word begin;
    struct ft_host *hosts;     /* by node */
    char **texts;              /* by node: what is not started before all of the share is known, which decides on who starts whom */
    int64_t describes;         /* the next line is this node's description; -1: it is a word */
    char *line;                /* as it comes */
    size_t len, room;
    bool all;                  /* nothing more is to be started */
    int code;
};

static void stop_if_done(struct starter *s)
{
    if (s->code || (s->all && (!s->remote || !ft_remote_busy(s->remote))))
        event_base_loopbreak(s->base);
}

/* Nobody talks to us any more. Whoever does, starts the others. */
static void leave(struct starter *s)
{
    s->all = true;
    if (s->readable)
        event_del(s->readable);
    if (s->remote)
        ft_remote_end_unstarted(s->remote);
}

/* ---- what we say ---- */

static void say(const struct ft_share_word *w)
{
    char *text = ft_share_write(w);
    size_t len = text ? strlen(text) : 0;

    for (size_t at = 0; at < len;) {
        ssize_t n = write(1, text + at, len - at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break; /* the end of our input comes with that */
        at += (size_t)n;
    }
    free(text);
}

static void on_ended(void *arg, uint32_t node, int status, const char *said, const struct ft_host *from)
{
    struct starter *s = arg;
    struct ft_share_word w = {.kind = FT_SHARE_ENDED, .node = node, .status = status, .text = (char *)said};

    (void)from;
    say(&w);
    stop_if_done(s);
}

static void on_line(void *arg, uint32_t node, const char *line)
{
    struct ft_share_word w = {.kind = FT_SHARE_LINE, .node = node, .text = (char *)line};

    (void)arg;
    say(&w);
}

/* ---- what we are told ---- */

static int begin(struct starter *s, struct ft_error *e)
{
    struct ft_share_word *w = &s->begin;
    struct ft_remote_config config = {.options = &s->options, .signals = &s->signals, .nnodes = w->nnodes, .path = w->path, .own = w->node,
                                      .ended = on_ended, .line = on_line, .arg = s};
    struct ft_share_word ready = {.kind = FT_SHARE_READY, .node = w->node};

    s->options.launcher = w->launcher;
    s->options.launch_tree = w->width;
    s->options.start_ms = w->start_ms;
    for (char **arg = w->args; *arg; arg++)
        if (ft_options_add(&s->options.launch_args, &s->options.nlaunch_args, *arg, e) < 0)
            return FT_ENOMEM;
    s->hosts = calloc(w->nnodes, sizeof *s->hosts);
    s->texts = calloc(w->nnodes, sizeof *s->texts);
    if (!s->hosts || !s->texts)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    s->remote = ft_remote_new(s->base, &config, e);
    if (!s->remote)
        return FT_ENOMEM;
    say(&ready);
    return 0;
}

static void forget(struct starter *s, uint32_t node)
{
    ft_child_wipe(s->texts[node]);
    s->texts[node] = NULL;
}

static void start(struct starter *s, uint32_t node)
{
    if (s->texts[node])
        ft_remote_start(s->remote, node, &s->hosts[node], s->texts[node]);
    s->texts[node] = NULL;
}

static int take_word(struct starter *s, struct ft_share_word *w, struct ft_error *e)
{
    if (w->kind == FT_SHARE_BEGIN && !s->remote) {
        s->begin = *w;
        *w = (struct ft_share_word){0};
        return begin(s, e);
    }
    if (!s->remote || w->node >= s->begin.nnodes)
        return ft_err_set(e, FT_EINVAL, "what a starter was told is damaged");
    switch (w->kind) {
    case FT_SHARE_START:
        free(s->hosts[w->node].name);
        s->hosts[w->node].name = w->text;
        w->text = NULL;
        s->describes = w->node;
        return 0;
    case FT_SHARE_ALL:
        for (uint32_t i = 0; i < s->begin.nnodes; i++)
            start(s, i);
        s->all = true;
        return 0;
    case FT_SHARE_UP:
        ft_remote_up(s->remote, w->node);
        return 0;
    case FT_SHARE_END:
        forget(s, w->node);
        ft_remote_end(s->remote, w->node);
        return 0;
    default:
        return ft_err_set(e, FT_EINVAL, "a starter is not told such things");
    }
}

static int take_description(struct starter *s, const char *line, size_t len, struct ft_error *e)
{
    uint32_t node = (uint32_t)s->describes;

    s->describes = -1;
    forget(s, node);
    s->texts[node] = strndup(line, len);
    if (!s->texts[node])
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    if (node == s->begin.node || s->all)
        start(s, node);
    return 0;
}

static int take_line(struct starter *s, const char *line, size_t len, struct ft_error *e)
{
    struct ft_share_word w;
    int err;

    if (s->describes >= 0)
        return take_description(s, line, len, e);
    err = ft_share_read(&w, line, len, e);
    if (!err)
        err = take_word(s, &w, e);
    ft_share_free(&w);
    return err;
}

/* All lines that are whole. What is taken may be secret. */
static int take_lines(struct starter *s, struct ft_error *e)
{
    size_t at = 0;
    char *end;
    int err = 0;

    while (!err && (end = memchr(s->line + at, '\n', s->len - at))) {
        err = take_line(s, s->line + at, (size_t)(end - s->line) - at, e);
        at = (size_t)(end - s->line) + 1;
    }
    memmove(s->line, s->line + at, s->len - at);
    s->len -= at;
    explicit_bzero(s->line + s->len, at);
    if (!err && s->len > FT_DESCRIPTION_MAX)
        err = ft_err_set(e, FT_EINVAL, "what a starter was told is damaged");
    return err;
}

static int make_room(struct starter *s)
{
    char *more;

    if (s->room - s->len >= BLOCK)
        return 0;
    more = malloc(2 * s->room + 2 * BLOCK);
    if (!more)
        return -1;
    if (s->len)
        memcpy(more, s->line, s->len);
    if (s->line)
        explicit_bzero(s->line, s->len);
    free(s->line);
    s->line = more;
    s->room = 2 * s->room + 2 * BLOCK;
    return 0;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct starter *s = arg;
    struct ft_error e;
    ssize_t n = make_room(s) < 0 ? 0 : read(fd, s->line + s->len, BLOCK);

    (void)what;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0) {
        s->len += (size_t)n;
        if (take_lines(s, &e) == 0) {
            stop_if_done(s);
            return;
        }
        ft_say(&(struct ft_say){0}, "%s", e.text);
        s->code = FT_CODE_USAGE;
    }
    leave(s);
    stop_if_done(s);
}

/* ---- from the beginning to the end ---- */

static void on_signals(evutil_socket_t fd, short what, void *arg)
{
    struct starter *s = arg;
    int signal;

    (void)fd;
    (void)what;
    while ((signal = ft_signals_next(&s->signals))) {
        if (signal == SIGCHLD && s->remote)
            ft_remote_reap(s->remote);
        if (!ft_signals_end(signal))
            continue;
        leave(s);
        if (s->remote)
            ft_remote_end(s->remote, s->begin.node); /* as whoever starts it itself ends it */
    }
    stop_if_done(s);
}

static int run(struct starter *s)
{
    s->base = event_base_new();
    if (!s->base || ft_signals_take(&s->signals) < 0)
        return FT_CODE_JOB;
    fcntl(0, F_SETFL, O_NONBLOCK);
    s->readable = event_new(s->base, 0, EV_READ | EV_PERSIST, on_readable, s);
    s->signalled = event_new(s->base, s->signals.fd, EV_READ | EV_PERSIST, on_signals, s);
    if (!s->readable || !s->signalled || event_add(s->readable, NULL) < 0 || event_add(s->signalled, NULL) < 0)
        return FT_CODE_JOB;
    event_base_dispatch(s->base);
    return s->code;
}

int ft_starter_main(void)
{
    struct starter s = {.describes = -1};
    int code = FT_CODE_USAGE;

    ft_options_defaults(&s.options);
    if (isatty(0)) {
        ft_say(&(struct ft_say){0}, "--starter is for ftrun itself, which starts hosts from other hosts with it and tells them on standard input which");
    } else {
        code = run(&s);
    }
    ft_remote_free(s.remote);
    ft_timer_free(s.readable);
    ft_timer_free(s.signalled);
    if (s.base)
        event_base_free(s.base);
    for (uint32_t i = 0; s.hosts && s.texts && i < s.begin.nnodes; i++) {
        forget(&s, i);
        free(s.hosts[i].name);
    }
    free(s.texts);
    free(s.hosts);
    if (s.line)
        explicit_bzero(s.line, s.len);
    free(s.line);
    ft_share_free(&s.begin);
    ft_options_free(&s.options);
    return code;
}
