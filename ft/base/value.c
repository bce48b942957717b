/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/base/value.h"

#include <string.h>

/* As they lie in the bytes; little endian, as all machines that this runs on are (ft/base/util.h). */
struct ask_head {
    uint64_t number;
    uint8_t op, none_expected;
    uint16_t nkey;
    uint32_t nexpected, nvalue, zero;
    uint64_t wait_ms;
    int64_t by;
};

struct answer_head {
    uint64_t number;
    uint8_t status, there, swapped, zero[5];
    int64_t sum;
    uint32_t nvalue, zeros;
};

_Static_assert(sizeof(struct ask_head) == FT_VALUE_ASK_HEAD, "no padding");
_Static_assert(sizeof(struct answer_head) == FT_VALUE_ANSWER_HEAD, "no padding");

size_t ft_value_ask_bytes(const struct ft_value_ask *a)
{
    return FT_VALUE_ASK_HEAD + (size_t)a->nkey + a->nexpected + a->nvalue;
}

size_t ft_value_answer_bytes(const struct ft_value_answer *a)
{
    return FT_VALUE_ANSWER_HEAD + (size_t)a->nvalue;
}

static char *put(char *to, const void *from, size_t n)
{
    if (n)
        memcpy(to, from, n);
    return to + n;
}

void ft_value_put_ask(const struct ft_value_ask *a, void *to)
{
    struct ask_head h = {.number = a->number, .op = (uint8_t)a->op, .none_expected = a->none_expected, .nkey = (uint16_t)a->nkey,
                         .nexpected = a->nexpected, .nvalue = a->nvalue, .wait_ms = a->wait_ms, .by = a->by};

    to = put(to, &h, sizeof h);
    to = put(to, a->key, a->nkey);
    to = put(to, a->expected, a->nexpected);
    put(to, a->value, a->nvalue);
}

void ft_value_put_answer(const struct ft_value_answer *a, void *to)
{
    struct answer_head h = {.number = a->number, .status = (uint8_t)a->status, .there = a->there, .swapped = a->swapped, .sum = a->sum,
                            .nvalue = a->nvalue};

    put(put(to, &h, sizeof h), a->value, a->nvalue);
}

static bool is_ask(const struct ask_head *h, size_t len)
{
    bool compares = h->op == FT_VALUE_COMPARE, sets = compares || h->op == FT_VALUE_SET;

    return h->op >= FT_VALUE_SET && h->op < FT_VALUE_OPS && h->nkey >= 1 && h->nkey <= FT_VALUE_KEY && !h->zero &&
           h->none_expected <= compares && (sets || !h->nvalue) && ((compares && !h->none_expected) || !h->nexpected) &&
           (uint64_t)h->nexpected + h->nvalue <= FT_VALUE_BYTES && len == FT_VALUE_ASK_HEAD + (size_t)h->nkey + h->nexpected + h->nvalue;
}

bool ft_value_get_ask(struct ft_value_ask *a, const void *from, size_t len)
{
    const char *bytes = from;
    struct ask_head h;

    if (len < sizeof h)
        return false;
    memcpy(&h, from, sizeof h);
    bytes += sizeof h;
    if (!is_ask(&h, len))
        return false;
    *a = (struct ft_value_ask){.number = h.number, .op = (enum ft_value_op)h.op, .none_expected = h.none_expected,
                               .key = bytes, .nkey = h.nkey, .expected = bytes + h.nkey, .nexpected = h.nexpected,
                               .value = bytes + h.nkey + h.nexpected, .nvalue = h.nvalue, .wait_ms = h.wait_ms, .by = h.by};
    return true;
}

bool ft_value_get_answer(struct ft_value_answer *a, const void *from, size_t len)
{
    struct answer_head h;

    if (len < sizeof h)
        return false;
    memcpy(&h, from, sizeof h);
    if (h.status >= FT_VALUE_STATUSES || h.there > 1 || h.swapped > 1 || h.nvalue > FT_VALUE_BYTES || len != sizeof h + (size_t)h.nvalue)
        return false;
    *a = (struct ft_value_answer){.number = h.number, .status = (enum ft_value_status)h.status, .there = h.there,
                                  .swapped = h.swapped, .sum = h.sum, .value = (const char *)from + sizeof h, .nvalue = h.nvalue};
    return true;
}
