/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/rdzv/mark.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

void ft_rdzv_mark_free(struct ft_rdzv_mark *m)
{
    free(m->value);
    *m = (struct ft_rdzv_mark){0};
}

bool ft_rdzv_mark_is(const struct ft_rdzv_mark *a, const struct ft_rdzv_mark *b)
{
    return a->value && b->value && a->n == b->n && memcmp(a->value, b->value, a->n) == 0;
}

/* Of a length that is base64 without a rest, so that one can stand in the place of another. */
int ft_rdzv_mark_draw(char drawn[FT_MARK_DRAWN])
{
    unsigned char bytes[(FT_MARK_DRAWN - 1) / 2];

    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return -1;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(drawn + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

/* ---- requests ---- */

static struct ft_kvs_op reading(const char *key) { return (struct ft_kvs_op){.kind = FT_KVS_RANGE, .key = key}; }

/* a, then b. NULL: no memory. */
static struct ft_kvs_op *both(const struct ft_kvs_op *a, uint32_t na, const struct ft_kvs_op *b, uint32_t nb)
{
    struct ft_kvs_op *all = calloc(na + nb + 1, sizeof *all);

    if (all && na)
        memcpy(all, a, na * sizeof *all);
    if (all && nb)
        memcpy(all + na, b, nb * sizeof *all);
    return all;
}

char *ft_rdzv_mark_txn(const char *key, const struct ft_rdzv_mark *m, const struct ft_kvs_txn *txn)
{
    const struct ft_kvs_op read = reading(key);
    struct ft_kvs_op *otherwise = both(txn->otherwise, txn->notherwise, &read, 1);
    struct ft_kvs_compare *compares = calloc(txn->ncompares + 1, sizeof *compares);
    struct ft_kvs_txn all = *txn;
    char *request = NULL;

    if (otherwise && compares) {
        if (txn->ncompares)
            memcpy(compares, txn->compares, txn->ncompares * sizeof *compares);
        compares[txn->ncompares] = (struct ft_kvs_compare){.what = FT_KVS_VALUE_IS, .key = key, .value = m->value, .n = m->n};
        if (!m->value)
            compares[txn->ncompares] = (struct ft_kvs_compare){.what = FT_KVS_MOD, .key = key, .is = UINT64_MAX >> 1};
        all.compares = compares;
        all.ncompares++;
        all.otherwise = otherwise;
        all.notherwise++;
        request = ft_gateway_txn(&all);
    }
    free(otherwise);
    free(compares);
    return request;
}

char *ft_rdzv_mark_first(const char *key, const char *drawn, const struct ft_kvs_txn *txn)
{
    const struct ft_kvs_op read = reading(key),
                           put = {.kind = FT_KVS_PUT, .key = key, .value = (const unsigned char *)drawn, .n = strlen(drawn)};
    const struct ft_kvs_compare none = {.what = FT_KVS_CREATE, .key = key};
    struct ft_kvs_op *then = both(&put, 1, txn->then, txn->nthen), *otherwise = both(txn->then, txn->nthen, &read, 1);
    const struct ft_kvs_txn all = {&none, then, otherwise, 1, txn->nthen + 1, txn->nthen + 1};
    char *request = then && otherwise ? ft_gateway_txn(&all) : NULL;

    free(then);
    free(otherwise);
    return request;
}

void ft_rdzv_mark_again(char *request, char drawn[FT_MARK_DRAWN])
{
    char *before = ft_gateway_to64((const unsigned char *)drawn, FT_MARK_DRAWN - 1), *after = NULL, *at = NULL;

    if (before && ft_rdzv_mark_draw(drawn) == 0)
        after = ft_gateway_to64((const unsigned char *)drawn, FT_MARK_DRAWN - 1);
    if (after)
        at = strstr(request, before);
    if (at)
        memcpy(at, after, strlen(after));
    free(before);
    free(after);
}

/* ---- answers ---- */

struct ft_rdzv_mark ft_rdzv_mark_take(const char *key, struct ft_gateway_reply *r)
{
    struct ft_kvs_entry *e = r->n ? &r->entries[r->n - 1] : NULL;

    if (!e || strcmp(e->key, key) != 0)
        return (struct ft_rdzv_mark){0};
    free((char *)e->key);
    r->n--;
    return (struct ft_rdzv_mark){(unsigned char *)e->value, e->n};
}
