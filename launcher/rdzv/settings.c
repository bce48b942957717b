/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/rdzv/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"
#include "launcher/rdzv/doc.h"

enum { MOST_SECONDS = 10000000, LEAST_LEASE_MS = 1000, MOST_LEASE_MS = 3600000 };

void ft_rdzv_settings_init(struct ft_rdzv_settings *s)
{
    *s = (struct ft_rdzv_settings){.timeout_ms = 600000, .last_call_ms = 30000, .lease_ms = 10000, .prefix = "/ftmpi/rdzv"};
}

/* ---- words ---- */

static int hex(char c)
{
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c | 0x20) : NULL;

    return at ? (int)(at - digits) : -1;
}

/* Copies len bytes, with %XX as the byte that it stands for. False: it does not fit, or is no text. */
static bool take(char *to, size_t size, const char *from, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)from[i];

        if (c == '%') {
            int high = i + 2 < len ? hex(from[i + 1]) : -1, low = high < 0 ? -1 : hex(from[i + 2]);

            if (i + 2 >= len || high < 0 || low < 0)
                return false;
            c = (unsigned char)(high * 16 + low);
            i += 2;
        }
        if (c < 0x20 || c == 0x7f || n + 1 >= size)
            return false;
        to[n++] = (char)c;
    }
    to[n] = 0;
    return true;
}

static bool number(const char *text, size_t len, uint64_t most, uint64_t *value)
{
    uint64_t v = 0;

    if (!len)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9' || (v = v * 10 + (uint64_t)(text[i] - '0')) > most)
            return false;
    }
    *value = v;
    return true;
}

/* "30", "0.5": in ms. */
static bool seconds(const char *text, uint64_t *ms)
{
    const char *point = strchr(text, '.');
    uint64_t whole, parts = 0;
    size_t digits = point ? strlen(point + 1) : 0;

    if (!number(text, point ? (size_t)(point - text) : strlen(text), MOST_SECONDS, &whole) ||
        (point && !number(point + 1, digits < 3 ? digits : 3, 999, &parts)) || (point && strspn(point + 1, "0123456789") != digits))
        return false;
    for (; point && digits < 3; digits++)
        parts *= 10;
    *ms = whole * 1000 + parts;
    return true;
}

static bool hosts(const char *text, uint32_t *value)
{
    uint64_t v;

    if (!number(text, strlen(text), FT_RDZV_MEMBERS, &v) || !v)
        return false;
    *value = (uint32_t)v;
    return true;
}

/* ---- parameters ---- */

static bool copy(char *to, size_t size, const char *value)
{
    if (!*value || strlen(value) >= size)
        return false;
    strcpy(to, value);
    return true;
}

static bool protocol(struct ft_rdzv_settings *s, const char *value)
{
    bool https = strcmp(value, "https") == 0;

    s->tls |= https;
    return https || strcmp(value, "http") == 0;
}

static bool prefix(struct ft_rdzv_settings *s, const char *value)
{
    size_t n = strlen(value);

    while (n > 1 && value[n - 1] == '/')
        n--;
    if (*value != '/' || n >= sizeof s->prefix)
        return false;
    snprintf(s->prefix, sizeof s->prefix, "%.*s", (int)n, value);
    return true;
}

/* 1: taken; 0: there is no such parameter; -1: not this value. */
static int set(struct ft_rdzv_settings *s, const char *name, const char *value)
{
    const struct { const char *name; char *to; } texts[] = {
        {"cacert", s->cacert}, {"cert", s->cert}, {"key", s->key}, {"password_file", s->password_file}, {"user", s->user}};
    const struct { const char *name; uint64_t *to; } times[] = {
        {"timeout", &s->timeout_ms}, {"join_timeout", &s->timeout_ms}, {"last_call_timeout", &s->last_call_ms}, {"lease", &s->lease_ms}};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(name, texts[i].name) == 0)
            return copy(texts[i].to, FT_RDZV_TEXT, value) ? 1 : -1;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (strcmp(name, times[i].name) == 0)
            return seconds(value, times[i].to) ? 1 : -1;
    if (strcmp(name, "min_workers") == 0)
        return hosts(value, &s->min) ? 1 : -1;
    if (strcmp(name, "max_workers") == 0)
        return hosts(value, &s->max) ? 1 : -1;
    if (strcmp(name, "etcd_prefix") == 0)
        return prefix(s, value) ? 1 : -1;
    if (strcmp(name, "protocol") == 0)
        return protocol(s, value) ? 1 : -1;
    return 0;
}

