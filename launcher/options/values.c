/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/options/values.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ft/base/err.h"

int ft_values_number(const char *text, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 10);
    return *text < '0' || *text > '9' || *end || errno ? FT_EINVAL : 0;
}

int ft_values_size(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    const char *unit;
    char *end;
    double value;
    int shift = 0;

    if ((*text < '0' || *text > '9') || (text[0] == '0' && (text[1] | 32) == 'x'))
        return FT_EINVAL;
    value = strtod(text, &end);
    if (*end && (unit = strchr(units, *end & ~32))) {
        shift = 10 * (int)(unit - units + 1);
        end++;
        if (*end == 'i')
            end++;
    }
    if (*end == 'B' || *end == 'b')
        end++;
    value *= (double)(1ull << shift);
    if (*end || !(value < 0x1p62))
        return FT_EINVAL;
    *bytes = (uint64_t)value;
    return 0;
}

int ft_values_milliseconds(const char *text, uint64_t *ms)
{
    char *end;
    double seconds;

    if ((*text < '0' || *text > '9') && *text != '.') /* no signs, spaces, names of infinity */
        return FT_EINVAL;
    seconds = strtod(text, &end);
    if (end == text || *end || text[strspn(text, "0123456789.")] || !(seconds <= 1e9))
        return FT_EINVAL;
    *ms = (uint64_t)(seconds * 1000 + 0.5);
    return 0;
}

int ft_values_flag(const char *value, bool *flag)
{
    static const char *const words[2][4] = {{"no", "false", "off", "0"}, {"yes", "true", "on", "1"}};

    for (int i = 0; i < 8; i++) {
        if (value && strcmp(value, words[i / 4][i % 4]))
            continue;
        *flag = !value || i / 4;
        return 0;
    }
    return FT_EINVAL;
}

static int add_codes(const char *item, struct ft_restart_on *on)
{
    unsigned from, to;
    int end = 0;

    if (*item < '0' || *item > '9')
        return FT_EINVAL;
    if (sscanf(item, "%3u%n", &from, &end) != 1)
        return FT_EINVAL;
    to = from;
    if (item[end] == '-') {
        item += end + 1;
        if (*item < '0' || *item > '9' || sscanf(item, "%3u%n", &to, &end) != 1)
            return FT_EINVAL;
    }
    if (item[end] || from < 1 || to > 255 || from > to) /* 0 is success */
        return FT_EINVAL;
    for (unsigned c = from; c <= to; c++)
        on->codes[c / 64] |= 1ull << (c % 64);
    return 0;
}

int ft_values_restart_on(const char *text, struct ft_restart_on *on)
{
    char item[16];

    memset(on, 0, sizeof *on);
    if (!strcmp(text, "none"))
        return 0;
    for (;;) {
        size_t len = strcspn(text, ",");

        if (!len || len >= sizeof item)
            return FT_EINVAL;
        memcpy(item, text, len);
        item[len] = 0;
        if (!strcmp(item, "signal"))
            on->signal = true;
        else if (add_codes(item, on) < 0)
            return FT_EINVAL;
        if (!text[len])
            return 0;
        text += len + 1;
    }
}
