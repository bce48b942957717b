/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/rdzv/here.h"

#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

/* "node-0" and "node-0.job.namespace.svc": a name server may not know a host before it is ready. */
static bool is_own_name(const char *host)
{
    char own[256];
    size_t n, label;

    if (gethostname(own, sizeof own) < 0)
        return false;
    own[sizeof own - 1] = 0;
    n = strlen(own);
    label = strcspn(own, ".");
    return strcasecmp(host, own) == 0 || (strncasecmp(host, own, n) == 0 && host[n] == '.') ||
           (own[label] && strncasecmp(host, own, label) == 0 && !host[label]);
}

static const void *bytes_of(const struct sockaddr *a, size_t *n)
{
    *n = a->sa_family == AF_INET ? sizeof(struct in_addr) : a->sa_family == AF_INET6 ? sizeof(struct in6_addr) : 0;
    return a->sa_family == AF_INET ? (const void *)&((const struct sockaddr_in *)a)->sin_addr : &((const struct sockaddr_in6 *)a)->sin6_addr;
}

static bool is_own_address(const struct ifaddrs *own, const struct sockaddr *address)
{
    size_t n, other;
    const void *bytes = bytes_of(address, &n);

    for (; n && own; own = own->ifa_next)
        if (own->ifa_addr && own->ifa_addr->sa_family == address->sa_family && memcmp(bytes_of(own->ifa_addr, &other), bytes, n) == 0)
            return true;
    return false;
}

bool ft_rdzv_is_here(const char *host)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL, *a;
    struct ifaddrs *own = NULL;
    bool here = is_own_name(host);

    if (!here && getifaddrs(&own) == 0 && getaddrinfo(host, NULL, &hints, &found) == 0)
        for (a = found; a && !here; a = a->ai_next)
            here = is_own_address(own, a->ai_addr);
    if (found)
        freeaddrinfo(found);
    if (own)
        freeifaddrs(own);
    return here;
}
