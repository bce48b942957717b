/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/base/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BACKLOG = 1024 /* all nodes of a job connect at once; the kernel has its own limit */ };

static struct sockaddr_in *v4(const struct ft_address *a) { return (struct sockaddr_in *)(void *)&a->s; }
static struct sockaddr_in6 *v6(const struct ft_address *a) { return (struct sockaddr_in6 *)(void *)&a->s; }

bool ft_address_parse(struct ft_address *a, const char *ip, uint16_t port)
{
    char host[FT_ADDRESS_TEXT];
    char *zone;

    memset(a, 0, sizeof *a);
    if (inet_pton(AF_INET, ip, &v4(a)->sin_addr) == 1) {
        v4(a)->sin_family = AF_INET;
        v4(a)->sin_port = htons(port);
        a->len = sizeof(struct sockaddr_in);
        return true;
    }
    if (strlen(ip) >= sizeof host)
        return false;
    strcpy(host, ip);
    zone = strchr(host, '%');
    if (zone)
        *zone++ = 0;
    if (inet_pton(AF_INET6, host, &v6(a)->sin6_addr) != 1 || (zone && !(v6(a)->sin6_scope_id = if_nametoindex(zone))))
        return false;
    v6(a)->sin6_family = AF_INET6;
    v6(a)->sin6_port = htons(port);
    a->len = sizeof(struct sockaddr_in6);
    return true;
}

const char *ft_address_ip(const struct ft_address *a, char text[FT_ADDRESS_TEXT])
{
    char ip[INET6_ADDRSTRLEN], zone[IF_NAMESIZE];

    if (a->s.ss_family == AF_INET && inet_ntop(AF_INET, &v4(a)->sin_addr, ip, sizeof ip))
        snprintf(text, FT_ADDRESS_TEXT, "%s", ip);
    else if (a->s.ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&v6(a)->sin6_addr) &&
             inet_ntop(AF_INET, v6(a)->sin6_addr.s6_addr + 12, ip, sizeof ip))
        snprintf(text, FT_ADDRESS_TEXT, "%s", ip); /* came in at a socket for both kinds */
    else if (a->s.ss_family == AF_INET6 && inet_ntop(AF_INET6, &v6(a)->sin6_addr, ip, sizeof ip))
        snprintf(text, FT_ADDRESS_TEXT, v6(a)->sin6_scope_id && if_indextoname(v6(a)->sin6_scope_id, zone) ? "%s%%%s" : "%s", ip, zone);
    else
        snprintf(text, FT_ADDRESS_TEXT, "?");
    return text;
}

uint16_t ft_address_port(const struct ft_address *a)
{
    return a->s.ss_family == AF_INET ? ntohs(v4(a)->sin_port) : a->s.ss_family == AF_INET6 ? ntohs(v6(a)->sin6_port) : 0;
}

const char *ft_address_print(const struct ft_address *a, char text[FT_ADDRESS_TEXT])
{
    char ip[FT_ADDRESS_TEXT - 8]; /* an address with its zone is shorter */
    char whole[FT_ADDRESS_TEXT];

    snprintf(ip, sizeof ip, "%s", ft_address_ip(a, whole));
    if (!ft_address_port(a))
        snprintf(text, FT_ADDRESS_TEXT, "%s", ip);
    else
        snprintf(text, FT_ADDRESS_TEXT, strchr(ip, ':') ? "[%s]:%u" : "%s:%u", ip, ft_address_port(a));
    return text;
}

/* What --iface names. */
struct filter {
    const char *name;        /* an interface; or, NULL, a network: */
    int family;
    unsigned char net[16];
    unsigned bits;
};

