/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/node/partner.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ft/shm/models.h"
#include "launcher/base/say.h"
#include "launcher/base/shared.h"
#include "launcher/base/timer.h"
#include "launcher/net/auth.h"
#include "launcher/net/await.h"
#include "launcher/net/parcel.h"
#include "launcher/node/cargo.h"
#include "launcher/node/job.h"
#include "launcher/node/whereabouts.h"
#include "launcher/wire/greeting.h"

enum {
    RETRY_MS = 100, RETRY_MOST_MS = 1000,
    ANSWER_MS = 5000,
    CONFIRM_MS = 10000,
    FETCHES = 3,
    INBOX = 0                                  /* area of what is fetched */
};

/* In shared memory. */
struct shared {
    uint64_t sent;                   /* the newest version of this node that the next one has, ... */
    uint32_t sent_to;                /* ... in this incarnation of it, plus one */
};

struct ft_partner {
    struct ft_node *node;
    struct shared *shared;
    int fd;                          /* ft_models_create */

    /* of the agent: to the next node, or from it */
    struct ft_dial *dial;
    struct ft_await *await;
    struct ft_parcel *parcel;
    struct ft_cargo *cargo;          /* being sent */
    uint32_t to;                     /* the incarnation that is spoken to */
    struct event *later;
    unsigned wait_ms;

    bool fetching;
    unsigned tries;
    uint64_t units;
    void (*done)(struct ft_node *node);
};

static void look(struct ft_partner *p);
static void fetch(struct ft_partner *p);

static struct ft_job *job_of(const struct ft_partner *p) { return p->node->job; }
static uint32_t next_of(const struct ft_partner *p) { return (p->node->d->node + 1) % p->node->d->nnodes; }

static bool next_is_up(const struct ft_partner *p, struct ft_whereabouts *w)
{
    return ft_whereabouts_of(p->node, next_of(p), w) && w->up && w->naddresses;
}

/* ---- to the next node ---- */

static void drop(struct ft_partner *p)
{
    if (p->dial)
        ft_auth_hang_up(p->dial);
    p->dial = NULL;
    ft_await_free(p->await);
    p->await = NULL;
    ft_parcel_free(p->parcel);
    p->parcel = NULL;
    ft_cargo_free(p->cargo);
    p->cargo = NULL;
}

static bool is_busy(const struct ft_partner *p) { return p->dial || p->await || p->parcel; }

static void end_fetch(struct ft_partner *p)
{
    p->fetching = false;
    ft_models_end(p->fd, INBOX, 0);
    p->done(p->node);
}

static void give_up(struct ft_partner *p, const char *why)
{
    drop(p);
    ft_say_step(&job_of(p)->say, p->fetching ? "node %u has no checkpoint of the ranks here: %s" : "node %u does not take a checkpoint yet: %s",
                  next_of(p), why);
    p->wait_ms = ft_min(2 * p->wait_ms, RETRY_MOST_MS);
    ft_timer_set(p->later, p->wait_ms);
}

static void on_later(evutil_socket_t fd, short what, void *arg)
{
    struct ft_partner *p = arg;

    (void)fd;
    (void)what;
    if (p->fetching)
        fetch(p);
    else
        look(p);
}

/* ---- sending ---- */

static bool read_cargo(void *arg, uint64_t at, void *to, uint32_t n)
{
    const struct ft_partner *p = arg;

    return ft_cargo_read(p->cargo, at, to, n);
}

/* All has been read: ranks may write over it. */
static bool may_end(void *arg)
{
    const struct ft_partner *p = arg;

    ft_cargo_unpin(job_of(p));
    return ft_cargo_is_told(p->cargo);
}

static void note_sent(struct ft_partner *p, uint64_t version)
{
    p->shared->sent = version;
    p->shared->sent_to = p->to + 1;
    p->wait_ms = RETRY_MS;
}

