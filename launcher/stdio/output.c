/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/stdio/output.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/base/say.h"
#include "launcher/stdio/forward.h"
#include "launcher/stdio/same.h"
#include "launcher/stdio/sink.h"

enum { EARLY_MS = 100, DRAIN_MOST = 4 << 20 };

/* One of the two streams of a rank, over all its incarnations, as this agent sees it. */
struct stream {
    struct ft_output *o;
    uint32_t id;             /* 2 * rank + which */
    int fd;                  /* -1: closed */
    bool paused, retired;
    bool goes_on;            /* more came since the unfinished lines were looked at */
    uint32_t held;           /* what the pipe holds waits there (same.h): looks at it, and this one; 0: it does not */
    bool let_go;             /* it did, and is taken now */
    bool filed;              /* it goes to a regular file, where nobody sees a question */
    struct event *readable;
};

struct ft_output {
    struct event_base *base;
    struct ft_stdio_memory *memory;
    struct ft_output_config config;
    struct ft_forward *forward;
    struct ft_sink *sinks[2]; /* may be the same */
    struct ft_same *same;
    struct event *unhold;    /* runs while something is held */
    struct event *early;     /* runs while there is an unfinished line that is not waited for */
    struct stream streams[];
};

static struct ft_sink *sink_of(const struct stream *s)
{
    return s->o->sinks[s->id % 2];
}

void ft_output_tell(const struct ft_say *say, uint32_t rank, int stream, uint64_t line)
{
    ft_say(say, "rank %u: after its restart, line %llu of its %s is not what it was before (a time stamp?); what was printed first stands", rank,
           (unsigned long long)line, stream ? "stderr" : "stdout");
}

/* Something may have been forwarded: writes it, and tells of a line that was not what it should be. */
static void forwarded(struct stream *s)
{
    struct ft_output *o = s->o;
    uint64_t differs = o->memory->shared->streams[s->id].lines.differs;
    uint32_t rank = s->id / 2;

    ft_sink_flush(sink_of(s));
    if (!differs || o->memory->told[rank])
        return;
    o->config.differs(o->config.arg, rank, (int)(s->id % 2), differs);
    o->memory->told[rank] = true; /* after it has been told: twice is better than never */
}

/* Somebody may see it, and answer. */
static bool may_ask(const struct stream *s)
{
    const struct ft_output *o = s->o;

    if ((int64_t)(s->id / 2) != o->config.prompts)
        return false;
    return o->config.alone || !(s->filed || o->memory->shared->stdin_ended);
}

/* Others' lines come between such a line and its end. So it is not done for those that end soon: a rank prints it in two writes, or is killed
   between them. */
static bool is_early(const struct stream *s)
{
    return ft_forward_unfinished(s->o->forward, s->id, !may_ask(s));
}

static void arm_early(struct stream *s)
{
    struct timeval wait = {.tv_usec = EARLY_MS * 1000};

    if (!event_pending(s->o->early, EV_TIMEOUT, NULL) && is_early(s))
        event_add(s->o->early, &wait);
}

static void on_early(evutil_socket_t fd, short what, void *arg)
{
    struct ft_output *o = arg;

    (void)fd;
    (void)what;
    for (uint32_t i = 0; i < 2 * o->memory->config.nranks; i++) {
        struct stream *s = &o->streams[i];

        if (!is_early(s))
            continue;
        if (s->paused || (s->goes_on && !ft_forward_unfinished(o->forward, i, true))) { /* its end is on the way */
            s->goes_on = false;
            arm_early(s);
            continue;
        }
        ft_forward_show(o->forward, i, false);
        forwarded(s);
    }
}

/* As ft_forward_take. */
static ssize_t take(struct stream *s)
{
    const struct ft_stdio_memory *m = s->o->memory;
    bool begins = !m->shared->streams[s->id].lines.len;
    ssize_t n = ft_forward_take(s->o->forward, s->id, s->fd);

    if (n > 0 && s->id % 2)
        ft_same_note(s->o->same, s->id / 2, m->intake, (size_t)n, begins);
    s->let_go &= n <= 0;
    s->goes_on |= n > 0;
    if (n > 0)
        forwarded(s);
    return n;
}

static void unwatch(struct stream *s)
{
    if (s->readable)
        event_free(s->readable);
    s->readable = NULL;
}

