/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/options/map.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ft/base/util.h"
#include "launcher/options/hosts.h"
#include "launcher/options/options.h"

bool ft_map_wanted(const struct ft_options *o)
{
    bool any = o->hosts.n > 0, elsewhere = ft_hosts_elsewhere(&o->hosts);

    for (size_t c = 0; c < o->ncontexts; c++) {
        any |= o->contexts[c].hosts.n > 0;
        elsewhere |= ft_hosts_elsewhere(&o->contexts[c].hosts);
    }
    return elsewhere || (any && (o->launcher || o->rendezvous)); /* others may come */
}

static const struct ft_hosts *hosts_of(const struct ft_options *o, const struct ft_context *c)
{
    return c->hosts.n ? &c->hosts : &o->hosts;
}

int ft_map_count(struct ft_options *o, struct ft_context *c, struct ft_error *e)
{
    const struct ft_hosts *hosts = hosts_of(o, c);
    size_t spares = o->spares < hosts->n ? (size_t)o->spares : hosts->n;
    struct ft_hosts used = {hosts->list, hosts->n - spares};
    uint32_t slots = ft_hosts_slots(&used);

    if (!hosts->n)
        return ft_err_set(e, FT_EINVAL, "%.80s: on which host? Others are named for other programs of this job, and there is no --hostfile",
                          *c->argv);
    if (!used.n)
        return ft_err_set(e, FT_EINVAL, "--spares %llu: no host of %zu is left for ranks", (unsigned long long)o->spares, hosts->n);
    if (!c->counted)
        c->nranks = c->per_host ? c->per_host * (uint32_t)used.n : c->hosts.n || o->ncontexts == 1 ? slots : 1;
    if (c->per_host && c->nranks > c->per_host * (uint64_t)used.n)
        return ft_err_set(e, FT_EINVAL, "%u ranks at %u per host need %u hosts; there are %zu", c->nranks, c->per_host,
                          (c->nranks + c->per_host - 1) / c->per_host, used.n);
    if (!c->per_host && c->nranks > slots && !o->oversubscribe)
        ft_options_notice(o, "%u ranks on %u slot%s: they share processors", c->nranks, slots, ft_plural(slots));
    return 0;
}

/* The work in progress. */
struct work {
    struct ft_map *m;
    bool directly;           /* all names of this host are one */
    uint32_t *used;          /* by host: ranks so far */
    uint32_t short_of;       /* ranks for which there is no place: max_slots */
    uint32_t *host_of;       /* by rank */
    /* of one context: its hosts in order, each once, and by host: what has room there, ranks of this context */
    uint32_t *list, nlist, *room, *mine;
};

static size_t find(const struct work *w, const struct ft_host *host)
{
    const struct ft_hosts *all = &w->m->hosts;
    size_t i = 0;

    while (i < all->n && strcasecmp(all->list[i].name, host->name) && !(w->directly && all->list[i].here && host->here))
        i++;
    return i;
}

static int collect(struct ft_options *o, struct work *w, const struct ft_hosts *hosts)
{
    for (size_t i = 0; i < hosts->n; i++)
        if (find(w, &hosts->list[i]) == w->m->hosts.n && ft_hosts_add(o, &w->m->hosts, &hosts->list[i]) < 0)
            return -1;
    return 0;
}

static void begin(struct work *w, const struct ft_hosts *hosts, size_t spares)
{
    w->nlist = 0;
    memset(w->room, 0, w->m->hosts.n * sizeof *w->room);
    memset(w->mine, 0, w->m->hosts.n * sizeof *w->mine);
    for (size_t i = 0; i < hosts->n - spares; i++) {
        uint32_t host = (uint32_t)find(w, &hosts->list[i]);

        if (!w->room[host])
            w->list[w->nlist++] = host;
        w->room[host] += hosts->list[i].slots;
    }
}

/* Deals out ranks of c that are left, at most `most` to each host in one turn; over: also to hosts that are full. Returns how many. */
static uint32_t deal(struct work *w, const struct ft_context *c, uint32_t from, uint32_t most, bool over)
{
    uint32_t rank = from;

    for (uint32_t i = 0; i < w->nlist; i++) {
        uint32_t host = w->list[i], had = c->per_host ? w->mine[host] : w->used[host], room = c->per_host ? c->per_host : w->room[host];
        uint32_t n = over ? room : had < room ? room - had : 0;

        n = ft_min(n, w->m->hosts.list[host].most ? w->m->hosts.list[host].most - ft_min(w->used[host], w->m->hosts.list[host].most) : n);
        for (n = n < most ? n : most; n && rank < c->first + c->nranks; n--) {
            w->host_of[rank++] = host;
            w->used[host]++;
            w->mine[host]++;
        }
    }
    return rank - from;
}

