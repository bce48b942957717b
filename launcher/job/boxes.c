/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/job/boxes.h"

#include <stdlib.h>

#include "ft/shm/box.h"
#include "ft/shm/doorbell.h"

struct ft_boxes {
    const struct ft_region *region;
    struct {
        uint64_t times;      /* the box's `asked`; 0: nothing */
        uint64_t number;     /* of that call */
    } taken[];
};

bool ft_boxes_used(const struct ft_boxes *b) { return ft_box_is_used(b->region); }

bool ft_boxes_take(struct ft_boxes *b, uint32_t local, const void **bytes, size_t *length)
{
    struct ft_box *box = ft_box(b->region, local);
    uint64_t times = ft_look(&box->asked);
    struct ft_value_ask ask;

    if (times == b->taken[local].times || times <= ft_peek(&box->answered))
        return false;
    *bytes = box->bytes;
    *length = ft_min(ft_peek(&box->length), FT_VALUE_ROOM);
    b->taken[local].times = times;
    b->taken[local].number = 0;
    if (ft_value_get_ask(&ask, *bytes, *length)) {
        b->taken[local].number = ask.number;
        return true;
    }
    ft_boxes_answer(b, local, &(struct ft_value_answer){.status = FT_VALUE_BAD});
    return false;
}

void ft_boxes_again(struct ft_boxes *b)
{
    for (uint32_t r = 0; r < b->region->header->params.nranks; r++)
        b->taken[r].times = 0;
}

void ft_boxes_answer(struct ft_boxes *b, uint32_t local, const struct ft_value_answer *answer)
{
    struct ft_box *box = ft_box(b->region, local);
    uint64_t times = ft_look(&box->asked);

    if (times != b->taken[local].times || times <= ft_peek(&box->answered) || answer->number != b->taken[local].number)
        return;
    ft_value_put_answer(answer, ft_box_answer(box));
    ft_note(&box->answer_length, ft_value_answer_bytes(answer));
    ft_publish(&box->answered, times);
    ft_doorbells_tell_rank(b->region, local);
}

struct ft_boxes *ft_boxes_new(const struct ft_region *region)
{
    struct ft_boxes *b = calloc(1, sizeof *b + region->header->params.nranks * sizeof b->taken[0]);

    if (b)
        b->region = region;
    return b;
}

void ft_boxes_free(struct ft_boxes *b) { free(b); }