static void on_confirmed(void *arg, int fd, const uint8_t *bytes, const char *why)
{
    struct ft_partner *p = arg;
    struct ft_answer a;

    p->await = NULL;
    if (fd >= 0)
        close(fd);
    if (!bytes || !ft_answer_get(bytes, &a) || a.verdict != FT_VERDICT_YES) {
        give_up(p, bytes ? "it does not want what it has got" : why);
        return;
    }
    ft_say_step(&job_of(p)->say, "node %u keeps checkpoint %llu of the ranks here, %llu bytes", next_of(p),
                  (unsigned long long)ft_cargo_version(p->cargo), (unsigned long long)ft_cargo_bytes(p->cargo));
    note_sent(p, ft_cargo_version(p->cargo));
    drop(p);
    look(p);
}

static void on_sent(void *arg, int fd, uint64_t length, const char *why)
{
    struct ft_partner *p = arg;

    (void)length;
    p->parcel = NULL;
    if (fd < 0)
        give_up(p, why);
    else if (!(p->await = ft_await_new(job_of(p)->base, fd, FT_ANSWER_BYTES, CONFIRM_MS, on_confirmed, p)))
        give_up(p, "out of memory");
}

static void send_cargo(struct ft_partner *p, int fd, uint64_t has)
{
    struct ft_parcel_config c = {.base = job_of(p)->base, .fd = fd, .move = read_cargo, .may_end = may_end, .done = on_sent, .arg = p};

    p->cargo = ft_cargo_pack(job_of(p), has);
    if (!p->cargo) {
        close(fd);
        note_sent(p, has); /* it has the newest, unless there was no memory: then again with the next one */
        return;
    }
    c.length = ft_cargo_bytes(p->cargo);
    p->parcel = ft_parcel_send(&c);
    if (!p->parcel)
        give_up(p, "out of memory");
}

/* ---- fetching ---- */

static bool put_inbox(void *arg, uint64_t at, void *bytes, uint32_t n)
{
    const struct ft_partner *p = arg;
    struct ft_error e;

    return ft_models_write(p->fd, INBOX, at, bytes, n, &e) == 0;
}

static void on_fetched(void *arg, int fd, uint64_t length, const char *why)
{
    struct ft_partner *p = arg;
    struct ft_error e = {.text = "it is for a longer log than there is"};
    int64_t version;

    p->parcel = NULL;
    if (fd < 0) {
        give_up(p, why);
        return;
    }
    close(fd);
    version = ft_cargo_unpack(job_of(p), p->fd, INBOX, length, p->units, &e);
    if (version > 0)
        ft_say_detail(&job_of(p)->say, "the ranks here go on from checkpoint %lld, %llu bytes, which node %u has kept", (long long)version,
                      (unsigned long long)length, next_of(p));
    else
        ft_say_detail(&job_of(p)->say, "what node %u has kept cannot be used, the ranks here begin at the start: %s", next_of(p), e.text);
    end_fetch(p);
}

static void receive_cargo(struct ft_partner *p, int fd)
{
    struct ft_parcel_config c = {.base = job_of(p)->base, .fd = fd, .length = FT_MODELS_AREA_BYTES, .move = put_inbox, .done = on_fetched, .arg = p};

    p->parcel = ft_parcel_receive(&c);
    if (!p->parcel)
        give_up(p, "out of memory");
}

/* ---- both ---- */

static void on_answer(void *arg, int fd, const uint8_t *bytes, const char *why)
{
    struct ft_partner *p = arg;
    struct ft_answer a;
    bool sound = bytes && ft_answer_get(bytes, &a) && a.node == next_of(p) && a.incarnation == p->to;

    p->await = NULL;
    if (sound && a.verdict == FT_VERDICT_YES) {
        if (p->fetching)
            receive_cargo(p, fd);
        else
            send_cargo(p, fd, a.position);
        return;
    }
    if (bytes)
        close(fd);
    if (sound && p->fetching && a.verdict == FT_VERDICT_RELEASED)
        end_fetch(p); /* it has none */
    else
        give_up(p, !bytes ? why : sound ? ft_verdict_text(a.verdict) : "it breaks the protocol");
}