static bool read_filter(const char *spec, struct filter *f)
{
    char ip[FT_ADDRESS_TEXT];
    const char *slash = strchr(spec, '/');
    size_t len = slash ? (size_t)(slash - spec) : strlen(spec);
    char *end;

    *f = (struct filter){.name = spec};
    if (len >= sizeof ip)
        return !slash;
    memcpy(ip, spec, len);
    ip[len] = 0;
    f->family = inet_pton(AF_INET, ip, f->net) == 1 ? AF_INET : inet_pton(AF_INET6, ip, f->net) == 1 ? AF_INET6 : AF_UNSPEC;
    if (f->family == AF_UNSPEC)
        return !slash;
    f->name = NULL;
    f->bits = f->family == AF_INET ? 32 : 128;
    if (slash) {
        unsigned long bits = strtoul(slash + 1, &end, 10);

        if (end == slash + 1 || *end || bits > f->bits)
            return false;
        f->bits = (unsigned)bits;
    }
    return true;
}

static bool fits(const struct filter *f, const char *name, const struct ft_address *a)
{
    const unsigned char *own = a->s.ss_family == AF_INET ? (const unsigned char *)&v4(a)->sin_addr : v6(a)->sin6_addr.s6_addr;
    unsigned whole = f->bits / 8, rest = f->bits % 8;

    if (f->name)
        return !strcmp(f->name, name);
    return a->s.ss_family == f->family && !memcmp(own, f->net, whole) &&
           (!rest || (own[whole] ^ f->net[whole]) >> (8 - rest) == 0);
}

static bool take(const struct ifaddrs *i, struct ft_address *a)
{
    memset(a, 0, sizeof *a);
    if (!i->ifa_addr || !(i->ifa_flags & IFF_UP))
        return false;
    a->len = i->ifa_addr->sa_family == AF_INET    ? sizeof(struct sockaddr_in)
             : i->ifa_addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                  : 0;
    memcpy(&a->s, i->ifa_addr, a->len);
    return a->len > 0;
}

static bool is_link_local(const struct ft_address *a)
{
    return a->s.ss_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&v6(a)->sin6_addr);
}

/* Our addresses that fit f (NULL: all): real ones, then loopback. Those good on one link only are not for others to have, unless they
   are asked for. */
static size_t own_addresses(const struct ifaddrs *all, const struct filter *f, struct ft_address list[FT_ADDRESSES])
{
    struct ft_address a;
    size_t n = 0;

    for (int loopback = 0; loopback < 2; loopback++)
        for (const struct ifaddrs *i = all; i && n < FT_ADDRESSES; i = i->ifa_next)
            if (take(i, &a) && !!(i->ifa_flags & IFF_LOOPBACK) == loopback && (f ? fits(f, i->ifa_name, &a) : !is_link_local(&a)))
                list[n++] = a;
    return n;
}

/* The whole of 127.0.0.0/8 is this host's, though only one of it is listed. */
static bool is_loopback(const struct filter *f, struct ft_address *a)
{
    char ip[INET_ADDRSTRLEN];

    return !f->name && f->family == AF_INET && f->bits == 32 && f->net[0] == 127 && inet_ntop(AF_INET, f->net, ip, sizeof ip) &&
           ft_address_parse(a, ip, 0);
}

static int choose(const char *spec, struct ft_address list[FT_ADDRESSES], size_t *n, struct ft_error *e)
{
    struct ifaddrs *all;
    struct filter f;

    if (spec && !read_filter(spec, &f))
        return ft_err_set(e, FT_EINVAL, "--iface %s: neither an interface nor a network like 10.1.0.0/16", spec);
    if (getifaddrs(&all) < 0)
        return ft_err_set(e, FT_ESYS, "cannot list this host's addresses: %s", strerror(errno));
    *n = own_addresses(all, spec ? &f : NULL, list);
    freeifaddrs(all);
    if (*n || (spec && is_loopback(&f, &list[0]))) {
        *n = spec ? 1 : *n; /* the socket is bound to that one */
        return 0;
    }
    return ft_err_set(e, spec ? FT_EINVAL : FT_ESYS, spec ? "--iface %s: this host has no such interface that is up, nor an address "
                      "there" : "this host has no address", spec);
}

