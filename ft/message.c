/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends and receives: how they start. */
#include "ft/message.h"

#include <stdlib.h>
#include <string.h>

#include "ft/base/site.h"
#include "ft/base/util.h"
#include "ft/messages.h"
#include "ft/msg/check.h"
#include "ft/shm/streams.h"

/* ---- what the process has ---- */

int ft_messages_no_memory(const struct ft *ft, struct ft_error *e)
{
    return ft_err_set(e, FT_ENOMEM, "rank %u has no memory for messages", ft->world.me);
}

static void close_all(struct ft_messages *m)
{
    for (uint32_t r = 0; r < m->n; r++) {
        free(m->out ? m->out[r] : NULL);
        if (m->in && m->in[r])
            ft_acks_close(&m->in[r]->acks);
        free(m->in ? m->in[r] : NULL);
    }
    for (struct ft_request *r = m->made, *next; r; r = next) {
        next = r->made;
        ft_ranks_release(r->ranks);
        ft_layout_release(r->view.type.layout);
        free(r);
    }
    for (struct ft_message *a = m->made_messages, *next; a; a = next) {
        next = a->made;
        free(a->own);
        free(a);
    }
    free(m->out);
    free(m->in);
    free(m->heard);
    ft_match_close(m->match);
    ft_answers_close(&m->answers);
    free(m);
}

static int open_all(struct ft *ft, struct ft_messages *m, const struct ft_answers_place *at, struct ft_error *e)
{
    const struct ft_params *p = ft->region.base ? &ft->region.header->params : NULL;

    m->ft = ft;
    m->busy = true;
    m->n = p ? p->nranks : 1;
    m->me = p ? ft->world.rank : 0;
    m->writes = m->again = p && p->nchannels && p->nranks > 1;
    m->out = calloc(m->n, sizeof *m->out);
    m->in = calloc(m->n, sizeof *m->in);
    m->heard = calloc(m->n, sizeof *m->heard);
    m->match = ft_match_open(m->n);
    if (!m->out || !m->in || !m->heard || !m->match)
        return ft_messages_no_memory(ft, e);
    return m->writes ? ft_answers_open_at(&m->answers, at, &ft->region, m->me, m->match, &ft->patience, ft->kick_fd, ft->spill_fd, e) : 0;
}

struct ft_messages *ft_messages_begin(struct ft *ft, const struct ft_answers_place *at, int *err, struct ft_error *e)
{
    struct ft_messages *m = calloc(1, sizeof *m);

    *err = m ? open_all(ft, m, at, e) : ft_messages_no_memory(ft, e);
    if (*err && m)
        close_all(m);
    return ft->messages = *err ? NULL : m;
}

struct ft_messages *ft_messages_of(struct ft *ft, int *err, struct ft_error *e)
{
    struct ft_messages *m = ft->messages;

    *err = 0;
    if (__builtin_expect(m == NULL, 0))
        m = ft_messages_begin(ft, &(struct ft_answers_place){ 0 }, err, e);
    if (__builtin_expect(m && m->woken, 0))
        *err = ft_messages_ready(m, e);
    return *err ? NULL : m;
}

void ft_messages_close(struct ft *ft)
{
    if (ft->messages)
        close_all(ft->messages);
    ft->messages = NULL;
}

void ft_messages_finalize(const struct ft *ft)
{
    if (ft->messages)
        ft_messages_tell(ft->messages);
}

bool ft_messages_any(const struct ft *ft) { return ft->messages != NULL; }

bool ft_messages_enter(struct ft *ft)
{
    bool says = ft_handle_begin(ft);

    if (ft_handle_due(ft))
        ft_handle_snapshot(ft, NULL, 0);
    if (ft->messages)
        ft->messages->busy = true;
    return says;
}

void ft_messages_leave(struct ft *ft, bool says)
{
    if (ft->messages)
        ft->messages->busy = ft->messages->holds = false;
    ft_handle_end(ft, says);
}

int64_t ft_messages_local(const struct ft_messages *m, const struct ft_comm *c, int rank)
{
    int there = c->ranks[rank];

    if (there == (int)m->ft->world.me)
        return m->me;
    return m->writes ? there : -1; /* there are channels on one node only, where ranks are numbered as in the job */
}

int ft_messages_rank(const struct ft_messages *m, const int *ranks, uint32_t n, int32_t local)
{
    int there = m->ft->region.base ? (int)ft_region_rank_of(&m->ft->region, (uint32_t)local) : 0;

    for (uint32_t i = 0; i < n; i++)
        if (ranks[i] == there)
            return (int)i;
    return -1;
}

