/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/control/pipe.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ft/base/util.h"

enum { LINE_MOST = 64 << 20 };

void ft_link_take(struct ft_link *l, int fd)
{
    l->fd = fd;
    l->timeout_ms = l->interrupt = -1;
    l->begin = l->end = 0;
}

int ft_link_open(struct ft_link *l, int fd, const char *request)
{
    char line[128];
    int n = snprintf(line, sizeof line, "{\"request\":\"%s\"}\n", request);

    ft_link_take(l, fd);
    return send(fd, line, (size_t)n, MSG_NOSIGNAL) == n ? 0 : FT_LINK_GONE;
}

/* Something new, when all that there was has been taken. 0 or an error. */
static int fill(struct ft_link *l)
{
    struct pollfd p[2] = {{.fd = l->fd, .events = POLLIN}, {.fd = l->interrupt, .events = POLLIN}};
    int ready;
    ssize_t n;

    do {
        ready = poll(p, 2, l->timeout_ms);
    } while (ready < 0 && errno == EINTR);
    if (ready == 0)
        return FT_LINK_LATE;
    if (ready > 0 && p[1].revents)
        return FT_LINK_INTERRUPTED;
    do {
        n = recv(l->fd, l->bytes, sizeof l->bytes, 0);
    } while (n < 0 && errno == EINTR);
    if (n <= 0)
        return FT_LINK_GONE;
    l->begin = 0;
    l->end = (size_t)n;
    return 0;
}

int ft_link_bytes(struct ft_link *l, size_t n, const char **bytes)
{
    if (l->begin == l->end) {
        int err = fill(l);

        if (err < 0)
            return err;
    }
    n = ft_min(n, l->end - l->begin);
    *bytes = l->bytes + l->begin;
    l->begin += n;
    return (int)n;
}

json_t *ft_link_line(struct ft_link *l, int *err)
{
    char *text = NULL, *more;
    size_t len = 0;
    json_t *object;

    for (;;) {
        const char *end, *bytes = NULL;
        int n;

        if (l->begin == l->end && (*err = fill(l)) < 0) {
            free(text);
            return NULL;
        }
        end = memchr(l->bytes + l->begin, '\n', l->end - l->begin);
        n = ft_link_bytes(l, end ? (size_t)(end + 1 - (l->bytes + l->begin)) : sizeof l->bytes, &bytes);
        more = len + (size_t)n > LINE_MOST ? NULL : realloc(text, len + (size_t)n);
        if (!more)
            break;
        text = more;
        memcpy(text + len, bytes, (size_t)n);
        len += (size_t)n;
        if (end)
            break;
    }
    object = more ? json_loadb(text, len, 0, NULL) : NULL;
    free(text);
    *err = FT_LINK_GONE;
    return object;
}

void ft_link_close(struct ft_link *l)
{
    close(l->fd);
}
