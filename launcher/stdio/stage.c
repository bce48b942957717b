/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/stdio/stage.h"

#include <string.h>

void ft_stage_flush(struct ft_stage *s)
{
    if (s->n)
        s->put(s->arg, s->bytes, s->n);
    s->n = 0;
}

void ft_stage_add(void *stage, const char *data, size_t len)
{
    struct ft_stage *s = stage;

    if (len > sizeof s->bytes - s->n)
        ft_stage_flush(s);
    if (len > sizeof s->bytes) {
        s->put(s->arg, data, len);
        return;
    }
    memcpy(s->bytes + s->n, data, len);
    s->n += len;
}
