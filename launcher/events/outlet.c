/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/events/outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "launcher/base/shared.h"
#include "launcher/base/thread.h"
#include "launcher/stdio/spool.h"

enum {
    PIECE = 64 << 10,
    LOOK_MS = 100,           /* for a reader that is slow */
    AGAIN_MS = 500,          /* after a failure that may pass */
    LAST_TURNS = 10,         /* without getting on, at the end; of LOOK_MS */
    STOP_MS = 5000
};

static const char unix_prefix[] = "unix:";

/* Of the process that writes. */
struct pump {
    pthread_t thread;
    pthread_mutex_t lock;    /* of what follows */
    pthread_cond_t changed;
    uint64_t tail, written;
    bool over, ended;        /* it is to end; it has, but for its last word */
    int error;               /* of the last try */
    bool gone;
};

struct ft_outlet {
    int fd;
    struct ft_spool spool;   /* its state, in shared memory, is the thread's */
    struct pump pump;
    bool runs;               /* pump is of this process */
    int told;
    bool stuck;              /* a disk that stands still has the thread, which ends with this process */
};

/* ---- opening ---- */

static int open_file(struct ft_outlet *o, const char *path, struct ft_error *e)
{
    /* Whoever has a pipe there has to read already; of a file this says nothing. */
    o->fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    if (o->fd < 0 && errno == ENXIO)
        return ft_err_set(e, FT_ESYS, "--events: nobody reads %.300s", path);
    if (o->fd < 0)
        return ft_err_set(e, FT_ESYS, "--events: cannot write %.300s: %s", path, strerror(errno));
    return 0;
}

static int open_socket(struct ft_outlet *o, const char *path, struct ft_error *e)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (!*path || strlen(path) >= sizeof address.sun_path)
        return ft_err_set(e, FT_EINVAL, "--events unix:%.300s: not the name of a socket (it is empty, or too long)", path);
    strcpy(address.sun_path, path);
    o->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (o->fd < 0 || connect(o->fd, (const struct sockaddr *)&address, sizeof address) < 0)
        return ft_err_set(e, FT_ESYS, "--events: cannot connect to the socket %.300s: %s", path, strerror(errno));
    return 0;
}

int ft_outlet_new(struct ft_outlet **out, const char *where, struct ft_error *e)
{
    struct ft_outlet *o = *out = calloc(1, sizeof *o);
    int err;

    if (!o)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    o->fd = -1;
    o->spool.fd = memfd_create("ftmpi-events", MFD_CLOEXEC);
    o->spool.state = ft_shared_new(sizeof *o->spool.state);
    if (o->spool.fd < 0 || !o->spool.state)
        err = ft_err_set(e, FT_ENOMEM, "out of memory");
    else if (!strncmp(where, unix_prefix, sizeof unix_prefix - 1))
        err = open_socket(o, where + sizeof unix_prefix - 1, e);
    else
        err = open_file(o, where, e);
    if (err < 0) {
        ft_outlet_free(o);
        *out = NULL;
    }
    return err;
}

/* ---- the thread ---- */

/* errno of a reader that is gone for good. */
static bool is_gone(int error)
{
    return error == EPIPE || error == ECONNRESET || error == ENOTCONN;
}

static struct timespec later(int ms)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += ms % 1000 * 1000000;
    t.tv_sec += ms / 1000 + t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

/* Until something has changed. False: the time is up. */
static bool await(struct pump *p, const struct timespec *until)
{
    return pthread_cond_clockwait(&p->changed, &p->lock, CLOCK_MONOTONIC, until) == 0;
}

/* What can be written without waiting. 0, or errno. */
static int write_some(struct ft_outlet *o)
{
    ssize_t n;

    do {
        n = ft_spool_write(&o->spool, o->fd, PIECE);
    } while ((n > 0 && ft_spool_pending(&o->spool)) || (n < 0 && errno == EINTR));
    return n < 0 ? errno : n ? 0 : ENOSPC;
}

