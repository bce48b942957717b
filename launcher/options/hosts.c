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
bool ft_hosts_is_here(const char *name)
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

/* ssh would take "-" for an option, and people other things for more than a name: quotes, "+n0" and "^name", a list in brackets. */
bool ft_hosts_is_name(const char *name)
{
    return *name && *name != '-' && *name != '@' && !name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_:%@")];
}

static int bad_host(const char *who, const char *text, size_t len, struct ft_error *e)
{
    int n = (int)(len > 80 ? 80 : len);

    if (*text == '+')
        return ft_err_set(e, FT_EINVAL, "%s: \"%.*s\": hosts by their place in another list are not supported; wanted: NAME or NAME:SLOTS", who, n, text);
    return ft_err_set(e, FT_EINVAL, "%s: \"%.*s\" is not a host; wanted: NAME or NAME:SLOTS", who, n, text);
}

/* "name" or "name:slots" (for IPv6 addresses "[name]:slots"); host->slots 0: no number. "name:*" has as many as processors. */
static int read_host(struct ft_options *o, const char *text, size_t len, const char *who, struct ft_host *host, struct ft_error *e)
{
    char whole[NAME_BYTES], *colon, *name = whole;
    bool all, here;
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
    all = colon && (!strcmp(colon, "*") || !strcmp(colon, "auto"));
    if (!ft_hosts_is_name(name) || len >= sizeof whole || (colon && !all && (ft_values_number(colon, &n) < 0 || n < 1 || n > FT_RANKS_MAX)))
        return bad_host(who, text, len, e);
    here = ft_hosts_is_here(name);
    if (all && !here)
        return ft_err_set(e, FT_EINVAL, "%s: \"%.*s\": how many processors it has is not known here; wanted: NAME:SLOTS", who, (int)len, text);
    *host = (struct ft_host){.name = ft_options_keep(o, "%s", name), .slots = all ? ft_topology_processors() : (uint32_t)n, .here = here};
    return host->name ? 0 : ft_err_set(e, FT_EINVAL, "out of memory");
}

struct ft_host *ft_hosts_find(const struct ft_hosts *hosts, const char *name)
{
    for (size_t i = 0; i < hosts->n; i++)
        if (!strcasecmp(hosts->list[i].name, name))
            return &hosts->list[i];
    return NULL;
}