static int parameters(struct ft_rdzv_settings *s, const char *text, struct ft_error *e)
{
    while (*text) {
        size_t len = strcspn(text, "&"), eq = strcspn(text, "=&");
        char name[64], value[FT_RDZV_TEXT];
        int known;

        if (eq >= len || !take(name, sizeof name, text, eq) || !take(value, sizeof value, text + eq + 1, len - eq - 1))
            return ft_err_set(e, FT_EINVAL, "--rdzv: \"%.*s\" is no NAME=VALUE", (int)(len < 100 ? len : 100), text);
        known = set(s, name, value);
        if (!known)
            return ft_err_set(e, FT_EINVAL, "--rdzv: there is no parameter \"%s\" (docs/rendezvous.md has them)", name);
        if (known < 0)
            return ft_err_set(e, FT_EINVAL, "--rdzv: %s cannot be \"%s\"", name, value);
        text += len + (text[len] == '&');
    }
    return 0;
}

/* ---- the URL ---- */

static bool endpoint(struct ft_rdzv_endpoint *p, const char *text, size_t len, uint16_t port)
{
    const char *colon = memchr(text, ':', len), *close;
    uint64_t given = port;

    if (len && *text == '[') {
        close = memchr(text, ']', len);
        if (!close || !take(p->host, sizeof p->host, text + 1, (size_t)(close - text - 1)))
            return false;
        colon = close + 1 < text + len ? close + 1 : NULL;
        if (colon && *colon != ':')
            return false;
    } else if (!take(p->host, sizeof p->host, text, colon ? (size_t)(colon - text) : len)) {
        return false;
    }
    if (colon && (!number(colon + 1, (size_t)(text + len - colon - 1), UINT16_MAX, &given) || !given))
        return false;
    p->port = (uint16_t)given;
    return *p->host && strcspn(p->host, " /?#@\"\\") == strlen(p->host);
}

/* Of what is no endpoint only so much is shown: what follows a colon may be of a password. */
static int named(const char *text, size_t n)
{
    const char *colon = memchr(text, ':', n);

    n = colon ? (size_t)(colon - text) : n;
    return (int)(n < 100 ? n : 100);
}

static int endpoints(struct ft_rdzv_settings *s, const char *text, size_t len, struct ft_error *e)
{
    uint16_t port = s->embedded ? FT_RDZV_PORT : FT_RDZV_ETCD_PORT;

    for (;;) {
        const char *comma = memchr(text, ',', len);
        size_t n = comma ? (size_t)(comma - text) : len;

        if (s->n == FT_RDZV_ENDPOINTS)
            return ft_err_set(e, FT_EINVAL, "--rdzv: more than %d hosts of the store are given", FT_RDZV_ENDPOINTS);
        if (!endpoint(&s->endpoints[s->n], text, n, port))
            return ft_err_set(e, FT_EINVAL, "--rdzv: \"%.*s\" is no HOST or HOST:PORT", named(text, n), text);
        s->n++;
        if (!comma)
            return 0;
        text = comma + 1;
        len -= n + 1;
    }
}

static int user(struct ft_rdzv_settings *s, const char *text, size_t len, struct ft_error *e)
{
    const char *colon = memchr(text, ':', len);
    size_t n = colon ? (size_t)(colon - text) : len;

    if (!take(s->user, sizeof s->user, text, n) || !*s->user ||
        (colon && !take(s->password, sizeof s->password, colon + 1, len - n - 1)))
        return ft_err_set(e, FT_EINVAL, "--rdzv: what stands before the @ is no USER or USER:PASSWORD");
    return 0;
}

static bool scheme(struct ft_rdzv_settings *s, const char *url, size_t len)
{
    static const struct { const char *name; bool embedded, tls, etcds; } schemes[] = {
        {"rdzv", true, false, false}, {"c10d", true, false, false}, {"etcd", false, false, false}, {"etcd-v2", false, false, false},
        {"etcds", false, true, false}, {"etcd-embedded", false, false, true}};

    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strlen(schemes[i].name) == len && memcmp(url, schemes[i].name, len) == 0) {
            s->embedded = schemes[i].embedded;
            s->tls = schemes[i].tls;
            s->etcds = schemes[i].etcds;
            return true;
        }
    return false;
}

static int job(struct ft_rdzv_settings *s, const char *text, size_t len, struct ft_error *e)
{
    if (!take(s->job, sizeof s->job, text, len) || strlen(s->job) > FT_RDZV_JOB - 1 || !ft_rdzv_is_name(s->job))
        return ft_err_set(e, FT_EINVAL, "--rdzv: \"%.*s\" is no name of a job (letters, digits, - _ and .; as rdzv://HOST/JOB)",
                          (int)(len < 100 ? len : 100), text);
    return 0;
}

