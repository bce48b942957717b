/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/rdzv/etcd_peers.h"

#include <errno.h>
#include <event2/buffer.h>
#include <fcntl.h>
#include <jansson.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PATIENCE_MS = 2000, ANSWER_BYTES = 64 << 10 };

const char *ft_etcd_url(const struct ft_rdzv_endpoint *p, bool peer, char *text, size_t size)
{
    bool six = strchr(p->host, ':');

    snprintf(text, size, "http://%s%s%s:%u", six ? "[" : "", p->host, six ? "]" : "", p->port + peer);
    return text;
}

/* ---- one question ---- */

static bool wait_for(int fd, short what)
{
    struct pollfd p = {.fd = fd, .events = what};

    return poll(&p, 1, PATIENCE_MS) == 1;
}

static int connect_to(const struct addrinfo *a)
{
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = 0;
    socklen_t len = sizeof error;

    if (fd < 0)
        return -1;
    if (connect(fd, a->ai_addr, a->ai_addrlen) == 0)
        return fd;
    if (errno == EINPROGRESS && wait_for(fd, POLLOUT) && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 && !error)
        return fd;
    close(fd);
    return -1;
}

static int dial(const struct ft_rdzv_endpoint *p)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char port[8];
    int fd = -1;

    snprintf(port, sizeof port, "%u", p->port);
    if (getaddrinfo(p->host, port, &hints, &found) != 0)
        return -1;
    for (const struct addrinfo *a = found; a && fd < 0; a = a->ai_next)
        fd = connect_to(a);
    freeaddrinfo(found);
    return fd;
}

/* All that comes until the other end closes. */
static size_t read_all(int fd, char *answer)
{
    size_t n = 0;
    ssize_t got = 1;

    while (got > 0 && n < ANSWER_BYTES - 1 && wait_for(fd, POLLIN)) {
        got = read(fd, answer + n, ANSWER_BYTES - 1 - n);
        n += got > 0 ? (size_t)got : 0;
    }
    answer[n] = 0;
    return n;
}

/* HTTP/1.0: the answer ends with the connection, and is in one piece. */
static bool put(int fd, const char *what, const char *body)
{
    struct evbuffer *request = evbuffer_new();
    int length = request ? evbuffer_add_printf(request, "POST /v3/%s HTTP/1.0\r\nContent-Type: application/json\r\n"
                                               "Content-Length: %zu\r\n\r\n%s", what, strlen(body), body) : -1;
    bool all = length > 0 && evbuffer_write(request, fd) == length;

    if (request)
        evbuffer_free(request);
    return all;
}

/* By etcd's gateway. NULL: no answer, or an error; why says which. */
static json_t *ask(const struct ft_rdzv_endpoint *p, const char *what, const char *body, char why[FT_ETCD_WHY])
{
    char answer[ANSWER_BYTES], url[FT_RDZV_TEXT + 32];
    int fd = dial(p);
    const char *data;
    json_t *object = NULL;

    snprintf(why, FT_ETCD_WHY, "the etcd at %s does not answer", ft_etcd_url(p, false, url, sizeof url));
    if (fd < 0)
        return NULL;
    if (put(fd, what, body) && read_all(fd, answer)) {
        data = strstr(answer, "\r\n\r\n");
        if (data && strstr(answer, " 200 "))
            object = json_loads(data + 4, 0, NULL);
        if (!object && data)
            snprintf(why, FT_ETCD_WHY, "the etcd at %s answers %.120s", url, data + 4);
    }
    close(fd);
    return object;
}

/* ---- what they know ---- */

static const json_t *with_url(const json_t *list, const char *url)
{
    const json_t *member, *one;
    size_t i, j;

    json_array_foreach(json_object_get(list, "members"), i, member)
        json_array_foreach(json_object_get(member, "peerURLs"), j, one)
            if (json_is_string(one) && strcmp(json_string_value(one), url) == 0)
                return member;
    return NULL;
}

static bool has_any(const json_t *member, const char *name)
{
    const json_t *it = json_object_get(member, name);

    return json_array_size(it) > 0 || (json_is_string(it) && *json_string_value(it));
}

static bool change(const struct ft_rdzv_endpoint *by, const char *what, const char *name, const char *value, bool list,
                   char why[FT_ETCD_WHY])
{
    json_t *object = list ? json_pack("{s[s]}", name, value) : json_pack("{ss}", name, value), *answer = NULL;
    char *body = object ? json_dumps(object, JSON_COMPACT) : NULL;

    if (body)
        answer = ask(by, what, body, why);
    json_decref(object);
    free(body);
    json_decref(answer);
    return answer != NULL;
}

/* By one that knows the cluster. A member that has run once must not begin with an empty disk: it would not know what it has agreed to. */
static enum ft_etcd_part part_by(const struct ft_rdzv_endpoint *by, const char *url, const json_t *list, char why[FT_ETCD_WHY])
{
    const json_t *member = with_url(list, url), *id = json_object_get(member, "ID");

    if (member && !has_any(member, "clientURLs"))
        return has_any(member, "name") ? FT_ETCD_NEW : FT_ETCD_JOINS; /* a founder that has not run; or added, and not started */
    if (member && (!json_is_string(id) || !change(by, "cluster/member/remove", "ID", json_string_value(id), false, why)))
        return FT_ETCD_LATER;
    return change(by, "cluster/member/add", "peerURLs", url, true, why) ? FT_ETCD_JOINS : FT_ETCD_LATER;
}

enum ft_etcd_part ft_etcd_part_of(const struct ft_rdzv_settings *s, uint32_t self, char why[FT_ETCD_WHY])
{
    enum ft_etcd_part part = FT_ETCD_NEW;
    char url[FT_RDZV_TEXT + 32];

    ft_etcd_url(&s->endpoints[self], true, url, sizeof url);
    for (uint32_t i = 0; i < s->n; i++) {
        json_t *list = i == self ? NULL : ask(&s->endpoints[i], "cluster/member/list", "{}", why);

        if (!list)
            continue;
        part = part_by(&s->endpoints[i], url, list, why);
        json_decref(list);
        if (part != FT_ETCD_LATER)
            return part;
    }
    return part;
}

bool ft_etcd_others_work(const struct ft_rdzv_settings *s, uint32_t self)
{
    char why[FT_ETCD_WHY];
    bool work = false;

    for (uint32_t i = 0; i < s->n && !work; i++) {
        json_t *status = i == self ? NULL : ask(&s->endpoints[i], "maintenance/status", "{}", why);
        const char *leader = json_string_value(json_object_get(status, "leader"));

        work = leader && strcmp(leader, "0") != 0;
        json_decref(status);
    }
    return work;
}
