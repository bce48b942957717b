/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/stdio/format.h"

#include <stdio.h>
#include <string.h>

size_t ft_format_tag(char *tag, bool rank_too, const struct tm *time, uint32_t rank, int which)
{
    size_t n = time ? strftime(tag, FT_TAG_BYTES, "%a %b %e %H:%M:%S %Y", time) : 0;

    if (rank_too)
        n += (size_t)snprintf(tag + n, FT_TAG_BYTES - n, "[1,%u]", rank);
    return n + (size_t)snprintf(tag + n, FT_TAG_BYTES - n, "<%s>:", which ? "stderr" : "stdout");
}

void ft_format_lines(const char *tag, size_t tag_len, bool begins, bool last, const char *data, size_t len,
                     void (*put)(void *arg, const char *data, size_t len), void *arg)
{
    while (len) {
        const char *newline = memchr(data, '\n', len);
        size_t n = newline ? (size_t)(newline - data) + 1 : len;

        if (begins)
            put(arg, tag, tag_len);
        put(arg, data, n);
        begins = true;
        data += n;
        len -= n;
    }
    if (last && data[-1] != '\n')
        put(arg, "\n", 1);
}
