/* SPDX-License-Identifier: BSD-3-Clause */
/* The logical trees between nodes (ft/core/tree.h), and whom a node has around it in them. */
#include "ft/core/exchange.h"

#include <criterion/criterion.h>

enum { MOST = 300 };

static struct ft_shape shapes[MOST];

/* Children's intervals and the node itself are its subtree, in order; both ends of a link say the same of it. */
static void check_node(enum ft_tree tree, uint32_t nodes, uint32_t me)
{
    const struct ft_shape *s = &shapes[me];
    uint32_t at = s->from, links = 0;

    for (uint32_t i = 0; i < s->n; i++) {
        const struct ft_neighbour *of = &s->of[i];
        const struct ft_shape *other = &shapes[of->node];
        bool back = false;

        for (uint32_t k = 0; k < other->n; k++)
            back = back || (other->of[k].node == me && other->of[k].role == (of->role == FT_ROLE_UP ? FT_ROLE_DOWN
                            : of->role == FT_ROLE_DOWN ? FT_ROLE_UP : FT_ROLE_EDGE));
        cr_assert(back, "%u nodes, tree %d: %u has %u around, and is not around it", nodes, tree, me, of->node);
        if (of->role == FT_ROLE_DOWN) {
            at += at == me;
            cr_assert(of->from == at && of->from <= of->node && of->node < of->to);
            cr_assert(other->from == of->from && other->to == of->to && other->depth == s->depth + 1);
            at = of->to;
        } else {
            links++;
        }
        if (of->role == FT_ROLE_EDGE)
            cr_assert(s->depth == 0 && other->from == of->from && other->to == of->to && (of->to == s->from || of->from == s->to));
    }
    at += at == me;
    cr_assert_eq(at, s->to);
    cr_assert_eq(links, nodes > 1);
}

Test(tree, every_shape_is_in_order)
{
    for (uint32_t nodes = 1; nodes <= MOST; nodes += nodes < 70 ? 1 : 23)
        for (int tree = 0; tree < FT_TREES; tree++) {
            uint32_t height = 0;

            for (uint32_t me = 0; me < nodes; me++) {
                ft_tree_shape(&shapes[me], (enum ft_tree)tree, nodes, me);
                height = shapes[me].depth > height ? shapes[me].depth : height;
            }
            for (uint32_t me = 0; me < nodes; me++)
                check_node((enum ft_tree)tree, nodes, me);
            cr_assert_eq(ft_tree_height((enum ft_tree)tree, nodes), height, "%u nodes: %u", nodes, height);
            cr_assert(tree == FT_TREE_CHAIN || 1u << height < nodes + 1);
        }
}

Test(tree, up_to_four_nodes_both_are_one)
{
    for (uint32_t nodes = 1; nodes <= 4; nodes++)
        for (uint32_t me = 0; me < nodes; me++) {
            struct ft_shape a, b;

            ft_tree_shape(&a, FT_TREE_BALANCED, nodes, me);
            ft_tree_shape(&b, FT_TREE_CHAIN, nodes, me);
            cr_assert(a.n == b.n && a.from == b.from && a.to == b.to && a.depth == b.depth);
            for (uint32_t i = 0; i < a.n; i++)
                cr_assert(a.of[i].node == b.of[i].node && a.of[i].role == b.of[i].role);
        }
}

Test(tree, peers_are_all_neighbours_once)
{
    for (uint32_t nodes = 1; nodes <= MOST; nodes++)
        for (uint32_t me = 0; me < nodes; me += 1 + nodes / 50) {
            struct ft_peer peers[FT_TREES * FT_NEIGHBOURS];
            struct ft_exchange x;

            ft_exchange_init(&x, peers, nodes, me, 4, 0);
            cr_assert(x.n == ft_tree_peers(nodes, me) && x.n <= nodes - 1);
            for (uint32_t p = 0; p < x.n; p++) {
                cr_assert(p == 0 || x.peer[p - 1].node < x.peer[p].node);
                cr_assert(x.peer[p].node != me && ft_exchange_peer(&x, x.peer[p].node) == (int)p);
                cr_assert(x.peer[p].role[0] || x.peer[p].role[1]);
            }
            cr_assert_eq(ft_exchange_peer(&x, me), -1);
        }
}
