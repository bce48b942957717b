/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/report/draft.h"

#include <event2/event.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "ft/base/util.h"
#include "ft/shm/wait.h"
#include "launcher/base/outfile.h"
#include "launcher/base/thread.h"
#include "launcher/base/timer.h"
#include "launcher/report/report.h"
#include "launcher/report/svg.h"

/* It takes a thousandth of the loop's time at most. */
enum { LOOK_MS = 1000, SHARE = 1000, FILES = 2 };
static const uint64_t every_most_ns = 16000000000, every_least_ns = 1000000000;

struct page {
    char *text;
    size_t len;
};

struct ft_draft {
    const struct ft_report *report;
    ft_draft_now *now;
    void *arg;
    struct event *timer;
    uint64_t last_ns, every_ns, cost_ns;
    uint64_t ndeaths;           /* that the last one had */

    pthread_t thread;
    pthread_mutex_t lock;       /* of what follows */
    pthread_cond_t changed;
    bool busy, over;
    struct page pages[FILES];   /* the thread's while it is busy */
};

static const struct ft_outfile *file_of(const struct ft_draft *d, int i)
{
    return i ? &d->report->timeline->file : &d->report->file;
}

/* What cannot be written now may be at the end, and is told then. */
static void put(const struct ft_draft *d, struct page *pages)
{
    for (int i = 0; i < FILES; i++) {
        if (pages[i].text)
            ft_outfile_put(file_of(d, i), pages[i].text, pages[i].len);
        free(pages[i].text);
        pages[i].text = NULL;
    }
}

static void *write_pages(void *arg)
{
    struct ft_draft *d = arg;

    pthread_mutex_lock(&d->lock);
    while (!d->over) {
        if (!d->busy) {
            pthread_cond_wait(&d->changed, &d->lock);
            continue;
        }
        pthread_mutex_unlock(&d->lock);
        put(d, d->pages);
        pthread_mutex_lock(&d->lock);
        d->busy = false;
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

static bool is_busy(struct ft_draft *d)
{
    bool busy;

    pthread_mutex_lock(&d->lock);
    busy = d->busy;
    pthread_mutex_unlock(&d->lock);
    return busy;
}

static void make(struct ft_draft *d, uint64_t begin)
{
    const struct ft_report *now = d->now(d->arg, begin);

    if (ft_outfile_is_file(&d->report->file))
        d->pages[0].text = ft_report_text(now, FT_UNFINISHED, begin, &d->pages[0].len);
    if (d->report->timeline && ft_outfile_is_file(&d->report->timeline->file))
        d->pages[1].text = ft_svg_text(now->timeline, now, FT_UNFINISHED, begin, &d->pages[1].len);
    pthread_mutex_lock(&d->lock);
    d->busy = true;
    pthread_cond_signal(&d->changed);
    pthread_mutex_unlock(&d->lock);
    d->ndeaths = now->nrestarts;
    d->last_ns = begin;
    d->cost_ns = ft_clock_ns() - begin;
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct ft_draft *d = arg;
    uint64_t now = ft_clock_ns(), since = now - d->last_ns;
    bool changed = d->report->nrestarts != d->ndeaths;

    (void)fd;
    (void)what;
    if (since >= SHARE * d->cost_ns && (changed || since >= d->every_ns) && !is_busy(d)) {
        make(d, now);
        d->every_ns = changed ? every_least_ns : ft_min(2 * d->every_ns, every_most_ns);
    }
    ft_timer_set(d->timer, LOOK_MS);
}

struct ft_draft *ft_draft_new(struct event_base *base, const struct ft_report *r, ft_draft_now *now, void *arg)
{
    struct ft_draft *d;

    if (!ft_outfile_is_file(&r->file) && !(r->timeline && ft_outfile_is_file(&r->timeline->file)))
        return NULL;
    d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->report = r;
    d->now = now;
    d->arg = arg;
    d->last_ns = ft_clock_ns();
    d->every_ns = every_least_ns;
    d->ndeaths = r->nrestarts;
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->changed, NULL);
    d->timer = evtimer_new(base, on_timer, d);
    if (!d->timer || ft_thread_start(&d->thread, write_pages, d)) {
        ft_timer_free(d->timer);
        free(d);
        return NULL;
    }
    ft_timer_set(d->timer, LOOK_MS);
    return d;
}

void ft_draft_free(struct ft_draft *d)
{
    if (!d)
        return;
    pthread_mutex_lock(&d->lock);
    d->over = true;
    pthread_cond_signal(&d->changed);
    pthread_mutex_unlock(&d->lock);
    pthread_join(d->thread, NULL);
    for (int i = 0; i < FILES; i++)
        free(d->pages[i].text);
    ft_timer_free(d->timer);
    pthread_cond_destroy(&d->changed);
    pthread_mutex_destroy(&d->lock);
    free(d);
}
