/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/output.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/lines.h"
#include "launcher/sink.h"

enum { CHUNK = 64 << 10, PROMPT_MS = 100, DRAIN_MOST = 4 << 20 };

/* One of the two streams of a rank, over all its incarnations. */
struct stream {
    struct ft_output *o;
    uint32_t rank;
    int which;               /* 0 stdout, 1 stderr */
    int fd;                  /* -1: closed */
    bool paused, retired;
    struct event *readable;
    struct ft_lines lines;
};

struct ft_output {
    struct event_base *base;
    struct ft_output_config config;
    struct event *prompt;    /* runs while rank 0's stdout ends in an unfinished line */
    bool *told;              /* per rank: a difference has been reported */
    char chunk[CHUNK];
    struct stream streams[];
};

static void forward(void *arg, const char *data, size_t len)
{
    struct stream *s = arg;
    const struct ft_output_config *config = &s->o->config;

    ft_sink_add(config->sinks[s->which], data, len);
    if (config->tap)
        config->tap(config->arg, s->which, data, len);
}

static void report_difference(struct stream *s)
{
    struct ft_output *o = s->o;

    if (!s->lines.differs || o->told[s->rank])
        return;
    o->told[s->rank] = true;
    o->config.differs(o->config.arg, s->rank, s->which, s->lines.differs);
}

static void arm_prompt(struct stream *s)
{
    struct timeval wait = {.tv_usec = PROMPT_MS * 1000};

    if (s->o->prompt && !s->rank && !s->which && ft_lines_unfinished(&s->lines))
        event_add(s->o->prompt, &wait);
}

static void on_prompt(evutil_socket_t fd, short what, void *arg)
{
    struct stream *s = arg;

    (void)fd;
    (void)what;
    ft_lines_show(&s->lines, forward, s);
}

static void take(struct stream *s, const char *data, size_t len)
{
    ft_lines_feed(&s->lines, data, len, forward, s);
    report_difference(s);
}

static void close_stream(struct stream *s)
{
    if (s->fd < 0)
        return;
    event_free(s->readable);
    s->readable = NULL;
    close(s->fd);
    s->fd = -1;
}

/* What the pipe holds, but not for ever: something we know nothing of may still be writing. Returns false at its
   end. */
static bool drain(struct stream *s)
{
    ssize_t n;

    for (size_t taken = 0; s->fd >= 0 && taken < DRAIN_MOST; taken += (size_t)n) {
        n = read(s->fd, s->o->chunk, CHUNK);
        if (n < 0 && errno == EINTR)
            n = 0;
        else if (n <= 0)
            return n < 0 && errno == EAGAIN;
        take(s, s->o->chunk, (size_t)n);
    }
    return s->fd >= 0;
}

static void show_rest(struct stream *s)
{
    ft_lines_show(&s->lines, forward, s);
    report_difference(s);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct stream *s = arg;
    ssize_t n;

    (void)what;
    if (ft_sink_full(s->o->config.sinks[s->which])) {
        event_del(s->readable);
        s->paused = true;
        return;
    }
    n = read(fd, s->o->chunk, CHUNK);
    if (n > 0) {
        take(s, s->o->chunk, (size_t)n);
        arm_prompt(s);
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        close_stream(s); /* its unfinished line waits for how the rank ends */
        if (s->retired)
            show_rest(s);
    }
}

struct ft_output *ft_output_new(struct event_base *base, const struct ft_output_config *config)
{
    struct ft_output *o = calloc(1, sizeof *o + 2 * config->nranks * sizeof o->streams[0]);

    if (!o)
        return NULL;
    o->base = base;
    o->config = *config;
    o->told = calloc(config->nranks, sizeof *o->told);
    for (uint32_t i = 0; i < 2 * config->nranks; i++) {
        o->streams[i] = (struct stream){.o = o, .rank = i / 2, .which = i % 2, .fd = -1};
        o->streams[i].lines.keep = config->keep;
    }
    if (config->prompts)
        o->prompt = event_new(base, -1, 0, on_prompt, &o->streams[0]);
    if (!o->told || (config->prompts && !o->prompt)) {
        ft_output_free(o);
        return NULL;
    }
    return o;
}

static int open_stream(struct stream *s, int *write)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    fcntl(ends[0], F_SETFL, O_NONBLOCK); /* our end only: the flag belongs to the description, not the pipe */
    s->fd = ends[0];
    *write = ends[1];
    s->paused = s->retired = false;
    s->readable = event_new(s->o->base, s->fd, EV_READ | EV_PERSIST, on_readable, s);
    return s->readable && event_add(s->readable, NULL) == 0 ? 0 : -1;
}

int ft_output_open(struct ft_output *o, uint32_t rank, int write[2], struct ft_error *e)
{
    write[0] = write[1] = -1;
    for (int i = 0; i < 2; i++)
        if (open_stream(&o->streams[2 * rank + i], &write[i]) < 0)
            return ft_err_set(e, FT_ESYS, "no pipe for the output of rank %u: %s", rank, strerror(errno));
    return 0;
}

void ft_output_restart(struct ft_output *o, uint32_t rank)
{
    for (int i = 0; i < 2; i++) {
        struct stream *s = &o->streams[2 * rank + i];

        drain(s);
        close_stream(s);
        ft_lines_restart(&s->lines);
    }
    if (o->prompt && !rank)
        event_del(o->prompt);
}

void ft_output_retire(struct ft_output *o, uint32_t rank)
{
    for (int i = 0; i < 2; i++) {
        struct stream *s = &o->streams[2 * rank + i];

        s->retired = true;
        if (!drain(s)) {
            close_stream(s);
            show_rest(s);
        }
    }
}

void ft_output_resume(struct ft_output *o)
{
    for (uint32_t i = 0; i < 2 * o->config.nranks; i++) {
        struct stream *s = &o->streams[i];

        if (s->paused && s->fd >= 0 && !ft_sink_full(o->config.sinks[s->which])) {
            s->paused = false;
            event_add(s->readable, NULL);
        }
    }
}

void ft_output_finish(struct ft_output *o)
{
    for (uint32_t i = 0; i < 2 * o->config.nranks; i++) {
        struct stream *s = &o->streams[i];

        drain(s);
        close_stream(s);
        show_rest(s);
    }
}

void ft_output_free(struct ft_output *o)
{
    if (!o)
        return;
    for (uint32_t i = 0; i < 2 * o->config.nranks; i++) {
        close_stream(&o->streams[i]);
        ft_lines_free(&o->streams[i].lines);
    }
    if (o->prompt)
        event_free(o->prompt);
    free(o->told);
    free(o);
}
int ft_output_fd(const struct ft_output *o, uint32_t rank, int which) { return o->streams[2 * rank + (uint32_t)which].fd; }
void ft_output_adopt(struct ft_output *o, uint32_t rank, const int read[2])
{
    for (int i = 0; i < 2; i++) {
        struct stream *s = &o->streams[2 * rank + (uint32_t)i];
        s->fd = read[i];
        if (s->fd < 0) continue;
        s->readable = event_new(o->base, s->fd, EV_READ | EV_PERSIST, on_readable, s);
        event_add(s->readable, NULL);
    }
}