/* No packet is sent: the route is asked for. */
static int choose_towards(const struct ft_address *peer, struct ft_address *own, struct ft_error *e)
{
    char text[FT_ADDRESS_TEXT];
    int fd = socket(peer->s.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0), failed;

    memset(own, 0, sizeof *own);
    own->len = sizeof own->s;
    failed = fd < 0 || connect(fd, (const struct sockaddr *)&peer->s, peer->len) < 0 ||
             getsockname(fd, (struct sockaddr *)&own->s, &own->len) < 0;
    if (failed)
        ft_err_set(e, FT_ESYS, "no route from here to %s: %s", ft_address_print(peer, text), strerror(errno));
    if (fd >= 0)
        close(fd);
    return failed ? FT_ESYS : 0;
}

static void set_port(struct ft_address *a, uint16_t port)
{
    if (a->s.ss_family == AF_INET)
        v4(a)->sin_port = htons(port);
    else
        v6(a)->sin6_port = htons(port);
}

/* BBR sends by a timer, at the rate it believes the way has: right for a line that loses packets,
   and half of the speed between hosts of one room (docs/performance/hosts.md, "Several hosts").
   Where it is the system's choice, connections of a job have what Linux has by default, or what
   everybody may choose. Said before there is a connection: one that has begun with the timer keeps
   it. */
static void choose_congestion_control(int fd)
{
    static const char *const others[] = {"cubic", "reno"};
    char name[16] = "";
    socklen_t len = sizeof name - 1;

    if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &len) || strncmp(name, "bbr", 3) != 0)
        return;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, others[i], (socklen_t)strlen(others[i])) == 0)
            return;
}

int ft_address_socket(int family)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd >= 0)
        choose_congestion_control(fd);
    return fd;
}

/* A socket for both kinds of addresses, or, on hosts without IPv6, for one. */
static int open_wildcard(struct ft_address *at)
{
    int fd, no = 0;

    ft_address_parse(at, "::", 0);
    fd = ft_address_socket(AF_INET6);
    if (fd >= 0 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no) == 0 &&
        bind(fd, (struct sockaddr *)&at->s, at->len) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    ft_address_parse(at, "0.0.0.0", 0);
    return -1;
}

static int open_listener(struct ft_address *at, bool wildcard, struct ft_error *e)
{
    char text[FT_ADDRESS_TEXT];
    int fd = wildcard ? open_wildcard(at) : -1, bound = fd >= 0;

    if (!bound)
        fd = ft_address_socket(at->s.ss_family);
    if (fd >= 0 && (bound || bind(fd, (struct sockaddr *)&at->s, at->len) == 0) && listen(fd, BACKLOG) == 0 &&
        getsockname(fd, (struct sockaddr *)&at->s, &at->len) == 0)
        return fd;
    ft_err_set(e, FT_ESYS, "cannot listen at %s: %s", ft_address_print(at, text), strerror(errno));
    if (fd >= 0)
        close(fd);
    return FT_ESYS;
}

int ft_address_listen(const char *spec, const struct ft_address *towards, struct ft_address list[FT_ADDRESSES], size_t *n,
                      struct ft_error *e)
{
    bool wildcard = !spec && !towards;
    struct ft_address at;
    int err, fd;

    *n = 1;
    err = spec || !towards ? choose(spec, list, n, e) : choose_towards(towards, &list[0], e);
    if (err)
        return err;
    at = list[0];
    set_port(&at, 0);
    fd = open_listener(&at, wildcard, e);
    for (size_t i = 0; fd >= 0 && i < *n; i++)
        set_port(&list[i], ft_address_port(&at));
    return fd;
}

/* Buffers are left to the kernel: it lets them grow to several MiB as the connection needs it, and setting them would
   end that, and at net.core.rmem_max (208 KiB as systems come). */
void ft_address_tune(int fd)
{
    int yes = 1, idle = 5, every = 2, times = 3, lost_ms = 60000;

    /* A frame is written at once and waited for. */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    /* A connection that leads nowhere (a firewall forgot it, a cut between these two hosts only) is given up after a minute, idle or not; the
       death of a node is noticed by its lease long before. No sooner: Linux counts a peer that does not read, since it computes, as
       one that does not answer, and a link that is opened again sends all that was under way once more. */
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof every);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof times);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &lost_ms, sizeof lost_ms);
}
