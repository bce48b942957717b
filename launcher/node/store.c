/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/node/store.h"

#include "launcher/job/boxes.h"
#include "launcher/node/job.h"
#include "launcher/node/uplink.h"
#include "launcher/wire/store.h"

void ft_node_store_look(struct ft_node *n)
{
    const void *bytes;
    size_t length;

    if (!n->boxes || !ft_boxes_used(n->boxes) || !n->uplink || !ft_uplink_is_up(n->uplink))
        return;
    for (uint32_t r = 0; r < n->job->options->nranks; r++)
        if (ft_boxes_take(n->boxes, r, &bytes, &length))
            ft_uplink_say(n->uplink, ft_wire_put_store_ask(ft_job_rank(n->job, r), bytes, length));
}

void ft_node_store_again(struct ft_node *n)
{
    if (n->boxes)
        ft_boxes_again(n->boxes);
    ft_node_store_look(n);
}

int ft_node_store_take(struct ft_node *n, const struct ft_wire_frame *f, struct ft_error *e)
{
    struct ft_value_answer answer;
    uint32_t rank;

    if (ft_wire_get_store_answer(f, &rank, &answer, e) < 0)
        return FT_EDAMAGED;
    for (uint32_t r = 0; r < n->job->options->nranks; r++)
        if (ft_job_rank(n->job, r) == rank) {
            ft_boxes_answer(n->boxes, r, &answer);
            return 0;
        }
    return ft_err_set(e, FT_EDAMAGED, "a STORE_ANSWER for rank %u, which is not here", rank);
}

int ft_node_store_serve(struct ft_node *n)
{
    n->boxes = ft_boxes_new(&n->job->region);
    return n->boxes ? 0 : -1;
}

void ft_node_store_leave(struct ft_node *n)
{
    ft_boxes_free(n->boxes);
    n->boxes = NULL;
}
