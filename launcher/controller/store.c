/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/controller/store.h"

#include <stdlib.h>

#include "launcher/controller/job.h"
#include "launcher/controller/peers.h"
#include "launcher/options/map.h"
#include "launcher/values/server.h"
#include "launcher/wire/store.h"

struct ft_controller_store {
    void *memory;
    size_t bytes;
    uint32_t *node_of;           /* by rank */

    /* of the process that runs the job */
    struct ft_values_server *server;
};

static void answer(void *arg, uint32_t rank, const struct ft_value_answer *a)
{
    const struct ft_controller *c = arg;

    ft_peers_send(c->peers, c->store->node_of[rank], ft_wire_put_store_answer(rank, a));
}

int ft_controller_store_take(struct ft_controller *c, uint32_t node, const struct ft_wire_frame *f, struct ft_error *e)
{
    struct ft_value_ask ask;
    uint32_t rank;

    if (ft_wire_get_store_ask(f, &rank, &ask, e) < 0)
        return FT_EDAMAGED;
    if (rank >= c->map->world || c->store->node_of[rank] != node)
        return ft_err_set(e, FT_EDAMAGED, "a STORE_ASK of rank %u, which is not there", rank);
    ft_values_server_ask(c->store->server, rank, &ask);
    return 0;
}

int ft_controller_store_make(struct ft_controller *c, struct ft_error *e)
{
    struct ft_controller_store *s = c->store = calloc(1, sizeof *s);

    if (!s || !(s->memory = ft_values_memory_new(&s->bytes)) || !(s->node_of = calloc(c->map->world, sizeof *s->node_of)))
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    for (uint32_t node = 0; node < c->map->nnodes; node++)
        for (uint32_t place = c->map->first[node]; place < c->map->first[node + 1]; place++)
            s->node_of[c->map->rank_at[place]] = node;
    return 0;
}

int ft_controller_store_open(struct ft_controller *c, struct ft_error *e)
{
    struct ft_values_server_config config = {.memory = c->store->memory, .bytes = c->store->bytes, .nranks = c->map->world,
                                             .answer = answer, .arg = c};

    c->store->server = ft_values_server_new(&config);
    return c->store->server ? 0 : ft_err_set(e, FT_ENOMEM, "out of memory");
}

void ft_controller_store_close(struct ft_controller *c)
{
    ft_values_server_free(c->store->server);
    c->store->server = NULL;
}

void ft_controller_store_free(struct ft_controller *c)
{
    if (!c->store)
        return;
    ft_values_memory_free(c->store->memory, c->store->bytes);
    free(c->store->node_of);
    free(c->store);
}