int ft_rdzv_settings_url(struct ft_rdzv_settings *s, const char *url, struct ft_error *e)
{
    const char *hosts_at = strstr(url, "://"), *path, *query, *at;
    size_t len;

    if (!hosts_at || !scheme(s, url, (size_t)(hosts_at - url)))
        return ft_err_set(e, FT_EINVAL, "--rdzv: what stands before :// is none of rdzv, etcd, etcds, etcd-embedded, c10d, etcd-v2");
    hosts_at += 3;
    len = strcspn(hosts_at, "/?");
    at = memrchr(hosts_at, '@', len);
    if (at && s->embedded)
        return ft_err_set(e, FT_EINVAL, "--rdzv: rdzv:// has no users; the job's secret file is what lets hosts in");
    if (at && user(s, hosts_at, (size_t)(at - hosts_at), e) < 0)
        return FT_EINVAL;
    path = hosts_at + len;
    if (at) {
        len -= (size_t)(at + 1 - hosts_at);
        hosts_at = at + 1;
    }
    query = path + strcspn(path, "?");
    if (endpoints(s, hosts_at, len, e) < 0 || job(s, path + (*path == '/'), (size_t)(query - path) - (*path == '/'), e) < 0)
        return FT_EINVAL;
    if (s->etcds)
        s->n = s->n >= 3 ? 3 : 1; /* of two both would have to live */
    if (s->embedded && s->n > 1)
        return ft_err_set(e, FT_EINVAL, "--rdzv: rdzv:// names one host; several are etcd's");
    return *query ? parameters(s, query + 1, e) : 0;
}

int ft_rdzv_settings_nodes(struct ft_rdzv_settings *s, const char *nodes, struct ft_error *e)
{
    size_t len = strcspn(nodes, ":");
    uint64_t min, max = 0;

    if (!number(nodes, len, FT_RDZV_MEMBERS, &min) || !min ||
        (nodes[len] && (!number(nodes + len + 1, strlen(nodes + len + 1), FT_RDZV_MEMBERS, &max) || max < min)))
        return ft_err_set(e, FT_EINVAL, "--nodes: \"%.40s\" is no number of hosts, or MIN:MAX (up to %d)", nodes, FT_RDZV_MEMBERS);
    s->min = (uint32_t)min;
    s->max = (uint32_t)(nodes[len] ? max : min);
    return 0;
}

int ft_rdzv_settings_check(struct ft_rdzv_settings *s, struct ft_error *e)
{
    if (!s->min)
        s->min = 1;
    if (!s->max)
        s->max = s->min;
    if (s->max < s->min)
        return ft_err_set(e, FT_EINVAL, "--rdzv: at most %u host%s, and at least %u", s->max, ft_plural(s->max), s->min);
    if (s->lease_ms < LEAST_LEASE_MS || s->lease_ms > MOST_LEASE_MS || s->lease_ms % 1000)
        return ft_err_set(e, FT_EINVAL, "--rdzv: a lease is of whole seconds, 1 to %d", MOST_LEASE_MS / 1000);
    if (!s->timeout_ms)
        return ft_err_set(e, FT_EINVAL, "--rdzv: timeout: a host waits for the others for more than 0 s");
    if (!*s->cert != !*s->key)
        return ft_err_set(e, FT_EINVAL, "--rdzv: cert and key go together");
    if (s->embedded && (s->tls || *s->cacert || *s->cert))
        return ft_err_set(e, FT_EINVAL, "--rdzv: there is no TLS with rdzv://; etcds:// has it");
    if (s->etcds && (s->tls || *s->user || *s->cacert || *s->cert))
        return ft_err_set(e, FT_EINVAL, "--rdzv: with etcd-embedded:// there are neither users nor TLS; etcds:// has them");
    for (uint32_t i = 0; s->etcds && i < s->n; i++)
        if (s->endpoints[i].port == UINT16_MAX)
            return ft_err_set(e, FT_EINVAL, "--rdzv: etcd-embedded:// takes two ports, PORT and the next; there is none after %d",
                              UINT16_MAX);
    if (!s->tls && (*s->cacert || *s->cert))
        return ft_err_set(e, FT_EINVAL, "--rdzv: cacert, cert and key are for etcds://, or protocol=https");
    return 0;
}

/* ---- torchrun ---- */

typedef const char *ft_get(void *arg, const char *name);

static const char *said(ft_get *get, void *arg, const char *name)
{
    const char *value = get(arg, name);

    return value && *value ? value : NULL;
}

static int whole(ft_get *get, void *arg, const char *name, int64_t *value, struct ft_error *e)
{
    const char *text = said(get, arg, name);
    uint64_t v;

    *value = -1;
    if (!text)
        return 0;
    if (!number(text, strlen(text), INT32_MAX, &v))
        return ft_err_set(e, FT_EINVAL, "%s: \"%.40s\" is no number", name, text);
    *value = (int64_t)v;
    return 0;
}

