/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/agent/store.h"

#include <stdlib.h>

#include "launcher/agent/state.h"
#include "launcher/job/boxes.h"
#include "launcher/values/server.h"

struct ft_store {
    struct ft_job *job;
    void *memory;
    size_t bytes;

    /* of the agent */
    struct ft_boxes *boxes;
    struct ft_values_server *server;
};

static void answer(void *arg, uint32_t rank, const struct ft_value_answer *a)
{
    const struct ft_store *s = arg;

    ft_boxes_answer(s->boxes, rank, a);
}

void ft_store_look(struct ft_store *s)
{
    struct ft_value_ask ask;
    const void *bytes;
    size_t length;

    if (!s || !s->server || !ft_boxes_used(s->boxes))
        return;
    for (uint32_t r = 0; r < s->job->options->nranks; r++)
        if (ft_boxes_take(s->boxes, r, &bytes, &length) && ft_value_get_ask(&ask, bytes, length))
            ft_values_server_ask(s->server, r, &ask);
}

int ft_store_new(struct ft_agent *a, struct ft_error *e)
{
    if (a->job.above)
        return 0;
    a->store = calloc(1, sizeof *a->store);
    if (!a->store || !(a->store->memory = ft_values_memory_new(&a->store->bytes)))
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    a->store->job = &a->job;
    return 0;
}

void ft_store_free(struct ft_store *s)
{
    if (s)
        ft_values_memory_free(s->memory, s->bytes);
    free(s);
}

void ft_store_forget(struct ft_store *s)
{
    if (!s)
        return;
    s->boxes = NULL;
    s->server = NULL;
}

int ft_store_serve(struct ft_store *s)
{
    struct ft_values_server_config config;

    if (!s)
        return 0;
    config = (struct ft_values_server_config){.memory = s->memory, .bytes = s->bytes, .nranks = s->job->options->nranks,
                                              .answer = answer, .arg = s};
    s->boxes = ft_boxes_new(&s->job->region);
    s->server = s->boxes ? ft_values_server_new(&config) : NULL;
    if (!s->server)
        return -1;
    ft_store_look(s);
    return 0;
}

void ft_store_leave(struct ft_store *s)
{
    if (!s)
        return;
    ft_values_server_free(s->server);
    ft_boxes_free(s->boxes);
    ft_store_forget(s);
}
