/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/options/hosts.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <ifaddrs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "launcher/base/nearest.h"
#include "launcher/options/options.h"
#include "launcher/options/topology.h"
#include "launcher/options/values.h"

enum { NAME_BYTES = 256 };

/* An address of one of our interfaces, or of the loopback networks. */
static bool is_own_address(const char *name)
{
    struct ifaddrs *list, *i;
    unsigned char wanted[sizeof(struct in6_addr)];
    int family = inet_pton(AF_INET, name, wanted) == 1 ? AF_INET : inet_pton(AF_INET6, name, wanted) == 1 ? AF_INET6 : AF_UNSPEC;
    bool own = (family == AF_INET && wanted[0] == 127) || (family == AF_INET6 && !strcmp(name, "::1"));

    if (family == AF_UNSPEC || own || getifaddrs(&list) < 0)
        return own;
    for (i = list; i && !own; i = i->ifa_next) {
        if (!i->ifa_addr || i->ifa_addr->sa_family != family)
            continue;
        own = family == AF_INET ? !memcmp(&((struct sockaddr_in *)(void *)i->ifa_addr)->sin_addr, wanted, sizeof(struct in_addr))
                                : !memcmp(&((struct sockaddr_in6 *)(void *)i->ifa_addr)->sin6_addr, wanted, sizeof(struct in6_addr));
    }
    freeifaddrs(list);
    return own;
}

/* Our own name, with or without its domain. */
static bool is_this_host(const char *name)
{
    char own[NAME_BYTES] = "";
    size_t len;

    if (!strcasecmp(name, "localhost") || !strncasecmp(name, "localhost.", 10) || is_own_address(name))
        return true;
    gethostname(own, sizeof own - 1);
    len = strcspn(own, ".");
    if (!*own || strncasecmp(name, own, len) || (name[len] && name[len] != '.'))
        return false;
    return !name[len] || !own[len] || !strcasecmp(name, own);
}

/* "name" or "name:slots" (for IPv6 addresses "[name]:slots"); host->slots 0: no number. */
static int read_host(struct ft_options *o, const char *text, size_t len, const char *who, struct ft_host *host, struct ft_error *e)
{
    char whole[NAME_BYTES], *colon, *name = whole;
    uint64_t n = 0;

    snprintf(whole, sizeof whole, "%.*s", (int)len, text);
    if (*whole == '[' && (colon = strchr(whole, ']'))) {
        name = whole + 1;
        *colon++ = 0;
        colon = *colon == ':' ? colon : NULL;
    } else {
        colon = strchr(whole, ':');
        if (colon && strchr(colon + 1, ':'))
            colon = NULL;
    }
    if (colon)
        *colon++ = 0;
    for (size_t i = 0; i < len; i++)
        if (iscntrl((unsigned char)text[i]))
            return ft_err_set(e, FT_EINVAL, "%s: this is not text; wanted: NAME or NAME:SLOTS", who);
    /* "-": ssh would take it for an option */
    if (!*name || *name == '-' || len >= sizeof whole || (colon && (ft_values_number(colon, &n) < 0 || n < 1 || n > FT_RANKS_MAX)))
        return ft_err_set(e, FT_EINVAL, "%s: \"%.*s\" is not a host; wanted: NAME or NAME:SLOTS", who, (int)(len > 80 ? 80 : len), text);
    *host = (struct ft_host){.name = ft_options_keep(o, "%s", name), .slots = (uint32_t)n, .here = is_this_host(name)};
    return host->name ? 0 : ft_err_set(e, FT_EINVAL, "out of memory");
}

static struct ft_host *find(const struct ft_hosts *hosts, const char *name)
{
    for (size_t i = 0; i < hosts->n; i++)
        if (!strcasecmp(hosts->list[i].name, name))
            return &hosts->list[i];
    return NULL;
}

int ft_hosts_add(struct ft_options *o, struct ft_hosts *hosts, const struct ft_host *host)
{
    struct ft_host *same = find(hosts, host->name), *list;

    if (same) {
        same->slots += host->slots;
        return 0;
    }
    if (!(hosts->n & (hosts->n - 1))) { /* 0 or a power of two: it is full */
        list = ft_options_own(o, malloc((2 * hosts->n + 1) * sizeof *list));
        if (!list)
            return -1;
        for (size_t i = 0; i < hosts->n; i++)
            list[i] = hosts->list[i];
        hosts->list = list;
    }
    hosts->list[hosts->n++] = *host;
    return 0;
}