int ft_hosts_add(struct ft_options *o, struct ft_hosts *hosts, const struct ft_host *host)
{
    struct ft_host *same = ft_hosts_find(hosts, host->name), *list;

    if (same) {
        same->slots += host->slots;
        same->most = same->most && host->most ? same->most + host->most : 0;
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

/* ---- host files: what stands on a line, as Open MPI 4 reads it ---- */

enum word { SLOTS, MOST, USER, IGNORED, NWORDS };

static const struct {
    const char *name;
    enum word word;
} words[] = { /* "-" is as good as "_" */
    {"slots", SLOTS}, {"cpu", SLOTS}, {"count", SLOTS},
    {"max_slots", MOST}, {"slots_max", MOST}, {"max_cpu", MOST}, {"cpu_max", MOST}, {"max_count", MOST}, {"count_max", MOST},
    {"username", USER}, {"user_name", USER},
    {"boards", IGNORED}, {"sockets", IGNORED}, {"sockets_per_board", IGNORED}, {"cores", IGNORED}, {"cores_per_socket", IGNORED}, {"cpu_set", IGNORED},
};

static enum word word_of(const char *text)
{
    char name[32];

    snprintf(name, sizeof name, "%s", text);
    for (char *c = name; *c; c++)
        *c = *c == '-' ? '_' : *c;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (!strcmp(name, words[i].name))
            return words[i].word;
    return NWORDS;
}

static int not_understood(const char *where, const char *word, const char *value, struct ft_error *e)
{
    if (value && ft_nearest_distance(word, strlen(word), "slots", 5) <= 2)
        return ft_err_set(e, FT_EINVAL, "%s: \"%.80s=%.80s\" is not understood; did you mean slots=%.20s?", where, word, value, value);
    return ft_err_set(e, FT_EINVAL, "%s: \"%.80s%s%.80s\" is not understood; wanted: NAME [slots=N] [max_slots=N]", where, word, value ? "=" : "",
                      value ? value : "");
}

/* The next "word = value" of a line; *value NULL: there is none. NULL: no word is left. */
static char *next_word(char **rest, char **value)
{
    char *word = *rest + strspn(*rest, " \t"), *end = word + strcspn(word, " \t="), *after = end + strspn(end, " \t");

    *value = NULL;
    if (!*word)
        return NULL;
    if (*after == '=') {
        *value = after + 1 + strspn(after + 1, " \t");
        after = *value + strcspn(*value, " \t");
    }
    *rest = after + (*after != 0 && *value);
    *end = 0;
    if (*value)
        *after = 0;
    return word;
}

static int read_number(const char *where, const char *word, const char *value, uint32_t *number, struct ft_error *e)
{
    uint64_t n;

    if (ft_values_number(value, &n) < 0 || n < 1 || n > FT_RANKS_MAX)
        return ft_err_set(e, FT_EINVAL, "%s: \"%.80s=%.80s\" is not a number of slots", where, word, value);
    *number = (uint32_t)n;
    return 0;
}

static int set_user(struct ft_options *o, const char *where, const char *user, struct ft_host *host, struct ft_error *e)
{
    if (!ft_hosts_is_name(user) || strpbrk(user, "@:%") || strchr(host->name, '@'))
        return ft_err_set(e, FT_EINVAL, "%s: \"%.80s\" is not the name of a user", where, user);
    host->name = ft_options_keep(o, "%s@%s", user, host->name);
    host->here = false;
    return host->name ? 0 : ft_err_set(e, FT_EINVAL, "out of memory");
}

static int read_rest(struct ft_options *o, char *rest, const char *where, struct ft_host *host, struct ft_error *e)
{
    char *word, *value;
    int err = 0;

    while (!err && (word = next_word(&rest, &value))) {
        enum word w = value ? word_of(word) : NWORDS;

        if (w == SLOTS)
            err = read_number(where, word, value, &host->slots, e);
        else if (w == MOST)
            err = read_number(where, word, value, &host->most, e);
        else if (w == USER)
            err = set_user(o, where, value, host, e);
        else if (w == NWORDS)
            err = not_understood(where, word, value, e);
    }
    if (!err && host->most && host->most < host->slots)
        err = ft_err_set(e, FT_EINVAL, "%s: max_slots=%u is less than slots=%u", where, host->most, host->slots);
    if (!host->slots)
        host->slots = host->most;
    return err;
}

/* Comments: from "#" or "//" on, and what stands between "/" "*" and "*" "/", which may be on another line. */
static void strip_comments(char *line, bool *inside)
{
    char *to = line;

    for (const char *c = line; *c; c++) {
        if (*inside) {
            *inside = strncmp(c, "*/", 2) != 0;
            c += !*inside;
        } else if (!strncmp(c, "/*", 2)) {
            *inside = true;
            *to++ = ' ';
            c++;
        } else if (*c == '#' || !strncmp(c, "//", 2) || *c == '\r' || *c == '\n') {
            break;
        } else {
            *to++ = *c;
        }
    }
    *to = 0;
}

/* 1: nothing is on it. */
static int read_line(struct ft_options *o, char *line, const char *where, struct ft_host *host, bool *excluded, struct ft_error *e)
{
    size_t len;

    line += strspn(line, " \t");
    len = strcspn(line, " \t");
    if (!len)
        return 1;
    if (len == 4 && !memcmp(line, "rank", len) && isdigit((unsigned char)line[len + strspn(line + len, " \t")]))
        return ft_err_set(e, FT_EINVAL, "%s: a line of a rank file; ranks are placed by -N, --map-by and the order of hosts", where);
    *excluded = *line == '^';
    if (read_host(o, line + *excluded, len - *excluded, where, host, e) < 0)
        return FT_EINVAL;
    return read_rest(o, line + len, where, host, e);
}

/* Of a file: hosts in its order, and those that are not to be among them. */
struct listed {
    struct ft_hosts hosts, excluded;
    uint32_t counted, uncounted; /* slots of lines that have a number; lines that have none */
};

static int add_line(struct ft_options *o, struct listed *l, struct ft_host *host, uint32_t each, bool excluded, struct ft_error *e)
{
    if (!excluded) {
        l->counted += host->slots;
        l->uncounted += !host->slots;
        if (!host->slots)
            host->slots = each ? each : 1;
    }
    return ft_hosts_add(o, excluded ? &l->excluded : &l->hosts, host) < 0 ? ft_err_set(e, FT_EINVAL, "out of memory") : 0;
}

static int read_lines(struct ft_options *o, FILE *f, const char *path, uint32_t each, struct listed *l, struct ft_error *e)
{
    char *line = NULL, where[512];
    bool inside = false, excluded = false;
    uint32_t number = 0;
    size_t room = 0;
    int err = 0;

    while (err >= 0 && getline(&line, &room, f) >= 0) {
        struct ft_host host;

        snprintf(where, sizeof where, "%s:%u", path, ++number);
        strip_comments(line, &inside);
        if (!(err = read_line(o, line, where, &host, &excluded, e)))
            err = add_line(o, l, &host, each, excluded, e);
    }
    free(line);
    return err < 0 ? err : 0;
}

int ft_hosts_file(struct ft_options *o, const char *path, const char *who, uint32_t each, struct ft_hosts *hosts, struct ft_error *e)
{
    FILE *f = fopen(path, "re");
    struct listed l = {.counted = 0};
    bool any = false;
    int err;

    if (!f)
        return ft_err_set(e, FT_EINVAL, "%s %s: %s", who, path, strerror(errno));
    errno = 0;
    err = read_lines(o, f, path, each, &l, e);
    if (err >= 0 && ferror(f))
        err = ft_err_set(e, FT_EINVAL, "%s %s: %s", who, path, strerror(errno));
    fclose(f);
    if (err < 0)
        return err;
    for (size_t i = 0; i < l.hosts.n; i++) {
        if (ft_hosts_find(&l.excluded, l.hosts.list[i].name))
            continue;
        if (!each && !l.counted && l.uncounted == 1 && l.hosts.list[i].here)
            l.hosts.list[i].slots = ft_topology_processors();
        if (ft_hosts_add(o, hosts, &l.hosts.list[i]) < 0)
            return ft_err_set(e, FT_EINVAL, "out of memory");
        any = true;
    }
    return any ? 0 : ft_err_set(e, FT_EINVAL, "%s %s: there is no host in it", who, path);
}

uint32_t ft_hosts_slots(const struct ft_hosts *hosts)
{
    uint32_t n = 0;

    for (size_t i = 0; i < hosts->n; i++)
        n += hosts->list[i].slots;
    return n;
}

uint32_t ft_hosts_most(const struct ft_hosts *hosts)
{
    uint32_t n = 0;

    for (size_t i = 0; i < hosts->n; i++) {
        if (!hosts->list[i].most)
            return 0;
        n += hosts->list[i].most;
    }
    return n;
}

int ft_hosts_no_place(uint32_t more, struct ft_error *e)
{
    return ft_err_set(e, FT_EINVAL, "%u rank%s more than the hosts may have (max_slots)", more, more == 1 ? "" : "s");
}

bool ft_hosts_are_named(const struct ft_options *o)
{
    bool all = true;

    for (size_t c = 0; c < o->ncontexts; c++)
        all &= o->contexts[c].hosts.n > 0;
    return all || o->hosts.n > 0;
}

bool ft_hosts_elsewhere(const struct ft_hosts *hosts)
{
    for (size_t i = 0; i < hosts->n; i++)
        if (!hosts->list[i].here)
            return true;
    return false;
}