/* ---- starting ---- */

enum { HOLD_NS = 20000000 };

/* Its predecessor has sent something else. */
static int diverged(const struct ft_messages *m, const struct ft_msg_channel *c, const struct ft_sig *sig, uint64_t site, const struct ft_unit *said,
                    struct ft_error *e)
{
    char here[160], there[160];

    return ft_err_set(e, FT_EDIVERGED, "rank %u was restarted and sends %llu byte%s with tag %d to rank %u at %s, but its log has %llu with tag %d at %s: "
                      "the program must repeat its calls", m->ft->world.me, (unsigned long long)sig->count, ft_plural(sig->count), sig->root,
                      ft_channel_receiver(&m->ft->region, c->number), ft_site_print(site, here, sizeof here), (unsigned long long)said->sig.count,
                      said->sig.root, ft_site_print(said->site, there, sizeof there));
}

/* ... or the same with other bytes. */
static int differs(const struct ft_messages *m, const struct ft_msg_channel *c, const struct ft_sig *sig, uint64_t site, const struct ft_unit *before,
                   struct ft_error *e)
{
    char here[160], there[160];

    return ft_err_set(e, FT_EDIVERGED, "rank %u (host %.64s) was restarted and, in message %llu to rank %u, %llu byte%s with tag %d at %s (before: at %s), "
                      "sends other data than before its restart: the program is not deterministic (--check-replay)", m->ft->world.me, m->ft->host,
                      (unsigned long long)c->unit, ft_channel_receiver(&m->ft->region, c->number), (unsigned long long)sig->count, ft_plural(sig->count),
                      sig->root, ft_site_print(site, here, sizeof here), ft_site_print(before->site, there, sizeof there));
}

static int check_bytes(const struct ft_messages *m, struct ft_msg_channel *c, const struct ft_sig *sig, const struct ft_view *v, uint64_t from,
                       uint64_t site, struct ft_error *e)
{
    struct ft_unit before;
    int err = m->ft->world.checks ? ft_msg_check(c, sig, v, from, &before, e) : 0;

    if (err == FT_ENOMEM)
        return ft_messages_no_memory(m->ft, e);
    return err == FT_EDIVERGED ? differs(m, c, sig, site, &before, e) : err;
}

struct ft_outgoing *ft_messages_outgoing(struct ft_messages *m, uint32_t to, struct ft_error *e)
{
    const struct ft *ft = m->ft;
    struct ft_outgoing *out = m->out[to];

    if (__builtin_expect(out != NULL, 1))
        return out;
    if (m->nout >= FT_MOST_CHANNELS / 2) {
        ft_err_set(e, FT_EINVAL, "rank %u exchanges messages with as many others as ftmpi can do yet, %d", ft->world.me, FT_MOST_CHANNELS / 2);
        return NULL;
    }
    out = calloc(1, sizeof *out);
    if (!out) {
        ft_messages_no_memory(ft, e);
        return NULL;
    }
    ft_msg_open(&out->c, &ft->region, m->me, to, m->me, &ft->patience, ft->kick_fd, ft->spill_fd);
    out->acks = ft_region_stream(&ft->region, out->c.number).acks;
    m->out[to] = out;
    m->nout++;
    return out;
}

/* In some wait of its own, perhaps for what this rank sends next. */
static bool waits(const struct ft_messages *m, uint32_t rank)
{
    return ft_await_read(&ft_region_doorbell(&m->ft->region, rank)->awaits).kind != FT_AWAIT_NOBODY;
}

/* A blocking send of one that is far ahead gives its receiver time, for as long as that is busy, but not for ever: what it receives next may be
   behind this. Without that a log would have to hold all that a fast sender can make. A successor is where its predecessor was. */
static int hold_back(struct ft_messages *m, struct ft_outgoing *out, uint32_t to, struct ft_error *e)
{
    uint64_t end;
    struct ft_wait w = { .holds = true }; /* in the middle of a message */
    int err = 0;

    if (__builtin_expect(ft_msg_replays(&out->c) || ft_msg_ahead(&out->c) <= FT_CHANNEL_AHEAD, 1))
        return 0;
    end = ft_clock_ns() + HOLD_NS;
    while (err >= 0 && ft_msg_ahead(&out->c) > FT_CHANNEL_AHEAD && !waits(m, to) && ft_clock_ns() < end) {
        err = ft_messages_progress(m, e);
        if (!err)
            ft_wait_turn_within(&w, &m->ft->patience, HOLD_NS / 8);
    }
    ft_wait_over(&w, &m->ft->patience);
    return err < 0 ? err : 0;
}