/* Where that may take a while it is out of the lock. */
static int turn(struct ft_outlet *o, struct pump *p)
{
    struct pollfd ready = {.fd = o->fd, .events = POLLOUT};
    int error;

    pthread_mutex_unlock(&p->lock);
    error = write_some(o);
    if (error == EAGAIN)
        poll(&ready, 1, LOOK_MS);
    pthread_mutex_lock(&p->lock);
    return error;
}

static void *write_lines(void *arg)
{
    struct ft_outlet *o = arg;
    struct pump *p = &o->pump;
    struct timespec again;
    int idle = 0;

    ft_spool_adopt(&o->spool, o->fd);
    pthread_mutex_lock(&p->lock);
    while (!p->gone && !(p->over && (p->written == p->tail || idle >= LAST_TURNS))) {
        uint64_t before = o->spool.written;
        bool last = p->over;

        o->spool.state->tail = p->tail;
        if (!ft_spool_pending(&o->spool)) {
            p->written = o->spool.written;
            if (!p->over)
                pthread_cond_wait(&p->changed, &p->lock);
            continue;
        }
        p->error = turn(o, p);
        p->error = p->error == EAGAIN ? 0 : p->error;
        p->gone = is_gone(p->error);
        p->written = o->spool.written;
        idle = last && p->written == before ? idle + 1 : 0;
        again = later(AGAIN_MS);
        while (p->error && !p->gone && !p->over && await(p, &again))
            ;
        if (p->error && last)
            idle = LAST_TURNS;
    }
    p->ended = true;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

void ft_outlet_forget(struct ft_outlet *o)
{
    o->runs = false; /* its lock may be held, by a thread that is not here */
    o->told = 0;
}

int ft_outlet_run(struct ft_outlet *o, uint64_t tail)
{
    o->pump = (struct pump){.tail = tail, .written = (uint64_t)lseek(o->spool.fd, 0, SEEK_CUR)};
    pthread_mutex_init(&o->pump.lock, NULL);
    pthread_cond_init(&o->pump.changed, NULL);
    errno = ft_thread_start(&o->pump.thread, write_lines, o);
    o->runs = errno == 0;
    return o->runs ? 0 : -1;
}

/* ---- the loop ---- */

bool ft_outlet_put(struct ft_outlet *o, uint64_t at, const char *data, size_t len)
{
    while (len) {
        ssize_t n = pwrite(o->spool.fd, data, len, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        data += n;
        at += (uint64_t)n;
        len -= (size_t)n;
    }
    return true;
}

void ft_outlet_up_to(struct ft_outlet *o, uint64_t tail)
{
    struct pump *p = &o->pump;

    pthread_mutex_lock(&p->lock);
    p->tail = tail;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

uint64_t ft_outlet_written(struct ft_outlet *o)
{
    uint64_t written;

    pthread_mutex_lock(&o->pump.lock);
    written = o->pump.written;
    pthread_mutex_unlock(&o->pump.lock);
    return written;
}

int ft_outlet_trouble(struct ft_outlet *o, bool *gone)
{
    int error;

    pthread_mutex_lock(&o->pump.lock);
    error = o->pump.error;
    *gone = o->pump.gone;
    pthread_mutex_unlock(&o->pump.lock);
    if (!error || error == o->told)
        return 0;
    o->told = error;
    return error;
}

void ft_outlet_stop(struct ft_outlet *o)
{
    const struct timespec until = later(STOP_MS);
    struct pump *p = &o->pump;

    pthread_mutex_lock(&p->lock);
    p->over = true;
    pthread_cond_signal(&p->changed);
    while (!p->ended && await(p, &until))
        ;
    o->stuck = !p->ended;
    pthread_mutex_unlock(&p->lock);
    if (!o->stuck)
        pthread_join(p->thread, NULL);
}

void ft_outlet_free(struct ft_outlet *o)
{
    if (!o || o->stuck)
        return;
    if (o->runs) {
        pthread_cond_destroy(&o->pump.changed);
        pthread_mutex_destroy(&o->pump.lock);
    }
    if (o->fd >= 0)
        close(o->fd);
    if (o->spool.fd >= 0)
        close(o->spool.fd);
    ft_shared_free(o->spool.state, sizeof *o->spool.state);
    free(o);
}
