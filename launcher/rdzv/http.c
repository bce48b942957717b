/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/rdzv/http.h"

#include <string.h>
#include <strings.h>

/* The length of a line without its end, and where the next one begins. */
static size_t line_of(const char *at, const char *end, const char **next)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    size_t len = (size_t)(newline - at);

    *next = newline + 1;
    return len && at[len - 1] == '\r' ? len - 1 : len;
}

static int request_line(const char *line, size_t len, struct ft_http_request *r)
{
    const char *path = memchr(line, ' ', len), *version = path ? memchr(path + 1, ' ', len - (size_t)(path + 1 - line)) : NULL;
    size_t n;

    if (!version || (size_t)(line + len - version - 1) != 8 || memcmp(version + 1, "HTTP/", 5) != 0)
        return -400;
    if (memcmp(version + 6, "1.1", 3) != 0)
        return -505;
    if (path - line != 4 || memcmp(line, "POST", 4) != 0)
        return -405;
    n = (size_t)(version - path - 1);
    if (n >= sizeof r->path)
        return -414;
    memcpy(r->path, path + 1, n);
    r->path[n] = 0;
    return 0;
}

static bool is(const char *name, size_t n, const char *what) { return strlen(what) == n && strncasecmp(name, what, n) == 0; }

static int length(const char *value, size_t n, size_t most, struct ft_http_request *r)
{
    size_t v = 0;

    if (!n)
        return -400;
    for (size_t i = 0; i < n; i++) {
        if (value[i] < '0' || value[i] > '9')
            return -400;
        v = v * 10 + (size_t)(value[i] - '0');
        if (v > most)
            return -413;
    }
    r->body = v;
    return 0;
}

static int field(const char *line, size_t len, size_t most, struct ft_http_request *r, int *lengths)
{
    const char *colon = memchr(line, ':', len), *value;
    size_t n, name = colon ? (size_t)(colon - line) : 0;

    if (!name || memchr(line, 0, len) || line[name - 1] == ' ' || line[0] == ' ')
        return -400;
    value = colon + 1;
    n = len - name - 1;
    while (n && (*value == ' ' || *value == '\t'))
        value++, n--;
    while (n && (value[n - 1] == ' ' || value[n - 1] == '\t'))
        n--;
    if (is(line, name, "Content-Length"))
        return (*lengths)++ ? -400 : length(value, n, most, r);
    if (is(line, name, "Transfer-Encoding"))
        return -501;
    if (is(line, name, "Expect"))
        r->waits = is(value, n, "100-continue");
    if (is(line, name, "Connection"))
        r->closes = is(value, n, "close");
    if (is(line, name, "Authorization") && n < sizeof r->token) {
        memcpy(r->token, value, n);
        r->token[n] = 0;
    }
    return 0;
}

/* Behind the empty line; NULL: it has not come. */
static const char *end_of(const char *bytes, size_t n)
{
    const char *at = bytes, *end = bytes + n, *next;

    while (at < end && memchr(at, '\n', (size_t)(end - at))) {
        if (line_of(at, end, &next) == 0)
            return next;
        at = next;
    }
    return NULL;
}

int ft_http_read(const char *bytes, size_t n, size_t most, struct ft_http_request *r)
{
    const char *end = end_of(bytes, n < FT_HTTP_HEAD ? n : FT_HTTP_HEAD), *at = bytes, *next;
    int err, lengths = 0;
    size_t len;

    if (!end)
        return n < FT_HTTP_HEAD ? 0 : -431;
    *r = (struct ft_http_request){.body = 0};
    len = line_of(at, end, &next);
    err = request_line(at, len, r);
    for (at = next; !err && at < end && (len = line_of(at, end, &next)) != 0; at = next)
        err = field(at, len, most, r, &lengths);
    if (err)
        return err;
    return lengths ? (int)(end - bytes) : -411;
}