static int send_pieces(struct ft_messages *m, struct ft_outgoing *out, uint32_t to, struct ft_sig *sig, const struct ft_view *v, uint64_t site,
                       bool waits, struct ft_error *e)
{
    const struct ft_door *door = m->ft->door;
    uint64_t piece = ft_msg_piece(&out->c), from = 0;
    struct ft_unit said;
    int err;

    do {
        sig->length = (uint32_t)ft_min(piece, sig->count - from);
        if (waits && (err = hold_back(m, out, to, e)) != 0)
            return err;
        if (door && __builtin_expect(!*door->switched, 0) && !ft_msg_replays(&out->c))
            ft_order_live(m->ft, out->c.unit > out->c.logged);
        err = check_bytes(m, &out->c, sig, v, from, site, e);
        if (err)
            return err;
        err = ft_msg_send(&out->c, sig, site, v, from, &said, e);
        if (err == FT_EDIVERGED)
            return diverged(m, &out->c, sig, site, &said, e);
        sig->cached = FT_MESSAGE_GOES_ON;
        from += sig->length;
    } while (!err && from < sig->count);
    return err;
}

/* To another rank of this node. *synchronous: which of those it is, if it is one. */
static int send_to(struct ft_messages *m, const struct ft_comm *c, const struct ft_view *v, uint64_t bytes, uint32_t to, int tag,
                   enum ft_send_mode mode, bool waits, uint64_t *synchronous, uint64_t site, struct ft_error *e)
{
    struct ft_sig sig = { .call = FT_CALL_SEND, .kind = FT_BYTE, .root = tag, .elem = 1, .count = bytes, .shape = c->context };
    struct ft_outgoing *out = ft_messages_outgoing(m, to, e);

    if (!out)
        return m->nout >= FT_MOST_CHANNELS / 2 ? FT_EINVAL : FT_ENOMEM;
    if (mode == FT_SEND_SYNCHRONOUS) {
        sig.reduction = FT_MESSAGE_SYNCHRONOUS;
        *synchronous = out->nsynchronous++;
    }
    return send_pieces(m, out, to, &sig, v, site, waits, e);
}

int ft_messages_sent_before(struct ft_messages *m, uint32_t to, void *bytes, uint64_t n, struct ft_error *e)
{
    struct ft_outgoing *out = ft_messages_outgoing(m, to, e);
    struct ft_view v = ft_view_of(bytes, n, (struct ft_type){ .elem = 1, .kind = FT_BYTE });
    struct ft_unit u;
    int sent = out ? ft_msg_sent(&out->c, &u, e) : FT_ENOMEM, err;

    if (sent <= 0)
        return sent;
    err = ft_msg_read(&out->c, &u, 0, ft_min(n, u.sig.length), &v, 0, e);
    return err ? err : 1;
}

static int64_t destination(struct ft_messages *m, const struct ft_comm *c, int dest, struct ft_error *e)
{
    int64_t to = ft_messages_local(m, c, dest);

    return to >= 0 ? to : ft_err_set(e, FT_EINVAL, FT_NOT_HERE, c->ranks[dest]);
}

static int start_send(struct ft *ft, const struct ft_comm *c, const struct ft_view *v, int dest, int tag, enum ft_send_mode mode, uint64_t site,
                      struct ft_request **r, struct ft_error *e)
{
    struct ft_request *new = NULL;
    int err;
    struct ft_messages *m = ft_messages_of(ft, &err, e);
    uint64_t bytes = v->count * v->type.elem;
    int64_t to;

    if (!m)
        return err;
    to = destination(m, c, dest, e);
    if (to < 0)
        return (int)to;
    if ((r || mode == FT_SEND_SYNCHRONOUS) && !(new = ft_request_new(m)))
        return ft_messages_no_memory(ft, e);
    if (new) {
        new->to = (uint32_t)to;
        new->site = site;
        new->settled = mode == FT_SEND_STANDARD;
    }
    err = to == m->me ? ft_messages_to_self(m, c, v, bytes, tag, mode == FT_SEND_SYNCHRONOUS ? new : NULL, e)
                      : send_to(m, c, v, bytes, (uint32_t)to, tag, mode, !r, new ? &new->synchronous : NULL, site, e);
    if (err)
        return err; /* the job is ended, but for FT_EINVAL */
    m->sent++;
    m->sent_bytes += bytes;
    if (mode == FT_SEND_STANDARD && new)
        new->over = true;
    if (r)
        *r = new;
    else if (new)
        err = ft_messages_wait(m, new, e);
    if (!r && new && !err)
        ft_request_end(ft, new);
    return err;
}