static void close_stream(struct stream *s)
{
    unwatch(s);
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

/* What the pipe holds, but not for ever: something we know nothing of may still be writing. Returns false at its
   end. */
static bool drain(struct stream *s)
{
    ssize_t n;

    for (size_t taken = 0; s->fd >= 0 && taken < DRAIN_MOST; taken += (size_t)n) {
        n = take(s);
        if (n < 0 && errno == EINTR)
            n = 0;
        else if (n <= 0)
            return n < 0 && errno == EAGAIN;
    }
    return s->fd >= 0;
}

static void show_rest(struct stream *s)
{
    const struct ft_output_config *c = &s->o->config;

    if (c->fenced && c->fenced(c->node))
        return;
    ft_forward_show(s->o->forward, s->id, true);
    forwarded(s);
}

static void look_again(struct ft_output *o)
{
    struct timeval soon = {.tv_usec = FT_SAME_LOOK_MS * 1000};

    if (!event_pending(o->unhold, EV_TIMEOUT, NULL))
        event_add(o->unhold, &soon);
}

/* What begins as another rank's traceback waits until it is clear whether the rank dies of it, but not for long. */
static bool hold(struct stream *s)
{
    if (!(s->id % 2) || s->let_go || s->retired || s->o->memory->shared->streams[s->id].lines.len || !ft_same_holds(s->o->same, s->id / 2, s->fd))
        return false;
    event_del(s->readable);
    s->held = 1;
    look_again(s->o);
    return true;
}

static void on_unhold(evutil_socket_t fd, short what, void *arg)
{
    struct ft_output *o = arg;

    (void)fd;
    (void)what;
    for (uint32_t i = 0; i < 2 * o->memory->config.nranks; i++) {
        struct stream *s = &o->streams[i];

        if (!s->held)
            continue;
        if (s->held++ < FT_SAME_MS / FT_SAME_LOOK_MS && ft_same_holds(o->same, i / 2, s->fd)) {
            look_again(o);
            continue;
        }
        if (s->readable)
            event_add(s->readable, NULL);
        s->let_go = true;
        s->held = 0;
    }
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct stream *s = arg;
    ssize_t n;

    (void)fd;
    (void)what;
    if (ft_sink_full(sink_of(s))) {
        event_del(s->readable);
        s->paused = true;
        return;
    }
    if (hold(s))
        return;
    n = take(s);
    if (n > 0) {
        arm_early(s);
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        unwatch(s); /* its unfinished line waits for how the rank ends; a successor wants the descriptor */
        if (s->retired)
            show_rest(s);
    }
}

static bool is_file(int fd)
{
    struct stat st;

    return !fstat(fd, &st) && S_ISREG(st.st_mode);
}

static int make_sinks(struct ft_output *o)
{
    struct ft_stdio_memory *m = o->memory;
    const struct ft_output_config *c = &o->config;

    if (c->flush) {
        o->sinks[0] = o->sinks[1] = ft_sink_new_records(&m->spools[0], c->flush, c->node, c->room, c->arg);
        return o->sinks[0] ? 0 : -1;
    }
    o->sinks[0] = ft_sink_new(o->base, &m->spools[0], 1, c->room, c->arg);
    o->sinks[1] = m->one_sink ? o->sinks[0] : ft_sink_new(o->base, &m->spools[1], 2, c->room, c->arg);
    return o->sinks[0] && o->sinks[1] ? 0 : -1;
}

static int make_forward(struct ft_output *o)
{
    const struct ft_output_config *c = &o->config;
    struct ft_forward_config config = {.tag = c->tag, .timestamp = c->timestamp, .tap = c->tap, .failed = c->failed, .arg = c->arg};

    o->forward = ft_forward_new(o->memory, &config);
    return o->forward ? 0 : -1;
}

struct ft_output *ft_output_new(struct event_base *base, struct ft_stdio_memory *memory, const struct ft_output_config *config)
{
    uint32_t n = 2 * memory->config.nranks;
    struct ft_output *o = calloc(1, sizeof *o + n * sizeof o->streams[0]);

    if (!o)
        return NULL;
    o->base = base;
    o->memory = memory;
    o->config = *config;
    for (uint32_t i = 0; i < n; i++)
        o->streams[i] = (struct stream){.o = o, .id = i, .fd = -1, .filed = !config->flush && is_file(1 + (int)(i % 2))};
    o->early = event_new(base, -1, 0, on_early, o);
    o->unhold = event_new(base, -1, 0, on_unhold, o);
    o->same = ft_same_new(memory->config.nranks);
    if (make_forward(o) < 0 || make_sinks(o) < 0 || !o->early || !o->unhold || !o->same) {
        ft_output_free(o);
        return NULL;
    }
    for (int i = 0; i < 2; i++)
        ft_sink_flush(o->sinks[i]);
    return o;
}

struct ft_sink *ft_output_sink(struct ft_output *o, int which)
{
    return o->sinks[which];
}

static int watch(struct stream *s, int fd)
{
    s->fd = fd;
    s->paused = s->retired = s->let_go = false;
    s->held = 0;
    s->readable = event_new(s->o->base, fd, EV_READ | EV_PERSIST, on_readable, s);
    return s->readable && event_add(s->readable, NULL) == 0 ? 0 : -1;
}

static int open_stream(struct stream *s, int *write)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    fcntl(ends[0], F_SETFL, O_NONBLOCK); /* our end only: the flag belongs to the description, not the pipe */
    *write = ends[1];
    return watch(s, ends[0]);
}

