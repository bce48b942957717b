/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of hosts and services. Who answers may say something else the second time, so the answer is recorded. Inside, the C library opens files and
   sockets past every name; what it leaves when it is killed is swept. Under way: asked again. */
#include "ft/outcome/real.h"

#include <errno.h>
#include <string.h>

#include "ft/base/util.h"
#include "ft/outcome/record.h"

enum { ROOM = 64 << 10, NAMEINFO = -11 };

/* One answer, as it stands in a record; its address and its canonical name, with the zero, follow. */
struct answer {
    int flags, family, type, protocol;
    uint32_t address, name;
};

/* Bytes of the list in `to`, which has ROOM; 0: it is too long, or empty. */
static size_t put_answers(char *to, const struct addrinfo *list)
{
    size_t done = 0;

    for (const struct addrinfo *i = list; i; i = i->ai_next) {
        struct answer a = {i->ai_flags, i->ai_family, i->ai_socktype, i->ai_protocol, (uint32_t)i->ai_addrlen,
                           i->ai_canonname ? (uint32_t)strlen(i->ai_canonname) + 1 : 0};

        if (done + sizeof a + a.address + a.name > ROOM)
            return 0;
        memcpy(to + done, &a, sizeof a);
        memcpy(to + done + sizeof a, i->ai_addr, a.address);
        if (a.name)
            memcpy(to + done + sizeof a + a.address, i->ai_canonname, a.name);
        done += sizeof a + a.address + a.name;
    }
    return done;
}

/* As the C library's freeaddrinfo wants it: an address lies behind its structure. NULL: no memory. */
static struct addrinfo *new_answer(const struct answer *a, const char *rest)
{
    struct addrinfo *i = malloc(sizeof *i + a->address);

    if (!i)
        return NULL;
    *i = (struct addrinfo){.ai_flags = a->flags, .ai_family = a->family, .ai_socktype = a->type, .ai_protocol = a->protocol,
                           .ai_addrlen = a->address, .ai_addr = (void *)(i + 1), .ai_canonname = a->name ? strdup(rest + a->address) : NULL};
    memcpy(i->ai_addr, rest, a->address);
    return i;
}

static struct addrinfo *make_answers(const char *from, size_t n)
{
    struct addrinfo *list = NULL, **end = &list;
    struct answer a;

    for (size_t done = 0; done < n; done += sizeof a + a.address + a.name) {
        memcpy(&a, from + done, sizeof a);
        *end = new_answer(&a, from + done + sizeof a);
        if (!*end)
            break;
        end = &(*end)->ai_next;
    }
    return list;
}

static uint64_t what_hints(const struct addrinfo *h)
{
    return h ? ft_what(h->ai_flags, (int64_t)h->ai_family << 32 | h->ai_socktype, h->ai_protocol) : 0;
}

int getaddrinfo(const char *restrict node, const char *restrict service, const struct addrinfo *restrict hints, struct addrinfo **restrict list)
{
    struct ft_recorded c;
    size_t bytes = 0;
    int result;

    if (!ft_recording())
        return ft_real()->getaddrinfo(node, service, hints, list);
    if (ft_call_begin(&c, FT_CALL_RESOLVE, ft_what((int64_t)ft_what_name(node), (int64_t)ft_what_name(service), (int64_t)what_hints(hints)), ROOM)) {
        if (c.record->result == 0)
            *list = make_answers(ft_call_data(&c), ft_call_bytes(&c));
        return (int)ft_call_give(&c);
    }
    ft_inside();
    result = ft_real()->getaddrinfo(node, service, hints, list);
    ft_outside();
    if (result == 0 && c.record)
        bytes = put_answers(ft_call_data(&c), *list);
    if (result == 0 && c.record && !bytes)
        ft_recorder_close("it has asked for the addresses of %.60s, and they are too many", node ? node : "its host");
    return (int)ft_call_end(&c, result, bytes);
}

/* Host and service stand in the record, one behind the other. */
int getnameinfo(const struct sockaddr *restrict address, socklen_t bytes, char *restrict host, socklen_t host_room, char *restrict service,
                socklen_t service_room, int flags)
{
    socklen_t h = host ? ft_min(host_room, NI_MAXHOST) : 0, s = service ? ft_min(service_room, NI_MAXSERV) : 0;
    struct ft_recorded c;
    int result;

    if (!ft_recording())
        return ft_real()->getnameinfo(address, bytes, host, host_room, service, service_room, flags);
    if (ft_call_begin(&c, FT_CALL_RESOLVE, ft_what((int64_t)ft_what_bytes(address, bytes), NAMEINFO, (int64_t)ft_what(h, s, flags)), h + s)) {
        if (c.record->result == 0) {
            memcpy(host, ft_call_data(&c), h);
            memcpy(service, (char *)ft_call_data(&c) + h, s);
        }
        return (int)ft_call_give(&c);
    }
    ft_inside();
    result = ft_real()->getnameinfo(address, bytes, host, h, service, s, flags);
    ft_outside();
    if (result != 0 || !c.record)
        return (int)ft_call_end(&c, result, 0);
    memcpy(ft_call_data(&c), host, h);
    memcpy((char *)ft_call_data(&c) + h, service, s);
    return (int)ft_call_end(&c, result, h + s);
}
