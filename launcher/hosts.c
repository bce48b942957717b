/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/hosts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "launcher/options.h"
#include "launcher/topology.h"
#include "launcher/values.h"

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

/* "name" or "name:slots" (for IPv6 addresses "[name]:slots"); *slots 0: no number. */
static int read_host(const char *text, size_t len, const char *who, uint32_t *slots, struct ft_error *e)
{
    char name[NAME_BYTES], *colon, *host = name;
    uint64_t n = 0;

    snprintf(name, sizeof name, "%.*s", (int)len, text);
    if (*name == '[' && (colon = strchr(name, ']'))) {
        host = name + 1;
        *colon++ = 0;
        colon = *colon == ':' ? colon : NULL;
    } else {
        colon = strchr(name, ':');
        if (colon && strchr(colon + 1, ':'))
            colon = NULL;
    }
    if (colon)
        *colon++ = 0;
    if (!*host || len >= sizeof name || (colon && (ft_values_number(colon, &n) < 0 || n < 1 || n > FT_RANKS_MAX)))
        return ft_err_set(e, FT_EINVAL, "%s: \"%.*s\" is not a host; wanted: NAME or NAME:SLOTS", who, (int)(len > 80 ? 80 : len), text);
    if (!is_this_host(host))
        return ft_err_set(e, FT_EINVAL, "%s: %.80s is another host than this one; jobs on several hosts are not there yet", who, host);
    *slots = (uint32_t)n;
    return 0;
}

int ft_hosts_list(const char *text, const char *who, uint32_t *slots, struct ft_error *e)
{
    for (;;) {
        size_t len = strcspn(text, ",");
        uint32_t n;

        if (read_host(text, len, who, &n, e) < 0)
            return FT_EINVAL;
        *slots += n ? n : 1;
        if (!text[len])
            return 0;
        text += len + 1;
    }
}

/* What follows the name on a line: slots=N counts, max_slots=N and the like do not. */
static int read_rest(char *rest, const char *where, uint32_t *slots, struct ft_error *e)
{
    char *word, *save = NULL;
    uint64_t n;

    for (; (word = strtok_r(rest, " \t", &save)); rest = NULL) {
        char *value = strchr(word, '=');

        if (!value)
            return ft_err_set(e, FT_EINVAL, "%s: \"%.80s\" is not understood; wanted: NAME [slots=N]", where, word);
        if (strncmp(word, "slots=", 6) && strncmp(word, "cpu=", 4) && strncmp(word, "count=", 6))
            continue;
        if (ft_values_number(value + 1, &n) < 0 || n < 1 || n > FT_RANKS_MAX)
            return ft_err_set(e, FT_EINVAL, "%s: \"%.80s\" is not a number of slots", where, word);
        *slots = (uint32_t)n;
    }
    return 0;
}

static int read_line(char *line, const char *where, uint32_t *slots, struct ft_error *e)
{
    size_t len;

    line[strcspn(line, "#\r\n")] = 0;
    line += strspn(line, " \t");
    len = strcspn(line, " \t");
    if (!len)
        return 1; /* nothing on it */
    if (read_host(line, len, where, slots, e) < 0)
        return FT_EINVAL;
    return read_rest(line + len, where, slots, e);
}

int ft_hosts_file(const char *path, const char *who, uint32_t each, uint32_t *slots, struct ft_error *e)
{
    FILE *f = fopen(path, "re");
    char line[1024], where[512];
    uint32_t number = 0, counted = 0, uncounted = 0;
    int err = 0;

    if (!f)
        return ft_err_set(e, FT_EINVAL, "%s %s: %s", who, path, strerror(errno));
    errno = 0;
    while (err >= 0 && fgets(line, sizeof line, f)) {
        uint32_t n = 0;

        snprintf(where, sizeof where, "%s:%u", path, ++number);
        if ((err = read_line(line, where, &n, e)) == 0) {
            counted += n;
            uncounted += !n;
        }
    }
    if (err >= 0 && ferror(f))
        err = ft_err_set(e, FT_EINVAL, "%s %s: %s", who, path, strerror(errno));
    fclose(f);
    if (err < 0)
        return err;
    if (!counted && !uncounted)
        return ft_err_set(e, FT_EINVAL, "%s %s: there is no host in it", who, path);
    *slots += counted + uncounted * (each ? each : !counted && uncounted == 1 ? ft_topology_processors() : 1);
    return 0;
}
