/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/made.h"

#include <stdlib.h>

#include "ft/base/err.h"

int ft_made_add(struct ft_made *m, uint64_t context)
{
    if (m->n == m->room) {
        uint32_t room = 2 * m->room + 16;
        struct ft_made_one *more = realloc(m->there, room * sizeof *more);

        if (!more)
            return FT_ENOMEM;
        m->there = more;
        m->room = room;
    }
    m->there[m->n++] = (struct ft_made_one){ .context = context, .number = ++m->numbers };
    return 0;
}

void ft_made_remove(struct ft_made *m, uint64_t context)
{
    for (uint32_t i = 0; i < m->n; i++)
        if (m->there[i].context == context) {
            m->freed += m->loads && m->there[i].number <= m->loaded;
            m->there[i] = m->there[--m->n];
            return;
        }
}

void ft_made_close(struct ft_made *m)
{
    free(m->there);
    *m = (struct ft_made){ 0 };
}

uint64_t ft_made_number(const struct ft_made *m, uint64_t context)
{
    for (uint32_t i = 0; i < m->n; i++)
        if (m->there[i].context == context)
            return m->there[i].number;
    return 0;
}

uint64_t ft_made_context(const struct ft_made *m, uint64_t number)
{
    for (uint32_t i = 0; i < m->n; i++)
        if (m->there[i].number == number)
            return m->there[i].context;
    return 0;
}

void ft_made_load(struct ft_made *m)
{
    if (m->loads)
        return;
    m->loads = true;
    m->loaded = m->numbers;
}

uint64_t ft_made_since(const struct ft_made *m)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < m->n && m->loads; i++)
        n += m->there[i].number > m->loaded;
    return n;
}
