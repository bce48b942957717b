/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/options/kubernetes.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "launcher/options/environment.h"
#include "launcher/options/values.h"
#include "launcher/rdzv/settings.h"

bool ft_kubernetes_is_here(void) { return ft_environment_text("KUBERNETES_SERVICE_HOST"); }

/* Pods with a subdomain, as JobSet's, are known to others by "POD.SUBDOMAIN" and longer only. */
bool ft_kubernetes_name(char *name, size_t size)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_CANONNAME};
    struct addrinfo *found = NULL;
    const char *whole;
    size_t n;

    if (gethostname(name, size) < 0)
        return false;
    name[size - 1] = 0;
    n = strlen(name);
    if (getaddrinfo(name, NULL, &hints, &found) != 0)
        return true;
    whole = found->ai_canonname;
    if (whole && strlen(whole) < size && !strncasecmp(whole, name, n) && whole[n] == '.')
        strcpy(name, whole);
    freeaddrinfo(found);
    return true;
}

static const struct contract {
    const char *first, *size, *index, *port;  /* names of variables: the first pod; how many; which this is; the program's port there */
    bool workers;                             /* size is ranks, not pods */
} contracts[] = {
    {"MASTER_ADDR", "WORLD_SIZE", "RANK", "MASTER_PORT", false},
    {"DMLC_TRACKER_URI", "DMLC_NUM_WORKER", "DMLC_TASK_ID", "DMLC_TRACKER_PORT", true},
};

enum { CONTRACTS = sizeof contracts / sizeof contracts[0], NAME = 253, LABEL = 63 /* of a pod, by DNS */, PODS = 65536 };

static const char *said(ft_kubernetes_get *get, void *arg, const char *name)
{
    const char *value = get(arg, name);

    return value && *value ? value : NULL;
}

int ft_kubernetes_whole(const char *first, const char *size, const char *index, ft_kubernetes_get *get, void *arg, struct ft_error *e)
{
    const char *names[] = {size, index, first}, *lacks = NULL;
    int set = 0;

    for (int i = 0; i < 3; i++) {
        set += get(arg, names[i]) != NULL;
        lacks = lacks || said(get, arg, names[i]) ? lacks : names[i];
    }
    if (set < 2 || !lacks)
        return 0;
    return ft_err_set(e, FT_EINVAL, "%s is %s: which hosts a job has is said by %s, %s and %s together; set it, or say -H localhost "
                      "for a job on this host alone", lacks, get(arg, lacks) ? "empty" : "not set", first, size, index);
}

static int number(ft_kubernetes_get *get, void *arg, const char *name, uint64_t least, uint32_t *value, struct ft_error *e)
{
    uint64_t n;

    if (ft_values_number(said(get, arg, name), &n) < 0 || n < least || n > PODS)
        return ft_err_set(e, FT_EINVAL, "%s is \"%.40s\", which no operator of Kubernetes' says; -H localhost is for a job in this pod",
                          name, said(get, arg, name));
    *value = (uint32_t)n;
    return 0;
}

uint16_t ft_kubernetes_port(const char *taken)
{
    uint64_t n;

    return taken && ft_values_number(taken, &n) == 0 && n == FT_RDZV_PORT ? FT_RDZV_PORT + 1 : FT_RDZV_PORT;
}

/* Of labels, as DNS has them; not what only curl or the resolver would find odd. */
static bool is_name(const char *name)
{
    size_t n;

    if (!*name || strlen(name) > NAME)
        return false;
    for (; *name; name += n + (name[n] == '.')) {
        n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
        if (!n || n > LABEL || *name == '-' || name[n - 1] == '-' || (name[n] && name[n] != '.'))
            return false;
    }
    return true;
}

/* The store is where the first pod is. PyTorchJob's master was once told that it is "localhost". */
static int make_url(struct ft_kubernetes *k, const char *name, const char *first, const char *own, uint16_t port, struct ft_error *e)
{
    if (!strcmp(first, "localhost") || !strcmp(first, "127.0.0.1"))
        first = own;
    if (!is_name(first))
        return ft_err_set(e, FT_EINVAL, "%s is \"%.80s\", which is not the name of a pod", name, first);
    snprintf(k->url, sizeof k->url, "rdzv://%s:%u/%.*s", first, port, (int)strcspn(first, "."), first);
    return 0;
}

static const struct contract *find(ft_kubernetes_get *get, void *arg)
{
    for (const struct contract *c = contracts; c < contracts + CONTRACTS; c++)
        if (said(get, arg, c->first) && said(get, arg, c->size) && said(get, arg, c->index))
            return c;
    return NULL;
}

int ft_kubernetes_read(struct ft_kubernetes *k, const char *own, uint32_t per_host, ft_kubernetes_get *get, void *arg, struct ft_error *e)
{
    const struct contract *c = find(get, arg);
    uint32_t index;

    for (int i = 0; !c && i < CONTRACTS; i++)
        if (ft_kubernetes_whole(contracts[i].first, contracts[i].size, contracts[i].index, get, arg, e) < 0)
            return FT_EINVAL;
    if (!c)
        return 0;
    *k = (struct ft_kubernetes){.per_host = per_host ? per_host : 1};
    snprintf(k->contract, sizeof k->contract, "%s, %s, %s", c->first, c->size, c->index);
    if (number(get, arg, c->size, 1, &k->nodes, e) < 0 || number(get, arg, c->index, 0, &index, e) < 0)
        return FT_EINVAL;
    if (c->workers && k->nodes % k->per_host)
        return ft_err_set(e, FT_EINVAL, "%s is %u, which is no multiple of the %u rank%s that each pod takes (-N)", c->size, k->nodes,
                          k->per_host, ft_plural(k->per_host));
    k->nodes /= c->workers ? k->per_host : 1;
    if (index >= k->nodes)
        return ft_err_set(e, FT_EINVAL, "%s is %u, and there are only %u pod%s (%s)", c->index, index, k->nodes, ft_plural(k->nodes),
                          c->size);
    return make_url(k, c->first, said(get, arg, c->first), own, ft_kubernetes_port(said(get, arg, c->port)), e) < 0 ? FT_EINVAL : 1;
}

int64_t ft_kubernetes_alone(ft_kubernetes_get *get, void *arg)
{
    const char *index = said(get, arg, "JOB_COMPLETION_INDEX");
    uint64_t n;

    return index && ft_values_number(index, &n) == 0 && n <= INT32_MAX ? (int64_t)n : -1;
}