static void on_dialed(void *arg, int fd, enum ft_auth_kind kind, const struct ft_error *e)
{
    struct ft_partner *p = arg;
    const struct ft_description *d = p->node->d;
    struct ft_greeting g = {.want = p->fetching ? FT_WANT_KEPT : FT_WANT_KEEP, .from = d->node, .from_incarnation = d->incarnation,
                            .to = next_of(p), .to_incarnation = p->to};
    uint8_t text[FT_GREETING_BYTES];

    (void)kind;
    p->dial = NULL;
    if (fd < 0) {
        give_up(p, e->text);
        return;
    }
    ft_greeting_put(&g, text);
    if (send(fd, text, sizeof text, MSG_NOSIGNAL) != (ssize_t)sizeof text) {
        close(fd);
        give_up(p, "it broke off");
    } else if (!(p->await = ft_await_new(job_of(p)->base, fd, FT_ANSWER_BYTES, ANSWER_MS, on_answer, p))) {
        give_up(p, "out of memory");
    }
}

static void call(struct ft_partner *p, const struct ft_whereabouts *w)
{
    p->to = w->incarnation;
    p->dial = ft_auth_dial(p->node->auth, w->addresses, w->naddresses, FT_AUTH_FETCH, on_dialed, p);
    if (!p->dial)
        give_up(p, "out of memory");
}

static void fetch(struct ft_partner *p)
{
    struct ft_whereabouts w;

    if (is_busy(p))
        return;
    if (p->tries++ < FETCHES && next_is_up(p, &w))
        call(p, &w);
    else
        end_fetch(p);
}

bool ft_partner_fetch(struct ft_partner *p, uint64_t units, void (*done)(struct ft_node *node))
{
    struct ft_whereabouts w;

    if (!p || !next_is_up(p, &w))
        return false;
    p->fetching = true;
    p->tries = 0;
    p->units = units;
    p->done = done;
    ft_timer_set(p->later, 0);
    return true;
}

static void look(struct ft_partner *p)
{
    struct ft_whereabouts w;
    bool up = next_is_up(p, &w);

    if (is_busy(p) && (!up || w.incarnation != p->to)) { /* nobody is there to go on with it */
        drop(p);
        ft_timer_set(p->later, RETRY_MS);
    }
    if (p->fetching || is_busy(p) || !up || p->node->shared->stage != FT_STAGE_READY || event_pending(p->later, EV_TIMEOUT, NULL))
        return;
    if (ft_cargo_newest(job_of(p), p->shared->sent_to == w.incarnation + 1 ? p->shared->sent : 0))
        call(p, &w);
}

void ft_partner_look(struct ft_partner *p)
{
    if (p && p->later)
        look(p);
}

/* ---- all of it ---- */

int ft_partner_new(struct ft_partner **out, struct ft_node *node, struct ft_error *e)
{
    struct ft_partner *p = calloc(1, sizeof *p);

    if (!p || !(p->shared = ft_shared_new(sizeof *p->shared))) {
        free(p);
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    }
    p->node = node;
    p->fd = ft_models_create(e);
    if (p->fd < 0) {
        ft_partner_free(p);
        return FT_ESYS;
    }
    *out = p;
    return 0;
}

void ft_partner_free(struct ft_partner *p)
{
    if (!p)
        return;
    if (p->fd >= 0)
        close(p->fd);
    ft_shared_free(p->shared, sizeof *p->shared);
    free(p);
}

void ft_partner_forget(struct ft_partner *p)
{
    if (p)
        *p = (struct ft_partner){.node = p->node, .shared = p->shared, .fd = p->fd};
}

int ft_partner_serve(struct ft_partner *p)
{
    if (!p)
        return 0;
    p->wait_ms = RETRY_MS;
    p->later = evtimer_new(job_of(p)->base, on_later, p);
    if (!p->later)
        return -1;
    ft_cargo_unpin(job_of(p)); /* what a dead agent was sending */
    ft_timer_set(p->later, 0);
    return 0;
}

void ft_partner_leave(struct ft_partner *p)
{
    if (!p)
        return;
    drop(p);
    ft_timer_free(p->later);
    ft_partner_forget(p);
}
