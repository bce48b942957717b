/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/options/placement.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "launcher/options/values.h"

static bool is(const char *text, size_t len, const char *word)
{
    return strlen(word) == len && !strncasecmp(text, word, len);
}

/* "overload-allowed", "PE=2", "OVERSUBSCRIBE", ...; false: unknown. */
static bool modify(struct ft_options *o, const char *text, size_t len)
{
    char number[16];
    uint64_t n;

    if (is(text, len, "oversubscribe"))
        o->oversubscribe = true;
    else if (is(text, len, "nooversubscribe"))
        o->oversubscribe = false;
    else if (is(text, len, "overload-allowed"))
        o->place.overload = true;
    else if (is(text, len, "no-overload"))
        o->place.overload = false;
    else if (is(text, len, "hwtcpus"))
        o->place.hwthreads = true;
    else if (is(text, len, "corecpus"))
        o->place.hwthreads = false;
    else if (len > 3 && len < sizeof number && !strncasecmp(text, "pe=", 3)) {
        snprintf(number, sizeof number, "%.*s", (int)len - 3, text + 3);
        if (ft_values_number(number, &n) < 0 || n < 1 || n > 4096)
            return false;
        o->place.cores = (uint32_t)n;
    } else if (!is(text, len, "span") && !is(text, len, "if-supported") && !is(text, len, "inherit") && !is(text, len, "noinherit"))
        return false;
    return true;
}

/* ":A,B:C". */
static int modify_all(struct ft_options *o, const char *text, const char *who, struct ft_error *e)
{
    while (*text) {
        size_t len = strcspn(++text, ",:");

        if (!modify(o, text, len))
            return ft_err_set(e, FT_EINVAL, "%s: \"%.*s\" is not understood (PE=N, OVERSUBSCRIBE, HWTCPUS, overload-allowed, SPAN are)",
                              who, (int)(len > 80 ? 80 : len), text);
        text += len;
    }
    return 0;
}

/* Open MPI had boards, and Hydra has them. What is on which one is not to be found out: ranks were mapped by node for it, without a word. */
static bool is_board(struct ft_options *o, const char *text, size_t len, const char *who)
{
    if (!is(text, len, "board"))
        return false;
    ft_options_notice(o, "%s board is ignored: which processors are on one board is not known", who);
    return true;
}

int ft_placement_bind(struct ft_options *o, const char *text, const char *who, struct ft_error *e)
{
    size_t len = strcspn(text, ":");

    o->place.overload = false;
    o->place.bind = FT_UNIT_NONE;
    if (!is_board(o, text, len, who) && !ft_topology_unit(text, len, &o->place.bind))
        return FT_EINVAL;
    if (o->place.bind == FT_UNIT_HOST) /* all of it: that is no binding */
        o->place.bind = FT_UNIT_NONE;
    return modify_all(o, text + len, who, e);
}

int ft_placement_map(struct ft_options *o, const char *text, const char *who, struct ft_error *e)
{
    size_t len = strcspn(text, ":");

    o->place.cores = o->place.each = 0;
    o->place.map = FT_UNIT_NONE;
    if (is(text, len, "ppr") && text[len]) {
        char number[16];
        uint64_t n;

        text += len + 1;
        len = strcspn(text, ":");
        snprintf(number, sizeof number, "%.*s", (int)len, text);
        if (ft_values_number(number, &n) < 0 || n < 1 || n > FT_RANKS_MAX || !text[len])
            return FT_EINVAL;
        o->place.each = (uint32_t)n;
        text += len + 1;
        len = strcspn(text, ":");
    }
    if (is(text, len, "slot") && !o->place.each)
        return modify_all(o, text + len, who, e); /* as it is without a word: slots are filled one host after the other */
    if ((len || o->place.each) && !is_board(o, text, len, who) && (!ft_topology_unit(text, len, &o->place.map) || !o->place.map))
        return o->place.each ? FT_EINVAL
                             : ft_err_set(e, FT_EINVAL, "%s: \"%.*s\" is not a valid value; wanted: slot, node, socket, numa, l3cache, l2cache, core, hwthread or ppr:N:UNIT",
                                          who, (int)(len > 80 ? 80 : len), text);
    return modify_all(o, text + len, who, e);
}

int ft_placement_order(struct ft_options *o, const char *text, const char *who, struct ft_error *e)
{
    size_t len = strcspn(text, ":");

    if (is(text, len, "fill") || is(text, len, "slot"))
        o->place.order = FT_UNIT_CORE;
    else if (is(text, len, "span"))
        o->place.order = FT_UNIT_NONE;
    else if (!ft_topology_unit(text, len, &o->place.order))
        return FT_EINVAL;
    return modify_all(o, text + len, who, e);
}
