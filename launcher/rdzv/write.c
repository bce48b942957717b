/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/rdzv/write.h"

#include <stdlib.h>
#include <string.h>

#include "launcher/rdzv/follow.h"

/* ---- leases ---- */

static void on_leased(void *arg, enum ft_rdzv_answer a, const struct ft_gateway_reply *reply, const char *why)
{
    if (a == FT_RA_DONE)
        ft_rdzv_tell(arg, FT_RV_LEASED, reply->lease);
    else
        ft_rdzv_deny(arg, why);
}

static struct ft_rdzv_write *new_write(struct ft_rdzv *r, uint64_t token, uint64_t lease)
{
    struct ft_rdzv_write *w = malloc(sizeof *w);

    if (w) {
        *w = (struct ft_rdzv_write){.r = r, .token = token, .lease = lease};
        LIST_INSERT_HEAD(&r->writes, w, link);
    }
    return w;
}

static void free_write(struct ft_rdzv_write *w)
{
    if (w)
        LIST_REMOVE(w, link);
    free(w);
}

void ft_rdzv_lease(struct ft_rdzv *r)
{
    if (ft_rdzv_store_grant(r->store, r->config.settings->lease_ms / 1000, on_leased, r) < 0)
        ft_rdzv_out_of_memory(r);
}

static void on_kept(void *arg, enum ft_rdzv_answer a, const struct ft_gateway_reply *reply, const char *why)
{
    struct ft_rdzv_write *w = arg;
    struct ft_rdzv *r = w->r;
    uint64_t lease = w->lease;

    free_write(w);
    if (a == FT_RA_DENIED)
        ft_rdzv_deny(r, why);
    else
        ft_rdzv_tell(r, a == FT_RA_DONE && reply->ttl ? FT_RV_KEPT : FT_RV_UNLEASED, lease);
}

void ft_rdzv_keep(struct ft_rdzv *r, uint64_t lease)
{
    struct ft_rdzv_write *w = new_write(r, 0, lease);

    if (w && ft_rdzv_store_keep(r->store, lease, on_kept, w) == 0)
        return;
    free_write(w);
    ft_rdzv_out_of_memory(r);
}

static void on_revoked(void *arg, enum ft_rdzv_answer a, const struct ft_gateway_reply *reply, const char *why)
{
    struct ft_rdzv *r = arg;

    (void)a;
    (void)reply;
    (void)why;
    r->revoking = false;
}

void ft_rdzv_revoke(struct ft_rdzv *r, uint64_t lease)
{
    r->revoking = ft_rdzv_store_revoke(r->store, lease, on_revoked, r) == 0;
}

/* ---- writes ---- */

static void on_written(void *arg, enum ft_rdzv_answer a, const struct ft_gateway_reply *reply, const char *why)
{
    struct ft_rdzv_write *w = arg;
    struct ft_rdzv *r = w->r;
    uint64_t token = w->token, lease = w->lease;

    free_write(w);
    if (a == FT_RA_DENIED) {
        ft_rdzv_deny(r, why);
        return;
    }
    if (a == FT_RA_ANEW)
        return; /* the round is told, and forgets what it has written */
    if (a == FT_RA_NO_LEASE)
        ft_rdzv_tell(r, FT_RV_UNLEASED, lease);
    else
        ft_rdzv_tell_keys(r, reply, (unsigned)(token >> 56));
    ft_rdzv_tell(r, FT_RV_WRITTEN, token & (UINT64_MAX >> 8));
}

struct prepared {
    char keys[FT_RDZV_ROUND_COMPARES + FT_RDZV_ROUND_PUTS][FT_RDZV_KEY];
    unsigned char *sealed[FT_RDZV_ROUND_PUTS];
    char from[FT_RDZV_KEY], to[FT_RDZV_KEY];
    struct ft_kvs_compare compares[FT_RDZV_ROUND_COMPARES];
    struct ft_kvs_op then[2 * FT_RDZV_ROUND_PUTS + FT_RDZV_ROUND_COMPARES + 1], otherwise[FT_RDZV_ROUND_PUTS + FT_RDZV_ROUND_COMPARES];
    struct ft_kvs_txn txn;
    unsigned read;             /* keys whose values come back with the answer */
};

/* Afterwards it is looked at, whether the write was done or not. */
static void read_back(struct prepared *p, enum ft_rdzv_round_key key, const char *text)
{
    struct ft_kvs_op op = {.kind = FT_KVS_RANGE, .key = text};

    if (key == FT_RK_LIST || p->read & 1u << key)
        return;
    p->read |= 1u << key;
    p->then[p->txn.nthen++] = p->otherwise[p->txn.notherwise++] = op;
}

static bool prepare_put(struct ft_rdzv *r, struct prepared *p, const struct ft_rdzv_round_put *put, const char *key)
{
    struct ft_kvs_op *op = &p->then[p->txn.nthen];
    unsigned char **sealed = &p->sealed[p->txn.nthen];

    *op = (struct ft_kvs_op){.kind = put->text ? FT_KVS_PUT : FT_KVS_DELETE, .key = key, .lease = put->lease};
    if (put->text)
        op->value = *sealed = ft_rdzv_seal(&r->secret, key, (const unsigned char *)put->text, strlen(put->text), &op->n);
    p->txn.nthen++;
    return !put->text || op->value;
}

static bool prepare(struct ft_rdzv *r, struct prepared *p, const struct ft_rdzv_round_effect *e)
{
    const struct ft_rdzv_settings *s = r->config.settings;

    p->txn = (struct ft_kvs_txn){.compares = p->compares, .ncompares = e->ncompares, .then = p->then, .otherwise = p->otherwise};
    for (uint32_t i = 0; i < e->nputs; i++)
        if (!prepare_put(r, p, &e->puts[i], ft_rdzv_key(s, p->keys[FT_RDZV_ROUND_COMPARES + i], e->puts[i].key, e->puts[i].name)))
            return false;
    if (e->forget)
        p->then[p->txn.nthen++] = (struct ft_kvs_op){.kind = FT_KVS_DELETE, .key = ft_rdzv_key_values(s, p->from, 0),
                                                     .end = ft_rdzv_key_values(s, p->to, e->forget + 1)};
    for (uint32_t i = 0; i < e->ncompares; i++) {
        const struct ft_rdzv_round_compare *c = &e->compares[i];

        p->compares[i] = (struct ft_kvs_compare){.what = FT_KVS_MOD, .key = ft_rdzv_key(s, p->keys[i], c->key, c->name), .is = c->at};
        read_back(p, c->key, p->keys[i]);
    }
    for (uint32_t i = 0; i < e->nputs; i++)
        read_back(p, e->puts[i].key, p->keys[FT_RDZV_ROUND_COMPARES + i]);
    return true;
}

void ft_rdzv_write(struct ft_rdzv *r, const struct ft_rdzv_round_effect *e)
{
    struct prepared *p = calloc(1, sizeof *p);
    bool good = p && prepare(r, p, e);
    struct ft_rdzv_write *w = good ? new_write(r, e->token | (uint64_t)p->read << 56, e->puts[0].lease) : NULL;

    good = w && ft_rdzv_store_do(r->store, &p->txn, e->nputs > 1, on_written, w) == 0;
    for (int i = 0; p && i < FT_RDZV_ROUND_PUTS; i++)
        free(p->sealed[i]);
    free(p);
    if (good)
        return;
    free_write(w);
    ft_rdzv_out_of_memory(r);
}

void ft_rdzv_free_writes(struct ft_rdzv *r)
{
    while (!LIST_EMPTY(&r->writes))
        free_write(LIST_FIRST(&r->writes));
}