int ft_hosts_list(struct ft_options *o, const char *text, const char *who, struct ft_hosts *hosts, struct ft_error *e)
{
    for (;;) {
        size_t len = strcspn(text, ",");
        struct ft_host host;

        if (read_host(o, text, len, who, &host, e) < 0)
            return FT_EINVAL;
        host.slots += !host.slots;
        if (ft_hosts_add(o, hosts, &host) < 0)
            return ft_err_set(e, FT_EINVAL, "out of memory");
        if (!text[len])
            return 0;
        text += len + 1;
    }
}

/* What follows the name on a line: slots=N counts, max_slots=N and the like do not. What is hardly another word than slots is meant to be that. */
static int read_rest(char *rest, const char *where, uint32_t *slots, struct ft_error *e)
{
    char *word, *save = NULL;
    uint64_t n;

    for (; (word = strtok_r(rest, " \t", &save)); rest = NULL) {
        char *value = strchr(word, '=');

        if (!value)
            return ft_err_set(e, FT_EINVAL, "%s: \"%.80s\" is not understood; wanted: NAME [slots=N]", where, word);
        if (strncmp(word, "slots=", 6) && strncmp(word, "cpu=", 4) && strncmp(word, "count=", 6)) {
            if (ft_nearest_distance(word, (size_t)(value - word), "slots", 5) <= 2)
                return ft_err_set(e, FT_EINVAL, "%s: \"%.80s\" is not understood; did you mean slots=%.20s?", where, word, value + 1);
            continue;
        }
        if (ft_values_number(value + 1, &n) < 0 || n < 1 || n > FT_RANKS_MAX)
            return ft_err_set(e, FT_EINVAL, "%s: \"%.80s\" is not a number of slots", where, word);
        *slots = (uint32_t)n;
    }
    return 0;
}

static int read_line(struct ft_options *o, char *line, const char *where, struct ft_host *host, struct ft_error *e)
{
    size_t len;

    line[strcspn(line, "#\r\n")] = 0;
    line += strspn(line, " \t");
    len = strcspn(line, " \t");
    if (!len)
        return 1; /* nothing on it */
    if (read_host(o, line, len, where, host, e) < 0)
        return FT_EINVAL;
    return read_rest(line + len, where, &host->slots, e);
}

/* Adds the hosts in the order of the file; *counted: of those lines that have a number. */
static int read_lines(struct ft_options *o, FILE *f, const char *path, uint32_t each, struct ft_hosts *hosts, uint32_t *counted,
                      uint32_t *uncounted, struct ft_error *e)
{
    char line[1024], where[512];
    uint32_t number = 0;
    int err = 0;

    while (err >= 0 && fgets(line, sizeof line, f)) {
        struct ft_host host;

        snprintf(where, sizeof where, "%s:%u", path, ++number);
        if ((err = read_line(o, line, where, &host, e)))
            continue;
        *counted += host.slots;
        *uncounted += !host.slots;
        if (!host.slots)
            host.slots = each ? each : 1;
        if (ft_hosts_add(o, hosts, &host) < 0)
            err = ft_err_set(e, FT_EINVAL, "out of memory");
    }
    return err < 0 ? err : 0;
}

int ft_hosts_file(struct ft_options *o, const char *path, const char *who, uint32_t each, struct ft_hosts *hosts, struct ft_error *e)
{
    FILE *f = fopen(path, "re");
    struct ft_hosts listed = {0};
    uint32_t counted = 0, uncounted = 0;
    int err;

    if (!f)
        return ft_err_set(e, FT_EINVAL, "%s %s: %s", who, path, strerror(errno));
    errno = 0;
    err = read_lines(o, f, path, each, &listed, &counted, &uncounted, e);
    if (err >= 0 && ferror(f))
        err = ft_err_set(e, FT_EINVAL, "%s %s: %s", who, path, strerror(errno));
    fclose(f);
    if (err < 0)
        return err;
    if (!listed.n)
        return ft_err_set(e, FT_EINVAL, "%s %s: there is no host in it", who, path);
    if (!each && !counted && uncounted == 1 && listed.list->here)
        listed.list->slots = ft_topology_processors();
    for (size_t i = 0; i < listed.n; i++)
        if (ft_hosts_add(o, hosts, &listed.list[i]) < 0)
            return ft_err_set(e, FT_EINVAL, "out of memory");
    return 0;
}

uint32_t ft_hosts_slots(const struct ft_hosts *hosts)
{
    uint32_t n = 0;

    for (size_t i = 0; i < hosts->n; i++)
        n += hosts->list[i].slots;
    return n;
}

bool ft_hosts_elsewhere(const struct ft_hosts *hosts)
{
    for (size_t i = 0; i < hosts->n; i++)
        if (!hosts->list[i].here)
            return true;
    return false;
}