int ft_send_start(struct ft *ft, const struct ft_comm *c, const void *buffer, uint64_t count, struct ft_type type, int dest, int tag,
                  enum ft_send_mode mode, uint64_t site, struct ft_request **r, struct ft_error *e)
{
    bool says = ft_messages_enter(ft);
    struct ft_view v = ft_view_of(buffer, count, type);
    int err = start_send(ft, c, &v, dest, tag, mode, site, r, e);

    ft_messages_leave(ft, says);
    return err;
}

int ft_send(struct ft *ft, const struct ft_comm *c, const void *buffer, uint64_t count, struct ft_type type, int dest, int tag,
            enum ft_send_mode mode, uint64_t site, struct ft_error *e)
{
    return ft_send_start(ft, c, buffer, count, type, dest, tag, mode, site, NULL, e);
}

static struct ft_request *receive(struct ft_messages *m, void *buffer, uint64_t count, struct ft_type type, uint64_t site)
{
    struct ft_request *r = ft_request_new(m);

    if (!r)
        return NULL;
    r->receives = true;
    r->view = ft_view_of(buffer, count, type);
    ft_layout_hold(type.layout);
    r->room = count * type.elem;
    r->site = site;
    return r;
}

static int start_receive(struct ft_messages *m, const struct ft_comm *c, void *buffer, uint64_t count, struct ft_type type, int source, int tag,
                         uint64_t site, struct ft_request **out, struct ft_error *e)
{
    int64_t from = source == FT_ANY_SOURCE ? FT_MATCH_ANY : destination(m, c, source, e);
    struct ft_request *r;
    int err;

    if (from < FT_MATCH_ANY)
        return (int)from;
    r = receive(m, buffer, count, type, site);
    if (!r)
        return ft_messages_no_memory(m->ft, e);
    r->posted.wants = (struct ft_envelope){ .context = c->context, .source = (int32_t)from, .tag = tag == FT_ANY_TAG ? FT_MATCH_ANY : tag };
    r->told.source = source;
    if (from == FT_MATCH_ANY) {
        r->ranks = ft_ranks_hold(c->ranks);
        r->n = c->n;
    }
    err = ft_messages_post(m, r, e);
    *out = r;
    return err;
}

int ft_recv_start(struct ft *ft, const struct ft_comm *c, void *buffer, uint64_t count, struct ft_type type, int source, int tag,
                  uint64_t site, struct ft_request **r, struct ft_error *e)
{
    bool says = ft_messages_enter(ft);
    int err;
    struct ft_messages *m = ft_messages_of(ft, &err, e);

    if (m)
        err = start_receive(m, c, buffer, count, type, source, tag, site, r, e);

    ft_messages_leave(ft, says);
    return err;
}

int ft_recv(struct ft *ft, const struct ft_comm *c, void *buffer, uint64_t count, struct ft_type type, int source, int tag,
            struct ft_told *told, uint64_t site, struct ft_error *e)
{
    bool says = ft_messages_enter(ft);
    struct ft_request *r = NULL;
    int err;
    struct ft_messages *m = ft_messages_of(ft, &err, e);

    if (m)
        err = start_receive(m, c, buffer, count, type, source, tag, site, &r, e);

    if (!err)
        err = ft_messages_wait(m, r, e);
    if (!err) {
        *told = r->told;
        ft_request_end(ft, r);
    }
    ft_messages_leave(ft, says);
    return err;
}

int ft_mrecv_start(struct ft *ft, struct ft_message *a, void *buffer, uint64_t count, struct ft_type type, uint64_t site,
                   struct ft_request **out, struct ft_error *e)
{
    bool says = ft_messages_enter(ft);
    int err;
    struct ft_messages *m = ft_messages_of(ft, &err, e);

    if (m) {
        *out = receive(m, buffer, count, type, site);
        err = *out ? ft_messages_receive(m, *out, a, e) : ft_messages_no_memory(ft, e);
    }
    ft_messages_leave(ft, says);
    return err;
}
