/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/stdio/writer.h"

#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "launcher/base/thread.h"

enum { FULL = 1 << 20 };

struct entry {
    struct entry *next;
    struct ft_writer_piece piece;
    int error;
    struct ft_error e;
    char data[];
};

struct list {
    struct entry *first, *last;
};

struct ft_writer {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct list waiting, done;       /* with the lock, as what follows */
    bool writing, ends;
    int bell;                        /* something is done */

    struct event *rung;              /* of the loop, as what follows */
    void (*room)(void *arg);
    void *arg;
    uint64_t added, finished;
    size_t bytes;                    /* of those between */
};

static void append(struct list *l, struct entry *e)
{
    e->next = NULL;
    if (l->last)
        l->last->next = e;
    else
        l->first = e;
    l->last = e;
}

static struct entry *take(struct list *l)
{
    struct entry *e = l->first;

    if (e && !(l->first = e->next))
        l->last = NULL;
    return e;
}

static void drop(struct list *l)
{
    for (struct entry *e; (e = take(l));)
        free(e);
}

static void destroy(struct ft_writer *w)
{
    drop(&w->waiting);
    drop(&w->done);
    close(w->bell);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

/* True: it was left to itself meanwhile. */
static bool write_next(struct ft_writer *w)
{
    static const uint64_t one = 1;
    struct entry *e = take(&w->waiting);

    w->writing = true;
    pthread_mutex_unlock(&w->lock);
    e->error = e->piece.write(&e->piece, &e->e);
    pthread_mutex_lock(&w->lock);
    w->writing = false;
    append(&w->done, e);
    if (write(w->bell, &one, sizeof one) < 0) {
        /* an eventfd that is full is readable, too */
    }
    return w->ends;
}

static void *thread(void *arg)
{
    struct ft_writer *w = arg;
    bool alone = false;

    pthread_mutex_lock(&w->lock);
    while (!w->ends && !alone) {
        if (w->waiting.first)
            alone = write_next(w);
        else
            pthread_cond_wait(&w->wake, &w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    if (alone)
        destroy(w);
    return NULL;
}

static void on_rung(evutil_socket_t fd, short what, void *arg)
{
    struct ft_writer *w = arg;
    struct list done;
    uint64_t rings;

    (void)what;
    if (read(fd, &rings, sizeof rings) < 0)
        return;
    pthread_mutex_lock(&w->lock);
    done = w->done;
    w->done = (struct list){NULL, NULL};
    pthread_mutex_unlock(&w->lock);
    for (struct entry *e; (e = take(&done)); free(e)) {
        w->finished++;
        w->bytes -= e->piece.len;
        e->piece.done(&e->piece, e->error, &e->e);
    }
    w->room(w->arg);
}

bool ft_writer_add(struct ft_writer *w, const struct ft_writer_piece *p)
{
    struct entry *e = malloc(sizeof *e + p->len);

    if (!e)
        return false;
    e->piece = *p;
    e->piece.data = memcpy(e->data, p->data, p->len);
    w->added++;
    w->bytes += p->len;
    pthread_mutex_lock(&w->lock);
    append(&w->waiting, e);
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    return true;
}

bool ft_writer_full(const struct ft_writer *w)
{
    return w->bytes >= FULL;
}

uint64_t ft_writer_added(const struct ft_writer *w)
{
    return w->added;
}

uint64_t ft_writer_done(const struct ft_writer *w)
{
    return w->finished;
}

struct ft_writer *ft_writer_new(struct event_base *base, void (*room)(void *arg), void *arg)
{
    struct ft_writer *w = calloc(1, sizeof *w);
    int error = ENOMEM;

    if (!w)
        return NULL;
    w->room = room;
    w->arg = arg;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->wake, NULL);
    w->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    w->rung = w->bell < 0 ? NULL : event_new(base, w->bell, EV_READ | EV_PERSIST, on_rung, w);
    if (w->rung && event_add(w->rung, NULL) == 0 && (error = ft_thread_start(&w->thread, thread, w)) == 0)
        return w;
    if (w->rung)
        event_free(w->rung);
    destroy(w);
    errno = error;
    return NULL;
}

bool ft_writer_free(struct ft_writer *w)
{
    bool writing;

    if (!w)
        return true;
    event_free(w->rung);
    pthread_mutex_lock(&w->lock);
    writing = w->writing;
    w->ends = true;
    if (writing)
        pthread_detach(w->thread); /* it frees what there is, from the moment when the lock is free */
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    if (writing)
        return false;
    pthread_join(w->thread, NULL);
    destroy(w);
    return true;
}