static void place(const struct ft_options *o, struct work *w, const struct ft_context *c)
{
    uint32_t most = o->place.map == FT_UNIT_HOST && !o->place.each ? 1 : UINT32_MAX, done = 0, n;
    bool over = false;

    begin(w, hosts_of(o, c), (size_t)o->spares);
    while (done < c->nranks) {
        n = deal(w, c, c->first + done, most, over);
        if (!n && over) {
            w->short_of = c->nranks - done;
            return;
        }
        over |= !n; /* all are full */
        done += n;
    }
}

/* Hosts with ranks are nodes; ranks of a node in ascending order. */
static void number_nodes(const struct ft_options *o, struct work *w)
{
    struct ft_map *m = w->m;
    uint32_t *at = w->room, place = 0; /* by host: the place of its next rank */

    for (uint32_t host = 0; host < m->hosts.n; host++) {
        if (!w->used[host])
            continue;
        m->host[m->nnodes] = host;
        m->first[m->nnodes++] = at[host] = place;
        place += w->used[host];
    }
    m->first[m->nnodes] = place;
    for (uint32_t rank = 0; rank < o->nranks; rank++)
        m->rank_at[at[w->host_of[rank]]++] = rank;
}

static int check(const struct ft_map *m, struct ft_error *e)
{
    for (uint32_t node = 0; node < m->nnodes; node++)
        if (m->first[node + 1] - m->first[node] > (uint32_t)FT_RANKS_MAX)
            return ft_err_set(e, FT_EINVAL, "%u ranks on %.80s: too many, at most %d run on one host", m->first[node + 1] - m->first[node],
                              m->hosts.list[m->host[node]].name, (int)FT_RANKS_MAX);
    if (m->hosts.n > FT_NODES_MAX)
        return ft_err_set(e, FT_EINVAL, "%zu hosts: too many, a job has at most %d", m->hosts.n, FT_NODES_MAX);
    return 0;
}

int ft_map_make(struct ft_options *o, struct ft_error *e)
{
    struct work w = {.m = calloc(1, sizeof *w.m), .directly = !o->launcher};
    struct ft_map *m = w.m;
    int err = -1;

    if (!m)
        return ft_err_set(e, FT_EINVAL, "out of memory");
    o->map = m;
    m->world = o->nranks;
    for (size_t c = 0; c < o->ncontexts; c++)
        if (collect(o, &w, hosts_of(o, &o->contexts[c])) < 0)
            return ft_err_set(e, FT_EINVAL, "out of memory");
    w.used = calloc(m->hosts.n, sizeof *w.used);
    w.list = calloc(m->hosts.n, sizeof *w.list);
    w.room = calloc(m->hosts.n, sizeof *w.room);
    w.mine = calloc(m->hosts.n, sizeof *w.mine);
    w.host_of = calloc(o->nranks, sizeof *w.host_of);
    m->host = calloc(m->hosts.n, sizeof *m->host);
    m->first = calloc(m->hosts.n + 1, sizeof *m->first);
    m->rank_at = calloc(o->nranks, sizeof *m->rank_at);
    if (w.used && w.list && w.room && w.mine && w.host_of && m->host && m->first && m->rank_at) {
        for (size_t c = 0; c < o->ncontexts && !w.short_of; c++)
            place(o, &w, &o->contexts[c]);
        if (w.short_of) {
            err = ft_hosts_no_place(w.short_of, e);
        } else {
            number_nodes(o, &w);
            err = check(m, e);
        }
    } else {
        ft_err_set(e, FT_EINVAL, "out of memory");
    }
    free(w.used);
    free(w.mine);
    free(w.room);
    free(w.list);
    free(w.host_of);
    return err < 0 ? FT_EINVAL : 0;
}

void ft_map_free(struct ft_map *m)
{
    if (!m)
        return;
    free(m->host);
    free(m->first);
    free(m->rank_at);
    free(m);
}
