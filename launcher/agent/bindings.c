/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/agent/bindings.h"

#include <stdio.h>
#include <string.h>

#include "ft/base/util.h"
#include "launcher/wire/description.h"

enum { LINE_BYTES = 1024 };

/* "./a 1 2", cut where it gets long. */
static const char *command(const struct ft_context *c, char *text, size_t size)
{
    size_t used = 0;

    *text = 0;
    for (char **word = c->argv; *word && used < size - 4; word++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " " : "", *word);
    if (used >= size)
        memcpy(text + size - 4, "...", 4);
    return text;
}

/* In the job. */
static uint32_t number(const struct ft_options *o, uint32_t local)
{
    return o->node ? o->node->rank_at[o->node->first[o->node->node] + local] : local;
}

static void display_map(const struct ft_options *o, const struct ft_say *say)
{
    char line[LINE_BYTES];

    ft_say(say, "job %s on %s: %u rank%s, %u processor%s", o->job_id, ft_say_host(), o->nranks,
           ft_plural(o->nranks), ft_topology_processors(), ft_plural(ft_topology_processors()));
    for (const struct ft_context *c = o->contexts; c < o->contexts + o->ncontexts; c++) {
        command(c, line, sizeof line);
        if (c->nranks == 1)
            ft_say(say, "  rank %u: %s", c->first, line);
        else
            ft_say(say, "  ranks %u-%u: %s", c->first, c->first + c->nranks - 1, line);
    }
}

struct ft_topology *ft_bindings_make(const struct ft_options *o, const struct ft_say *say)
{
    struct ft_placement p = o->place;
    struct ft_topology *t = NULL;
    struct ft_error e;
    char text[256];

    if (p.cores && !p.bind) /* processors for each rank are a binding */
        p.bind = p.hwthreads ? FT_UNIT_HWTHREAD : FT_UNIT_CORE;
    if (p.bind && ft_topology_new(&t, &p, o->nranks, &e) < 0)
        ft_say(say, "binding: %s", e.text); /* slower, not wrong */
    if (o->display_map)
        display_map(o, say);
    for (uint32_t r = 0; o->report_bindings && r < o->nranks; r++)
        ft_say(say, "rank %u: %s", number(o, r), ft_topology_text(t, r, text, sizeof text));
    return t;
}
