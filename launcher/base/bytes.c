/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/base/bytes.h"

#include <stdlib.h>
#include <string.h>

json_t *ft_bytes_json(const char *text)
{
    size_t len = strlen(text), n = 0;
    char *utf8 = malloc(2 * len + 1);
    json_t *j;

    if (!utf8)
        return NULL;
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c >= 0x80)
            utf8[n++] = (char)(0xc0 | *c >> 6);
        utf8[n++] = (char)(*c >= 0x80 ? 0x80 | (*c & 0x3f) : *c);
    }
    j = json_stringn_nocheck(utf8, n);
    free(utf8);
    return j;
}

json_t *ft_bytes_json_list(char *const *list)
{
    json_t *array = json_array();

    for (; array && *list; list++) {
        if (json_array_append_new(array, ft_bytes_json(*list)) < 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

char *ft_bytes_read(const json_t *j)
{
    const unsigned char *utf8 = (const unsigned char *)json_string_value(j);
    size_t len = json_string_length(j), n = 0;
    char *text = utf8 ? malloc(len + 1) : NULL;

    for (size_t i = 0; text && i < len; i++) {
        unsigned c = utf8[i];

        if (c >= 0x80 && (c & 0xfc) == 0xc0 && i + 1 < len)
            c = (c & 3) << 6 | (utf8[++i] & 0x3f);
        else if (c >= 0x80)
            c = 0; /* not a byte */
        if (!c) {
            free(text);
            return NULL;
        }
        text[n++] = (char)c;
    }
    if (text)
        text[n] = 0;
    return text;
}

void ft_bytes_free_list(char **list)
{
    for (char **w = list; w && *w; w++)
        free(*w);
    free(list);
}

char **ft_bytes_read_list(const json_t *j)
{
    size_t n = json_array_size(j);
    char **list = json_is_array(j) ? calloc(n + 1, sizeof *list) : NULL;

    for (size_t i = 0; list && i < n; i++) {
        list[i] = ft_bytes_read(json_array_get(j, i));
        if (!list[i]) {
            ft_bytes_free_list(list);
            return NULL;
        }
    }
    return list;
}
