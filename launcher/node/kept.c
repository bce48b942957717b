/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/node/kept.h"

#include <event2/event.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ft/shm/models.h"
#include "ft/shm/region.h"
#include "launcher/base/say.h"
#include "launcher/base/shared.h"
#include "launcher/base/timer.h"
#include "launcher/net/parcel.h"
#include "launcher/node/cargo.h"
#include "launcher/node/job.h"
#include "launcher/wire/greeting.h"

enum { COMMITTED_MS = 5, COMMITTED_TRIES = 1000 };  /* until the unit of what has come is committed here, too */

/* In shared memory. */
struct shared {
    _Atomic uint32_t held;           /* area of what is kept, plus one; 0: nothing. Last */
    uint64_t version[2], length[2];  /* by area */
};

struct ft_kept {
    struct ft_node *node;
    struct shared *shared;
    int fd;                          /* ft_models_create */

    /* of the agent */
    struct ft_parcel *coming, *going;
    uint32_t coming_area, going_area;
    uint64_t coming_length;
    int confirm;                     /* it waits for our word on what has come; -1: it does not */
    unsigned looks;
    struct event *committed;
};

static struct ft_job *job_of(const struct ft_kept *k) { return k->node->job; }
static uint32_t before(const struct ft_kept *k) { return (k->node->d->node + k->node->d->nnodes - 1) % k->node->d->nnodes; }

/* The other one of the two, unless it is being read, or written. */
static bool find_area(const struct ft_kept *k, uint32_t *area)
{
    *area = atomic_load(&k->shared->held) == 1;
    return !k->going || k->going_area != *area;
}

void ft_kept_answer(struct ft_kept *k, const struct ft_greeting *said, struct ft_answer *a)
{
    uint32_t held = k ? atomic_load(&k->shared->held) : 0, area;

    if (!k || said->from != before(k))
        a->verdict = FT_VERDICT_NODE;
    else if (said->want == FT_WANT_KEPT ? !held : !find_area(k, &area))
        a->verdict = FT_VERDICT_RELEASED;
    a->position = held ? k->shared->version[held - 1] : 0;
}

static bool read_kept(void *arg, uint64_t at, void *to, uint32_t n)
{
    const struct ft_kept *k = arg;
    struct ft_error e;

    return ft_models_read(k->fd, k->going_area, at, to, n, &e) == 0;
}

static void on_given(void *arg, int fd, uint64_t length, const char *why)
{
    struct ft_kept *k = arg;

    (void)length;
    (void)why;
    k->going = NULL;
    if (fd >= 0)
        close(fd);
}

static void give(struct ft_kept *k, int fd)
{
    struct ft_parcel_config c = {.base = job_of(k)->base, .fd = fd, .move = read_kept, .done = on_given, .arg = k};

    ft_parcel_free(k->going);
    k->going_area = atomic_load(&k->shared->held) - 1;
    c.length = k->shared->length[k->going_area];
    k->going = ft_parcel_send(&c);
}

static bool put_kept(void *arg, uint64_t at, void *bytes, uint32_t n)
{
    const struct ft_kept *k = arg;
    struct ft_error e;

    return ft_models_write(k->fd, k->coming_area, at, bytes, n, &e) == 0;
}

static void confirm(struct ft_kept *k, enum ft_verdict verdict)
{
    struct ft_answer a = {.node = k->node->d->node, .incarnation = k->node->d->incarnation, .verdict = verdict};
    uint8_t text[FT_ANSWER_BYTES];

    ft_answer_put(&a, text);
    if (send(k->confirm, text, sizeof text, MSG_NOSIGNAL) < 0) {
        /* it asks again, and hears that it is here */
    }
    close(k->confirm);
    k->confirm = -1;
}

/* What has come counts when its unit is in our own log: then it is history whoever is lost. */
static void on_committed(evutil_socket_t fd, short what, void *arg)
{
    struct ft_kept *k = arg;
    struct shared *s = k->shared;
    uint32_t held = atomic_load(&s->held);
    uint64_t version, unit;

    (void)fd;
    (void)what;
    if (k->confirm < 0)
        return;
    if (!ft_cargo_look(k->fd, k->coming_area, k->coming_length, &version, &unit)) {
        confirm(k, FT_VERDICT_NODE);
        return;
    }
    if (!ft_region_committed(&job_of(k)->region, unit)) {
        if (k->looks++ < COMMITTED_TRIES)
            ft_timer_set(k->committed, COMMITTED_MS);
        else
            confirm(k, FT_VERDICT_STALE);
        return;
    }
    if (!held || s->version[held - 1] < version) {
        s->version[k->coming_area] = version;
        s->length[k->coming_area] = k->coming_length;
        atomic_store(&s->held, k->coming_area + 1);
        if (held)
            ft_models_end(k->fd, held - 1, s->length[k->coming_area]); /* what is much larger than this is given back */
    }
    confirm(k, FT_VERDICT_YES);
}

static void on_come(void *arg, int fd, uint64_t length, const char *why)
{
    struct ft_kept *k = arg;

    k->coming = NULL;
    if (fd < 0) {
        ft_say_step(&job_of(k)->say, "a checkpoint of node %u has not come: %s", before(k), why);
        return;
    }
    k->confirm = fd;
    k->coming_length = length;
    k->looks = 0;
    on_committed(-1, 0, k);
}

static void stop_coming(struct ft_kept *k)
{
    ft_parcel_free(k->coming);
    k->coming = NULL;
    if (k->confirm >= 0)
        close(k->confirm);
    k->confirm = -1;
    if (k->committed)
        event_del(k->committed);
}

static void keep(struct ft_kept *k, int fd)
{
    struct ft_parcel_config c = {.base = job_of(k)->base, .fd = fd, .length = FT_MODELS_AREA_BYTES, .move = put_kept, .done = on_come, .arg = k};

    stop_coming(k); /* who sends again has given up the first */
    if (!find_area(k, &k->coming_area))
        close(fd);
    else
        k->coming = ft_parcel_receive(&c);
}

void ft_kept_take(struct ft_kept *k, int fd, const struct ft_greeting *said)
{
    if (said->want == FT_WANT_KEPT)
        give(k, fd);
    else
        keep(k, fd);
}

/* ---- all of it ---- */

int ft_kept_new(struct ft_kept **out, struct ft_node *node, struct ft_error *e)
{
    struct ft_kept *k = calloc(1, sizeof *k);

    if (!k || !(k->shared = ft_shared_new(sizeof *k->shared))) {
        free(k);
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    }
    k->node = node;
    k->confirm = -1;
    k->fd = ft_models_create(e);
    if (k->fd < 0) {
        ft_kept_free(k);
        return FT_ESYS;
    }
    *out = k;
    return 0;
}

void ft_kept_free(struct ft_kept *k)
{
    if (!k)
        return;
    if (k->fd >= 0)
        close(k->fd);
    ft_shared_free(k->shared, sizeof *k->shared);
    free(k);
}

void ft_kept_forget(struct ft_kept *k)
{
    if (k)
        *k = (struct ft_kept){.node = k->node, .shared = k->shared, .fd = k->fd, .confirm = -1};
}

int ft_kept_serve(struct ft_kept *k)
{
    if (!k)
        return 0;
    k->committed = evtimer_new(job_of(k)->base, on_committed, k);
    return k->committed ? 0 : -1;
}

void ft_kept_leave(struct ft_kept *k)
{
    if (!k)
        return;
    stop_coming(k);
    ft_parcel_free(k->going);
    ft_timer_free(k->committed);
    ft_kept_forget(k);
}