int ft_output_open(struct ft_output *o, uint32_t rank, int write[2], struct ft_error *e)
{
    const uint32_t *ranks = o->memory->config.ranks;
    struct stream *s = &o->streams[2 * rank];
    bool good;

    write[0] = write[1] = -1;
    good = open_stream(&s[0], &write[0]) == 0;
    if (good && o->memory->config.merge)
        good = (write[1] = fcntl(write[0], F_DUPFD_CLOEXEC, 3)) >= 0;
    else if (good)
        good = open_stream(&s[1], &write[1]) == 0;
    return good ? 0 : ft_err_set(e, FT_ESYS, "no pipe for the output of rank %u: %s", ranks ? ranks[rank] : rank, strerror(errno));
}

int ft_output_fd(const struct ft_output *o, uint32_t rank, int stream)
{
    return o->streams[2 * rank + (uint32_t)stream].fd;
}

void ft_output_adopt(struct ft_output *o, uint32_t rank, const int read[2])
{
    for (uint32_t i = 0; i < 2; i++) {
        struct stream *s = &o->streams[2 * rank + i];

        if (read[i] >= 0)
            watch(s, read[i]);
        arm_early(s);
        forwarded(s); /* a difference that has not been told */
    }
}

void ft_output_restart(struct ft_output *o, uint32_t rank)
{
    for (uint32_t i = 0; i < 2; i++) {
        struct stream *s = &o->streams[2 * rank + i];

        drain(s);
        close_stream(s);
        ft_forward_restart(o->forward, s->id);
    }
}

void ft_output_mark(struct ft_output *o, uint32_t rank, int which)
{
    for (uint32_t i = 0; i < 2; i++) {
        struct stream *s = &o->streams[2 * rank + i];

        drain(s);
        arm_early(s);
        ft_forward_mark(o->forward, s->id, which);
    }
}

void ft_output_return(struct ft_output *o, uint32_t rank, int which)
{
    for (uint32_t i = 0; i < 2; i++) {
        struct stream *s = &o->streams[2 * rank + i];

        drain(s);
        ft_forward_return(o->forward, s->id, which);
        arm_early(s); /* a question asked before the checkpoint, by one who died before it was shown */
    }
}

void ft_output_retire(struct ft_output *o, uint32_t rank, bool failed)
{
    for (uint32_t i = 0; i < 2; i++) {
        struct stream *s = &o->streams[2 * rank + i];
        bool same = failed && s->held && ft_same_take(o->same, rank, s->fd), goes_on;

        s->retired = true;
        if (s->held && s->readable)
            event_add(s->readable, NULL);
        s->held = 0;
        ft_forward_leave_out(o->forward, same);
        goes_on = drain(s);
        ft_forward_leave_out(o->forward, false);
        if (!goes_on) {
            close_stream(s);
            show_rest(s);
        }
    }
}

void ft_output_tell_same(struct ft_output *o, const struct ft_say *say) { ft_same_tell(o->same, say, o->memory->config.ranks); }

void ft_output_resume(struct ft_output *o)
{
    for (uint32_t i = 0; i < 2 * o->memory->config.nranks; i++) {
        struct stream *s = &o->streams[i];

        if (s->paused && s->readable && !ft_sink_full(sink_of(s))) {
            s->paused = false;
            event_add(s->readable, NULL);
        }
    }
}

void ft_output_finish(struct ft_output *o)
{
    for (uint32_t i = 0; i < 2 * o->memory->config.nranks; i++) {
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
    for (uint32_t i = 0; i < 2 * o->memory->config.nranks; i++)
        close_stream(&o->streams[i]);
    if (o->early)
        event_free(o->early);
    if (o->unhold)
        event_free(o->unhold);
    ft_same_free(o->same);
    if (o->sinks[1] != o->sinks[0])
        ft_sink_free(o->sinks[1]);
    ft_sink_free(o->sinks[0]);
    ft_forward_free(o->forward);
    free(o);
}
