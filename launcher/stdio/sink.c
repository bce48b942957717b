/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/stdio/sink.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "launcher/stdio/spool.h"
#include "launcher/stdio/writer.h"
#include "launcher/wire/wire.h"

enum { FULL = 1 << 20, PIECE = 4096, TAKE = 64 << 10 };

/* How to write without waiting. */
enum way { WAY_FILE, WAY_NONBLOCK, WAY_POLL, WAY_RECORDS, WAY_WRITER };

struct ft_sink {
    int fd;
    int own;              /* second opening of the same pipe or terminal; -1 if there is none */
    enum way way;
    struct ft_spool *spool;
    struct event *writable;
    void (*room)(void *arg);
    void *arg;
    bool reason;               /* WAY_RECORDS: of our own lines */
    void (*flush)(void *arg);  /* ... */
    void *flush_arg;
    struct ft_writer *writer;  /* WAY_WRITER */
    uint64_t asked;            /* ...: place in the spool; what is below was given to it */
    int failed;                /* ..., its: nothing is written after what could not be */
    uint64_t ahead;            /* bytes that were put ahead of the tail */
};

static int reopen(int fd)
{
    char path[40];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static void choose_way(struct ft_sink *s, int fd)
{
    struct stat st;

    s->fd = fd;
    s->own = -1;
    s->way = WAY_FILE;
    if (fstat(fd, &st) < 0) {
        ft_spool_give_up(s->spool, 0);
    } else if (S_ISSOCK(st.st_mode)) {
        s->way = WAY_POLL;
    } else if (S_ISFIFO(st.st_mode) || (S_ISCHR(st.st_mode) && isatty(fd))) {
        s->own = reopen(fd);
        s->way = s->own >= 0 ? WAY_NONBLOCK : WAY_POLL;
        if (s->own >= 0)
            s->fd = s->own;
    }
}

static ssize_t write_some(struct ft_sink *s)
{
    struct pollfd p = {.fd = s->fd, .events = POLLOUT};

    if (s->way != WAY_POLL)
        return ft_spool_write(s->spool, s->fd, FULL);
    if (poll(&p, 1, 0) == 0) { /* a pipe or socket that polls as writable takes this much */
        errno = EAGAIN;
        return -1;
    }
    return ft_spool_write(s->spool, s->fd, PIECE);
}

static void give_up(struct ft_sink *s, int error)
{
    bool gone = error == EPIPE || error == EIO || error == ECONNRESET; /* EIO: the terminal hung up */

    ft_spool_give_up(s->spool, gone ? 0 : error);
}

/* In the writer's thread. */
static int write_piece(const struct ft_writer_piece *p, struct ft_error *e)
{
    struct ft_sink *s = p->arg;

    (void)e;
    if (!s->failed && ft_spool_write_apart(s->spool, s->fd, p->at, p->data, p->len) < 0)
        s->failed = errno;
    return s->failed;
}

static void hand_over(struct ft_sink *s);

static void on_written(const struct ft_writer_piece *p, int error, const struct ft_error *e)
{
    struct ft_sink *s = p->arg;

    (void)e;
    if (error)
        give_up(s, error);
    else
        ft_spool_had(s->spool, p->at + p->len);
    hand_over(s);
}

/* What waits beyond that stays in the spool. */
static void hand_over(struct ft_sink *s)
{
    struct ft_writer_piece p = {.write = write_piece, .done = on_written, .arg = s};
    char data[TAKE];

    while (ft_spool_pending(s->spool) && s->asked < s->spool->state->tail && !ft_writer_full(s->writer)) {
        ssize_t n = pread(s->spool->fd, data, ft_min(sizeof data, s->spool->state->tail - s->asked), (off_t)s->asked);

        p.at = s->asked;
        p.data = data;
        p.len = n > 0 ? (size_t)n : 0;
        if (n <= 0 || !ft_writer_add(s->writer, &p)) {
            give_up(s, n < 0 ? errno : ENOMEM);
            return;
        }
        s->asked += (uint64_t)n;
    }
}

static void on_room(void *arg)
{
    const struct ft_sink *s = arg;

    if (s->room)
        s->room(s->arg);
}

int ft_sink_apart(struct ft_sink *s, struct event_base *base)
{
    if (s->way == WAY_FILE) {
        s->writer = ft_writer_new(base, on_room, s);
        if (!s->writer)
            return -1;
        s->way = WAY_WRITER;
        s->asked = s->spool->written;
    }
    ft_sink_flush(s);
    return 0;
}

void ft_sink_flush(struct ft_sink *s)
{
    if (s->way == WAY_WRITER) {
        hand_over(s);
        return;
    }
    if (s->way == WAY_RECORDS) {
        s->flush(s->flush_arg);
        return;
    }
    while (ft_spool_pending(s->spool)) {
        ssize_t n = write_some(s);

        if (n < 0 && errno == EAGAIN) {
            event_add(s->writable, NULL);
            return;
        }
        if (n == 0 || (n < 0 && errno != EINTR))
            give_up(s, n ? errno : ENOSPC);
    }
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct ft_sink *s = arg;

    (void)fd;
    (void)what;
    ft_sink_flush(s);
    if (s->room)
        s->room(s->arg);
}

/* Of a line of our own. */
static uint64_t put_head(struct ft_sink *s, uint64_t at, size_t len)
{
    uint16_t flags = FT_RECORD_BEGINS | (s->reason ? FT_RECORD_LAST : 0);
    uint8_t head[FT_WIRE_RECORD];

    ft_wire_record_head(head, &(struct ft_wire_record){.stream = FT_RECORD_AGENT, .flags = flags, .length = (uint32_t)len});
    ft_spool_put(s->spool, at, head, sizeof head);
    return sizeof head;
}

uint64_t ft_sink_place(const struct ft_sink *s) { return s->spool->state->tail + s->ahead; }

void ft_sink_put_ahead(struct ft_sink *s, const void *data, size_t len)
{
    if (s->spool->state->dead)
        return;
    if (s->way == WAY_RECORDS)
        s->ahead += put_head(s, ft_sink_place(s), len);
    ft_spool_put(s->spool, ft_sink_place(s), data, len);
    s->ahead += len;
}

void ft_sink_publish(struct ft_sink *s, uint64_t place)
{
    s->ahead = 0;
    if (place <= s->spool->state->tail)
        return;
    ft_stdio_order();
    s->spool->state->tail = place;
    ft_sink_flush(s);
}

void ft_sink_add(struct ft_sink *s, const void *data, size_t len)
{
    ft_sink_put_ahead(s, data, len);
    ft_sink_publish(s, ft_sink_place(s));
}

bool ft_sink_end_line(struct ft_sink *s)
{
    bool open = s->way != WAY_RECORDS && ft_spool_open(s->spool, ft_sink_place(s));

    if (open)
        ft_sink_put_ahead(s, "\n", 1);
    return open;
}

void ft_sink_reason(struct ft_sink *s, bool is_one) { s->reason = is_one; }

void ft_sink_put(void *arg, const char *line, size_t len)
{
    struct ft_sink *s = arg;

    ft_sink_end_line(s);
    ft_sink_add(s, line, len);
}

void ft_sink_put_last(void *arg, const char *line, size_t len)
{
    struct ft_sink *s = arg;
    struct ft_spool_state *state = s->spool->state;

    if (s->way != WAY_RECORDS && !state->dead && ft_spool_open(s->spool, state->tail)) {
        ft_spool_put(s->spool, state->tail, "\n", 1);
        state->tail++;
        ft_spool_taken(s->spool, state->tail);
        if (write(STDERR_FILENO, "\n", 1) < 0)
            ft_spool_give_up(s->spool, 0);
    }
    if (write(STDERR_FILENO, line, len) < 0) {
        /* nobody is left to tell */
    }
}

struct ft_sink *ft_sink_new(struct event_base *base, struct ft_spool *spool, int fd, void (*room)(void *arg), void *arg)
{
    struct ft_sink *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->spool = spool;
    choose_way(s, fd);
    ft_spool_adopt(spool, s->fd);
    s->room = room;
    s->arg = arg;
    s->writable = event_new(base, s->fd, EV_WRITE, on_writable, s);
    if (!s->writable) {
        ft_sink_free(s);
        return NULL;
    }
    return s;
}

struct ft_sink *ft_sink_new_records(struct ft_spool *spool, void (*flush)(void *arg), void *flush_arg, void (*room)(void *arg), void *arg)
{
    struct ft_sink *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    *s = (struct ft_sink){.fd = -1, .own = -1, .way = WAY_RECORDS, .spool = spool, .room = room, .arg = arg, .flush = flush,
                          .flush_arg = flush_arg};
    ft_spool_adopt(spool, -1);
    return s;
}

void ft_sink_taken(struct ft_sink *s, uint64_t place)
{
    ft_spool_taken(s->spool, place);
    if (s->room)
        s->room(s->arg);
}

bool ft_sink_full(const struct ft_sink *s)
{
    return ft_spool_pending(s->spool) >= FULL;
}

size_t ft_sink_pending(const struct ft_sink *s)
{
    return (size_t)ft_spool_pending(s->spool);
}

void ft_sink_drop(struct ft_sink *s)
{
    ft_spool_give_up(s->spool, 0);
}

int ft_sink_error(const struct ft_sink *s)
{
    return s->spool->state->error;
}

void ft_sink_free(struct ft_sink *s)
{
    if (!s || !ft_writer_free(s->writer))
        return; /* a disk that nobody waits for any more */
    if (s->writable)
        event_free(s->writable);
    if (s->own >= 0)
        close(s->own);
    free(s);
}