/* "timeout=60,last_call_timeout=5": what we have no use for is for torchrun alone. */
static int conf(struct ft_rdzv_settings *s, const char *text, struct ft_error *e)
{
    while (*text) {
        size_t len = strcspn(text, ","), eq = strcspn(text, "=,");
        char name[64], value[FT_RDZV_TEXT];

        if (eq >= len || !take(name, sizeof name, text, eq) || !take(value, sizeof value, text + eq + 1, len - eq - 1))
            return ft_err_set(e, FT_EINVAL, "PET_RDZV_CONF: \"%.*s\" is no NAME=VALUE", (int)(len < 100 ? len : 100), text);
        if (set(s, name, value) < 0)
            return ft_err_set(e, FT_EINVAL, "PET_RDZV_CONF: %s cannot be \"%s\"", name, value);
        text += len + (text[len] == ',');
    }
    return 0;
}

static int where(struct ft_rdzv_settings *s, ft_get *get, void *arg, struct ft_error *e)
{
    const char *endpoint_at = said(get, arg, "PET_RDZV_ENDPOINT"), *master = said(get, arg, "PET_MASTER_ADDR"), *port = said(get, arg, "PET_MASTER_PORT");
    char text[FT_RDZV_TEXT];

    if (!endpoint_at && !master)
        return ft_err_set(e, FT_EINVAL, "PET_NNODES is set, but neither PET_RDZV_ENDPOINT nor PET_MASTER_ADDR: who finds the others where?");
    if (!endpoint_at) {
        snprintf(text, sizeof text, "%s:%s", master, port ? port : "29500");
        endpoint_at = text;
    }
    if (endpoints(s, endpoint_at, strlen(endpoint_at), e) < 0)
        return FT_EINVAL;
    if (s->embedded && s->n > 1)
        return ft_err_set(e, FT_EINVAL, "PET_RDZV_ENDPOINT: one host is wanted, not several");
    return 0;
}

static int backend(struct ft_rdzv_settings *s, const char *name, struct ft_error *e)
{
    if (name && strcmp(name, "static") != 0 && strcmp(name, "c10d") != 0 && strcmp(name, "etcd") != 0 && strcmp(name, "etcd-v2") != 0)
        return ft_err_set(e, FT_EINVAL, "PET_RDZV_BACKEND: \"%.40s\" is none of static, c10d, etcd, etcd-v2", name);
    s->embedded = !name || name[0] != 'e';
    return 0;
}

int ft_rdzv_settings_torchrun(struct ft_rdzv_settings *s, struct ft_rdzv_torchrun *t, ft_get *get, void *arg, struct ft_error *e)
{
    const char *nodes = said(get, arg, "PET_NNODES"), *more = said(get, arg, "PET_RDZV_CONF"), *id = said(get, arg, "PET_RDZV_ID"),
               *nproc = said(get, arg, "PET_NPROC_PER_NODE");

    ft_rdzv_settings_init(s);
    *t = (struct ft_rdzv_torchrun){0};
    if (nproc && !copy(t->nproc, sizeof t->nproc, nproc))
        return ft_err_set(e, FT_EINVAL, "PET_NPROC_PER_NODE: \"%.40s\" is no number", nproc);
    if (whole(get, arg, "PET_NODE_RANK", &t->node_rank, e) < 0 || whole(get, arg, "PET_MAX_RESTARTS", &t->max_restarts, e) < 0)
        return FT_EINVAL;
    if (!nodes)
        return 0;
    id = id ? id : "none"; /* as torchrun has it */
    if (ft_rdzv_settings_nodes(s, nodes, e) < 0 || backend(s, said(get, arg, "PET_RDZV_BACKEND"), e) < 0 || where(s, get, arg, e) < 0 ||
        job(s, id, strlen(id), e) < 0 || (more && conf(s, more, e) < 0) || ft_rdzv_settings_check(s, e) < 0)
        return FT_EINVAL;
    return 1;
}

/* ---- for people ---- */

const char *ft_rdzv_settings_print(const struct ft_rdzv_settings *s, char *text, unsigned size)
{
    bool six = strchr(s->endpoints[0].host, ':');
    char more[32] = "";

    if (s->n > 1)
        snprintf(more, sizeof more, " and %u more", s->n - 1);
    snprintf(text, size, "%s://%s%s%s:%u%s", s->embedded ? "rdzv" : s->etcds ? "etcd-embedded" : s->tls ? "etcds" : "etcd", six ? "[" : "",
             s->endpoints[0].host, six ? "]" : "", s->endpoints[0].port, more);
    return text;
}

void ft_rdzv_settings_hide(char *url)
{
    char *hosts_at = strstr(url, "://"), *at, *colon;

    if (!hosts_at)
        return;
    hosts_at += 3;
    at = memrchr(hosts_at, '@', strcspn(hosts_at, "/?"));
    colon = at ? memchr(hosts_at, ':', (size_t)(at - hosts_at)) : NULL;
    if (colon)
        memset(colon + 1, 'x', (size_t)(at - colon - 1));
}
