/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/controller/report.h"
#include "launcher/controller/report_state.h"

void ft_controller_report_begin(struct ft_controller_report *c, uint32_t first, uint32_t n)
{
    struct ft_report_undo *u = &c->undo;

    for (uint32_t node = first; node < first + n; node++) {
        u->nodes[node] = c->nodes[node];
        for (uint32_t i = 0; i < ft_controller_report_ranks(c, node); i++) {
            uint32_t rank = ft_controller_report_rank(c, node, i);

            u->ranks[rank] = c->ranks[rank];
            u->totals[rank] = c->report.ranks[rank];
        }
    }
    u->first = first;
    u->n = n;
    u->nrestarts = c->report.nrestarts;
    u->nlosses = c->hosts.nlosses;
    atomic_store(&u->open, 1);
}

void ft_controller_report_end(struct ft_controller_report *c) { atomic_store(&c->undo.open, 0); }

void ft_controller_report_recover(struct ft_controller_report *c)
{
    const struct ft_report_undo *u = &c->undo;

    c->sorted = NULL; /* that was the predecessor's */
    if (!atomic_load(&u->open))
        return;
    for (uint32_t node = u->first; node < u->first + u->n; node++) {
        c->nodes[node] = u->nodes[node];
        for (uint32_t i = 0; i < ft_controller_report_ranks(c, node); i++) {
            uint32_t rank = ft_controller_report_rank(c, node, i);

            c->ranks[rank] = u->ranks[rank];
            c->report.ranks[rank] = u->totals[rank];
        }
    }
    c->report.nrestarts = u->nrestarts;
    c->hosts.nlosses = u->nlosses;
    ft_controller_report_end(c);
}
