/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/join/lead.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/base/say.h"
#include "launcher/controller/controller.h"
#include "launcher/options/hosts.h"
#include "launcher/options/parse.h"
#include "launcher/options/rendezvous.h"

struct order {
    struct ft_lead lead;
    uint64_t bytes;            /* of the list's text that follows */
};

static int write_all(int fd, const void *data, size_t len)
{
    for (size_t at = 0; at < len;) {
        ssize_t n = write(fd, (const char *)data + at, len - at);

        if (n < 0 && errno != EINTR)
            return -1;
        at += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static int read_all(int fd, void *data, size_t len)
{
    for (size_t at = 0; at < len;) {
        ssize_t n = read(fd, (char *)data + at, len - at);

        if (n == 0 || (n < 0 && errno != EINTR))
            return -1;
        at += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* ---- there ---- */

static int take_members(struct ft_options *o, const struct ft_rdzv_list *list, struct ft_error *e)
{
    for (uint32_t i = 0; i < list->n; i++) {
        const struct ft_rdzv_member *m = &list->members[i];
        struct ft_host host = {.name = (char *)m->name, .slots = m->slots, .here = !strcmp(m->name, o->rendezvous->name)};

        if (!m->lost && ft_hosts_add(o, &o->hosts, &host) < 0)
            return ft_err_set(e, FT_ENOMEM, "out of memory");
    }
    return 0;
}

/* -n without -N: each host that has come gets its part. */
static void share_ranks(struct ft_options *o)
{
    struct ft_context *c = &o->contexts[0];
    uint32_t hosts = (uint32_t)o->hosts.n;

    if (o->ncontexts == 1 && c->counted && !c->per_host && hosts)
        c->per_host = (c->nranks + hosts - 1) / hosts;
}

static int run(struct ft_options *o, const struct order *order, struct ft_rdzv_list *list)
{
    struct ft_say say = {.quiet = o->quiet, .verbose = o->verbose, .timestamp = o->timestamp_output};
    size_t told = o->nnotices;
    struct ft_error e;

    if (take_members(o, list, &e) < 0) {
        ft_say(&say, "%s", e.text);
        return FT_CODE_JOB;
    }
    share_ranks(o);
    if (ft_options_number(o, &e) < 0) {
        ft_say(&say, "%s", e.text);
        return FT_CODE_USAGE;
    }
    for (size_t i = told; i < o->nnotices; i++)
        ft_say_notice(&say, "%s", o->notices[i]);
    return ft_controller_run(o, &order->lead);
}

/* Until there is an order, or will be none. */
static int wait_for_order(struct ft_options *o, int in, int tell)
{
    struct order order;
    char *text = NULL;
    struct ft_rdzv_list *list = NULL;
    int code = 0;

    if (read_all(in, &order, sizeof order) < 0)
        return 0;
    text = calloc(1, order.bytes + 1);
    if (text && read_all(in, text, order.bytes) == 0)
        list = ft_rdzv_read_list(text);
    order.lead.go = in;
    order.lead.tell = tell;
    if (list)
        code = run(o, &order, list);
    else
        code = FT_CODE_JOB;
    if (!list)
        ft_say(&(struct ft_say){0}, "out of memory");
    ft_rdzv_list_drop(list);
    free(text);
    explicit_bzero(&order, sizeof order);
    return code;
}

/* ---- here ---- */

int ft_leading_fork(struct ft_leading *l, struct ft_options *o, struct ft_error *e)
{
    int order[2] = {-1, -1}, told[2] = {-1, -1}, code;

    *l = (struct ft_leading){.order = -1, .told = -1};
    if (pipe2(order, O_CLOEXEC) < 0 || pipe2(told, O_CLOEXEC) < 0)
        return ft_err_set(e, FT_ESYS, "cannot make a pipe: %s", strerror(errno));
    fflush(NULL);
    l->pid = fork();
    if (l->pid < 0)
        return ft_err_set(e, FT_ESYS, "cannot start a process: %s", strerror(errno));
    if (l->pid == 0) {
        close(order[1]);
        close(told[0]);
        code = wait_for_order(o, order[0], told[1]);
        dprintf(told[1], FT_LEAD_OVER "%d\n", code); /* it may have ended before it was a controller; what that has said stands */
        _exit(code);
    }
    close(order[0]);
    close(told[1]);
    l->order = order[1];
    l->told = told[0];
    return 0;
}

int ft_leading_order(struct ft_leading *l, const struct ft_lead *lead, const struct ft_rdzv_list *list, struct ft_error *e)
{
    struct order order = {.lead = *lead};
    char *text = ft_rdzv_print_list(list->version, list->stamp, list->members, list->n);
    int err = 0;

    if (!text)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    order.bytes = strlen(text);
    if (write_all(l->order, &order, sizeof order) < 0 || write_all(l->order, text, order.bytes) < 0)
        err = ft_err_set(e, FT_ESYS, "the process of ftrun that was to lead the job is gone: %s", strerror(errno));
    explicit_bzero(&order, sizeof order);
    free(text);
    return err;
}

void ft_leading_go(struct ft_leading *l)
{
    write_all(l->order, "g", 1);
}

void ft_leading_close(struct ft_leading *l)
{
    if (l->order >= 0)
        close(l->order);
    l->order = -1;
}

struct ft_address ft_leading_towards(const struct ft_rdzv_settings *s)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
    struct addrinfo *found = NULL;
    struct ft_address at = {.len = 0};
    char ip[FT_ADDRESS_TEXT];

    if (getaddrinfo(s->endpoints[0].host, "1", &hints, &found) != 0)
        return at;
    memcpy(&at.s, found->ai_addr, found->ai_addrlen);
    at.len = found->ai_addrlen;
    freeaddrinfo(found);
    ft_address_ip(&at, ip);
    if (!strncmp(ip, "127.", 4) || !strcmp(ip, "::1"))
        at.len = 0; /* others would reach themselves there */
    return at;
}
